"""GLOVE: examples computed by hand, and every step against the oracle in exact fractions."""

from __future__ import annotations

import random

import numpy as np
import pytest

from oracles.glove import fingerprint_effort, glove, merged, reshaped, sample_effort
from shoal.core.promise import Grid
from shoal.errors import ParameterError
from shoal.evaluate.baselines import Glove, Limits
from shoal.evaluate.baselines.glove import reshape, suppress
from shoal.evaluate.baselines.kernels.glove import Fingerprints, box_effort, efforts_of, join
from support.baseline_worlds import records_of, samples_of, tiny_trajectories

FULL = (200, 480)  # 20 km in cells of 100 m, 8 h in slots of a minute
COARSE = Grid(cell_m=2500.0, step_s=3600)  # 20 km are 8 cells, 8 h are 8 slots: efforts reach their caps


def lines(boxes) -> np.ndarray:
    return np.array(boxes, np.int64).reshape(-1, 6)


def point(t: int, x: int, y: int = 0) -> tuple[int, ...]:
    return (t, t, x, x, y, y)


def prints_of(*prints) -> Fingerprints:
    """Fingerprints from (boxes, number of members) pairs."""
    size = np.array([len(boxes) for boxes, _ in prints])
    members = np.array([n for _, n in prints])
    return Fingerprints(
        lines([box for boxes, _ in prints for box in boxes]), np.cumsum(size) - size, size, members
    )


def effort_of(a, b, full=FULL) -> float:
    out = np.empty(2)
    efforts_of(prints_of(a, b), 0, np.ones(2, np.bool_), 0, 2, *map(float, full), out)
    return float(out[1])


def joined(a, b, full=FULL) -> list[tuple[int, ...]]:
    out = np.empty((min(len(a[0]), len(b[0])), 6), np.int64)
    used = join(prints_of(a, b), 0, 1, *map(float, full), out)
    return sorted(map(tuple, out[:used].tolist()))


# ---- by hand -----------------------------------------------------------------------------------------------------


def test_effort_of_two_samples_by_hand() -> None:
    """2 km and 48 min apart: each stretches by 2 km and 48 min, so 1/2 * 2/20 + 1/2 * 48/480 = 0.1."""
    assert effort_of(([point(0, 0)], 1), ([point(48, 20)], 1)) == 0.1


def test_effort_weighs_a_group_by_its_members_by_hand() -> None:
    """Two people in cells 0 to 10, a third in cell 20: they stretch by 10 cells, the third by 20.

    (2 * 10 + 1 * 20) / 3 = 40/3 cells = 4/3 km; 1/2 * (4/3) / 20 = 1/30.
    """
    assert effort_of(([(0, 0, 0, 10, 0, 0)], 2), ([point(0, 20)], 1)) == pytest.approx(1 / 30, rel=1e-15)


def test_effort_beyond_20_km_and_8_h_is_1() -> None:
    assert effort_of(([point(0, 0)], 1), ([point(481, 150, 51)], 1)) == 1.0


LONGER = ([point(0, 0), point(60, 0), point(600, 50)], 1)
SHORTER = ([point(10, 0), point(500, 0)], 1)


def test_effort_of_two_fingerprints_by_hand() -> None:
    """Minutes 0 and 60 are nearest to minute 10: 10/960 and 50/960. Minute 600, 5 km away, is nearest to minute 500:
    100/960 + 50/400. The mean of the three: (160/960 + 1/8) / 3 = (4/24 + 3/24) / 3 = 7/72.
    """
    assert effort_of(LONGER, SHORTER) == effort_of(SHORTER, LONGER) == pytest.approx(7 / 72, rel=1e-15)


def test_merge_of_two_fingerprints_by_hand() -> None:
    """As above: minutes 0, 60 and 10 become one box, minutes 600 and 500 another."""
    expected = [(0, 60, 0, 0, 0, 0), (500, 600, 0, 50, 0, 0)]
    assert joined(LONGER, SHORTER) == joined(SHORTER, LONGER) == expected


