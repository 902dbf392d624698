"""``shoal anonymize``: from events to a published file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from shoal.cli import options
from shoal.cli.options import option, options_from
from shoal.cli.terminal import TerminalProgress, say_warnings, show
from shoal.cli.text.anonymize import show_summary
from shoal.core.options import HidingOptions, PromiseOptions


@options.command(
    options.EVENTS,
    options.output("Published file: .parquet, .csv, .csv.gz, .geoparquet, .geojson, .geojson.gz."),
    options_from(PromiseOptions),
    options_from(HidingOptions),
    option("--key-out", kind=Path, help="Also write which record is whose (secret): .csv or .parquet."),
    options.WORKERS,
    options.ENGINE,
    options.CLUSTER,
    options.RESUME,
    option("--strict", kind=bool, help="Refuse events with rows that cannot be used."),
    options.FORCE,
    option("--no-verify", kind=bool, help="Publish without checking the result first."),
    option("--no-evidence", kind=bool, help="Write no evidence of who hides whom beside the key."),
    options.json_output("Write the summary as JSON to a file, or - for stdout."),
    options.settings_options("anonymize"),
    options.READING,
)
def anonymize(
    events: Any, output: Path, no_verify: bool, no_evidence: bool, json_out: str | None, **keywords: Any
) -> None:
    """Publish EVENTS so that everybody is hidden among at least k records."""
    from shoal.core.engines import check_cluster, cluster_warnings

    check_cluster(keywords["cluster"])
    from shoal.api import anonymize as run

    say_warnings(cluster_warnings(keywords["cluster"]))
    with TerminalProgress() as progress:
        published = run(
            events,
            output=output,
            summary_out=options.json_file(json_out),
            verify=not no_verify,
            evidence=not no_evidence,
            progress=progress,
            **keywords,
        )
    say_warnings([*published.events.read_summary.losses, *published.summary["warnings"]])
    if json_out == "-":
        show(json.dumps(published.summary, indent=2))
    else:
        show_summary(published.summary, published.promise, published.events.grid, output)
