"""``shoal report``: an audit, and a page about it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from shoal import options
from shoal.terminal import TerminalProgress, say, show


@options.reads_events
def report(
    events: options.Events,
    published: Annotated[
        Path,
        typer.Argument(help="Published file: .parquet, .geoparquet, .csv, .csv.gz, .geojson, .geojson.gz."),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="The page to write, e.g. report.html.")],
    key: Annotated[
        Path | None, typer.Option(help="Which record is whose (secret), as anonymize wrote it.")
    ] = None,
    public: Annotated[
        bool,
        typer.Option(
            "--public/--internal",
            help="A datasheet to publish with the data; otherwise the page may show raw trajectories.",
        ),
    ] = False,
    k: Annotated[
        int | None,
        typer.Option(
            "--k", parser=options.whole_number, metavar="N", help="The promise, if not the file's own."
        ),
    ] = None,
    tau: options.Tau = None,
    epsilon: options.Epsilon = None,
    whole: options.Whole = False,
    cell: Annotated[str | None, typer.Option(help="Cell of a file that does not tell it.")] = None,
    step: Annotated[str | None, typer.Option(help="Time step of a file that does not tell it.")] = None,
    crs: Annotated[
        str | None, typer.Option(help="Coordinate system of a file that does not tell it, e.g. EPSG:3035.")
    ] = None,
    attacks: Annotated[
        int,
        typer.Option(parser=options.whole_number, metavar="N", help="How many attacks to draw of each kind."),
    ] = 2000,
    seed: Annotated[
        int, typer.Option(parser=options.whole_number, metavar="N", help="Other attacks for another seed.")
    ] = 0,
    workers: options.Workers = None,
    force: options.Force = False,
    *,
    reading: dict[str, Any],
) -> None:
    """Audit PUBLISHED, knowing EVENTS, and write a page about it. Exit code 1: the promise is broken."""
    from shoal.reporting import write_report

    with TerminalProgress() as progress:
        found = write_report(
            events,
            published,
            output,
            key=key,
            public=public,
            k=k,
            tau=tau,
            epsilon=epsilon,
            whole=whole,
            cell=cell,
            step=step,
            crs=crs,
            **reading,
            attacks=attacks,
            seed=seed,
            workers=workers,
            force=force,
            progress=progress,
        )
    for warning in found.warnings:
        say(f"Warning: {warning}")
    show(f"{found.verdict.headline}.")
    if public and not found.kept:
        show("No datasheet was written: a file that breaks its promise must not be published.")
    else:
        show(f"Look at {output}" + ("." if public else ": internal, it shows raw data."))
    if not found.kept:
        raise typer.Exit(1)