def test_a_sample_that_received_none_joins_the_nearest_box_by_hand() -> None:
    """All of minutes 0, 10 and 20 choose minute 5. Minute 400 received none: the only box there is takes it in."""
    longer, shorter = ([point(0, 0), point(10, 0), point(20, 0)], 1), ([point(5, 0), point(400, 0)], 1)
    assert joined(longer, shorter) == [(0, 400, 0, 0, 0, 0)]


def test_reshaping_by_hand() -> None:
    """Minutes 0-10 in cell 0 and 5-20 in cells 3-4: head 0-4, overlap 5-10 in cells 0-4, tail 11-20 in cells 3-4."""
    boxes = lines([(0, 10, 0, 0, 7, 7), (5, 20, 3, 4, 7, 7)])
    assert reshape(boxes).tolist() == [[0, 4, 0, 0, 7, 7], [5, 10, 0, 4, 7, 7], [11, 20, 3, 4, 7, 7]]


def test_reshaping_a_box_inside_another_by_hand() -> None:
    """The first ends later as well, so the tail has its area."""
    boxes = lines([(0, 9, 0, 0, 0, 0), (3, 5, 2, 2, 1, 1)])
    assert reshape(boxes).tolist() == [[0, 2, 0, 0, 0, 0], [3, 5, 0, 2, 0, 1], [6, 9, 0, 0, 0, 0]]


def test_a_reshaped_head_need_not_hold_everybody_by_hand() -> None:
    """Slots 0 and 10 in cell 0 are one box, slots 9 and 20 in cell 100 another: they overlap in slots 9 and 10.

    (To stay in place costs at most 11/960, to cross 100/400.) The head, slots 0 to 8, holds only the first person's
    sample, the tail only the second's: nothing suppressed, but the record of each has a box without a sample of theirs.
    """
    result = Glove()(samples_of([[(0, 0, 0), (9, 100, 0)], [(10, 0, 0), (20, 100, 0)]]), 2)
    record = [(0, 8, 0, 0, 0, 0), (9, 10, 0, 100, 0, 0), (11, 20, 100, 100, 0, 0)]
    assert records_of(result) == {0: record, 1: record}
    assert result.counts.suppressed == 0


def test_suppression_by_hand() -> None:
    """15 km are 150 cells of 100 m, 6 h are 360 slots of a minute: one more in any direction is too much."""
    kept = (0, 359, 0, 149, 0, 149)
    boxes = lines([kept, (0, 360, 0, 0, 0, 0), (0, 0, 0, 150, 0, 0), (0, 0, 0, 0, 0, 150)])
    assert suppress(boxes, Limits(), Grid()).tolist() == [list(kept)]


FIVE = [[(0, 0, 0)], [(0, 1, 0)], [(0, 10, 0)], [(0, 12, 0)], [(0, 30, 0)]]


def test_greedy_groups_of_two_and_a_leftover_by_hand() -> None:
    """Cells 0, 1, 10, 12, 30. Cheapest are 0 and 1 (1 cell), then 10 and 12 (2 cells); 30 is left over.

    With 0-1: (2 * 29 + 30) / 3 = 29 1/3 cells; with 10-12: (2 * 18 + 20) / 3 = 18 2/3. It joins 10-12.
    """
    result = Glove()(samples_of(FIVE), 2)
    low, high = [(0, 0, 0, 1, 0, 0)], [(0, 0, 10, 30, 0, 0)]
    assert records_of(result) == {0: low, 1: low, 2: high, 3: high, 4: high}
    assert result.succeeded
    assert result.counts.suppressed == 0
    # Of five boxes of a minute: two of 2 + 1 cells, three of 21 + 1 cells.
    assert result.precision.time_minutes == 1.0
    assert result.precision.space_km == pytest.approx((2 * 0.3 + 3 * 2.2) / 5)


