"""``shoal audit``: attack a published file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from shoal import options
from shoal.terminal import TerminalProgress, say, show


@options.reads_events
def audit(
    events: options.Events,
    published: Annotated[
        Path,
        typer.Argument(help="Published file: .parquet, .geoparquet, .csv, .csv.gz, .geojson, .geojson.gz."),
    ],
    k: Annotated[
        int | None,
        typer.Option(
            "--k",
            parser=options.whole_number,
            metavar="N",
            help="The promise to hold the file to; with --tau and --epsilon, or --whole. The file's own unless given.",
        ),
    ] = None,
    tau: options.Tau = None,
    epsilon: options.Epsilon = None,
    whole: options.Whole = False,
    key: Annotated[
        Path | None, typer.Option(help="Which record is whose (secret), as anonymize wrote it.")
    ] = None,
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
    show_users: Annotated[
        bool, typer.Option("--show-users", help="Name the users of counterexamples; they are secret.")
    ] = False,
    workers: options.Workers = None,
    engine: options.Engine = "threads",
    cluster: options.Cluster = None,
    force: options.Force = False,
    json_out: Annotated[
        str | None, typer.Option("--json", help="Write everything as JSON to a file, or - for stdout.")
    ] = None,
    *,
    reading: dict[str, Any],
) -> None:
    """Attack PUBLISHED, knowing EVENTS, and say what is and is not protected. Exit code 1: the promise is broken."""
    from shoal.api import audit as run
    from shoal.outputs import Outputs, as_json, check_target, write_whole
    from shoal.telling import audit_lines

    report = None if json_out in (None, "-") else Path(json_out or "")
    if report is not None:
        given = [*options.inputs(events, reading), published, Outputs(published).manifest, key]
        check_target(report, [path for path in given if path is not None], force=force)
    with TerminalProgress() as progress:
        found = run(
            events,
            published,
            k=k,
            tau=tau,
            epsilon=epsilon,
            whole=whole,
            key=key,
            cell=cell,
            step=step,
            crs=crs,
            **reading,
            attacks=attacks,
            seed=seed,
            workers=workers,
            engine=engine,
            cluster=cluster,
            progress=progress,
        )
    for warning in found.warnings:
        say(f"Warning: {warning}")
    content = found.to_dict(show_users=show_users)
    if report is not None:
        write_whole(report, as_json(content), mode=0o600 if show_users else 0o666)
    if json_out == "-":
        show(json.dumps(content, indent=2))
    else:
        show("\n".join(audit_lines(found, published, show_users=show_users)))
    if not found.kept:
        raise typer.Exit(1)
