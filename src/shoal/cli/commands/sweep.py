"""``shoal sweep``: what many promises cost."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from shoal.cli import options
from shoal.cli.terminal import TerminalProgress, say_warnings, show


@options.reads_events
def sweep(
    events: options.Events,
    output: Annotated[
        Path,
        typer.Option("-o", "--output", help="Folder for the numbers (Parquet, CSV) and figures (SVG, PNG)."),
    ],
    over: Annotated[
        str, typer.Option(metavar="NAMES", help="What varies: tau, k, epsilon; hours: a week, hour by hour.")
    ] = "tau,k,epsilon,hours",
    k: Annotated[int, options.count("k where it does not vary.")] = 2,
    tau: Annotated[
        str, typer.Option(help="tau where it does not vary; epsilon is the same unless it varies.")
    ] = "30min",
    ks: options.Ks = "2,3,5,8",
    taus: Annotated[
        str, typer.Option(metavar="LIST", help="Values of tau, each with epsilon = tau.")
    ] = "10min,20min,30min,1h,2h,4h",
    epsilons: options.Epsilons = "10min,15min,30min,1h,2h",
    selectors: Annotated[
        str | None,
        typer.Option(
            metavar="LIST",
            help="How hiding sets are chosen, side by side: matching, mutual, spectral. The first and the last unless"
            " given (spectral where scikit-learn is installed).",
        ),
    ] = None,
    cell: options.Cell = "100m",
    step: options.Step = "1min",
    space_weight: options.SpaceWeight = 1.0,
    reuse: options.Reuse = "once",
    seed: options.Seed = 0,
    workers: options.Workers = None,
    resume: options.Resume = False,
    force: options.Force = False,
    *,
    reading: dict[str, Any],
) -> None:
    """Measure precision and suppression under many promises: versus tau, k and epsilon, and over a week."""
    from shoal.cli.text.sweep import sweep_lines
    from shoal.evaluate.sweep import checkpoint_of, remove
    from shoal.evaluate.sweep import sweep as run
    from shoal.reporting.figures.sweep import write_sweep
    from shoal.storage.outputs import check_folder

    check_folder(output, options.inputs(events, reading), force=force)
    checkpoint = checkpoint_of(output)
    with TerminalProgress() as progress:
        found = run(
            events,
            over=options.listed(over),
            k=k,
            tau=tau,
            ks=options.numbers(ks),
            taus=options.listed(taus),
            epsilons=options.listed(epsilons),
            selectors=None if selectors is None else options.listed(selectors),
            cell=cell,
            step=step,
            space_weight=space_weight,
            reuse=reuse,
            **reading,
            seed=seed,
            workers=workers,
            checkpoint=checkpoint,
            resume=resume,
            progress=progress,
        )
    say_warnings(found.warnings)
    files = write_sweep(found, output)
    remove(checkpoint)
    show("\n".join(sweep_lines(found)))
    show(f"\n{len(files)} files in {output}")
