"""A minimum spread: the merge against brute force over all cuts, and releases in which no box is too small."""

from __future__ import annotations

import random
from collections import Counter

import numpy as np
import pytest

from oracles.merge import all_partitions, box_cost, hull_of_slots, slots_of
from oracles.parts import parts_errors
from shoal.core.options import HidingOptions, SelectorName
from shoal.core.periods import Periods
from shoal.core.promise import Promise
from shoal.core.workers import Workers
from shoal.errors import InputError
from shoal.hiding.epochs import EpochSlice, LiveEpoch, Timeline
from shoal.hiding.journal import MemoryJournal
from shoal.hiding.merging import publish, with_members
from shoal.hiding.pipeline import anonymize_samples
from support.release_worlds import World, as_samples
from support.whole_worlds import some_world

Box = tuple[int, ...]


def longer_side(box: Box) -> int:
    _, _, x0, x1, y0, y1 = box
    return max(x1 - x0, y1 - y0) + 1


def walkers(rng: random.Random, n: int) -> World:
    """People who are seen often, mostly near the middle: many cuts, and boxes that would be small."""
    return {
        user: {
            (rng.randrange(40), *(rng.choice([0, 1, 2, 3, 12]) for _ in range(2)))
            for _ in range(rng.randint(3, 5))
        }
        for user in range(n)
    }


def merged(world: World, cells: int, weight: float) -> list[Box]:
    """The boxes of the record that holds everybody."""
    live = Timeline(as_samples(world), Promise(2, None, None)).slice(0)
    with Workers(1) as workers:
        pools = live.raw
        for other in range(1, len(world)):
            rows = np.full(len(world), -1, np.int64)
            rows[0] = other
            pools = with_members(pools, live.raw, rows, workers)
        first = np.arange(len(world)) == 0
        only = EpochSlice(live.epoch, live.origin, live.users, live.counts, pools).restricted(first)
        boxes = publish(LiveEpoch(only, only.raw), weight, workers, cells)
    return [tuple(box) for _, *box in zip(*(column.tolist() for column in boxes), strict=True)]


@pytest.mark.parametrize("seed", range(4))
def test_cheapest_of_all_cuts(seed: int) -> None:
    rng, outcomes = random.Random(seed), Counter[str]()
    for _ in range(60):
        world = walkers(rng, rng.randint(2, 3))
        cells, weight = rng.choice([3, 5, 8, 12]), rng.choice([1.0, 2.0])
        slots = slots_of([sorted(own) for own in world.values()])
        if longer_side(hull_of_slots(slots)) < cells:
            outcomes["too narrow"] += 1
            continue
        allowed = [
            boxes
            for boxes in all_partitions(slots, len(world))
            if all(longer_side(box) >= cells for box in boxes)
        ]
        found = merged(world, cells, weight)
        assert tuple(found) in {tuple(map(tuple, boxes)) for boxes in allowed}
        costs = [sum(box_cost(box, weight) for box in boxes) for boxes in allowed]
        assert sum(box_cost(box, weight) for box in found) == min(costs)
        outcomes["changed"] += found != merged(world, 1, weight)
        outcomes["several boxes"] += len(found) > 1
    assert outcomes["changed"] > 3
    assert outcomes["several boxes"] > 3


def released(world: World, k: int, borders: list[int], cells: int, journal: MemoryJournal | None = None):
    options = HidingOptions(selector=SelectorName.MUTUAL)
    periods = Periods(np.array(borders, np.int64))
    with Workers(1) as workers:
        return anonymize_samples(
            as_samples(world), Promise(k, None, None), options, workers, periods=periods,
            min_spread_cells=cells, journal=journal,
        )  # fmt: skip


@pytest.mark.parametrize("seed", range(5))
def test_no_box_is_smaller_and_records_of_a_group_are_identical(seed: int) -> None:
    rng, outcomes = random.Random(9500 + seed), Counter[str]()
    for _ in range(30):
        world, k, borders = some_world(rng)
        cells, journal = rng.choice([2, 4, 8]), MemoryJournal()
        try:
            outcome = released(world, k, borders, cells, journal)
        except InputError as refusal:
            outcomes["refused for the spread"] += str(refusal).startswith("min_spread cannot be kept")
            continue
        users = sorted(world)
        parts: dict[tuple[int, int], list[Box]] = {}
        for owner, *box in zip(*(column.tolist() for column in outcome.boxes), strict=True):
            assert longer_side(tuple(box)) >= cells
            period = sum(border <= box[0] for border in borders)
            parts.setdefault((users[owner], period), []).append(tuple(box))
        assert (
            parts_errors(world, [(*key, boxes) for key, boxes in parts.items()], borders, k, None, None) == []
        )
        for step in journal:
            ((epoch, _, sets),) = step.windows
            for owner, members in zip(sets.owners, sets.members, strict=True):
                cluster = [owner, *members[members >= 0]]
                assert len(cluster) >= k
                assert len({str(parts[users[user], epoch]) for user in cluster}) == 1
                outcomes["joined"] += len(cluster) >= 2 * k
        outcomes["published"] += 1
        again = released(world, k, borders, cells, journal).boxes  # all from the journal
        assert all(np.array_equal(*columns) for columns in zip(outcome.boxes, again, strict=True))
    assert outcomes["published"] > 5
    assert outcomes["refused for the spread"] > 0
    assert outcomes["joined"] > 0


def test_a_place_that_is_too_small_for_everybody_is_refused() -> None:
    world = {user: {(time, user % 3, 0) for time in range(5)} for user in range(9)}
    assert longer_side(tuple(int(column[0]) for column in released(world, 3, [], 3).boxes[1:])) == 3
    with pytest.raises(InputError, match=r"^min_spread cannot be kept: .* choose a smaller distance"):
        released(world, 3, [], 4)
