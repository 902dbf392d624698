"""The report about a release: ``facts/`` computes what it tells, ``figures/`` draws, ``page/`` writes the HTML.

``write_report`` below goes all the way from events and a published file to the page.
"""

from __future__ import annotations

import time
import warnings
from importlib.metadata import version
from pathlib import Path
from typing import Any, Unpack

from shoal.auditing.auditor import run_audit
from shoal.auditing.opening import open_audit
from shoal.auditing.published_part import published_part
from shoal.auditing.rehearsal import rehearsal_of_audit
from shoal.auditing.result import Audit
from shoal.core.compiling import compile_ahead
from shoal.core.options import AuditKeywords, AuditOptions, ReadingKeywords, ReadingOptions
from shoal.core.progress import Progress, listening
from shoal.core.settings import take_options
from shoal.publishing.outputs import Outputs
from shoal.reporting.facts import Facts
from shoal.reporting.facts.datasheet import (
    check_datasheet,
    may_be_public,
    public_audit,
    public_suppression,
)
from shoal.reporting.facts.people import follow_people
from shoal.reporting.facts.precision import measure_precision
from shoal.reporting.facts.region import region_of, sites_in
from shoal.reporting.facts.usefulness import measure_usefulness
from shoal.reporting.page.release import report_page
from shoal.storage.outputs import check_page, check_target, write_whole


class _ReportArguments(AuditKeywords, ReadingKeywords, total=False):
    """Options of write_report(): AuditOptions and ReadingOptions."""


def write_report(
    events: Any,
    published: Any,
    output: str | Path,
    *,
    public: bool = False,
    synthetic: bool = False,
    force: bool = False,
    config: str | Path | None = None,
    progress: Progress | bool | None = None,
    made_up: bool | None = None,
    **options: Unpack[_ReportArguments],
) -> Audit:
    """Audit a published file and write a page about it, in one file that loads nothing from outside (docs/report.md).

    Parameters
    ----------
    events : path or table
        The events from which the file was made.
    published : path, table or Published
        What was published.
    output : path
        The page: .html.
    public : bool
        A datasheet to publish with the data: nothing of the events but figures over many people. It needs the key, and
        the file's own promise or a stronger one; none is written about a broken promise or doubtful events, and the
        audit returned has the figures of the page. Otherwise the page may show raw trajectories of a few people.
    synthetic : bool
        Whether the people are synthetic, and need no such care.
    force : bool
        Whether a page that exists is replaced.
    config : path, optional
        A file of settings for all options that are not given.
    progress : bool or Progress, optional
        True for a bar, in notebooks and in terminals; or an object that is told of stages and steps.
    made_up : bool, optional
        The former name of ``synthetic``; goes in 0.3.
    **options
        As in audit().

    Returns
    -------
    Audit
        What the page tells.

    Raises
    ------
    InputError
        What is given cannot be used, does not belong together, or makes no datasheet.
    UnfinishedError
        The page could not be written.

    Examples
    --------
    >>> import shoal, tempfile, pathlib
    >>> events = shoal.make_city(100, seed=1)
    >>> published = shoal.anonymize(events, k=2, tau="30min", epsilon="30min")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = pathlib.Path(folder) / "report.html"
    ...     audit = shoal.write_report(events, published, page, key=published.key(), attacks=20)
    ...     page.read_text(encoding="utf-8")[:15]
    '<!doctype html>'
    """
    if made_up is not None:
        warnings.warn("made_up is now synthetic, and goes in 0.3", DeprecationWarning, stacklevel=2)
        synthetic = made_up
    given = take_options("write_report", options, config)
    target = Path(output)
    auditing, reading = AuditOptions.from_keywords(given), ReadingOptions.from_keywords(given)
    _check_output(target, [events, config, *reading.files], published, auditing.key, force=force)
    with (
        listening(progress) as told,
        open_audit(events, published, told, auditing, reading) as (context, cautions),
    ):
        if public:
            check_datasheet(context.promise, context.noted, has_key=context.published.has_key)
        compile_ahead([rehearsal_of_audit(context.parts is not None)], context.workers.count, told)
        seen = published_part(context, by_record=True) if public else context
        audit = run_audit(context, cautions, told, attacked=seen if public else None)
        if public and not may_be_public(audit):
            return audit
        if public:
            audit = public_audit(audit)
        began = time.perf_counter()
        told.stage("measuring")
        boxes = context.published.records.boxes
        region = region_of(boxes, context.grid)
        facts = Facts(
            audit=audit,
            precision=measure_precision(boxes, context.grid, context.zone, context.promise.k),
            usefulness=measure_usefulness(seen, public=public),
            region=region,
            sites=[] if public else sites_in(context, region),
            people=None if public else follow_people(context),
            suppression=public_suppression(context) if public else None,
            manifest=context.manifest if isinstance(published, (str, Path)) else None,
            version=version("shoal"),
            seconds=time.perf_counter() - began,
        )
        told.stage("drawing")
        page = report_page(facts, public=public, synthetic=synthetic)
    write_whole(target, page.encode(), force=force, mode=0o666 if public or synthetic else 0o600)
    return audit


def _check_output(target: Path, inputs: list[Any], published: Any, key: Any, *, force: bool) -> None:
    """Refuse a page that could not be written, or that would take the place of something that is read."""
    check_page(target)
    given = [Path(path) for path in inputs if isinstance(path, (str, Path))]
    secret = Path(key) if isinstance(key, (str, Path)) else None
    if isinstance(published, (str, Path)):
        given += Outputs(Path(published), secret).files
    elif secret is not None:
        given.append(secret)
    check_target(target, given, force=force)
