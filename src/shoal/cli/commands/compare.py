"""``shoal compare``: other methods beside ours."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from shoal.cli import options
from shoal.cli.terminal import TerminalProgress, say_warnings, show


@options.reads_events
def compare(
    events: options.Events,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Also write the numbers: .csv or .parquet.")
    ] = None,
    ks: options.Ks = "2,5,8",
    tuples: Annotated[int, options.count("How many k-tuples.")] = 100,
    drawn: Annotated[
        str,
        typer.Option(
            metavar="random|near",
            help="Tuples of random users; near: of one with those cheapest to hide among.",
        ),
    ] = "random",
    whole_users: Annotated[
        int,
        options.count(
            "Also hide the whole trajectories of so many users (GLOVE and W4M: up to 1,000); 0: do not."
        ),
    ] = 200,
    cell: options.Cell = "100m",
    step: options.Step = "1min",
    seed: Annotated[int, options.count("Other tuples for another seed.")] = 0,
    workers: options.Workers = None,
    force: options.Force = False,
    *,
    reading: dict[str, Any],
) -> None:
    """Compare with static grids, W4M-L and GLOVE, as the paper does: random k-tuples, and whole trajectories."""
    from shoal.cli.text.sweep import comparison_lines
    from shoal.evaluate.compare import compare as run
    from shoal.storage.outputs import check_table, check_target, write_table

    if output is not None:
        check_table(output)
        check_target(output, options.inputs(events, reading), force=force)
    with TerminalProgress() as progress:
        found = run(
            events,
            ks=options.numbers(ks),
            tuples=tuples,
            drawn=drawn,
            whole_users=whole_users,
            cell=cell,
            step=step,
            **reading,
            seed=seed,
            workers=workers,
            progress=progress,
        )
    say_warnings(found.warnings)
    if output is not None:
        write_table(output, found.to_arrow())
    show("\n".join(comparison_lines(found)))
