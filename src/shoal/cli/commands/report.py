"""``shoal report``: an audit, and a page about it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from shoal.cli import options
from shoal.cli.options import option, options_from
from shoal.cli.terminal import TerminalProgress, say_warnings, show
from shoal.core.options import AuditOptions


@options.command(
    options.EVENTS,
    options.PUBLISHED,
    options.output("The page to write, e.g. report.html."),
    option(
        "--public/--internal",
        kind=bool,
        help="A datasheet to publish with the data (needs --key); otherwise the page may show raw trajectories.",
    ),
    options_from(AuditOptions),
    options.FORCE,
    options.settings_options("write_report"),
    options.READING,
)
def report(
    events: Any,
    published: Path,
    output: Path,
    public: bool,
    force: bool,
    save_config: Path | None,
    **keywords: Any,
) -> int:
    """Audit PUBLISHED, knowing EVENTS, and write a page about it. Exit codes are those of shoal audit."""
    from shoal.cli.text.audit import report_lines
    from shoal.publishing.outputs import Outputs
    from shoal.reporting import write_report

    read = [*options.input_files(events, keywords), *Outputs(published, keywords["key"]).files]
    options.check_saving(save_config, [*read, output], force=force)
    with TerminalProgress() as progress:
        found = write_report(
            events, published, output, public=public, force=force, progress=progress, **keywords
        )
    options.save_settings(save_config, "write_report", keywords)
    say_warnings(found.warnings)
    show("\n".join(report_lines(found, output, public=public)))
    return found.exit_code
