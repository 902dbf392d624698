"""What an audit works on: the raw samples, the published records, and the promise these are held to."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from shoal.auditing.audited_file import AuditedFile
from shoal.auditing.audited_parts import AuditedParts
from shoal.auditing.box_index import (
    AttackedRecords,
    columns_of,
    load_trajectories,
    pseudonymized,
    records_among,
)
from shoal.auditing.claims import MethodClaim
from shoal.auditing.events_check import UNCHECKED, EventsCheck
from shoal.auditing.kernels.consistency import Trajectories
from shoal.auditing.kernels.fits import Fits, Knowledge, find_fits
from shoal.auditing.kernels.sites import Sites
from shoal.auditing.measures import Victims
from shoal.auditing.rating import DEFAULT_THRESHOLDS, Thresholds
from shoal.auditing.site_index import make_sites, tightened
from shoal.auditing.truthfulness import HeldByOwn, held_by_own
from shoal.core.arrays import Int64s, Integers
from shoal.core.boxes import NONE, Boxes
from shoal.core.periods import ONE_PERIOD, Periods
from shoal.core.promise import Grid, Promise
from shoal.core.samples import Samples
from shoal.core.workers import Workers
from shoal.core.zones import Zone
from shoal.reading import Carried, HidingEvidence
from shoal.reading.published_extras import NOTHING_CARRIED
from shoal.storage.sample_store import SampleStore, store_of

_HOUR_S = 3600
_MOST_FITS = 1000  # records counted in an attack; among more, the chance of each is below one in a thousand


@dataclass(frozen=True)
class AuditContext:
    """Everything that the checks and attacks of one audit share.

    ``store``: the raw samples. ``promise``: what the file is held to; ``noted``: the promise that the file makes
    for itself, if any. ``method_claim``: how the file says it was made; ``manifest``: what its manifest says, if it
    has one, and ``notes`` what its metadata say, or else its manifest. ``required``: whether whoever audits asks
    for the promise; otherwise it is the file's claim. ``tolerance``: for which share of the members it may be
    weakened. ``evidence``: which records were made to hold whom, where that is known; ``evidence_differs``: there
    is some, but not what was written with the key. ``as_written``: private notes say that the published file is,
    byte for byte, the one written with the key. ``events_checked``: whether the samples are those of the
    release. ``thresholds``: from which shares on risks are called moderate and high. ``file``: what is audited;
    ``carried``: what it has beside its boxes; ``n_named``: how many of its records are named after users;
    ``in_user_order``: whether they stand, or are named, in the order of these; ``key_unused``: there is a key, but it
    could not be used. ``parts``: where records get new names, whose parts the users here are, and of when; None where
    they never do. ``parts_tied``: whether names or order tie parts of one person together. ``by_site``: whether events
    gave sites instead of positions. ``naive``: whether times came without a zone. ``memo``: what one attack found
    and others use. ``n_attacks`` are drawn of each kind.
    """

    store: SampleStore
    published: AttackedRecords
    promise: Promise
    method_claim: MethodClaim
    grid: Grid
    zone: Zone
    n_attacks: int
    seed: int
    workers: Workers
    noted: Promise | None = None
    manifest: dict[str, Any] | None = None
    notes: dict[str, Any] | None = None
    required: bool = False
    tolerance: float = 0.0
    evidence: HidingEvidence | None = None
    evidence_differs: bool = False
    as_written: bool = False
    events_checked: EventsCheck = UNCHECKED
    thresholds: Thresholds = DEFAULT_THRESHOLDS
    file: AuditedFile | None = None
    carried: Carried = NOTHING_CARRIED
    n_named: int = 0
    in_user_order: bool = False
    key_unused: bool = False
    parts: AuditedParts | None = None
    parts_tied: bool = False
    by_site: bool = False
    naive: bool = True
    memo: dict[str, Any] = field(default_factory=dict, init=False)

    def __repr__(self) -> str:
        return f"<AuditContext: {self.store!r}, {self.published!r}>"

    @cached_property
    def trajectories(self) -> Trajectories:
        """The samples user by user, for kernels."""
        return load_trajectories(self.store)

    @property
    def people_store(self) -> SampleStore:
        """The raw samples by person, whatever records they are in."""
        return self.store if self.parts is None else self.parts.people

    def people_trajectories(self) -> Trajectories:
        """The samples person by person, whatever records they are in."""
        return self.trajectories if self.parts is None else load_trajectories(self.parts.people)

    @cached_property
    def samples(self) -> Samples:
        """The samples user by user, as columns."""
        return columns_of(self.trajectories, self.store.users)

    @cached_property
    def held(self) -> HeldByOwn:
        """Which samples are published in their own user's record; needs to know which record is whose."""
        return held_by_own(self.trajectories, self.published, self.workers)

    @cached_property
    def raw(self) -> AttackedRecords:
        """The control that attacks are compared with: the raw samples under pseudonyms, a record for everybody."""
        return AttackedRecords(pseudonymized(self.samples), np.arange(self.store.n_users))

    @cached_property
    def tight(self) -> AttackedRecords:
        """The published records with boxes as small as whoever looks for places makes them."""
        return tightened(self.published)

    def tight_of(self, target: AttackedRecords) -> AttackedRecords:
        """The tightened records of the published file, or the raw data, whose boxes are single cells."""
        return self.tight if target is self.published else target

    @cached_property
    def sites(self) -> Sites:
        """Cells that are corners of the tightened boxes of the published file."""
        return make_sites(self.tight.records, self.epoch_slots)

    @cached_property
    def _raw_sites(self) -> Sites:
        return make_sites(self.raw.records, self.epoch_slots)

    def sites_of(self, target: AttackedRecords) -> Sites:
        """The sites of the published file, or of the raw data."""
        return self.sites if target is self.published else self._raw_sites

    @cached_property
    def victims(self) -> Int64s:
        """Users who can be attacked: those with a record, or all where that is unknown."""
        return np.flatnonzero(self.published.own != NONE)

    @cached_property
    def half(self) -> Int64s:
        """The half, 0 or 1, that every user belongs to where an attacker learns from one half about the other."""
        half = self.randomness(12).integers(0, 2, self.n_people)
        return half[self.person_of(np.arange(self.store.n_users))]

    @property
    def n_people(self) -> int:
        """How many people have samples; where records get new names each of them is several users."""
        return self.store.n_users if self.parts is None else self.parts.n_people

    @property
    def periods(self) -> Periods:
        """The periods after which records get new names; one where they never do."""
        return ONE_PERIOD if self.parts is None else self.parts.periods

    def person_of(self, users: Integers) -> Int64s:
        """The people who are some users."""
        return users.astype(np.int64) if self.parts is None else self.parts.person[users]

    def people_samples(self) -> Samples:
        """The samples person by person, as columns; people are numbered, not named."""
        samples = self.samples
        if self.parts is None:
            return samples
        people, person = np.unique(self.person_of(samples.user), return_inverse=True)
        order = np.lexsort((samples.t, person.reshape(-1)))
        user = person.reshape(-1)[order].astype(np.int32)
        names = np.arange(len(people)).astype(object)
        return Samples(names, user, samples.t[order], samples.x[order], samples.y[order])

    @property
    def n_without_record(self) -> int:
        """How many people have no record at all, or none that is known."""
        return self.n_people - len(np.unique(self.person_of(np.flatnonzero(self.published.own >= 0))))

    @property
    def candidates(self) -> Int64s:
        """For every record, how many could be its person's: those of its period."""
        n_records = self.published.records.n_records
        if self.parts is None:
            return np.full(n_records, n_records)
        return np.bincount(self.parts.record_period, minlength=self.parts.n_periods)[self.parts.record_period]

    @cached_property
    def guessing(self) -> dict[str, float]:
        """What an attacker achieves who knows nothing and picks any record that could be the victim's."""
        n = self.candidates
        success = float((1 / n).mean())
        below_k, single = float((n < self.promise.k).mean()), float((n == 1).mean())
        return {"success": success, "pick": success, "below_k": below_k, "single": single}

    def victims_of(self, *users: Int64s) -> Victims:
        """The people attacked, on the published file and on the raw data, by the users that they are."""
        people = [self.person_of(each) for each in users]
        return Victims(people[0], people[-1])

    def by_period(self) -> list[AuditContext]:
        """A context for every period that has users and records; one where records never get new names."""
        if self.parts is None:
            return [self]
        return [self._of_period(self.parts, period) for period in self.parts.attackable]

    def _of_period(self, parts: AuditedParts, period: int) -> AuditContext:
        users, records = parts.users_of(period), parts.records_of(period)
        ptr, samples = self.trajectories.ptr, self.samples
        rows = slice(int(ptr[users.start]), int(ptr[users.stop]))
        user = samples.user[rows] - np.int32(users.start)
        chosen = Samples(samples.users[users], user, samples.t[rows], samples.x[rows], samples.y[rows])
        index = self.published.index
        boxes = self.published.records.boxes
        there = slice(int(index.ptr[records.start]), int(index.ptr[records.stop]))
        boxes = Boxes._make(column[there] for column in boxes)
        boxes = boxes._replace(owner=boxes.owner - np.int32(records.start))
        own = self.published.own[users]
        own = np.where(own >= 0, own - records.start, own)
        n_records = records.stop - records.start
        return replace(
            self,
            store=store_of(chosen),
            published=AttackedRecords(records_among(boxes, n_records), own),
            evidence=_evidence_of(self.evidence, users, records),
            parts=None,
        )

    @property
    def epoch_slots(self) -> int:
        """How long an epoch is where attackers count epochs; over whole trajectories an hour."""
        return self.promise.epsilon or max(1, _HOUR_S // self.grid.step_s)

    @property
    def span(self) -> tuple[int, int]:
        """The first slot with anything in it, and one past the last."""
        boxes = self.published.records.boxes
        slots = self.store.slots
        first = min(int(slots[0]), int(boxes.t0.min()))
        return first, max(int(slots[-1]), int(boxes.t1.max())) + 1

    def randomness(self, *attack: int) -> np.random.Generator:
        """Random numbers for one attack, independent of which other attacks are made."""
        return np.random.default_rng([self.seed, *attack])

    def fits(self, target: AttackedRecords, knowledge: Knowledge) -> Fits:
        """The records that fit each attacker's knowledge."""
        n = len(knowledge.victim)
        counted = Fits(
            np.zeros(n, np.int64), np.zeros(n, np.int64), np.empty(0, np.int64), np.zeros(n, np.bool_)
        )
        self._find(target, knowledge, counted)
        at = np.cumsum(counted.n) - counted.n
        fits = Fits(at, counted.n, np.empty(int(counted.n.sum()), np.int64), counted.forgiven)
        if len(fits.record):
            self._find(target, knowledge, fits)
        return fits

    def _find(self, target: AttackedRecords, knowledge: Knowledge, fits: Fits) -> None:
        own, most = target.own[knowledge.victim], max(_MOST_FITS, 2 * min(self.promise.k, 10**6))
        self.workers.for_blocks(
            len(knowledge.victim),
            lambda begin, end: find_fits(
                self.trajectories,
                target.index,
                knowledge,
                own,
                self.epoch_slots,
                most,
                begin,
                end,
                fits,
            ),
        )


def _evidence_of(evidence: HidingEvidence | None, users: slice, records: slice) -> HidingEvidence | None:
    """What the evidence tells of some records, with users and records counted from the first."""
    if evidence is None:
        return None
    there = (evidence.record >= records.start) & (evidence.record < records.stop)
    chosen = evidence.only(there)
    return chosen._replace(user=chosen.user - users.start, record=chosen.record - records.start)


def every_record(context: AuditContext, knowledge: Knowledge) -> Fits:
    """The published records that fit for an attacker who knows nothing: all of them, or all of the period."""
    n, n_records = len(knowledge.victim), context.published.records.n_records
    at, number = np.zeros(n, np.int64), np.full(n, n_records)
    if context.parts is not None:
        period = context.parts.period[knowledge.victim]
        at, end = (
            np.searchsorted(context.parts.record_period, period, side=side) for side in ("left", "right")
        )
        number = end - at
    return Fits(at, number, np.arange(n_records), np.zeros(n, np.bool_))
