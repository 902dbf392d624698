"""``shoal check``: what events are, before anything else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from shoal.cli import options
from shoal.cli.options import option
from shoal.cli.terminal import TerminalProgress, show
from shoal.errors import InputError


@options.command(
    options.EVENTS,
    option("--all-rows", kind=bool, help="Read all rows of large events, too, not only a sample."),
    options.GRID,
    options.WORKERS,
    options.FORCE,
    options.json_output(),
    options.settings_options("check"),
    options.READING,
)
def check(events: Any, force: bool, json_out: str | None, save_config: Path | None, **keywords: Any) -> int:
    """Look at EVENTS before anything else: columns, times, users, what is wrong, what to do, what to run next.

    Nothing shown names a person or a place. Exit code 2: the events cannot be used as they are.
    """
    from shoal.cli.text.check import check_lines
    from shoal.evaluate.check.checking import check as run
    from shoal.storage.outputs import as_json, check_target, write_whole

    report = options.json_file(json_out)
    given = options.input_files(events, keywords)
    if report is not None:
        check_target(report, given, force=force)
    options.check_saving(save_config, [*given, report], force=force)
    with TerminalProgress() as progress:
        found = run(events, progress=progress, **keywords)
    if report is not None:
        write_whole(report, as_json(found.to_dict()))
    options.save_settings(save_config, "check", keywords)
    show(json.dumps(found.to_dict(), indent=2) if json_out == "-" else "\n".join(check_lines(found)))
    return 0 if found.usable else InputError.exit_code
