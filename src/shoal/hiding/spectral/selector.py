"""The selector ``spectral``, the paper's own: clusters in every epoch, lineages in every window, greedy cycles in them.

docs/how-it-works.md, "The paper's own way". A lineage is the users who have been in the same clusters throughout a
window; absence is a cluster of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar, NamedTuple

import numpy as np

from shoal.core.arrays import Bools, Int32s, Int64s
from shoal.core.progress import Progress
from shoal.core.workers import Workers
from shoal.errors import UnfinishedError
from shoal.hiding.epochs import EpochSlice, LiveEpoch, Timeline
from shoal.hiding.kernels.cycles import cycles_of_groups
from shoal.hiding.kernels.window import WindowArrays
from shoal.hiding.reuse import History
from shoal.hiding.selector import HidingSetup, OpenWindow
from shoal.hiding.spectral.clustering import Scale, cluster
from shoal.hiding.suppression import NOBODY_MARKED, Marked, Presence
from shoal.hiding.window import HidingSets

ABSENT = -1  # the cluster of those who have no sample in an epoch
PATIENCE = 10_000  # choices taken back before a lineage counts as one without cycles


class SpectralSelector:
    """Decides all windows before the first is asked for: here, who is published depends on who hides whom."""

    weighs_leakage: ClassVar[bool] = False
    takes_witnesses: ClassVar[bool] = False

    def __init__(self, setup: HidingSetup) -> None:
        self._setup = setup
        self._hiding_sets: dict[int, HidingSets] = {}

    def find_presence(
        self, timeline: Timeline, progress: Progress, marked: Marked = NOBODY_MARKED
    ) -> Presence:
        """Decide who is published when, and all hiding sets with it; nobody can be marked."""
        assert not marked
        progress.stage("clustering", len(timeline.epochs))
        clusters = cluster_epochs(timeline, self._setup, progress.advance)
        progress.stage("laying cycles", sum(1 for _ in timeline.turns()))
        repair = self._setup.options.repair
        decided = decide_all_windows(timeline, self._setup, clusters, progress.advance, repair=repair)
        self._hiding_sets = decided.hiding_sets
        return decided.presence

    def choose(self, window: OpenWindow) -> HidingSets:
        """The hiding sets that were decided with the presence."""
        return self._hiding_sets[window.epochs[0].slice.epoch]

    def check_earlier(self, first_epoch: int, earlier: HidingSets) -> None:
        """Refuse hiding sets that come of other clusters: these can differ between machines."""
        decided = self._hiding_sets.get(first_epoch)
        if decided is None or not np.array_equal(decided.members, earlier.members):
            raise UnfinishedError(
                "The checkpoint was made on a machine that clusters users otherwise: nothing was published;"
                " remove the checkpoint and begin again."
            )


def cluster_histories(arrays: WindowArrays, live: list[tuple[Int32s, Int32s]]) -> Int32s:
    """The cluster of every user of a window in each of its epochs, a line per user; ABSENT where it has no sample.

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


class DecidedWindows(NamedTuple):
    """Who is published when, and who hides whom: the hiding sets of every window, by its first epoch."""

    presence: Presence
    hiding_sets: dict[int, HidingSets]


class Population:
    """Who is still published, as a mask over the users of every epoch, with their clusters there."""

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
        """The clusters of the users who are still published in an epoch."""
        return self._clusters[epoch][self._kept[epoch]] if epoch in self._kept else np.empty(0, np.int32)

    def suppress(self, epoch: int, users: Int32s) -> None:
        """Stop publishing some users in an epoch; users who are not in it are ignored."""
        if epoch in self._kept:
            self._kept[epoch] &= ~np.isin(self._timeline.slice(epoch).users, users)

    def n_records(self) -> int:
        """How many users are published in any epoch."""
        return int(self._has_record().sum())

    def presence(self) -> Presence:
        """Who is published when."""
        has_record = self._has_record()
        n_samples = recordless = 0
        suppressed: dict[int, Int32s] = {}
        for epoch, kept in self._kept.items():
            whole = self._timeline.slice(epoch)
            of_recordless = ~has_record[whole.users]
            n_samples += int(whole.counts[~kept & ~of_recordless].sum())
            recordless += int(whole.counts[of_recordless].sum())
            if not kept.all():
                suppressed[epoch] = whole.users[~kept]
        return Presence(suppressed, ~has_record, n_samples, recordless)

    def _has_record(self) -> Bools:
        has_record = np.zeros(self._n_users, np.bool_)
        for epoch, kept in self._kept.items():
            has_record[self._timeline.slice(epoch).users[kept]] = True
        return has_record


