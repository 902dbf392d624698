"""Features of pairs of parts against slow and obvious versions, and the pairs of periods that are compared."""

from __future__ import annotations

import math
import random
from itertools import pairwise

import numpy as np
import pytest

from shoal.auditing.attacks.part_links import PairLines, pairs_of_periods, scaled
from shoal.auditing.kernels.relinking import (
    PAIR_FEATURES,
    Hulls,
    PlacedBoxes,
    Profiles,
    describe_pairs,
    mark_largest,
    shortlist,
    weigh_profiles,
)
from shoal.core.periods import Periods

HOUR, FAR, N_SITES = 60.0, 0.2, 12
Box = dict[str, float]


def some_boxes(
    rng: random.Random, n_parts: int
) -> tuple[PlacedBoxes, list[list[tuple[Box, dict[int, float]]]]]:
    """Parts of a few boxes with chances of sites, laid out for kernels and as dictionaries."""
    parts, columns = [], {name: [] for name in ("t0", "t1", "x0", "x1", "y0", "y1", "x", "y")}
    ptr, at, site, chance = [0], [0], [], []
    for _ in range(n_parts):
        own, t = [], rng.randrange(200)
        for _ in range(rng.randint(1, 5)):
            t += rng.randrange(300)
            x0, y0 = rng.randrange(12), rng.randrange(12)
            box: Box = {
                "t0": t, "t1": t + rng.randrange(30), "x0": x0, "x1": x0 + rng.randrange(6),
                "y0": y0, "y1": y0 + rng.randrange(6), "x": x0 + rng.random(), "y": y0 + rng.random(),
            }  # fmt: skip
            t = int(box["t1"]) + 1
            sites = sorted(rng.sample(range(N_SITES), rng.randint(0, 4)))
            chances = {each: rng.random() for each in sites}
            for name, column in columns.items():
                column.append(box[name])
            site += sites
            chance += [chances[each] for each in sites]
            at.append(len(site))
            own.append((box, chances))
        ptr.append(ptr[-1] + len(own))
        parts.append(own)
    whole = [np.array(columns[name], np.int64) for name in ("t0", "t1", "x0", "x1", "y0", "y1")]
    means = [np.array(columns[name], np.float64) for name in ("x", "y")]
    commonness = np.array([0.02 + rng.random() for _ in range(N_SITES)])
    lines = (np.array(at, np.int64), np.array(site, np.int64), np.array(chance, np.float64))
    return PlacedBoxes(np.array(ptr, np.int64), *whole, *means, *lines, commonness), parts


