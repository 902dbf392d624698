"""``shoal report``: an audit, and a page about it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from shoal.cli import options
from shoal.cli.terminal import TerminalProgress, say_warnings, show


@options.reads_events
def report(
    events: options.Events,
    published: options.Published,
    output: Annotated[Path, typer.Option("--output", "-o", help="The page to write, e.g. report.html.")],
    key: options.Key = None,
    public: Annotated[
        bool,
        typer.Option(
            "--public/--internal",
            help="A datasheet to publish with the data (needs --key); otherwise the page may show raw trajectories.",
        ),
    ] = False,
    k: options.AuditK = None,
    tau: options.Tau = None,
    epsilon: options.Epsilon = None,
    whole: options.Whole = False,
    cell: options.AuditCell = None,
    step: options.AuditStep = None,
    crs: options.AuditCrs = None,
    attacks: options.Attacks = 2000,
    seed: options.AuditSeed = 0,
    workers: options.Workers = None,
    force: options.Force = False,
    *,
    reading: dict[str, Any],
) -> None:
    """Audit PUBLISHED, knowing EVENTS, and write a page about it. Exit code 1: the promise is broken."""
    from shoal.cli.text.audit import report_lines
    from shoal.reporting import write_report

    with TerminalProgress() as progress:
        found = write_report(
            events,
            published,
            output,
            key=key,
            public=public,
            k=k,
            tau=tau,
            epsilon=epsilon,
            whole=whole,
            cell=cell,
            step=step,
            crs=crs,
            **reading,
            attacks=attacks,
            seed=seed,
            workers=workers,
            force=force,
            progress=progress,
        )
    say_warnings(found.warnings)
    show("\n".join(report_lines(found, output, public=public)))
    if not found.kept:
        raise typer.Exit(1)
