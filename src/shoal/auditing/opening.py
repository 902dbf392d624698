"""Events and a published file, brought together as an audit sees them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from shoal.auditing.audited_file import describe_file
from shoal.auditing.audited_parts import AuditedParts, cut_samples, period_of_records
from shoal.auditing.box_index import AttackedRecords, make_records
from shoal.auditing.claims import claimed_method
from shoal.auditing.context import AuditContext
from shoal.auditing.events_check import NOT_CHECKED, check_events, choose_reading
from shoal.auditing.naming import count_named
from shoal.auditing.rating import Thresholds
from shoal.auditing.record_order import follow_users, tie_parts
from shoal.core.arrays import Int64s
from shoal.core.boxes import NONE, UNKNOWN
from shoal.core.checks import check_workers
from shoal.core.formatting import duration
from shoal.core.options import AuditOptions, ReadingOptions
from shoal.core.period_text import parse_period
from shoal.core.periods import Renaming
from shoal.core.progress import Progress
from shoal.core.promise import Promise
from shoal.core.schema import SITE
from shoal.core.workers import Workers
from shoal.core.zones import Zone
from shoal.errors import InputError, ParameterError
from shoal.reading import (
    HidingEvidence,
    PublishedTable,
    check_coordinates,
    evidence_beside,
    parse_crs,
    private_notes_beside,
    read_events,
    read_evidence,
    read_key,
    read_parts_key,
    read_private_notes,
    read_published,
)
from shoal.storage.sample_store import SampleStore

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
    warnings, evidence, evidence_differs = list(found.read_summary.all_warnings), None, False
    renaming = _renaming(table, options, found.timezone)
    if renaming is None:
        whose = _whose_records(table, found.store, options.key)
    else:
        table, whose = _whose_parts(table, found.store, options.key, renaming, promise)
    if whose.key_unused:
        warnings.append(
            "The key was not used: there are more records than users"
            f"{'' if renaming is None else ' in a period'}, so no key can name all of them."
        )
    elif options.key is not None:
        evidence_file = evidence_beside(options.key)
        written = None if evidence_file is None or notes is None else notes.has_evidence(evidence_file)
        evidence_differs = written is False
        if evidence_file is not None and not evidence_differs:
            evidence = read_evidence(evidence_file, found.store.users, table.names, table.grid.step_s)
            evidence = _of_parts(evidence, whose.parts)
        if evidence is not None and written is None:
            warnings.append(_UNNOTED)
    if notes is not None and events_checked.status == NOT_CHECKED:
        warnings.append(f"The events were {events_checked.reason}, as asked for: they cannot be checked.")
    as_written = None if notes is None else notes.has_published(published)
    if as_written is False:
        warnings.append(_CHANGED)
    records, grid, zone = make_records(table.boxes), table.grid, Zone(found.timezone)
    manifest, metadata, carried = table.manifest, table.notes, table.carried
    store, own, parts, key_unused = whose
    known = found.store.users if (own == UNKNOWN).all() else store.users
    n_named = count_named(table.names, known, own)
    in_user_order = follow_users(table.names, store.users, own, table.appearance)
    ties = False if parts is None else tie_parts(table.names, own, table.appearance, parts)
    by_site, naive = SITE in found.read_summary.columns_used, found.read_summary.naive
    del found, table, whose  # of a large dataset, nothing stays in memory twice
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
            parts=parts,
            parts_tied=ties,
            by_site=by_site,
            naive=naive,
        )
        yield context, warnings


class _Whose(NamedTuple):
    """Samples with their users, whose record is which, and what parts the users are where records get new names."""

    store: SampleStore
    own: Int64s
    parts: AuditedParts | None
    key_unused: bool


def _whose_records(table: PublishedTable, store: SampleStore, key: Any) -> _Whose:
    """One record for every user at most."""
    own = np.full(store.n_users, UNKNOWN, np.int64)
    if key is None:
        return _Whose(store, own, None, key_unused=False)
    unused = len(table.names) > store.n_users
    found = read_key(key, store.users, table.names, complete=not unused)
    return _Whose(store, own if unused else found, None, unused)


def _whose_parts(
    table: PublishedTable, people: SampleStore, key: Any, renaming: Renaming, promise: Promise
) -> tuple[PublishedTable, _Whose]:
    """The table with its records numbered by period; and one record at most for every user in every period."""
    slots = people.slots
    periods = renaming.periods(int(slots[0]), int(slots[-1]), promise, table.grid)
    period, n_living_on = period_of_records(table.boxes, len(table.names), periods)
    order = np.argsort(period, kind="stable")
    number = np.empty(len(order), np.int32)
    number[order] = np.arange(len(order), dtype=np.int32)
    table = replace(
        table,
        boxes=table.boxes._replace(owner=number[table.boxes.owner]),
        names=table.names[order],
        appearance=table.appearance[order] if len(table.appearance) else table.appearance,
    )
    store, person, period_of_user = cut_samples(people, periods)
    parts = AuditedParts(
        person, period_of_user, periods, people.n_users, period[order], people, renaming, n_living_on
    )
    own = np.full(store.n_users, UNKNOWN, np.int64)
    if key is None:
        return table, _Whose(store, own, parts, key_unused=False)
    keyed = read_parts_key(key, people.users, table.names, complete=not parts.n_surplus)
    if parts.n_surplus:
        return table, _Whose(store, own, parts, key_unused=True)
    first = np.full(len(table.names), np.iinfo(np.int64).max)
    np.minimum.at(first, keyed.record, keyed.part)
    if len(np.unique(first - parts.record_period)) > 1:
        told = (table.notes or {}).get("periods") is not None
        raise InputError(
            "The key numbers parts otherwise than the periods of the file: give the key of this release"
            f"{'' if told else ', and the --rename-every and --timezone with which it was made'}."
        )
    user = parts.find_users(keyed.user, parts.record_period[keyed.record])
    absent = int(np.count_nonzero(user < 0))
    if absent:
        raise InputError(
            f"The key names {absent:,} of {len(user):,} parts of users who have no events in that period: give the key"
            " and the events of this release, with the same --from, --to and --exclude-users."
        )
    own[:] = NONE
    own[user] = keyed.record
    return table, _Whose(store, own, parts, key_unused=False)


def _renaming(table: PublishedTable, options: AuditOptions, timezone: str) -> Renaming | None:
    """How often the records of a file get new names: as it says, or as whoever audits says of a file that does not."""
    try:
        noted = Renaming.from_dict((table.notes or {}).get("periods"))
    except ParameterError:
        raise InputError(
            "The published file tells of periods that are none: expected rename_every_s and a timezone, as shoal writes"
            " them; publish it again."
        ) from None
    if options.rename_every is None:
        return noted
    asked = parse_period(options.rename_every)
    if noted is not None and asked != noted.every_s:
        raise InputError(
            f"The published file gives records new names every {duration(noted.every_s)}, got --rename-every"
            f" {options.rename_every}: leave it out."
        )
    return noted if noted is not None or asked is None else Renaming(asked, timezone)


def _of_parts(evidence: HidingEvidence, parts: AuditedParts | None) -> HidingEvidence:
    """Evidence with parts as users: a record holds what its member did in its own period, if anything."""
    if parts is None:
        return evidence
    user = parts.find_users(evidence.user, parts.record_period[evidence.record])
    return evidence.only(user >= 0)._replace(user=user[user >= 0].astype(np.int32))


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