def cluster_epochs(timeline: Timeline, setup: HidingSetup, tick: Callable[[], object]) -> dict[int, Int32s]:
    """The cluster of every user in every epoch; epochs are shared out among the workers."""
    from threadpoolctl import threadpool_limits

    epochs = timeline.epochs.tolist()
    clusters: dict[int, Int32s] = {}

    def cluster_one(number: int) -> None:
        part = timeline.slice(epochs[number])
        with Workers(1) as one:
            arrays = setup.window_arrays([LiveEpoch(part, part.raw)], one)
        label = cluster(arrays, setup.options.seed, Scale())
        clusters[epochs[number]] = label[np.argsort(arrays.user)]

    with threadpool_limits(1):  # with several threads, sums and hence clusters would depend on their number
        setup.workers.for_each(len(epochs), cluster_one, tick)
    return {epoch: clusters[epoch] for epoch in epochs}


def decide_all_windows(
    timeline: Timeline,
    setup: HidingSetup,
    clusters: dict[int, Int32s],
    tick: Callable[[], object],
    *,
    repair: bool,
) -> DecidedWindows:
    """Hiding sets for every window, and who is published: what the paper's algorithm leaves, repaired if asked for."""
    population = Population(timeline, setup.n_users, clusters)

    def run(*, absent_too: bool) -> CycleSearch:
        return CycleSearch(timeline, setup, population, absent_too=absent_too).over(timeline, tick)

    last = run(absent_too=False)
    finished, absent_too = not repair, False
    while not finished:
        last = run(absent_too=absent_too)
        finished, absent_too = absent_too and not last.suppressed_anybody, not last.suppressed_anybody
    return DecidedWindows(population.presence(), last.hiding_sets)


class CycleSearch:
    """One run over all windows: the hiding sets, and whether anybody was suppressed for them.

    absent_too: also suppress so many that those absent throughout a window are none or at least k.
    """

    def __init__(
        self,
        timeline: Timeline,
        setup: HidingSetup,
        population: Population,
        *,
        absent_too: bool,
    ) -> None:
        self.hiding_sets: dict[int, HidingSets] = {}
        self.suppressed_anybody = False
        self._setup = setup
        self._k = setup.promise.k
        self._first_epoch = int(timeline.epochs[0])
        self._population = population
        self._n_records = population.n_records() if absent_too else None
        self._history = History(setup.n_users, setup.options.reuse, timeline.reach)

    def over(self, timeline: Timeline, tick: Callable[[], object]) -> CycleSearch:
        """Go through all windows; return itself."""
        live: list[int] = []
        for epoch, ends_stretch in timeline.turns():
            live.append(epoch)
            if ends_stretch or len(live) == timeline.reach + 1:
                self._hide_window(live)
                live = [] if ends_stretch else live[1:]
            tick()
        return self

    def _hide_window(self, epochs: list[int]) -> None:
        """Lay cycles through the lineages of a window; suppress the lineages that have none."""
        live = [self._population.slice(epoch) for epoch in epochs]
        if not any(len(part.users) for part in live):
            return
        arrays, bounds = self._lineages(live)
        window = epochs[0] - self._first_epoch
        member, hidden = lay_cycles(window, arrays, bounds, self._k, self._history, self._setup.workers)
        if self._n_records is not None:
            hidden &= ~_joining_the_absent(bounds, self._n_records - len(arrays.user), self._k)
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
        """A window with its users numbered lineage by lineage, and where each lineage begins."""
        arrays = self._setup.window_arrays([LiveEpoch(part, part.raw) for part in live])
        clusters = [(part.users, self._population.clusters(part.epoch)) for part in live]
        return by_lineage(arrays, cluster_histories(arrays, clusters))


def lay_cycles(
    window: int, arrays: WindowArrays, bounds: Int64s, k: int, history: History, workers: Workers
) -> tuple[Int32s, Bools]:
    """k - 1 cycles through every lineage: each user's parents (-1: none), and which lineages have cycles."""
    rule = history.rule(window)
    member = np.empty((len(arrays.user), k - 1), np.int32)
    hidden = np.empty(len(bounds) - 1, np.bool_)
    workers.for_blocks(
        len(hidden),
        lambda begin, end: cycles_of_groups(arrays, rule, bounds, PATIENCE, begin, end, member, hidden),
    )
    return member, hidden


def _joining_the_absent(bounds: Int64s, n_absent: int, k: int) -> Bools:
    """A mask of the lineages to suppress so that absent users, if there are any, number at least k.

    The smallest that suffices, or all lineages where none does.
    """
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
