"""``shoal credibility``: whether events look like people with phones."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from shoal.cli import options
from shoal.cli.options import option
from shoal.cli.terminal import TerminalProgress, say_warnings, show


@options.command(
    options.EVENTS,
    options.output("Page to write, with a figure of everything: .html.", required=False),
    option("--real", kind=Path, help="Events of real people to measure and draw beside; read as they come."),
    option("--cell", help="What counts as one place; finer than antennas are apart.", default="100m"),
    option("--seed", kind=int, help="Other points for another seed.", default=0),
    options.WORKERS,
    options.FORCE,
    options.json_output(),
    options.READING,
)
def credibility(
    events: Any, output: Path | None, real: Path | None, force: bool, json_out: str | None, **keywords: Any
) -> int:
    """Say whether EVENTS look like people with phones. Exit code 1: a statistic lies outside its band."""
    from shoal.api import assess
    from shoal.storage.outputs import as_json, check_page, check_target, write_whole
    from shoal.synthetic.credibility.text import credibility_lines

    report = options.json_file(json_out)
    given = [*options.input_files(events, keywords), *([] if real is None else [real])]
    if output is not None:
        check_page(output)
        check_target(output, given, force=force)
    if report is not None:
        check_target(report, [*given, *([] if output is None else [output])], force=force)
    with TerminalProgress() as progress:
        found = assess(events, real=real, progress=progress, **keywords)
    say_warnings(found.warnings)
    if output is not None:
        from shoal.reporting.page.credibility import credibility_page

        write_whole(output, credibility_page(found).encode(), force=force)
    if report is not None:
        write_whole(report, as_json(found.to_dict()), force=force)
    if json_out == "-":
        show(json.dumps(found.to_dict(), indent=2))
    else:
        show("\n".join(credibility_lines(found)))
    return 0 if found.credible else 1