def expected_features(
    one: list[tuple[Box, dict[int, float]]], other: list[tuple[Box, dict[int, float]]], commonness: np.ndarray
) -> dict[str, float]:
    """What docs/audit.md says of a pair of parts."""

    def common(a: Box, b: Box) -> float:
        across = min(a["x1"], b["x1"]) - max(a["x0"], b["x0"]) + 1
        along = min(a["y1"], b["y1"]) - max(a["y0"], b["y0"]) + 1
        return across * along if min(across, along) > 0 else 0

    def cells(a: Box) -> float:
        return (a["x1"] - a["x0"] + 1) * (a["y1"] - a["y0"] + 1)

    def overlap(a: Box, b: Box) -> float:
        return common(a, b) / (cells(a) + cells(b) - common(a, b))

    def kinship(a: tuple[Box, dict[int, float]], b: tuple[Box, dict[int, float]]) -> float:
        return sum(p * b[1].get(s, 0) / commonness[s] for s, p in a[1].items()) if common(a[0], b[0]) else 0

    def faces(a: Box, b: Box) -> int:
        return sum(a[name] == b[name] for name in ("x0", "x1", "y0", "y1"))

    def distance(a: Box, b: Box) -> float:
        return FAR * math.hypot(a["x"] - b["x"], a["y"] - b["y"])

    def hours(a: Box, b: Box) -> float:
        return abs(a["t0"] + a["t1"] - b["t0"] - b["t1"]) / 2 / HOUR

    kin = [[kinship(a, b) for b in other] for a in one]
    both = [(a, b, kin[i][j]) for i, (a, _) in enumerate(one) for j, (b, _) in enumerate(other)]
    n = len(both)
    found = {
        "forward": sum(math.log((sum(column) + 1) / (len(one) + 1)) for column in zip(*kin, strict=True)),
        "backward": sum(math.log((sum(row) + 1) / (len(other) + 1)) for row in kin),
        "kinship": math.log(0.01 + sum(k for *_, k in both) / n),
        "closest_kin": math.log(0.1 + max(k for *_, k in both)),
        "kin_by_hour": math.log(
            0.01
            + sum(k * math.exp(-min(hours(a, b) % 24, 24 - hours(a, b) % 24) / 1.5) for a, b, k in both) / n
        ),
        "kin_in_time": math.log(0.01 + sum(k * math.exp(-hours(a, b) / 2) for a, b, k in both) / n),
        "missed": sum(math.log(0.05 + any(common(a, b) for a, _ in one)) for b, _ in other),
        "missed_back": sum(math.log(0.05 + any(common(a, b) for b, _ in other)) for a, _ in one),
        "overlap": math.log(0.01 + sum(overlap(a, b) for a, b, _ in both) / n),
        "faces": math.log(0.1 + sum(faces(a, b) for a, b, _ in both) / n),
        "size": abs(
            sum(math.log(cells(a)) for a, _ in one) / len(one)
            - sum(math.log(cells(b)) for b, _ in other) / len(other)
        ),
        "boxes": abs(math.log(len(one) / len(other))),
        "more_boxes": math.log(len(other)),
        "near": sum(math.log1p(min(distance(a, b) for a, _ in one)) for b, _ in other) / len(other),
        "near_back": sum(math.log1p(min(distance(a, b) for b, _ in other)) for a, _ in one) / len(one),
    }
    last, first = one[-1][0], other[0][0]
    across = max(0, last["x0"] - first["x1"], first["x0"] - last["x1"])
    along = max(0, last["y0"] - first["y1"], first["y0"] - last["y1"])
    gap, pause = FAR * math.hypot(across, along), abs(first["t0"] - last["t1"]) / HOUR
    found |= {
        "border_overlap": math.log(0.01 + overlap(last, first)),
        "border_gap": math.log1p(gap),
        "border_speed": math.log1p(gap / max(pause, 1 / 60)),
        "border_faces": faces(last, first),
        "border_distance": math.log1p(distance(last, first)),
        "border_kinship": math.log(
            0.1 + sum(p * other[0][1].get(s, 0) / commonness[s] for s, p in one[-1][1].items())
        ),
        "pause": math.log1p(pause),
    }
    for name in PAIR_FEATURES:
        if name.endswith("_x_pause"):
            found[name] = found[name.removesuffix("_x_pause")] * found["pause"]
        if name.endswith("_2"):
            found[name] = found[name.removesuffix("_2")] ** 2
    return found


@pytest.mark.parametrize("seed", range(5))
def test_pairs_are_described_as_the_audit_says(seed: int) -> None:
    rng = random.Random(seed)
    boxes, parts = some_boxes(rng, 12)
    one, other = (np.array([rng.randrange(12) for _ in range(60)]) for _ in range(2))
    found = np.empty((60, len(PAIR_FEATURES)))
    describe_pairs(boxes, one, other, HOUR, FAR, 0, 60, found)
    for line in range(60):
        expected = expected_features(parts[one[line]], parts[other[line]], boxes.commonness)
        assert found[line] == pytest.approx([expected[name] for name in PAIR_FEATURES])


def test_of_many_boxes_some_are_compared_and_always_the_first_and_the_last_at_borders() -> None:
    rng = random.Random(9)
    boxes, _ = some_boxes(rng, 60)
    merged = boxes._replace(ptr=np.array([0, 60, len(boxes.t0)]))
    found = np.empty((1, len(PAIR_FEATURES)))
    describe_pairs(merged, np.array([0]), np.array([1]), HOUR, FAR, 0, 1, found)
    pause = abs(boxes.t0[60] - boxes.t1[59]) / HOUR
    assert found[0, PAIR_FEATURES.index("pause")] == pytest.approx(math.log1p(pause))
    assert found[0, PAIR_FEATURES.index("boxes")] == pytest.approx(abs(math.log(60 / (len(boxes.t0) - 60))))


