"""``shoal audit``: attack a published file."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer

from shoal.cli import options
from shoal.cli.terminal import TerminalProgress, say_warnings, show


@options.reads_events
def audit(
    events: options.Events,
    published: options.Published,
    k: options.AuditK = None,
    tau: options.Tau = None,
    epsilon: options.Epsilon = None,
    whole: options.Whole = False,
    key: options.Key = None,
    cell: options.AuditCell = None,
    step: options.AuditStep = None,
    crs: options.AuditCrs = None,
    attacks: options.Attacks = 2000,
    seed: options.AuditSeed = 0,
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
    from shoal.cli.text.audit import audit_lines
    from shoal.publishing.outputs import Outputs
    from shoal.storage.outputs import as_json, check_target, write_whole

    report = options.file_of(json_out)
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
    say_warnings(found.warnings)
    content = found.to_dict(show_users=show_users)
    if report is not None:
        write_whole(report, as_json(content), mode=0o600 if show_users else 0o666)
    if json_out == "-":
        show(json.dumps(content, indent=2))
    else:
        show("\n".join(audit_lines(found, published, show_users=show_users)))
    if not found.kept:
        raise typer.Exit(1)
