"""Lineages: users who have been in the same clusters throughout a window; absence is a cluster of its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from shoal.core.arrays import Bools, Int32s, Int64s
from shoal.core.workers import Workers
from shoal.hiding.epochs import EpochSlice, LiveEpoch, Timeline
from shoal.hiding.kernels.cycles import cycles_of_groups
from shoal.hiding.kernels.window import WindowArrays
from shoal.hiding.reuse import History
from shoal.hiding.settings import Reuse
from shoal.hiding.spectral.clustering import Scale, cluster
from shoal.hiding.suppression import Presence
from shoal.hiding.window import HidingSets, build_window

ABSENT = -1


def cluster_histories(arrays: WindowArrays, live: list[tuple[Int32s, Int32s]]) -> Int32s:
    """The cluster of every user of a window in each of its epochs, a line per user.

    live: for each epoch the users in increasing order and their clusters.
    """
    history = np.full(arrays.row.shape, ABSENT, np.int32)
    for column, (users, clusters) in enumerate(live):
        present = arrays.row[:, column] >= 0
        history[present, column] = clusters[np.searchsorted(users, arrays.user[present])]
    return history


def by_lineage(arrays: WindowArrays, history: Int32s) -> tuple[WindowArrays, Int64s]:
    """The window with its users numbered lineage by lineage, and where each lineage begins (and the last ends)."""
    _, lineage = np.unique(history, axis=0, return_inverse=True)
    lineage = lineage.reshape(-1)
    order = np.argsort(lineage, kind="stable")
    bounds = np.concatenate([np.zeros(1, np.int64), np.cumsum(np.bincount(lineage))])
    user, lineage = arrays.user[order], lineage[order]
    place = np.full_like(arrays.place, -1)
    place[user] = np.arange(len(user), dtype=np.int32)
    sorted_arrays = arrays._replace(
        row=arrays.row[order],
        user=user,
        place=place,
        first=bounds[lineage].astype(np.int32),
        last=bounds[lineage + 1].astype(np.int32),
    )
    return sorted_arrays, bounds


PATIENCE = 10_000  # choices taken back before a lineage counts as one without cycles


class Rules(NamedTuple):
    """By what rules users are clustered and cycles laid."""

    k: int
    space_weight: float
    reuse: Reuse
    seed: int
    repair: bool
    scale: Scale = Scale()


class Hidden(NamedTuple):
    """Who is published when, and who hides whom: the hiding sets of every window, by its first epoch."""

    presence: Presence
    hiding_sets: dict[int, HidingSets]


class Population:
    """Who is still published: a mask over the users of every epoch, together with their clusters there."""

    def __init__(self, timeline: Timeline, n_users: int, clusters: dict[int, Int32s]) -> None:
        self._timeline = timeline
        self._n_users = n_users
        self._clusters = clusters
        self._kept = {epoch: np.ones(len(clusters[epoch]), np.bool_) for epoch in clusters}

    def slice(self, epoch: int) -> EpochSlice:
        """The samples of an epoch that are still published."""
        whole = self._timeline.slice(epoch)
        return whole if epoch not in self._kept else whole.restricted(self._kept[epoch])

    def clusters(self, epoch: int) -> Int32s:
        """The clusters of those users."""
        return self._clusters[epoch][self._kept[epoch]] if epoch in self._kept else np.empty(0, np.int32)

    def suppress(self, epoch: int, users: Int32s) -> None:
        """Publish these users no longer in an epoch, as far as they are there."""
        if epoch in self._kept:
            self._kept[epoch] &= ~np.isin(self._timeline.slice(epoch).users, users)

    def n_records(self) -> int:
        """How many users have anything left."""
        return int(self._has_record().sum())

    def presence(self) -> Presence:
        """Who is published when."""
        has_record = self._has_record()
        suppressed = recordless = 0
        withheld: dict[int, Int32s] = {}
        for epoch, kept in self._kept.items():
            whole = self._timeline.slice(epoch)
            of_recordless = ~has_record[whole.users]
            suppressed += int(whole.counts[~kept & ~of_recordless].sum())
            recordless += int(whole.counts[of_recordless].sum())
            if not kept.all():
                withheld[epoch] = whole.users[~kept]
        return Presence(withheld, ~has_record, suppressed, recordless)

    def _has_record(self) -> Bools:
        has_record = np.zeros(self._n_users, np.bool_)
        for epoch, kept in self._kept.items():
            has_record[self._timeline.slice(epoch).users[kept]] = True
        return has_record


def cluster_epochs(
    timeline: Timeline, n_users: int, rules: Rules, workers: Workers, tick: Callable[[], object]
) -> dict[int, Int32s]:
    """The cluster of every user in every epoch; epochs are shared out among the workers."""
    from threadpoolctl import threadpool_limits

    epochs = timeline.epochs.tolist()
    rank = np.random.default_rng(rules.seed).permutation(n_users).astype(np.int32)
    clusters: dict[int, Int32s] = {}

    def cluster_one(number: int) -> None:
        part = timeline.slice(epochs[number])
        with Workers(1) as alone:
            arrays = build_window([LiveEpoch(part, part.raw)], n_users, rank, rules.space_weight, alone)
        label = cluster(arrays, rules.seed, rules.scale)
        clusters[epochs[number]] = label[np.argsort(arrays.user)]

    with threadpool_limits(1):  # with several threads, sums and hence clusters would depend on their number
        workers.for_each(len(epochs), cluster_one, tick)
    return {epoch: clusters[epoch] for epoch in epochs}


def hide(
    timeline: Timeline,
    n_users: int,
    rules: Rules,
    clusters: dict[int, Int32s],
    workers: Workers,
    tick: Callable[[], object],
) -> Hidden:
    """Hiding sets for every window, and who is published: what the paper's algorithm leaves, repaired if asked for."""
    population = Population(timeline, n_users, clusters)

    def run(*, absent_too: bool) -> CycleSearch:
        return CycleSearch(timeline, n_users, rules, population, workers, absent_too=absent_too).over(
            timeline, tick
        )

    last = run(absent_too=False)
    settled, absent_too = not rules.repair, False
    while not settled:
        last = run(absent_too=absent_too)
        settled, absent_too = absent_too and not last.suppressed_anybody, not last.suppressed_anybody
    return Hidden(population.presence(), last.hiding_sets)


