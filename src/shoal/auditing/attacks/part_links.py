"""The linker: which part of another period is of the same person? Chances for all pairs of parts that look alike.

Candidates are shortlisted at first sight, described (kernels/relinking.py), and weighed by a conditional logit that is
learnt from half of the people. Then everybody is looked at at once: a part can be of one person only, so chances are
scaled until no part is claimed more than once (Sinkhorn).
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from shoal.auditing.attacks.conditional_logit import centred, learn_weights, softmax
from shoal.auditing.attacks.place_in_box import place_weights
from shoal.auditing.audited_parts import AuditedParts
from shoal.auditing.box_index import AttackedRecords
from shoal.auditing.context import AuditContext
from shoal.auditing.kernels.consistency import BoxIndex
from shoal.auditing.kernels.relinking import (
    PAIR_FEATURES,
    Hulls,
    PlacedBoxes,
    Profiles,
    describe_pairs,
    list_chances,
    mark_largest,
    shortlist,
    weigh_profiles,
)
from shoal.auditing.kernels.sites import MOST_CANDIDATES, Sites
from shoal.core.arrays import Bools, Floats, Int64s
from shoal.core.periods import Periods
from shoal.core.promise import DAY_S, Grid
from shoal.core.workers import Workers

PROFILE_FEATURES = ("profile", "profile_kinship", "profile_back", "profile_kinship_back")
NEXT = "next"
_UNIT_M = 500.0  # of distances
_SHORTLISTED = 64  # parts of another period that are compared with a part
_BLOCK = 1 << 14  # boxes whose places are found at a time
_TAUGHT = 1500  # cases of each half of the people from which weights are learnt
_WRONG = 40  # wrong lines of such a case, about
_ROUNDS = 10  # of scaling chances
_LEAST_LINK = 0.02  # chances below are forgotten
_RAREST = 1e-7
_LATER_DAYS = (1, 2)


class PairScale(NamedTuple):
    """In what times and distances of pairs are told. hour: slots; far: the side of a cell in units of 500 m."""

    hour: float
    far: float

    @classmethod
    def of(cls, grid: Grid) -> PairScale:
        """The scale of a grid."""
        return cls(3600 / grid.step_s, grid.cell_m / _UNIT_M)


class PartRecords(NamedTuple):
    """Records that are parts, as a linker sees them. person: whose each is, -1 where nobody knows; half (0 or 1) goes
    by person. masses: of sites in each, as a sparse array. content: equal for parts with the same boxes."""

    person: Int64s
    period: Int64s
    half: Int64s
    n_periods: int
    boxes: PlacedBoxes
    hulls: Hulls
    masses: Any
    content: npt.NDArray[np.uint64]
    scale: PairScale
    workers: Workers

    def of(self, period: int) -> Int64s:
        """The parts of a period."""
        return np.flatnonzero(self.period == period)

    @property
    def n_boxes(self) -> Int64s:
        """How many boxes each part has."""
        return np.diff(self.boxes.ptr)


def part_records(context: AuditContext, parts: AuditedParts, target: AttackedRecords) -> PartRecords:
    """The records of a context whose users are parts, published or raw."""
    from scipy.sparse import csr_array

    tight, sites = context.tight_of(target), context.sites_of(target)
    index, n_records = tight.index, target.records.n_records
    user = np.full(n_records, -1, np.int64)
    known = np.flatnonzero(target.own >= 0)
    user[target.own[known]] = known
    person = np.where(user >= 0, parts.person[user], -1)
    boxes = _placed(index, sites, context.workers)
    columns = (boxes.chance, boxes.site, boxes.at)
    chances = csr_array(columns, shape=(len(index.box), len(sites.x)))
    begin = index.ptr[:-1]
    hulls = Hulls(
        np.minimum.reduceat(boxes.x0, begin),
        np.maximum.reduceat(boxes.x1, begin),
        np.minimum.reduceat(boxes.y0, begin),
        np.maximum.reduceat(boxes.y1, begin),
    )
    return PartRecords(
        person,
        parts.periods.of(index.box["t0"][begin]),
        context.randomness(22).integers(0, 2, parts.n_people)[person],
        parts.periods.n_periods,
        boxes,
        hulls,
        _sums(chances, index.ptr),
        target.content,
        PairScale.of(context.grid),
        context.workers,
    )


def _sums(chances: Any, ptr: Int64s) -> Any:
    """The rows of a sparse array summed up: rows ptr[i] .. ptr[i + 1] - 1 become row i."""
    from scipy.sparse import csr_array

    n = chances.shape[0]
    return csr_array(csr_array((np.ones(n), np.arange(n), ptr), shape=(len(ptr) - 1, n)) @ chances)


def _placed(index: BoxIndex, sites: Sites, workers: Workers) -> PlacedBoxes:
    """The boxes with the chances of the sites in them."""
    n_records = len(index.ptr) - 1
    begins = np.flatnonzero(np.diff(index.ptr[:-1] // _BLOCK, prepend=-1))
    blocks = list(zip(begins.tolist(), [*begins[1:].tolist(), n_records], strict=True))
    found: list[tuple[Int64s, Int64s, Floats] | None] = [None] * len(blocks)

    def place(begin: int, end: int) -> None:
        for block in range(begin, end):
            found[block] = _chances(index, sites, *blocks[block])

    workers.for_blocks(len(blocks), place)
    n, site, chance = (np.concatenate(column) for column in zip(*filter(None, found), strict=True))
    at = np.concatenate([[0], np.cumsum(n)])
    box, rows = np.repeat(np.arange(len(n)), n), index.box
    share = chance / np.repeat(np.diff(index.ptr), np.diff(index.ptr))[box]
    commonness = np.bincount(site, weights=share, minlength=len(sites.x)) / n_records
    x, y = (
        np.bincount(box, weights=chance * each[site], minlength=len(n)).astype(np.float64)
        for each in (sites.x, sites.y)
    )
    t0, t1, x0, x1, y0, y1 = (rows[name].astype(np.int64) for name in ("t0", "t1", "x0", "x1", "y0", "y1"))
    common = np.maximum(commonness, _RAREST)
    return PlacedBoxes(index.ptr, t0, t1, x0, x1, y0, y1, x, y, at, site, chance, common)


def _chances(index: BoxIndex, sites: Sites, begin: int, end: int) -> tuple[Int64s, Int64s, Floats]:
    """Numbers of sites, sites and chances of the boxes of some records."""
    n_boxes = int(index.ptr[end] - index.ptr[begin])
    n, site = np.empty(n_boxes, np.int64), np.empty(n_boxes * MOST_CANDIDATES, np.int64)
    chance = np.empty(len(site))
    list_chances(index, sites, place_weights(), begin, end, n, site, chance)
    line = np.repeat(np.arange(n_boxes) * MOST_CANDIDATES - (np.cumsum(n) - n), n) + np.arange(n.sum())
    return n, site[line], chance[line]


def pairs_of_periods(periods: Periods, day: int) -> dict[str, list[tuple[int, int]]]:
    """Pairs of periods whose parts are compared: each with the next one, and with those at the same hours one and
    two days later. ``day``: its slots. Pairs stand where they come first."""
    borders, n = periods.borders, periods.n_periods
    found = {NEXT: [(period, period + 1) for period in range(n - 1)]}
    if n < 3:
        return found
    lengths = np.diff(borders, prepend=2 * borders[0] - borders[1], append=2 * borders[-1] - borders[-2])
    ends = np.append(borders, borders[-1] + lengths[-1])
    middles = ends - lengths // 2
    met = set(found[NEXT])
    for days in _LATER_DAYS:
        later = periods.of(middles + days * day)
        inside = (middles + days * day < ends[-1]) & (later > np.arange(n))
        pairs = [(int(p), int(later[p])) for p in np.flatnonzero(inside)]
        found[f"day_{days}"] = [pair for pair in pairs if pair not in met]
        met.update(pairs)
    return {kind: pairs for kind, pairs in found.items() if pairs}


class PairLines(NamedTuple):
    """Pairs of parts that are compared: every earlier part, one after the other, with n[i] later ones."""

    one: Int64s
    other: Int64s
    case: Int64s
    begin: Int64s  # of the lines of each case, and the end of all


def shortlisted(records: PartRecords, pair: tuple[int, int]) -> PairLines:
    """The parts of a later period that look most like each of an earlier period."""
    one, other = (records.of(period) for period in pair)
    if not len(other):
        nothing = np.empty(0, np.int64)
        return PairLines(nothing, nothing, nothing, np.zeros(len(one) + 1, np.int64))
    shares = (records.masses[other] / (records.n_boxes[other][:, None] * 1.0)).tocsc()
    share = shares.data / np.repeat(records.boxes.commonness, np.diff(shares.indptr))
    chosen = np.empty((len(one), min(_SHORTLISTED, len(other))), np.int64)
    profiles = _profiles(records.masses[one])
    hulls = [Hulls(*(column[some] for column in records.hulls)) for some in (one, other)]
    ptr, part = shares.indptr.astype(np.int64), shares.indices.astype(np.int64)
    records.workers.for_blocks(
        len(one),
        lambda begin, end: shortlist(profiles, hulls[0], ptr, part, share, hulls[1], begin, end, chosen),
    )
    n = chosen.shape[1]
    case = np.repeat(np.arange(len(one)), n)
    return PairLines(one[case], other[chosen.ravel()], case, np.arange(len(one) + 1) * n)


def _profiles(masses: Any) -> Profiles:
    masses = masses.tocsr()
    ptr, site = masses.indptr.astype(np.int64), masses.indices.astype(np.int64)
    return Profiles(ptr, site, masses.data, np.maximum(masses.sum(axis=1), _RAREST))


def described(records: PartRecords, lines: PairLines) -> Floats:
    """The features of pairs of parts."""
    return _described(records.boxes, lines.one, lines.other, records.scale, records.workers)


def describe_some(context: AuditContext, target: AttackedRecords, one: Int64s, other: Int64s) -> Floats:
    """The features of some pairs of records, the earlier one first, however many records there are besides.

    The commonness of sites is that in the boxes of these records.
    """
    if not len(one):
        return np.empty((0, len(PAIR_FEATURES)))
    index = context.tight_of(target).index
    records, number = np.unique(np.concatenate([one, other]), return_inverse=True)
    n = np.diff(index.ptr)[records]
    ptr = np.concatenate([[0], np.cumsum(n)])
    box = index.box[np.repeat(index.ptr[records] - ptr[:-1], n) + np.arange(ptr[-1])]
    box["record"] = np.repeat(np.arange(len(records)), n)
    boxes = _placed(index._replace(ptr=ptr, box=box), context.sites_of(target), context.workers)
    n_pairs = len(one)
    scale = PairScale.of(context.grid)
    return _described(boxes, number[:n_pairs], number[n_pairs:], scale, context.workers)


def _described(boxes: PlacedBoxes, one: Int64s, other: Int64s, scale: PairScale, workers: Workers) -> Floats:
    found = np.empty((len(one), len(PAIR_FEATURES)))
    workers.for_blocks(
        len(one),
        lambda begin, end: describe_pairs(boxes, one, other, scale.hour, scale.far, begin, end, found),
    )
    return found


class Links(NamedTuple):
    """Chances that parts of two periods are of one person: chance[i, j] of the i-th part of the earlier and the j-th of
    the later period; a sparse array."""

    pair: tuple[int, int]
    chance: Any


class Taught(NamedTuple):
    """Weights of features for the parts of each half of the people, learnt from the other half."""

    weights: tuple[Floats, Floats]

    def score(self, records: PartRecords, lines: PairLines, features: Floats) -> Floats:
        """How well the lines look."""
        ours = centred(lines.case, features)
        second = (records.half[lines.one] == 1).astype(np.int64)
        found: Floats = np.stack([ours @ weights for weights in self.weights], axis=1)[
            np.arange(len(second)), second
        ]
        return found


def right_lines(records: PartRecords, lines: PairLines) -> Bools:
    """Which pairs are of one person."""
    same: Bools = (records.person[lines.one] == records.person[lines.other]) & (
        records.person[lines.one] >= 0
    )
    return same


def some_cases(lines: PairLines, cases: Int64s) -> PairLines:
    """The lines of some cases, which are numbered anew."""
    n = np.diff(lines.begin)[cases]
    begin = np.concatenate([[0], np.cumsum(n)])
    line = np.repeat(lines.begin[:-1][cases] - begin[:-1], n) + np.arange(begin[-1])
    return PairLines(lines.one[line], lines.other[line], np.repeat(np.arange(len(cases)), n), begin)


def learn(records: PartRecords, described_lines: list[tuple[PairLines, Floats]]) -> Taught:
    """Weights from pairs of several periods; at most _TAUGHT cases of each half whose right part is among the lines."""
    cases, features, right, half = [], [], [], []
    n_cases = 0
    for lines, found in described_lines:
        cases.append(lines.case + n_cases)
        features.append(centred(lines.case, found))
        right.append(right_lines(records, lines))
        half.append(records.half[lines.one])
        n_cases += len(lines.begin) - 1
    case, whose = np.concatenate(cases), np.concatenate(half)
    known, truth = np.concatenate(features), np.concatenate(right)
    weights = []
    for own in (0, 1):
        taught = np.unique(case[truth & (whose != own)])
        taught = taught[:: max(1, -(-len(taught) // _TAUGHT))]
        chosen = np.isin(case, taught)
        weights.append(learn_weights(case[chosen], known[chosen], truth[chosen]))
    return Taught((weights[0], weights[1]))


def teaching_lines(records: PartRecords, lines: PairLines, n: int) -> PairLines:
    """The right line and some others of n cases that have a right part, spread over all.

    A conditional logit that is learnt from some of the wrong lines, drawn alike, has the weights of all (McFadden
    1978).
    """
    right = right_lines(records, lines)
    solved = np.unique(lines.case[right])
    chosen = some_cases(lines, solved[:: max(1, -(-len(solved) // max(n, 1)))])
    scattered = (
        np.arange(len(chosen.one)) * 7919
    ) % _SHORTLISTED < _WRONG  # 7919 is a prime: all places alike
    kept = right_lines(records, chosen) | scattered
    case = chosen.case[kept]
    begin = np.searchsorted(case, np.arange(len(chosen.begin)))
    return PairLines(chosen.one[kept], chosen.other[kept], case, begin)


def teaching(
    records: PartRecords, listed: list[tuple[tuple[int, int], PairLines]]
) -> list[tuple[tuple[int, int], PairLines]]:
    """Pairs of periods, and lines of these to learn from; those without any are left out."""
    enough = -(-2 * _TAUGHT // max(len(listed), 1))
    lessons = [(pair, teaching_lines(records, lines, enough)) for pair, lines in listed]
    return [(pair, lines) for pair, lines in lessons if len(lines.one)]


def scaled(lines: PairLines, score: Floats, other: Int64s) -> Floats:
    """Chances that follow from scores, with every part of ``other``, the later period, claimed at most once."""
    column = np.searchsorted(other, lines.other)
    chance = softmax(lines.case, score)
    for _ in range(_ROUNDS):
        claimed = np.bincount(column, weights=chance, minlength=len(other))
        chance /= np.maximum(claimed, 1)[column]
        chance /= np.maximum(np.bincount(lines.case, weights=chance), _RAREST)[lines.case]
    return chance


def link_kind(records: PartRecords, pairs: list[tuple[int, int]]) -> list[Links]:
    """Chances for pairs of periods of one kind, with weights learnt for that kind."""
    listed = [(pair, shortlisted(records, pair)) for pair in pairs]
    lessons = teaching(records, listed)
    if not lessons:
        return []
    taught = learn(records, [(lines, described(records, lines)) for _, lines in lessons])
    return [
        as_links(records, pair, lines, taught.score(records, lines, described(records, lines)))
        for pair, lines in listed
    ]


def as_links(records: PartRecords, pair: tuple[int, int], lines: PairLines, score: Floats) -> Links:
    """Scaled chances of lines as a sparse array, without those that are next to nothing."""
    from scipy.sparse import csr_array

    one, other = (records.of(period) for period in pair)
    chance = scaled(lines, score, other)
    likely = chance >= _LEAST_LINK
    place = np.searchsorted(one, lines.one[likely]), np.searchsorted(other, lines.other[likely])
    return Links(pair, csr_array((chance[likely], place), shape=(len(one), len(other))))


class LinkedPeriods(NamedTuple):
    """The links between periods. ways: names of kinds and directions; around[p]: for each way that leads from period p,
    its name, the other period, and the chances that parts of p (rows) go with parts of that one (columns)."""

    ways: list[str]
    around: list[list[tuple[str, int, Any]]]


def no_links(n_periods: int) -> LinkedPeriods:
    """Nothing is known of which parts belong together."""
    return LinkedPeriods([], [[] for _ in range(n_periods)])


def link_periods(records: PartRecords, kinds: dict[str, list[tuple[int, int]]]) -> LinkedPeriods:
    """Chances for all pairs of periods that are compared."""
    around: list[list[tuple[str, int, Any]]] = [[] for _ in range(records.n_periods)]
    for kind, pairs in kinds.items():
        for (earlier, later), chance in link_kind(records, pairs):
            around[earlier].append((f"{kind} on", later, chance))
            around[later].append((f"{kind} back", earlier, chance.T.tocsr()))
    return LinkedPeriods(sorted({way for ways in around for way, _, _ in ways}), around)


def expanded_profiles(records: PartRecords, linked: LinkedPeriods, period: int, without: int) -> Profiles:
    """Where the people of a period's parts spend their time, by these parts and by those they are linked with, the
    period ``without`` apart: what is to be found there must not be taken for granted."""
    masses = records.masses[records.of(period)]
    for _, other, chance in linked.around[period]:
        if other != without:
            masses = masses + chance @ records.masses[records.of(other)]
    return _profiles(masses)


def profile_features(
    records: PartRecords, linked: LinkedPeriods, pair: tuple[int, int], lines: PairLines
) -> Floats:
    """PROFILE_FEATURES of lines: how likely the later part is by the profile of the earlier, and vice versa."""
    found = np.empty((len(lines.one), len(PROFILE_FEATURES)))
    ways = ((0, pair, lines.one, lines.other), (2, pair[::-1], lines.other, lines.one))
    for column, (period, against), asking, asked in ways:
        profiles = expanded_profiles(records, linked, period, against)
        number = np.searchsorted(records.of(period), asking)
        order = np.argsort(number, kind="stable")
        ptr = np.searchsorted(number[order], np.arange(len(profiles.total) + 1))
        likelihood, kinship = np.empty((2, len(order)))
        parts = asked[order]
        records.workers.for_blocks(
            len(profiles.total),
            functools.partial(_weigh, profiles, records.boxes, ptr, parts, likelihood, kinship),
        )
        found[order, column], found[order, column + 1] = likelihood, kinship
    return found


def _weigh(
    profiles: Profiles,
    boxes: PlacedBoxes,
    ptr: Int64s,
    asked: Int64s,
    likelihood: Floats,
    kinship: Floats,
    begin: int,
    end: int,
) -> None:
    weigh_profiles(profiles, boxes, ptr, asked, begin, end, likelihood, kinship)


def heaviest(found: Any, most: int) -> Any:
    """The largest entries of every row of a sparse array, of equals the first, by rows and columns."""
    found = found.tocsr()
    found.sort_indices()
    kept = np.empty(found.nnz, np.bool_)
    mark_largest(found.indptr.astype(np.int64), found.data, most, kept)
    listed = found.tocoo()
    listed.row, listed.col, listed.data = listed.row[kept], listed.col[kept], listed.data[kept]
    return listed


def slots_of_day(step_s: int) -> int:
    """Slots in a day."""
    return DAY_S // step_s
