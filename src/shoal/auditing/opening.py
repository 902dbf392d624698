"""Events and a published file, brought together as an audit sees them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from shoal.auditing.audited_file import describe_file
from shoal.auditing.box_index import AttackedRecords, make_records
from shoal.auditing.claims import claimed_method
from shoal.auditing.context import AuditContext
from shoal.auditing.events_check import NOT_CHECKED, check_events, choose_reading
from shoal.auditing.naming import count_named
from shoal.auditing.rating import Thresholds
from shoal.auditing.record_order import follow_users
from shoal.core.boxes import UNKNOWN
from shoal.core.checks import check_workers
from shoal.core.options import AuditOptions, ReadingOptions
from shoal.core.progress import Progress
from shoal.core.promise import Promise
from shoal.core.workers import Workers
from shoal.core.zones import Zone
from shoal.errors import InputError, ParameterError
from shoal.reading import (
    PublishedTable,
    check_coordinates,
    evidence_beside,
    parse_crs,
    private_notes_beside,
    read_events,
    read_evidence,
    read_key,
    read_private_notes,
    read_published,
)

_UNNOTED = "Nothing beside the key says whether the evidence is the one that was written with it."
_CHANGED = "The published file is not, byte for byte, the one that was written with this key."


@contextmanager
def open_audit(
    events: Any, published: Any, progress: Progress, options: AuditOptions, reading: ReadingOptions
) -> Iterator[tuple[AuditContext, list[str]]]:
    """Everything an audit needs, and what there is to warn of.

    Events are read as the caller says and, where nothing is said, as private notes beside the key or the manifest say.
    """
    n_workers = check_workers(options.workers)
    progress.stage("reading")
    table = read_published(published, grid=options.grid, crs=options.crs, look_beside=True)
    promise = options.promise(table.grid) or noted_promise(table)
    noted = own_promise(table)
    method_claim = claimed_method(table.manifest, noted, (table.notes or {}).get("promise"), promise)
    plane = None if table.crs is None else parse_crs(table.crs)
    beside = private_notes_beside(options.key)
    notes = None if beside is None else read_private_notes(beside)
    how = choose_reading(reading, notes, table.manifest, events)
    found = read_events(events, grid=table.grid, options=how.options, projection=plane, threads=n_workers)
    check_coordinates(table.crs, geographic=found.projection is not None)
    events_checked = check_events(found, how, notes, table.manifest, options.key)
    own, evidence, evidence_differs = np.full(found.store.n_users, UNKNOWN, np.int64), None, False
    warnings = list(found.read_summary.all_warnings)
    key_unused = options.key is not None and len(table.names) > found.store.n_users
    if key_unused:
        read_key(options.key, found.store.users, table.names, complete=False)
        warnings.append(
            "The key was not used: there are more records than users, so no key can name all of them."
        )
    elif options.key is not None:
        own = read_key(options.key, found.store.users, table.names)
        evidence_file = evidence_beside(options.key)
        written = None if evidence_file is None or notes is None else notes.has_evidence(evidence_file)
        evidence_differs = written is False
        if evidence_file is not None and not evidence_differs:
            evidence = read_evidence(evidence_file, found.store.users, table.names, table.grid.step_s)
        if evidence is not None and written is None:
            warnings.append(_UNNOTED)
    if notes is not None and events_checked.status == NOT_CHECKED:
        warnings.append(f"The events were {events_checked.reason}, as asked for: they cannot be checked.")
    as_written = None if notes is None else notes.has_published(published)
    if as_written is False:
        warnings.append(_CHANGED)
    store, records, grid, zone = found.store, make_records(table.boxes), table.grid, Zone(found.timezone)
    manifest, metadata, carried = table.manifest, table.notes, table.carried
    n_named = count_named(table.names, store.users, own)
    in_user_order = follow_users(table.names, store.users, own, table.appearance)
    del found, table  # of a large dataset, nothing stays in memory twice
    with Workers(n_workers) as threads:
        context = AuditContext(
            store=store,
            published=AttackedRecords(records, own),
            promise=promise,
            method_claim=method_claim,
            grid=grid,
            zone=zone,
            n_attacks=options.attacks,
            seed=options.seed,
            workers=threads,
            noted=noted,
            manifest=manifest,
            notes=metadata,
            required=options.k is not None,
            tolerance=options.tolerance,
            evidence=evidence,
            evidence_differs=evidence_differs,
            as_written=as_written is True,
            events_checked=events_checked,
            thresholds=Thresholds(options.moderate, options.high),
            file=describe_file(published, records.boxes, grid, zone),
            carried=carried,
            n_named=n_named,
            in_user_order=in_user_order,
            key_unused=key_unused,
        )
        yield context, warnings


def own_promise(table: PublishedTable) -> Promise | None:
    """The promise in the file's own notes, or None."""
    try:
        return noted_promise(table)
    except InputError:
        return None


def noted_promise(table: PublishedTable) -> Promise:
    """The promise in the file's own notes; an error where there is none."""
    unknown = InputError(
        "The published file does not tell its promise: give --k with --tau and --epsilon, or with --whole."
    )
    noted = (table.notes or {}).get("promise")
    if not isinstance(noted, dict):
        raise unknown
    try:
        return Promise.from_dict(noted, table.grid)
    except ParameterError:
        raise unknown from None