class CycleSearch:
    """One run over all windows: the hiding sets, and whether anybody was suppressed for them.

    absent_too: also suppress so many that those absent throughout a window are none or at least k.
    """

    def __init__(
        self,
        timeline: Timeline,
        n_users: int,
        rules: Rules,
        population: Population,
        workers: Workers,
        *,
        absent_too: bool,
    ) -> None:
        self.hiding_sets: dict[int, HidingSets] = {}
        self.suppressed_anybody = False
        self._n_users = n_users
        self._first_epoch = int(timeline.epochs[0])
        self._rules = rules
        self._population = population
        self._workers = workers
        self._n_records = population.n_records() if absent_too else None
        self._history = History(n_users, rules.reuse, timeline.reach)
        self._rank = np.random.default_rng(rules.seed).permutation(n_users).astype(np.int32)

    def over(self, timeline: Timeline, tick: Callable[[], object]) -> CycleSearch:
        """Go through all windows; the run that was made."""
        live: list[int] = []
        for epoch, ends_stretch in timeline.turns():
            live.append(epoch)
            if ends_stretch or len(live) == timeline.reach + 1:
                self._hide_window(live)
                live = [] if ends_stretch else live[1:]
            tick()
        return self

    def _hide_window(self, epochs: list[int]) -> None:
        """Lay cycles through the lineages of a window; suppress those without."""
        live = [self._population.slice(epoch) for epoch in epochs]
        if not any(len(part.users) for part in live):
            return
        arrays, bounds = self._lineages(live)
        window = epochs[0] - self._first_epoch
        member, hidden = lay_cycles(window, arrays, bounds, self._rules.k, self._history, self._workers)
        if self._n_records is not None:
            hidden &= ~_joining_the_absent(bounds, self._n_records - len(arrays.user), self._rules.k)
        stays = np.repeat(hidden, np.diff(bounds))
        owners, members = arrays.user[stays], arrays.user[member[stays]]
        self.hiding_sets[epochs[0]] = HidingSets(
            owners, members, np.zeros(len(owners), np.int32), np.zeros(len(owners), np.uint8)
        )
        self._history.append(window, owners, members)
        if not stays.all():
            self.suppressed_anybody = True
            for epoch in epochs:
                self._population.suppress(epoch, arrays.user[~stays])

    def _lineages(self, live: list[EpochSlice]) -> tuple[WindowArrays, Int64s]:
        """The users of a window by lineage, and where each begins."""
        weight, epochs = self._rules.space_weight, [LiveEpoch(part, part.raw) for part in live]
        arrays = build_window(epochs, self._n_users, self._rank, weight, self._workers)
        clusters = [(part.users, self._population.clusters(part.epoch)) for part in live]
        return by_lineage(arrays, cluster_histories(arrays, clusters))


def lay_cycles(
    window: int, arrays: WindowArrays, bounds: Int64s, k: int, history: History, workers: Workers
) -> tuple[Int32s, Bools]:
    """k - 1 cycles through every lineage: each user's parents, -1 where there are none, and which lineages have any."""
    rule = history.rule(window)
    member = np.empty((len(arrays.user), k - 1), np.int32)
    hidden = np.empty(len(bounds) - 1, np.bool_)
    workers.for_blocks(
        len(hidden),
        lambda begin, end: cycles_of_groups(arrays, rule, bounds, PATIENCE, begin, end, member, hidden),
    )
    return member, hidden


def _joining_the_absent(bounds: Int64s, n_absent: int, k: int) -> Bools:
    """The smallest lineages that make 1 .. k - 1 absent users at least k, as a mask."""
    joining = np.zeros(len(bounds) - 1, np.bool_)
    if not 0 < n_absent < k:
        return joining
    sizes = np.diff(bounds)
    enough = np.flatnonzero(sizes >= k - n_absent)
    if len(enough):
        joining[enough[np.argmin(sizes[enough])]] = True
    else:
        joining[:] = True
    return joining
