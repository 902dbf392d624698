"""Agreements in live epochs: the kernel against the obvious way, edge by edge."""

from __future__ import annotations

import random

import numpy as np
import pytest

from shoal.core.options import Reuse
from shoal.core.workers import Workers
from shoal.hiding.kernels.leakage import live_agreements
from shoal.hiding.kernels.merge import merge_boxes
from shoal.hiding.kernels.window import WindowArrays
from shoal.hiding.matching.assignment import Edges
from shoal.hiding.matching.candidates import build_search_tree, nearest_edges
from shoal.hiding.merging import with_members
from shoal.hiding.reuse import History
from shoal.hiding.window import member_rows
from support.random_windows import crowd

Pair = tuple[int, int, int]  # member, window, how exposed


def random_past(
    rng: random.Random, arrays: WindowArrays, n_windows: int
) -> tuple[History, dict[int, list[Pair]]]:
    """Members that users had in earlier windows, and the same as lists by owner."""
    history, past = (
        History(int(arrays.user.max()) + 1, Reuse.ONCE, 1),
        {int(user): [] for user in arrays.user},
    )
    for window in range(n_windows):
        members = np.random.default_rng(rng.randrange(10**6)).permutation(arrays.user)
        exposure = np.array([rng.choice([0, 0, 5, 60]) for _ in members], np.uint8)
        history.append(window, arrays.user, members.reshape(-1, 1), exposure)
        for owner, member, share in zip(
            *(each.tolist() for each in (arrays.user, members, exposure)), strict=True
        ):
            past[owner].append((member, window, share))
    return history, past


def boxes_with(arrays: WindowArrays, owner: int, member: int) -> list[list[list[int]]]:
    """The boxes that a record would show in each epoch of the window if a member joined it."""
    joining = np.full(len(arrays.user), -1, np.int32)
    joining[owner] = member
    with Workers(1) as workers:
        pools = with_members(arrays.pools, arrays.raw, member_rows(arrays, joining), workers)
    count, box = np.zeros(len(pools.ptr) - 1, np.int64), np.empty((len(pools.slot), 6), np.int32)
    merge_boxes(pools, arrays.weight, 0, len(count), count, box)
    rows = [int(row) for row in arrays.row[owner]]
    return [box[pools.ptr[row] : pools.ptr[row] + count[row]].tolist() if row >= 0 else [] for row in rows]


def agrees(boxes: list[list[int]], arrays: WindowArrays, row: int) -> bool:
    """Whether the boxes hold all that a user has in an epoch, and each of them some of it."""
    slots = arrays.raw.slot[arrays.raw.ptr[row] : arrays.raw.ptr[row + 1]].tolist()
    held = all(
        any(t0 <= t <= t1 and x0 <= a and b <= x1 and y0 <= c and d <= y1 for t0, t1, x0, x1, y0, y1 in boxes)
        for t, a, b, c, d, _ in slots
    )
    return held and all(any(box[0] <= slot[0] <= box[1] for slot in slots) for box in boxes)


def slow(
    arrays: WindowArrays,
    past: dict[int, list[Pair]],
    owner: int,
    member: int,
    span: tuple[int, int],
    most: int,
) -> int:
    """How exposed those are, in all, with whom the record would agree, the latest first and ``most`` of them."""
    former = [
        (int(arrays.place[other]), share)
        for other, window, share in reversed(past[int(arrays.user[owner])])
        if span[0] <= window < span[1]
    ]
    found = [
        share
        for w, boxes in enumerate(boxes_with(arrays, owner, member))
        if arrays.row[owner, w] >= 0
        for place, share in former
        if arrays.first[owner] <= place < arrays.last[owner]
        and place != member
        and agrees(boxes, arrays, int(arrays.row[place, w]))
    ]
    return sum(found[:most])


def some_edges(rng: random.Random, arrays: WindowArrays) -> Edges:
    strangers = History(int(arrays.user.max()) + 1, Reuse.ONCE, 1)
    rule = strangers.rule(0, np.empty((len(arrays.user), 0), np.int32))
    with Workers(1) as workers:
        return nearest_edges(arrays, build_search_tree(arrays), rule, rng.choice([2, 8]), workers)


@pytest.mark.parametrize("most", [1, 3, 10**6])
def test_equals_the_obvious_way(most: int) -> None:
    rng, n_positive, n_capped = random.Random(most), 0, 0
    for _ in range(25):
        weight, epsilon = rng.choice([1.0, 2.0]), rng.choice([2, 5, 20])
        arrays = crowd(rng, rng.choice([4, 8, 12]), rng.choice([1, 2, 5]), rng.choice([1, 2, 5]), rng.choice([1, 2, 3]),
                       weight=weight, epsilon=epsilon)  # fmt: skip
        n_windows = rng.randint(0, 8)
        history, past = random_past(rng, arrays, n_windows)
        edges = some_edges(rng, arrays)
        span = rng.choice([-50, 1, 3]), n_windows - rng.choice([0, 1, 2])
        found, middle = np.empty(len(edges.owner), np.int32), rng.randint(0, len(edges.owner))
        rule = history.rule(n_windows, np.empty((len(arrays.user), 0), np.int32))
        for begin, end in ((0, middle), (middle, len(found))):
            live_agreements(
                arrays,
                rule,
                *span,
                edges.owner,
                edges.member,
                most,
                begin,
                end,
                found,
            )
        expected = [
            slow(arrays, past, i, j, span, most) for i, j in zip(edges.owner, edges.member, strict=True)
        ]
        assert found.tolist() == expected
        everything = [
            slow(arrays, past, i, j, span, 10**6) for i, j in zip(edges.owner, edges.member, strict=True)
        ]
        n_positive += sum(each > 0 for each in expected)
        n_capped += sum(one < all_of for one, all_of in zip(expected, everything, strict=True))
    assert n_positive > 100
    assert n_capped > 10 or most > 3
