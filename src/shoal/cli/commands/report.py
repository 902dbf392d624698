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
    options.READING,
)
def report(events: Any, published: Path, output: Path, public: bool, **keywords: Any) -> int:
    """Audit PUBLISHED, knowing EVENTS, and write a page about it. Exit codes are those of shoal audit."""
    from shoal.cli.text.audit import report_lines
    from shoal.reporting import write_report

    with TerminalProgress() as progress:
        found = write_report(events, published, output, public=public, progress=progress, **keywords)
    say_warnings(found.warnings)
    show("\n".join(report_lines(found, output, public=public)))
    return found.exit_code
