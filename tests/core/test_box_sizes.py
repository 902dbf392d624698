"""Figures gathered part by part are those of all boxes together, to the last bit where that has a meaning."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from shoal.core.box_sizes import BoxSizes, box_sizes_of
from shoal.core.boxes import Boxes, concatenate
from shoal.core.promise import Grid
from shoal.utility import Precision, precision_of, precision_of_boxes

GRIDS = [Grid(), Grid(33.3, 300), Grid(0.1, 1), Grid(1234.5, 86_400)]
QUARTERS = (0.25, 0.5, 0.75)


def some_boxes(rng: np.random.Generator, n: int, slots: int, cells: int) -> Boxes:
    """Boxes of up to so many slots and cells along each axis; small limits make many ties."""
    t0 = rng.integers(-(10**9), 10**9, n)
    x0, y0 = (rng.integers(-(2**30), 2**30 - cells + 1, n).astype(np.int32) for _ in range(2))
    x1, y1 = ((low + rng.integers(0, cells, n)).astype(np.int32) for low in (x0, y0))
    return Boxes(np.zeros(n, np.int32), t0, t0 + rng.integers(0, slots, n), x0, x1, y0, y1)


def in_parts(rng: np.random.Generator, boxes: Boxes) -> BoxSizes:
    """The extents of the boxes in a random order, cut at random places; some parts are empty."""
    order = rng.permutation(boxes.n_boxes)
    bounds = np.sort(rng.integers(0, boxes.n_boxes + 1, 5)).tolist()
    gathered = box_sizes_of(concatenate([]))
    for begin, end in zip([0, *bounds], [*bounds, boxes.n_boxes], strict=True):
        gathered = gathered.plus(box_sizes_of(Boxes._make(column[order[begin:end]] for column in boxes)))
    return gathered


def by_numpy(boxes: Boxes, grid: Grid) -> Precision:
    """The slow obvious version, all values at once; means as fractions."""
    rows = list(zip(*(column.tolist() for column in boxes[1:]), strict=True))
    slots = [t1 - t0 + 1 for t0, t1, *_ in rows]
    sides = [(x1 - x0 + 1, y1 - y0 + 1) for _, _, x0, x1, y0, y1 in rows]
    longer = [width if width > height else height for width, height in sides]
    both = [width + height for width, height in sides]
    cost = Fraction(sum(a * b for a, b in zip(slots, both, strict=True)), len(rows))
    spreads = []
    km = grid.cell_m / 1000
    for values, unit in ((longer, km), (both, km), (slots, grid.step_s / 60)):
        mean = float(Fraction(sum(values), len(values)) * Fraction(unit))
        quartiles = np.quantile(np.array(values) * np.float64(unit), QUARTERS).tolist()
        spreads.append((mean, *quartiles))
    return Precision(*spreads, float(cost))  # type: ignore[arg-type]


def assert_equal(found: Precision, expected: Precision) -> None:
    for one, other in zip(found[:3], expected[:3], strict=True):
        assert tuple(one[1:]) == tuple(other[1:])
        assert math.isclose(one[0], other[0], rel_tol=1e-15)
    assert found.cost_per_box == expected.cost_per_box


@pytest.mark.parametrize("seed", range(4))
def test_parts_in_any_order_give_what_all_boxes_give(seed: int) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(300):
        n = int(rng.integers(1, 60))
        slots, cells = int(rng.choice([1, 2, 30, 2**30])), int(rng.choice([1, 3, 500, 2**30]))
        boxes, grid = some_boxes(rng, n, slots, cells), GRIDS[rng.integers(len(GRIDS))]
        found = precision_of(in_parts(rng, boxes), grid)
        assert found == precision_of_boxes(boxes, grid) == precision_of(in_parts(rng, boxes), grid)
        assert_equal(found, by_numpy(boxes, grid))


def test_many_boxes() -> None:
    rng = np.random.default_rng(9)
    for slots, cells in ((30, 2_000), (2**30, 2**20)):
        boxes = some_boxes(rng, 100_000, slots, cells)
        counted = in_parts(rng, boxes)
        assert counted.n_boxes == 100_000
        assert_equal(precision_of(counted, Grid()), by_numpy(boxes, Grid()))


def test_costs_that_are_too_large_together() -> None:
    """Each fits into 64 bits, their sum does not."""
    n = 1000
    ends = np.full(n, 2**30, np.int32)
    t1 = np.full(n, 2**30 - 1, np.int64)
    boxes = Boxes(np.zeros(n, np.int32), t1 * 0, t1, -ends, ends, -ends, ends)
    assert n * int(boxes.cost()[0]) > 2**63
    assert box_sizes_of(boxes).cost == n * 2**30 * (2 * (2**31 + 1))


def test_one_box() -> None:
    place = np.array([4], np.int32)
    boxes = Boxes(place, np.array([10]), np.array([15]), place, place + 1, place, place)
    found = precision_of_boxes(boxes, Grid())
    assert np.allclose(found.longer_side_km, 0.2, rtol=1e-15)
    assert np.allclose(found.width_plus_height_km, 0.3, rtol=1e-15)
    assert (found.time_minutes, found.cost_per_box) == ((6.0,) * 4, 18.0)


def test_a_box_of_one_cell_is_one_cell_long() -> None:
    one = np.zeros(1, np.int32)
    found = precision_of_boxes(
        Boxes(one, np.zeros(1, np.int64), np.zeros(1, np.int64), one, one, one, one), Grid()
    )
    assert found.longer_side_km == (0.1,) * 4
    assert found.width_plus_height_km == (0.2,) * 4


def test_the_longer_side_is_either_side() -> None:
    """Wide, high and square boxes; a square one counts once, not twice."""
    none = np.zeros(3, np.int64)
    x1, y1 = np.array([29, 4, 9], np.int32), np.array([4, 29, 9], np.int32)
    place = np.zeros(3, np.int32)
    boxes = Boxes(place, none, none, place, x1, place, y1)
    assert boxes.longer_side().tolist() == [30, 30, 10]
    assert boxes.width_plus_height().tolist() == [35, 35, 20]
    assert boxes.cost().tolist() == [35, 35, 20]


def test_every_box_several_times() -> None:
    rng = np.random.default_rng(5)
    boxes = some_boxes(rng, 40, 30, 500)
    expected = concatenate([boxes] * 7)
    assert_equal(precision_of(box_sizes_of(boxes).times(7), Grid()), by_numpy(expected, Grid()))


def test_the_name_of_version_0_1_warns_and_means_what_it_meant() -> None:
    found = precision_of_boxes(some_boxes(np.random.default_rng(6), 9, 30, 500), Grid())
    with pytest.warns(DeprecationWarning, match="longer_side_km"):
        assert found.space_km == found.width_plus_height_km
