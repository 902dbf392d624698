"""``shoal demo``: the main job on made-up events."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from shoal.cli.terminal import TerminalProgress, show
from shoal.cli.text.anonymize import show_summary


def demo(
    folder: Annotated[Path, typer.Option(help="Where to put the demo's files.")] = Path("demo"),
) -> None:
    """Make a city, anonymize it, and show what happened on a page."""
    from shoal.cli.commands.demo_run import run_demo

    with TerminalProgress() as progress:
        result = run_demo(folder, progress)
    show_summary(result.summary, result.promise, result.grid, result.published)
    show(f"\nNow look at {result.page}")
