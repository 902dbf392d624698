"""``shoal compare``: other methods beside ours."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from shoal.cli import options
from shoal.cli.options import option
from shoal.cli.terminal import TerminalProgress, say_warnings, show


@options.command(
    options.EVENTS,
    options.output("Also write the numbers: .csv or .parquet.", required=False),
    option("--ks", kind=Sequence[int], metavar="LIST", help="Values of k.", default="2,5,8"),
    option("--tuples", kind=int, help="How many k-tuples.", default=100),
    option(
        "--drawn",
        metavar="random|near",
        help="Tuples of random users; near: of one with those cheapest to hide among.",
        default="random",
    ),
    option(
        "--whole-users",
        kind=int,
        help="Also hide the whole trajectories of so many users (GLOVE and W4M: up to 1,000); 0: do not.",
        default=200,
    ),
    options.GRID,
    option("--seed", kind=int, help="Other tuples for another seed.", default=0),
    options.WORKERS,
    options.FORCE,
    options.READING,
)
def compare(events: Any, output: Path | None, force: bool, **keywords: Any) -> None:
    """Compare with static grids, W4M-L and GLOVE, as the paper does: random k-tuples, and whole trajectories."""
    from shoal.cli.text.sweep import comparison_lines
    from shoal.evaluate.compare import compare as run
    from shoal.storage.outputs import check_table, check_target, write_table

    if output is not None:
        check_table(output)
        check_target(output, options.input_files(events, keywords), force=force)
    with TerminalProgress() as progress:
        found = run(events, progress=progress, **keywords)
    say_warnings(found.warnings)
    show("\n".join(comparison_lines(found)))
    if output is not None:
        write_table(output, found.to_arrow(), force=force)
        show(f"\nAll numbers: {output.name}")
