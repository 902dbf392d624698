"""Events and a published file, brought together as an audit sees them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Unpack

import numpy as np

from shoal.auditing.box_index import AttackedRecords, make_records
from shoal.auditing.claims import claimed_method
from shoal.auditing.context import AuditContext
from shoal.core.boxes import UNKNOWN
from shoal.core.checks import check_count, check_workers
from shoal.core.progress import Progress
from shoal.core.promise import Grid, Promise
from shoal.core.signatures import options_of, takes
from shoal.core.workers import Workers
from shoal.core.zones import Zone
from shoal.errors import InputError, ParameterError
from shoal.reading import (
    PublishedTable,
    check_coordinates,
    parse_crs,
    read_events,
    read_key,
    read_published,
)
from shoal.reading.options import READING, ReadingOptions, check_reading

_MOST_ATTACKS = 1_000_000


class AuditOptions(ReadingOptions, total=False):
    """Options of every function that audits, beside those with which the events were read."""

    k: (
        int | None
    )  # the promise to hold the file to, with tau and epsilon, or whole; the one it notes unless given
    tau: str | None
    epsilon: str | None
    whole: bool
    key: Any  # which record is whose, a path or a table; what needs it is not checked without
    cell: str | None  # with step, the grid of a file that does not tell its own
    step: str | None
    crs: str | None  # the coordinate system of a file that does not tell its own
    attacks: int  # how many are drawn of each kind
    seed: int  # other attacks for another
    workers: int | None  # threads; all cores unless given


@takes(READING)
@contextmanager
def open_audit(
    events: Any,
    published: Any,
    progress: Progress,
    *,
    k: int | None = None,
    tau: str | None = None,
    epsilon: str | None = None,
    whole: bool = False,
    key: Any = None,
    cell: str | None = None,
    step: str | None = None,
    crs: str | None = None,
    attacks: int = 2000,
    seed: int = 0,
    workers: int | None = None,
    **reading: Unpack[ReadingOptions],
) -> Iterator[tuple[AuditContext, list[str]]]:
    """Everything an audit needs, and what there is to warn of; the options are AuditOptions."""
    n_workers = check_workers(workers)
    n_attacks = check_count(attacks, "attacks", least=1, most=_MOST_ATTACKS)
    seed = check_count(seed, "seed", least=0)
    given = given_grid(cell, step)
    how = check_reading(reading)
    progress.stage("reading")
    table = read_published(published, grid=given, crs=crs)
    promise = given_promise(k, tau, epsilon, whole, table.grid) or noted_promise(table)
    noted = own_promise(table)
    method_claim = claimed_method(table.manifest, noted, (table.notes or {}).get("promise"), promise)
    plane = None if table.crs is None else parse_crs(table.crs)
    found = read_events(events, grid=table.grid, projection=plane, threads=n_workers, **how)
    check_coordinates(table.crs, geographic=found.projection is not None)
    own = np.full(found.store.n_users, UNKNOWN, np.int64)
    if key is not None:
        own = read_key(key, found.store.users, table.names)
    warnings = found.read_summary.all_warnings
    store, records, grid, zone = found.store, make_records(table.boxes), table.grid, Zone(found.timezone)
    manifest = table.manifest
    del found, table  # of a large dataset, nothing stays in memory twice
    with Workers(n_workers) as threads:
        context = AuditContext(
            store=store,
            published=AttackedRecords(records, own),
            promise=promise,
            method_claim=method_claim,
            grid=grid,
            zone=zone,
            n_attacks=n_attacks,
            seed=seed,
            workers=threads,
            noted=noted,
            manifest=manifest,
        )
        yield context, warnings


AUDITING = options_of(open_audit)


def given_grid(cell: str | None, step: str | None) -> Grid | None:
    """The grid of a published file, where it is given."""
    if cell is None and step is None:
        return None
    if cell is None or step is None:
        raise ParameterError("cell and step go together: give --cell and --step, or neither.")
    return Grid.parse(cell, step)


def given_promise(
    k: int | None, tau: str | None, epsilon: str | None, whole: bool, grid: Grid
) -> Promise | None:
    """The promise to hold a file to, where it is given."""
    if k is None:
        if whole or tau is not None or epsilon is not None:
            raise ParameterError("k missing: give --k as well, or nothing of the promise to take the file's.")
        return None
    return Promise.parse(k, tau, epsilon, grid=grid, whole=whole)


def own_promise(table: PublishedTable) -> Promise | None:
    """The promise that a file makes for itself; None where it does not tell."""
    try:
        return noted_promise(table)
    except InputError:
        return None


def noted_promise(table: PublishedTable) -> Promise:
    """The promise that a file makes for itself."""
    unknown = InputError(
        "The published file does not tell its promise: give --k with --tau and --epsilon, or with --whole."
    )
    noted = (table.notes or {}).get("promise")
    if not isinstance(noted, dict):
        raise unknown
    try:
        slots = [
            None if noted[name] is None else divmod(noted[name], table.grid.step_s)
            for name in ("tau_s", "epsilon_s")
        ]
        if any(slot is not None and slot[1] for slot in slots):
            raise unknown
        slots = [None if slot is None else slot[0] for slot in slots]
        return Promise(noted["k"], *slots)
    except (KeyError, TypeError, ParameterError):
        raise unknown from None
