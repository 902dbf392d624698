"""``shoal anonymize``: from events to a published file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.cli import options
from shoal.cli.next_command import command_lines, file_word, given_again
from shoal.cli.options import option, options_from
from shoal.cli.terminal import TerminalProgress, say_warnings, show
from shoal.cli.text.anonymize import show_summary
from shoal.core.options import HidingOptions, PromiseOptions, ReadingOptions

if TYPE_CHECKING:
    from shoal.publishing.outputs import Outputs


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
    from shoal.publishing.outputs import Outputs

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
        written = Outputs(
            output,
            keywords["key_out"],
            options.json_file(json_out),
            with_evidence=not no_evidence,
            settings=keywords["save_config"],
        )
        show_summary(published.summary, published.promise, published.events.grid, written)
        show("\n".join(["", "Next, see what attackers would find:", *_next_command(events, written)]))


def _next_command(events: object, written: Outputs) -> list[str]:
    """How to make a report; private notes beside the key tell how the events were read."""
    words = ["shoal", "report", file_word(events), file_word(written.published)]
    words += given_again(ReadingOptions) if written.key is None else ["--key", file_word(written.key)]
    return command_lines([*words, "-o", "report.html"])
