"""``shoal audit``: attack a published file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from shoal.cli import options
from shoal.cli.options import option, options_from
from shoal.cli.terminal import TerminalProgress, say_warnings, show
from shoal.core.options import AuditOptions


@options.command(
    options.EVENTS,
    options.PUBLISHED,
    options_from(AuditOptions),
    option("--show-users", kind=bool, help="Name the users of counterexamples; they are secret."),
    options.ENGINE,
    options.CLUSTER,
    options.FORCE,
    options.json_output("Write everything as JSON to a file, or - for stdout."),
    options.settings_options("audit"),
    options.READING,
)
def audit(
    events: Any,
    published: Path,
    show_users: bool,
    force: bool,
    json_out: str | None,
    save_config: Path | None,
    **keywords: Any,
) -> int:
    """Attack PUBLISHED, knowing EVENTS, and say what is and is not protected.

    Exit code 1: the promise is broken, or weakened by more than --tolerance says; 4: part of what --k requires was not
    checked, the file claims nearly nothing, or the events may have been read otherwise than for the release.
    """
    from shoal.core.engines import check_cluster, cluster_warnings

    check_cluster(keywords["cluster"])
    from shoal.api import audit as run
    from shoal.cli.text.audit import audit_lines
    from shoal.publishing.outputs import Outputs
    from shoal.storage.outputs import as_json, check_target, write_whole

    report = options.json_file(json_out)
    read = [*options.input_files(events, keywords), *Outputs(published, keywords["key"]).files]
    if report is not None:
        check_target(report, read, force=force)
    options.check_saving(save_config, [*read, report], force=force)
    say_warnings(cluster_warnings(keywords["cluster"]))
    with TerminalProgress() as progress:
        found = run(events, published, progress=progress, **keywords)
    say_warnings(found.warnings)
    content = found.to_dict(show_users=show_users)
    if report is not None:
        write_whole(report, as_json(content), force=force, mode=0o600 if show_users else 0o666)
    options.save_settings(save_config, "audit", keywords)
    if json_out == "-":
        show(json.dumps(content, indent=2))
    else:
        show("\n".join(audit_lines(found, published, show_users=show_users)))
    return found.exit_code
