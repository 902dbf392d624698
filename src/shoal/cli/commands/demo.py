"""``shoal demo``: the main job on built-in data, from synthetic events to a page to look at."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from shoal.cli import options
from shoal.cli.options import option
from shoal.cli.terminal import TerminalProgress, show
from shoal.cli.text.anonymize import show_summary
from shoal.cli.text.layout import WIDTH, wrapped
from shoal.core.progress import Progress
from shoal.core.promise import Grid, Promise
from shoal.errors import InputError

if TYPE_CHECKING:
    from shoal.auditing.result import Audit

# Dense enough that boxes are of use, and still a matter of a minute: docs/synthetic.md.
_USERS, _DAYS, _RENAME_EVERY = 10_000, 1, "6h"
_MARK = ".shoal-demo"  # tells a folder that an earlier demo made from one that holds somebody's events.csv


class Demo(NamedTuple):
    """What the demo made, and what the attacks on it found."""

    events: Path
    published: Path
    key: Path
    page: Path
    summary: dict[str, Any]
    promise: Promise
    grid: Grid
    audit: Audit


def run_demo(folder: Path, progress: Progress, *, users: int = _USERS, days: int = _DAYS) -> Demo:
    """Make a city, publish it, audit it and report; replaces an earlier demo in that folder."""
    from shoal.api import anonymize
    from shoal.publishing.checkpoint import checkpoint_folder
    from shoal.reporting import write_report
    from shoal.synthetic import write_city

    _take_over(folder)
    events, output, key = folder / "events.csv", folder / "published.parquet", folder / "key.csv"
    page = folder / "report.html"
    # A demo is quicker begun again than resumed.
    shutil.rmtree(checkpoint_folder(output), ignore_errors=True)
    progress.stage("making a city")
    write_city("city", events, users=users, days=days, seed=0, force=True)
    published = anonymize(
        events,
        k=2,
        tau="30min",
        epsilon="30min",
        rename_every=_RENAME_EVERY,
        output=output,
        key_out=key,
        force=True,
        progress=progress,
    )
    audit = write_report(events, output, page, key=key, synthetic=True, force=True, progress=progress)
    return Demo(events, output, key, page, published.summary, published.promise, published.events.grid, audit)


def _take_over(folder: Path) -> None:
    """Make the demo's folder, or find it; never write into a folder that holds anything else."""
    mark = folder / _MARK
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if not mark.exists() and any(folder.iterdir()):
            raise InputError(
                f"The demo needs a folder of its own, {folder.name} holds other files:"
                " choose an empty or new one with --folder."
            )
        mark.touch()
    except (FileExistsError, NotADirectoryError):
        raise InputError(
            f"The demo needs a folder, but {folder.name} is a file or lies in one: choose another with --folder."
        ) from None
    except OSError as error:
        from shoal.storage.files import reason

        raise InputError(
            f"The demo cannot write to {folder.name} ({reason(error)}): choose another with --folder."
        ) from None


@options.command(option("--folder", kind=Path, help="Where to put the demo's files.", default=Path("demo")))
def demo(folder: Path) -> None:
    """Make a city, anonymize it, and show what happened on a page."""
    with TerminalProgress() as progress:
        result = run_demo(folder, progress)
    from shoal.publishing.outputs import Outputs

    show_summary(result.summary, result.promise, result.grid, Outputs(result.published, result.key))
    show("\n".join(["", *_what_names_leave(result.audit)]))
    show(f"\nNow look at {result.page}")


def _what_names_leave(audit: Audit) -> list[str]:
    """How far attackers tie together what new names took apart, and what they read of a person."""
    from shoal.auditing.verdict import limits_of_parts

    lines = [f"- {limit.what}: {limit.measured}." for limit in limits_of_parts(audit)]
    return [
        "What new names leave to attackers:",
        *(line for text in lines for line in wrapped(text, WIDTH, indent="  ")),
    ]