def test_greedy_groups_of_three_by_hand() -> None:
    """0 and 1, then 10 and 12, are merged and put back. Then 0-1 with 10-12: (2 * 11 + 2 * 10) / 4 = 10.5 cells, less
    than 18 2/3 for 10-12 with 30. That makes four, done; 30 is left over and joins them."""
    result = Glove()(samples_of(FIVE), 3)
    assert records_of(result) == {user: [(0, 0, 0, 30, 0, 0)] for user in range(5)}


def test_what_is_too_coarse_is_suppressed_by_hand() -> None:
    """At minute 0 they are together, at minute 400 they are 160 cells apart. To wait would cost more than to reach so
    far, 400/960 against 160/400; but a box of 161 cells is wider than 15 km and goes, with its two samples."""
    result = Glove()(samples_of([[(0, 0, 0), (400, 0, 0)], [(0, 0, 0), (400, 160, 0)]]), 2)
    assert records_of(result) == {user: [(0, 0, 0, 0, 0, 0)] for user in range(2)}
    assert result.counts == (4, 2, 2, 0, 0, 0)


def test_nothing_left_means_no_record() -> None:
    result = Glove()(samples_of([[(0, 0, 0)], [(0, 500, 0)]]), 2)
    assert records_of(result) == {}
    assert result.counts.suppressed == 2
    assert not result.succeeded
    assert np.isnan(result.precision.time_minutes)


# ---- against the oracle ------------------------------------------------------------------------------------------


def random_box(rng: random.Random) -> tuple[int, ...]:
    sides = [sorted(rng.randint(0, reach) for _ in range(2)) for reach in (12, 9, 9)]
    return tuple(end for side in sides for end in side)


def random_print(rng: random.Random):
    return sorted(random_box(rng) for _ in range(rng.randint(1, 5))), rng.randint(1, 4)


def test_efforts_and_merges_equal_the_oracle() -> None:
    rng = random.Random(1)
    full = (8, 10)
    for _ in range(2_000):
        a, b = random_print(rng), random_print(rng)
        exact_a, exact_b = (a[0], range(a[1])), (b[0], range(b[1]))
        assert effort_of(a, b, full) == float(fingerprint_effort(exact_a, exact_b, full))
        assert joined(a, b, full) == merged(exact_a, exact_b, full)
        scaled = box_effort(lines(a[0]), 0, a[1], lines(b[0]), 0, b[1], *map(float, full))
        exact = sample_effort(a[0][0], a[1], b[0][0], b[1], *full)
        assert scaled == exact * 2 * (a[1] + b[1]) * full[0] * full[1]


def test_reshaping_equals_the_oracle_that_takes_two_boxes_at_a_time() -> None:
    rng = random.Random(2)
    for _ in range(2_000):
        boxes = [random_box(rng) for _ in range(rng.randint(1, 6))]
        assert [tuple(box) for box in reshape(lines(boxes)).tolist()] == reshaped(boxes)


@pytest.mark.parametrize("seed", range(4))
def test_whole_runs_equal_the_oracle(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(2_000):
        trajectories = tiny_trajectories(rng, most_users=rng.choice([4, 6, 11]))
        k = rng.randint(2, len(trajectories))
        limits = rng.choice([None, (4, 6), (10, 20)])
        method = Glove(
            grid=COARSE,
            limits=limits and Limits(limits[0] * COARSE.cell_m, limits[1] * COARSE.step_s),
            reshape=rng.random() < 0.5,
        )
        expected = glove(trajectories, k, (8, 8), limits, method.reshape)
        assert records_of(method(samples_of(trajectories), k)) == expected, (trajectories, k, method)


def test_two_threads_give_what_one_gives() -> None:
    rng = random.Random(5)
    trajectories = [
        [(rng.randrange(200), rng.randrange(60), rng.randrange(60)) for _ in range(6)] for _ in range(200)
    ]
    one, two = (Glove(workers=workers)(samples_of(trajectories), 3) for workers in (1, 2))
    assert records_of(one) == records_of(two)


def test_limits_must_leave_something() -> None:
    with pytest.raises(ParameterError, match="more than zero"):
        Limits(space_m=0)
