"""Every statistic against a slow and obvious way to compute it, on tiny data full of ties."""

from __future__ import annotations

import math
from collections import Counter
from itertools import pairwise
from statistics import fmean, median

import numpy as np
import pytest

from shoal.synthetic.credibility.activity_statistics import (
    LEAST_GAPS,
    measure_activity,
    measure_gaps,
    measure_load,
    measure_rhythm,
)
from shoal.synthetic.credibility.measures import measure
from shoal.synthetic.credibility.mobility_statistics import (
    measure_exploration,
    measure_radius,
    measure_visits,
    radii_km,
)
from shoal.synthetic.credibility.traces import Traces, whole_edges
from shoal.synthetic.credibility.unicity import POINTS, count_fitting, measure_unicity, points
from support.synthetic_traces import CASES, HOUR, by_user, rows_of, traces

pytestmark = pytest.mark.parametrize("found", [traces(rows) for rows in CASES.values()], ids=CASES)


def hours(found: Traces) -> int:
    seconds = [second for _, second, *_ in rows_of(found)]
    return max(seconds) // HOUR - min(seconds) // HOUR + 1


def test_activity(found: Traces) -> None:
    rates = sorted(len(samples) / hours(found) for samples in by_user(found).values())
    measured = measure_activity(found)
    assert measured.mean == pytest.approx(fmean(rates))
    assert measured.median == pytest.approx(median(rates))
    assert measured.spread == pytest.approx(np.quantile(rates, 0.9) / median(rates))
    for x, share in zip(*measured.at_least, strict=True):
        assert share == pytest.approx(sum(rate >= x for rate in rates) / len(rates))


def test_gaps(found: Traces) -> None:
    gaps: dict[int, list[int]] = {}
    for user, samples in by_user(found).items():
        for (before, *_), (after, *_) in pairwise(samples):
            if after > before:
                gaps.setdefault(user, []).append(after - before)
    every = [gap for own in gaps.values() for gap in own]
    measured = measure_gaps(found)
    if every:
        step = found.resolution_s
        expected = []
        for low, high in pairwise(whole_edges(max(every) // step).tolist()):
            n = sum(low <= gap // step < high for gap in every)
            if n:
                expected.append(n / len(every) / ((high - low) * step))
        assert measured.density.y.tolist() == pytest.approx(expected)
    bursty = []
    for own in gaps.values():
        if len(own) >= LEAST_GAPS:
            mean = fmean(own)
            deviation = math.sqrt(fmean((gap - mean) ** 2 for gap in own))
            bursty.append((deviation - mean) / (deviation + mean))
    assert measured.burstiness == (pytest.approx(median(bursty), abs=1e-9) if bursty else None)


def test_rhythm(found: Traces) -> None:
    by_hour = Counter(second % 86_400 // HOUR for _, second, *_ in rows_of(found))
    weekend = Counter(
        second % 86_400 // HOUR for _, second, *_ in rows_of(found) if second // 86_400 % 7 in (2, 3)
    )  # the third and fourth day of 1970
    measured = measure_rhythm(found)
    assert measured.all_days.tolist() == pytest.approx([by_hour[h] / by_hour.total() for h in range(24)])
    assert measured.trough_hour == min(range(24), key=lambda h: by_hour[h])
    if weekend:
        assert measured.weekend is not None
        assert measured.weekend.tolist() == pytest.approx([weekend[h] / weekend.total() for h in range(24)])
    else:
        assert measured.weekend is None
    night, day = sum(by_hour[h] for h in range(1, 5)) / 4, sum(by_hour[h] for h in range(10, 20)) / 10
    assert measured.night_to_day == (pytest.approx(night / day) if day else None)


def test_radius(found: Traces) -> None:
    radii = []
    for samples in by_user(found).values():
        x, y = (fmean(sample[axis] for sample in samples) for axis in (1, 2))
        radii.append(math.sqrt(fmean((sample[1] - x) ** 2 + (sample[2] - y) ** 2 for sample in samples)))
    assert radii_km(found).tolist() == pytest.approx(radii, abs=1e-9)
    assert measure_radius(found).median_km == pytest.approx(median(radii), abs=1e-9)


def test_visits(found: Traces) -> None:
    tops, pairs = [], []
    for samples in by_user(found).values():
        ranked = sorted(Counter(sample[1:] for sample in samples).values(), reverse=True)
        tops.append(ranked[0] / len(samples))
        pairs.append(sum(ranked[:2]) / len(samples))
    measured = measure_visits(found)
    assert measured.top == pytest.approx(fmean(tops))
    assert measured.top_two == pytest.approx(fmean(pairs))


def test_exploration(found: Traces) -> None:
    begin = min(second for _, second, *_ in rows_of(found)) // HOUR
    n_hours = hours(found)
    measured = measure_exploration(found)
    users = by_user(found)
    for hour, places in zip(*measured.places, strict=True):
        seen = [
            {tuple(place) for second, *place in samples if second // HOUR - begin < hour}
            for samples in users.values()
        ]
        assert places == pytest.approx(fmean(map(len, seen)))
    moves = []
    for samples in users.values():
        for number in range(1, len(samples)):
            second, *place = samples[number]
            if place != list(samples[number - 1][1:]) and second // HOUR - begin >= n_hours / 2:
                moves.append(place not in [list(earlier[1:]) for earlier in samples[:number]])
    assert measured.new_share == (pytest.approx(fmean(moves)) if moves else None)


def test_unicity(found: Traces) -> None:
    known = {
        user: sorted({(second // HOUR, *place) for second, *place in samples})
        for user, samples in by_user(found).items()
    }
    point_of, user_of = points(found)
    assert len(point_of) == sum(map(len, known.values()))
    rng = np.random.default_rng(0)
    number = {}
    for user, own in known.items():
        ids = sorted(point_of[user_of == user].tolist())
        assert len(ids) == len(own)
        # Points are numbered by hour and then by place, and places by x and then by y, as the tuples are.
        number.update(zip(own, ids, strict=True))
    rows = []
    for own in known.values():
        rows += [[own[at] for at in rng.integers(0, len(own), 2)] for _ in range(3)]
    fitting = count_fitting(
        point_of, user_of, found.n_users, np.array([[number[p] for p in row] for row in rows])
    )
    expected = [sum(set(row) <= set(own) for own in known.values()) for row in rows]
    assert fitting.tolist() == expected
    drawn = sum(len(own) >= POINTS for own in known.values())
    measured = measure_unicity(found, seed=0)
    assert measured.n_drawn == drawn
    assert (measured.share is None) == (drawn == 0)


def test_load(found: Traces) -> None:
    loads = sorted(Counter(tuple(place) for _, _, *place in rows_of(found)).values())
    n, total = len(loads), sum(loads)
    differences = sum(abs(a - b) for a in loads for b in loads)
    measured = measure_load(found)
    assert measured.gini == pytest.approx(differences / (2 * n * total), abs=1e-9)
    assert measured.per_antenna == pytest.approx(total / n)
    if n % 10 == 0:
        assert measured.top_tenth == pytest.approx(sum(loads[-(n // 10) :]) / total)


def test_everything_can_be_measured(found: Traces) -> None:
    measured = measure(found, seed=3)
    assert measured == measured
    assert measured.setting.n_samples == len(rows_of(found))
    assert measured.setting.n_places == len({tuple(place) for _, _, *place in rows_of(found)})
