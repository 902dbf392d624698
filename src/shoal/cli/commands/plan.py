"""``shoal plan``: what releases would cost, before they are made."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.cli import options
from shoal.cli.next_command import command_lines, file_word, given_again
from shoal.cli.options import options_from
from shoal.cli.terminal import TerminalProgress, say_warnings, show
from shoal.core.evaluation_options import NOT_EVALUATED, PlanOptions
from shoal.core.options import HidingOptions, PromiseOptions, ReadingOptions

if TYPE_CHECKING:
    from shoal.evaluate.plan.planning import Plan


@options.command(
    options.EVENTS,
    options.output("Figure to write: .svg or .png.", required=False),
    options_from(PlanOptions),
    options.GRID,
    options_from(HidingOptions, without=NOT_EVALUATED),
    options.WORKERS,
    options.FORCE,
    options.json_output(),
    options.settings_options("plan"),
    options.READING,
)
def plan(
    events: Any,
    output: Path | None,
    force: bool,
    json_out: str | None,
    save_config: Path | None,
    **keywords: Any,
) -> None:
    """Forecast what releases of EVENTS would cost, for every k, tau and epsilon, from a part of the time."""
    from shoal.cli.text.plan import advice, names_advice, plan_lines, recommendation, whole_parts_advice
    from shoal.evaluate.plan.planning import plan as run
    from shoal.storage.outputs import as_json, check_target, write_whole

    report = options.json_file(json_out)
    given = options.input_files(events, keywords)
    if output is not None:
        from shoal.reporting.figures.sweep import check_figure

        check_figure(output)
        check_target(output, given, force=force)
    if report is not None:
        check_target(report, [*given, *([] if output is None else [output])], force=force)
    options.check_saving(save_config, [*given, output, report], force=force)
    with TerminalProgress() as progress:
        found = run(events, progress=progress, **keywords)
    say_warnings(found.warnings)
    if output is not None:
        from shoal.reporting.figures.sweep import write_plan

        write_plan(found, output)
    content = {
        **found.to_dict(),
        "advice": [
            *advice(found.forecasts),
            *names_advice(found.fitting_periods),
            *whole_parts_advice(found),
            *recommendation(found),
        ],
    }
    if report is not None:
        write_whole(report, as_json(content), force=force)
    options.save_settings(save_config, "plan", keywords)
    if json_out == "-":
        show(json.dumps(content, indent=2))
        return
    show("\n".join(plan_lines(found, _next_command(events, found))))
    for path, what in ((output, "The figure"), (report, "All figures")):
        if path is not None:
            show(f"\n{what}: {path.name}")


def _next_command(events: object, found: Plan) -> list[str]:
    """How to make the release that is recommended."""
    chosen = found.recommended
    if chosen is None:
        return []
    words = ["shoal", "anonymize", file_word(events), "-o", "published.parquet", "--key-out", "key.parquet"]
    words += ["--k", str(chosen.k), "--tau", chosen.tau, "--epsilon", chosen.epsilon]
    words += [] if chosen.rename_every is None else ["--rename-every", chosen.rename_every]
    again = given_again(ReadingOptions, HidingOptions, PromiseOptions, without=("k", "tau", "epsilon"))
    return command_lines([*words, *again])
