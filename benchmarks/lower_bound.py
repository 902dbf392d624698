"""How far from optimal the boxes are: a lower bound on their cost, for any hiding sets that keep the promise as built.

    python benchmarks/lower_bound.py

Who is published when is given; reuse is ``once``, and nobody serves again. Witnesses only add cost. Let p(i, a) be the
cost of merging i and a in an epoch, and c(i, a, b) that of three. Adding a member never lowers the cost of a merge:
what is left of its boxes without that member's samples is a merge of the others, in boxes no larger.

*Prices.* An epoch that lies in q windows sees i hold d = q (k - 1) different members, each of i's presence pattern in
one of the q windows. For each of them, a, the epoch costs i at least t(i, a): the largest of p(i, a), the d-th smallest
p(i, .) and, if d > 1, the least c(i, a, b) over all b. What is at least each of d numbers is at least their mean. So if
t / d, summed over the epochs of a window, is the price of an edge, all edges together cost no more than all boxes.

*Permutations.* In every window the edges are k - 1 permutations without fixed points inside the presence patterns. Each
costs at least the cheapest one, an assignment problem.

*Multipliers.* Two things are lost by that, and Lagrange multipliers get some of it back. That a pair serves in one
window only: let pairs cost something extra, and take all extras off the sum again; no pair pays its extra twice. And
that what an epoch costs i depends on both its members, where d = 2: any prices f(a) and g(b) will do for the two
windows, if the least c(i, a, b) - f(a) - g(b) is added. Subgradients raise the bound; every round gives one that holds.

docs/decisions/0024-a-second-look.md has the figures.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow.parquet
from run import DATA, yjmob_events
from scipy.optimize import linear_sum_assignment

import shoal
from shoal.core.arrays import Bools, Floats, Int64s
from shoal.core.options import HidingOptions
from shoal.core.progress import SilentProgress
from shoal.core.promise import Grid, Promise
from shoal.core.samples import Samples
from shoal.core.workers import Workers
from shoal.hiding.epochs import EpochSlice, LiveEpoch, Timeline
from shoal.hiding.kernels.pools import Pools, taken
from shoal.hiding.kernels.window import WindowArrays
from shoal.hiding.merging import costs_of, with_members
from shoal.hiding.pipeline import anonymize_samples, open_selector
from shoal.hiding.selector import HidingSetup
from shoal.reading import read_events
from shoal.synthetic import write_city

_NEAREST = 40  # members of an owner whose thirds are priced; t of the others is bounded by what these show
_TOGETHER = 200_000  # merges priced at once
_AIM = 0.1  # how far above the best bound a round aims, at first
_SLOWER = 0.95  # how much less it aims after a round that does not help


class Bound(NamedTuple):
    """What all boxes cost at least: by prices and permutations, and with multipliers."""

    plain: float
    best: float


def lower_bound(samples: Samples, promise: Promise, workers: Workers, rounds: int = 150) -> Bound:
    """What the boxes of any release under the promise cost at least."""
    setup = HidingSetup(samples.n_users, promise, HidingOptions(harden=0), workers)
    plain = best = 0.0
    for epochs, windows in _stretches_of(Timeline(samples, promise), setup):
        bound = _Stretch(epochs, windows, setup).bound(rounds)
        plain, best = plain + bound.plain, best + bound.best
    return Bound(plain, best)


def _stretches_of(
    timeline: Timeline, setup: HidingSetup
) -> Iterator[tuple[list[EpochSlice], list[tuple[int, int]]]]:
    """The stretches of a timeline as they are published, with their windows: the places of first and last epochs."""
    presence = open_selector(setup).find_presence(timeline, SilentProgress())
    epochs: list[EpochSlice] = []
    for turn in timeline.turns():
        epochs.append(presence.of(timeline.slice(turn.epoch)))
        if turn.ends_stretch:
            reach = min(timeline.reach, len(epochs) - 1)
            yield epochs, [(first, first + reach) for first in range(len(epochs) - reach)]
            epochs = []


class _Stretch:
    """The windows of a stretch as assignment problems, and its epochs with what their multipliers are."""

    def __init__(self, epochs: list[EpochSlice], windows: list[tuple[int, int]], setup: HidingSetup) -> None:
        self._turns, self._n_users = setup.promise.k - 1, setup.n_users
        self._windows = [_Window(epochs[first : last + 1], setup) for first, last in windows]
        self._epochs: list[_Epoch] = []
        for place, part in enumerate(epochs):
            holding = [number for number, (first, last) in enumerate(windows) if first <= place <= last]
            if len(part.users):
                self._epochs.append(_Epoch(part, [self._windows[number] for number in holding], setup))

    def bound(self, rounds: int) -> Bound:
        """The bound, raised in so many rounds."""
        plain = best = self._assigned(np.zeros((0, 0)))
        if not len(self._windows):
            return Bound(0.0, 0.0)
        extra, aim = np.zeros((self._n_users, self._n_users)), _AIM
        for epoch in self._epochs:
            epoch.raise_prices()
        for _ in range(rounds):
            found = (
                self._assigned(extra) - float(extra.sum()) + sum(epoch.find_least() for epoch in self._epochs)
            )
            aim *= 1.0 if found > best else _SLOWER
            best = max(best, found)
            pair, excess = self._served_again(extra)
            length = float((excess**2).sum()) + sum(epoch.length() for epoch in self._epochs)
            if not length:
                break
            step = aim * best / length
            extra.reshape(-1)[pair] = np.maximum(extra.reshape(-1)[pair] + step * excess, 0.0)
            for epoch in self._epochs:
                epoch.move(step)
        return Bound(plain, best)

    def _assigned(self, extra: Floats) -> float:
        for window in self._windows:
            window.reset()
        for epoch in self._epochs:
            epoch.write_prices()
        return self._turns * sum(window.assign(extra) for window in self._windows)

    def _served_again(self, extra: Floats) -> tuple[Int64s, Floats]:
        """Pairs that serve again, or whose extra price is to change; and in how many windows too many they serve."""
        pairs = np.concatenate([window.pairs() for window in self._windows])
        pair, times = np.unique(pairs, return_counts=True)
        priced = np.flatnonzero(extra.reshape(-1))
        idle = np.setdiff1d(priced, pair)
        busy = (times > 1) | (extra.reshape(-1)[pair] > 0)
        return np.concatenate([pair[busy], idle]), np.concatenate(
            [times[busy] - 1.0, np.full(len(idle), -1.0)]
        )


class _Window:
    """A window: a square of prices for each presence pattern, one after the other in ``price``."""

    def __init__(self, epochs: list[EpochSlice], setup: HidingSetup) -> None:
        arrays: WindowArrays = setup.window_arrays([LiveEpoch(part, part.raw) for part in epochs])
        first = np.unique(arrays.first).astype(np.int64)
        self.user, self._place, self._n_users = arrays.user.astype(np.int64), arrays.place, setup.n_users
        self._groups = [(begin, int(arrays.last[begin])) for begin in first.tolist()]
        self._group, self._size = arrays.first, arrays.last.astype(np.int64) - arrays.first
        squares = [(end - begin) ** 2 for begin, end in self._groups]
        self._start = np.repeat(
            np.cumsum([0, *squares])[:-1], [end - begin for begin, end in self._groups]
        ).astype(np.int64)
        self.price = np.zeros(sum(squares))
        self._member = np.zeros(len(self.user), np.int64)

    def reset(self) -> None:
        """All edges are free, until epochs write what they cost."""
        self.price[:] = 0.0

    def group_of(self, users: Int64s) -> Int64s:
        """A number of the presence pattern of users who are published in the window."""
        return self._group[self._place[users]].astype(np.int64)

    def edges(self, owners: Int64s, members: Int64s) -> Int64s:
        """Where the prices of some edges are; owners and members have equal patterns."""
        owner, member = self._place[owners].astype(np.int64), self._place[members].astype(np.int64)
        first = self._group[owner]
        return np.asarray(self._start[owner] + (owner - first) * self._size[owner] + member - first)

    def assign(self, extra: Floats) -> float:
        """The cost of the cheapest permutations without fixed points; extra: the price of each pair on top of it."""
        total, start = 0.0, 0
        for begin, end in self._groups:
            n, users = end - begin, self.user[begin:end]
            square = self.price[start : start + n * n].reshape(n, n).copy()
            start += n * n
            if len(extra):
                square += extra[np.ix_(users, users)]
            np.fill_diagonal(square, np.abs(square).sum() + 1)
            owner, member = linear_sum_assignment(square)
            total += float(square[owner, member].sum())
            self._member[begin:end] = users[member]
        return total

    def pairs(self) -> Int64s:
        """Owner and member of the edges chosen last, in one number."""
        return np.asarray(self.user * self._n_users + self._member)

    def members_of(self, users: Int64s) -> Int64s:
        """The members chosen last for some users."""
        return self._member[self._place[users]]


class _Epoch:
    """An epoch: what it contributes to the prices of the windows that hold it."""

    def __init__(self, part: EpochSlice, windows: list[_Window], setup: HidingSetup) -> None:
        self._users, self._windows = part.users.astype(np.int64), windows
        n = len(self._users)
        group = np.stack([window.group_of(self._users) for window in windows])
        self._may = group[:, :, None] == group[:, None, :]
        self._may[:, np.arange(n), np.arange(n)] = False
        pair = _pair_costs(part.raw, self._may.any(axis=0), setup)
        order = np.argsort(pair, axis=1, kind="stable")
        held = len(windows) * (setup.promise.k - 1)
        self._near = order[:, : min(_NEAREST, n)]
        rows = np.arange(n)[:, None]
        at_least = np.maximum(pair, pair[rows, order[:, held - 1 : held]])
        self._third = None
        if held > 1:
            third = _third_costs(part.raw, self._near, pair, setup)
            beyond = pair[rows, order[:, len(self._near[0]) : len(self._near[0]) + 1]]
            self._beyond = beyond if beyond.size else np.full((n, 1), np.inf)
            cheapest = np.minimum(third.min(axis=2), np.maximum(self._beyond, pair[rows, self._near]))
            at_least = np.maximum(at_least, np.minimum(cheapest.min(axis=1)[:, None], self._beyond))
            at_least[rows, self._near] = np.maximum(at_least[rows, self._near], cheapest)
            self._third = third if len(windows) == held == 2 else None
        self._share = at_least / held
        self._edges = [np.nonzero(may) for may in self._may]
        self._at = [
            window.edges(self._users[i], self._users[a])
            for window, (i, a) in zip(windows, self._edges, strict=True)
        ]
        if self._third is not None:
            self._begin_multipliers(rows)

    # ---- multipliers, where an owner holds two members ----

    def _begin_multipliers(self, rows: Int64s) -> None:
        near_share = self._share[rows, self._near]
        self._eligible = [may[rows, self._near] for may in self._may]
        self._price = [np.where(eligible, near_share, 0.0) for eligible in self._eligible]
        # With a third beyond the near ones, whose price stays a half of what it costs at least:
        self._roomy = np.maximum(self._beyond / 2, near_share)
        self._third = np.where(
            self._eligible[0][:, :, None] & self._eligible[1][:, None, :], self._third, np.inf
        )
        self._least = np.zeros((len(rows), 2), np.int64)

    def raise_prices(self) -> None:
        """Make prices as high as they can be with nothing to be added."""
        if self._third is not None:
            for side, share in ((0, 0.5), (1, 1.0), (0, 1.0)):
                room = self._left().min(axis=2 - side)
                room = np.minimum(room, self._roomy - self._price[side])
                raised = self._eligible[side] & np.isfinite(room)
                self._price[side] += np.where(raised, share * np.maximum(room, 0.0), 0.0)

    def _left(self) -> Floats:
        """c - f - g for every owner and two near members."""
        assert self._third is not None
        return np.asarray(self._third - self._price[0][:, :, None] - self._price[1][:, None, :])

    def find_least(self) -> float:
        """What is added to the bound: the least c - f - g of every owner; near members who reach it are noted."""
        if self._third is None:
            return 0.0
        n, width = self._near.shape
        left = self._left().reshape(n, -1)
        both = left.argmin(axis=1)
        options = [np.zeros(n), left[np.arange(n), both]]  # two who are not near; two who are; one who is
        notes = [np.full((n, 2), -1), np.stack(np.divmod(both, width), axis=1)]
        for side in (0, 1):
            mixed = np.where(self._eligible[side], self._roomy - self._price[side], np.inf)
            one = mixed.argmin(axis=1)
            options.append(mixed[np.arange(n), one])
            note = np.full((n, 2), -1)
            note[:, side] = one
            notes.append(note)
        best = np.argmin(np.stack(options), axis=0)
        self._least = np.stack(notes)[best, np.arange(n)]
        return float(np.stack(options)[best, np.arange(n)].sum())

    def _direction(self, side: int) -> Floats:
        """Where a price should rise, since the window's edges use it, and where fall, since the owner's least does."""
        n = len(self._near)
        member = np.searchsorted(self._users, self._windows[side].members_of(self._users))
        direction = (self._near == member[:, None]).astype(np.float64)
        line = np.flatnonzero(self._least[:, side] >= 0)
        direction[line, self._least[line, side]] -= 1.0
        return np.asarray(direction.reshape(n, -1))

    def length(self) -> float:
        """The squared length of the subgradient."""
        if self._third is None:
            return 0.0
        return float(sum((self._direction(side) ** 2).sum() for side in (0, 1)))

    def move(self, step: float) -> None:
        """Move all prices along the subgradient."""
        if self._third is not None:
            for side in (0, 1):
                self._price[side] += step * self._direction(side)

    # ---- prices ----

    def write_prices(self) -> None:
        """Add what the epoch contributes to the edges of the windows that hold it."""
        for side, (window, (i, a), at) in enumerate(zip(self._windows, self._edges, self._at, strict=True)):
            price = self._share
            if self._third is not None:
                rows = np.arange(len(self._users))[:, None]
                price = price.copy()
                price[rows, self._near] = np.where(
                    self._eligible[side], self._price[side], price[rows, self._near]
                )
            window.price[at] += price[i, a]


def _pair_costs(raw: Pools, may: Bools, setup: HidingSetup) -> Floats:
    """p of all pairs that may serve each other in some window, infinite for all others."""
    pair = np.full(may.shape, np.inf)
    owner, member = np.nonzero(np.triu(may | may.T))
    pair[owner, member] = pair[member, owner] = _joined(raw, owner, raw, member, setup)
    return pair


def _third_costs(raw: Pools, near: Int64s, pair: Floats, setup: HidingSetup) -> Floats:
    """c(i, a, b) of every user i and any two near members, infinite where one of them may never serve i."""
    n, width = near.shape
    third = np.full((n, width, width), np.inf)
    first, second = np.triu_indices(width, 1)
    rows = np.arange(n)
    for a in range(width):
        others = second[first == a]
        i, b = np.repeat(rows, len(others)), np.tile(others, n)
        fits = np.isfinite(pair[i, near[i, a]]) & np.isfinite(pair[i, near[i, b]])
        i, b = i[fits], b[fits]
        owners, line = np.unique(i, return_inverse=True)
        held = with_members(taken(raw, owners), raw, near[owners, a], setup.workers)
        third[i, a, b] = third[i, b, a] = _joined(held, line, raw, near[i, b], setup)
    return third


def _joined(held: Pools, rows: Int64s, raw: Pools, members: Int64s, setup: HidingSetup) -> Floats:
    """The costs of some rows once a member has joined each."""
    costs = [np.empty(0)]
    for begin in range(0, len(rows), _TOGETHER):
        some = slice(begin, begin + _TOGETHER)
        pools = with_members(taken(held, rows[some]), raw, members[some], setup.workers)
        costs.append(costs_of(pools, setup.options.space_weight, setup.workers))
    return np.concatenate(costs)


def _datasets(folder: Path) -> Iterator[tuple[str, Samples, int]]:
    """Titles, samples, and tau in minutes."""
    write_city("abi", folder / "abi.parquet", users=4000, days=1, seed=5)
    tables = [
        ("city of 3,000", shoal.make_city(3000, seed=5), 30),
        ("abi of 4,000", pyarrow.parquet.read_table(folder / "abi.parquet"), 30),
    ]
    if (DATA / "yjmob100k_1k_users.parquet").exists():
        tables.append(("YJMob, days 0 to 2", yjmob_events(DATA / "yjmob100k_1k_users.parquet"), 60))
    for title, table, tau in tables:
        yield title, read_events(table, grid=Grid.parse()).samples, tau


def main() -> None:
    """Print the bound and, for each effort, how far above it the boxes are."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=150)
    parser.add_argument("--only", default="", help="a part of the title of a dataset")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, Workers(1) as workers:
        for title, samples, tau in _datasets(Path(folder)):
            if given.only not in title:
                continue
            promise = Promise(2, tau, tau)
            bound = lower_bound(samples, promise, workers, given.rounds)
            told = []
            for effort in (1, 2, 3):
                outcome = anonymize_samples(samples, promise, HidingOptions(effort=effort, harden=0), workers)
                assert not outcome.relaxations
                cost = outcome.box_sizes.cost
                told.append(f"effort {effort} {cost:,.0f} (+{100 * (cost / bound.best - 1):.1f} %)")
            print(
                f"{title}: at least {bound.best:,.0f} ({bound.plain:,.0f} without multipliers);",
                "; ".join(told),
            )


if __name__ == "__main__":
    main()
