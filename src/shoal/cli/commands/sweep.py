"""``shoal sweep``: what many promises cost."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from shoal.cli import options
from shoal.cli.options import option, options_from
from shoal.cli.terminal import TerminalProgress, say_warnings, show
from shoal.core.options import NOT_EVALUATED, HidingOptions


@options.command(
    options.EVENTS,
    options.output("Folder for the numbers (Parquet, CSV) and figures (SVG, PNG)."),
    option(
        "--over",
        metavar="NAMES",
        help="What varies: tau, k, epsilon; hours: a week, hour by hour.",
        default="tau,k,epsilon,hours",
    ),
    option("--k", kind=int, help="k where it does not vary.", default=2),
    option(
        "--tau", help="tau where it does not vary; epsilon is the same unless it varies.", default="30min"
    ),
    options.listed("--ks", "Values of k.", "2,3,5,8"),
    options.listed("--taus", "Values of tau, each with epsilon = tau.", "10min,20min,30min,1h,2h,4h"),
    options.listed(
        "--epsilons",
        "Values of epsilon, which must divide tau: tau, its half and its third unless given.",
        None,
    ),
    options.listed(
        "--selectors",
        "How hiding sets are chosen, side by side: matching, mutual, spectral. The first and the last unless given"
        " (spectral where scikit-learn is installed).",
        None,
    ),
    options.GRID,
    options_from(HidingOptions, without=NOT_EVALUATED),
    options.WORKERS,
    options.RESUME,
    options.FORCE,
    options.READING,
)
def sweep(
    events: Any,
    output: Path,
    over: str,
    ks: str,
    taus: str,
    epsilons: str | None,
    selectors: str | None,
    force: bool,
    **keywords: Any,
) -> None:
    """Measure precision and suppression under many promises: versus tau, k and epsilon, and over a week."""
    from shoal.cli.text.sweep import sweep_lines
    from shoal.evaluate.sweep import checkpoint_of, remove
    from shoal.evaluate.sweep import sweep as run
    from shoal.reporting.figures.sweep import write_sweep
    from shoal.storage.outputs import check_folder

    check_folder(output, options.input_files(events, keywords), force=force)
    checkpoint = checkpoint_of(output)
    with TerminalProgress() as progress:
        found = run(
            events,
            over=options.parts_of(over),
            ks=options.numbers_of(ks),
            taus=options.parts_of(taus),
            epsilons=None if epsilons is None else options.parts_of(epsilons),
            selectors=None if selectors is None else options.parts_of(selectors),
            checkpoint=checkpoint,
            progress=progress,
            **keywords,
        )
    say_warnings(found.warnings)
    files = write_sweep(found, output)
    remove(checkpoint)
    show("\n".join(sweep_lines(found)))
    show(f"\n{len(files)} files in {output}")
