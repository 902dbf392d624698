"""``shoal plan``: what releases would cost, before they are made."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from shoal.cli import options
from shoal.cli.terminal import TerminalProgress, say_warnings, show


@options.reads_events
def plan(
    events: options.Events,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Figure to write: .svg or .png.")
    ] = None,
    ks: options.Ks = "2,3,5",
    taus: Annotated[str, typer.Option(metavar="LIST", help="Values of tau.")] = "30min,1h,2h",
    epsilons: options.Epsilons = "30min",
    cell: options.Cell = "100m",
    step: options.Step = "1min",
    space_weight: options.SpaceWeight = 1.0,
    reuse: options.Reuse = "once",
    harden: options.Harden = None,
    seed: options.Seed = 0,
    workers: options.Workers = None,
    force: options.Force = False,
    json_out: options.JsonFigures = None,
    *,
    reading: dict[str, Any],
) -> None:
    """Foretell what releases of EVENTS would cost, for every k, tau and epsilon, from a part of the time."""
    from shoal.cli.text.plan import advice, plan_lines
    from shoal.evaluate.plan.planning import plan as run
    from shoal.storage.outputs import as_json, check_target, write_whole

    report = options.file_of(json_out)
    given = options.inputs(events, reading)
    if output is not None:
        from shoal.reporting.figures.sweep import check_figure

        check_figure(output)
        check_target(output, given, force=force)
    if report is not None:
        check_target(report, [*given, *([] if output is None else [output])], force=force)
    with TerminalProgress() as progress:
        found = run(
            events,
            ks=options.numbers(ks),
            taus=options.listed(taus),
            epsilons=options.listed(epsilons),
            cell=cell,
            step=step,
            space_weight=space_weight,
            reuse=reuse,
            harden=harden,
            **reading,
            seed=seed,
            workers=workers,
            progress=progress,
        )
    say_warnings(found.warnings)
    if output is not None:
        from shoal.reporting.figures.sweep import write_plan

        write_plan(found, output)
    content = {**found.to_dict(), "advice": advice(found.forecasts)}
    if report is not None:
        write_whole(report, as_json(content))
    show(json.dumps(content, indent=2) if json_out == "-" else "\n".join(plan_lines(found)))
