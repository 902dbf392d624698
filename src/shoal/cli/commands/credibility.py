"""``shoal credibility``: whether events look like people with phones."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from shoal.cli import options
from shoal.cli.terminal import TerminalProgress, say_warnings, show


@options.reads_events
def credibility(
    events: options.Events,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Page to write, with a figure of everything: .html.")
    ] = None,
    real: Annotated[
        Path | None, typer.Option(help="Events of real people to measure and draw beside; read as they come.")
    ] = None,
    cell: Annotated[
        str, typer.Option(help="What counts as one place; finer than antennas are apart.")
    ] = "100m",
    seed: Annotated[int, options.count("Other points for another seed.")] = 0,
    workers: options.Workers = None,
    force: options.Force = False,
    json_out: options.JsonFigures = None,
    *,
    reading: dict[str, Any],
) -> None:
    """Say whether EVENTS look like people with phones. Exit code 1: a statistic lies outside its band."""
    from shoal.api import assess
    from shoal.storage.outputs import as_json, check_page, check_target, write_whole
    from shoal.synthetic.credibility.text import credibility_lines

    report = options.file_of(json_out)
    given = [*options.inputs(events, reading), *([] if real is None else [real])]
    if output is not None:
        check_page(output)
        check_target(output, given, force=force)
    if report is not None:
        check_target(report, [*given, *([] if output is None else [output])], force=force)
    with TerminalProgress() as progress:
        found = assess(
            events,
            real=real,
            cell=cell,
            **reading,
            seed=seed,
            workers=workers,
            progress=progress,
        )
    say_warnings(found.warnings)
    if output is not None:
        from shoal.reporting.page.credibility import credibility_page

        write_whole(output, credibility_page(found).encode())
    if report is not None:
        write_whole(report, as_json(found.to_dict()))
    if json_out == "-":
        show(json.dumps(found.to_dict(), indent=2))
    else:
        show("\n".join(credibility_lines(found)))
    if not found.credible:
        raise typer.Exit(1)