@pytest.mark.parametrize("seed", range(3))
def test_profiles_are_weighed_box_by_box(seed: int) -> None:
    rng = random.Random(seed)
    boxes, parts = some_boxes(rng, 8)
    masses = [{site: rng.random() for site in sorted(rng.sample(range(N_SITES), 4))} for _ in range(3)]
    profiles = Profiles(
        np.array([0, 4, 8, 12]),
        np.array([site for mass in masses for site in mass]),
        np.array([value for mass in masses for value in mass.values()]),
        np.array([sum(mass.values()) for mass in masses]),
    )
    ptr, asked = np.array([0, 5, 8, 16]), np.array([rng.randrange(8) for _ in range(16)])
    likelihood, kinship = np.empty((2, 16))
    weigh_profiles(profiles, boxes, ptr, asked, 0, 3, likelihood, kinship)
    for i, mass in enumerate(masses):
        total = sum(mass.values())
        for line in range(ptr[i], ptr[i + 1]):
            own = parts[asked[line]]
            here = [
                sum(p * mass.get(s, 0) / boxes.commonness[s] for s, p in chances.items())
                for _, chances in own
            ]
            assert likelihood[line] == pytest.approx(sum(math.log((x + 1) / (total + 1)) for x in here))
            assert kinship[line] == pytest.approx(math.log(0.01 + sum(here) / (total * len(own))))


@pytest.mark.parametrize("seed", range(5))
def test_the_shortlist_has_the_highest_scores(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, wanted = 30, 7
    mass, share = rng.random((4, N_SITES)), rng.random((n, N_SITES)) * (rng.random((n, N_SITES)) < 0.3)
    low, size = rng.integers(0, 40, (2, 2, n)), rng.integers(0, 9, (2, 2, n))
    hulls = [Hulls(x, x + w, y, y + h) for (x, y), (w, h) in zip(low, size, strict=True)]
    site, part = np.nonzero(share.T)
    ptr = np.searchsorted(site, np.arange(N_SITES + 1))
    profiles = Profiles(
        np.arange(5) * N_SITES, np.tile(np.arange(N_SITES), 4), mass.ravel(), mass.sum(axis=1)
    )
    chosen = np.empty((4, wanted), np.int64)
    shortlist(profiles, hulls[0], ptr, part, share[part, site], hulls[1], 0, 4, chosen)
    for i in range(4):
        scores = []
        for j in range(n):
            across = max(0, hulls[0].x0[i] - hulls[1].x1[j], hulls[1].x0[j] - hulls[0].x1[i])
            along = max(0, hulls[0].y0[i] - hulls[1].y1[j], hulls[1].y0[j] - hulls[0].y1[i])
            shares = 0.01 + (mass[i] / mass[i].sum()) @ share[j]
            scores.append(shares / (1 + math.hypot(across, along)))
        assert chosen[i].tolist() == sorted(np.argsort(-np.array(scores), kind="stable")[:wanted].tolist())


@pytest.mark.parametrize("seed", range(10))
def test_the_largest_of_every_row_are_marked_of_equals_the_first(seed: int) -> None:
    rng = np.random.default_rng(seed)
    sizes = rng.integers(0, 12, 20)
    ptr = np.concatenate([[0], np.cumsum(sizes)])
    value = rng.integers(0, 4, ptr[-1]).astype(np.float64)
    kept = np.empty(len(value), np.bool_)
    mark_largest(ptr, value, 5, kept)
    for begin, end in pairwise(ptr):
        best = np.argsort(-value[begin:end], kind="stable")[:5]
        assert np.flatnonzero(kept[begin:end]).tolist() == sorted(best.tolist())


def test_periods_are_compared_with_the_next_and_with_the_same_hours_of_later_days() -> None:
    quarters = Periods(np.arange(1, 12) * 360)  # three days of four periods
    found = pairs_of_periods(quarters, 1440)
    assert found["next"] == [(p, p + 1) for p in range(11)]
    assert found["day_1"] == [(p, p + 4) for p in range(8)]
    assert found["day_2"] == [(p, p + 8) for p in range(4)]
    days = Periods(np.array([1440, 2880, 4320]))
    assert pairs_of_periods(days, 1440) == {"next": [(0, 1), (1, 2), (2, 3)], "day_2": [(0, 2), (1, 3)]}


def test_a_part_that_everybody_claims_loses_chance() -> None:
    case = np.repeat(np.arange(3), 2)
    lines = PairLines(case, np.array([10, 11, 10, 12, 10, 13]), case, np.arange(4) * 2)
    chance = scaled(lines, np.tile([1.0, 0.0], 3), np.array([10, 11, 12, 13]))
    assert np.bincount(case, weights=chance) == pytest.approx(1)
    assert chance[[0, 2, 4]] == pytest.approx(1 / 3, abs=0.02)
