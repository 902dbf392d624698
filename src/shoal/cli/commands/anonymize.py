"""``shoal anonymize``: from events to a published file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from shoal.cli import options
from shoal.cli.terminal import TerminalProgress, say_warnings, show
from shoal.cli.text.anonymize import show_summary


@options.reads_events
def anonymize(
    events: options.Events,
    output: Annotated[
        Path,
        typer.Option(
            "-o",
            "--output",
            help="Published file: .parquet, .csv, .csv.gz, .geoparquet, .geojson, .geojson.gz.",
        ),
    ],
    k: Annotated[int, options.count("Hide everybody among at least k records.", "--k")],
    tau: options.Tau = None,
    epsilon: options.Epsilon = None,
    whole: options.Whole = False,
    cell: options.Cell = "100m",
    step: options.Step = "1min",
    space_weight: options.SpaceWeight = 1.0,
    selector: Annotated[
        str,
        typer.Option(
            help="How hiding sets are chosen: matching; mutual, in groups of k who all hide each other; or spectral"
            " as in the paper."
        ),
    ] = "matching",
    reuse: options.Reuse = "once",
    repair: Annotated[
        bool,
        typer.Option(
            "--repair", help="With spectral: suppress more, until everybody is hidden among k records."
        ),
    ] = False,
    key_out: Annotated[
        Path | None, typer.Option(help="Also write which record is whose (secret): .csv or .parquet.")
    ] = None,
    seed: options.Seed = 0,
    shard_size: Annotated[
        int,
        options.count(
            "Among how many users of a place and time one is hidden at most, 100 or more: fewer take less"
            " time and cost precision."
        ),
    ] = 5_000,
    harden: options.Harden = None,
    workers: options.Workers = None,
    engine: options.Engine = "threads",
    cluster: options.Cluster = None,
    resume: options.Resume = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="Refuse events with rows that cannot be used.")
    ] = False,
    force: options.Force = False,
    no_verify: Annotated[
        bool, typer.Option("--no-verify", help="Publish without checking the result first.")
    ] = False,
    json_out: Annotated[
        str | None, typer.Option("--json", help="Write the summary as JSON to a file, or - for stdout.")
    ] = None,
    *,
    reading: dict[str, Any],
) -> None:
    """Publish EVENTS so that everybody is hidden among at least k records."""
    from shoal.api import anonymize as run

    with TerminalProgress() as progress:
        published = run(
            events,
            k=k,
            tau=tau,
            epsilon=epsilon,
            whole=whole,
            cell=cell,
            step=step,
            space_weight=space_weight,
            selector=selector,
            reuse=reuse,
            repair=repair,
            **reading,
            strict=strict,
            seed=seed,
            shard_size=shard_size,
            harden=harden,
            workers=workers,
            engine=engine,
            cluster=cluster,
            output=output,
            key_out=key_out,
            summary_out=None if json_out == "-" else json_out,
            force=force,
            resume=resume,
            verify=not no_verify,
            progress=progress,
        )
    say_warnings(published.summary["warnings"])
    if json_out == "-":
        show(json.dumps(published.summary, indent=2))
    else:
        show_summary(published.summary, published.promise, published.events.grid, output)
