"""Consistency of boxes with samples against the oracles' attacker."""

from __future__ import annotations

import random
from collections import Counter

import numpy as np
import pytest

from oracles.attacker import consistent as attacker_consistent
from shoal.core.compiled import jit
from shoal.hiding.kernels.consistency import consistent, consistent_between
from shoal.hiding.kernels.pools import OWN_SLOT

LENGTH = 12  # slots of the epoch

Box = tuple[int, int, int, int, int, int]


@jit
def ask_between(box: np.ndarray, own: np.ndarray, since: int, until: int) -> bool:
    return bool(consistent_between(box, 0, len(box), own, 0, len(own), since, until))


@jit
def ask(box: np.ndarray, own: np.ndarray) -> bool:
    return bool(consistent(box, 0, len(box), own, 0, len(own)))


def random_boxes(rng: random.Random) -> list[Box]:
    """Boxes that do not overlap in time, by time; possibly none."""
    ends = sorted(rng.sample(range(LENGTH), 2 * rng.randint(0, 3)))
    return [
        (t0, t1, x, x + rng.randint(0, 3), y, y + rng.randint(0, 3))
        for t0, t1 in zip(ends[::2], ends[1::2], strict=True)
        for x, y in [(rng.randint(0, 2), rng.randint(0, 2))]
    ]


def random_samples(rng: random.Random, boxes: list[Box]) -> list[tuple[int, int, int]]:
    """Samples in different slots, most of them inside boxes, by time."""
    samples = {}
    for _ in range(rng.randint(0, 5)):
        t, x, y = rng.randrange(LENGTH), rng.randint(0, 5), rng.randint(0, 5)
        if boxes and rng.random() < 0.9:
            t0, t1, x0, x1, y0, y1 = rng.choice(boxes)
            t, x, y = rng.randint(t0, t1), rng.randint(x0, x1), rng.randint(y0, y1)
        samples[t] = (t, x, y)
    return [samples[t] for t in sorted(samples)]


@pytest.mark.parametrize("seed", range(10))
def test_equals_the_attacker_of_the_oracles(seed: int) -> None:
    rng, answers = random.Random(seed), Counter[bool]()
    for _ in range(300):
        boxes = random_boxes(rng)
        samples = random_samples(rng, boxes)
        since, tau = rng.randrange(LENGTH), rng.randint(1, LENGTH)
        box = np.array(boxes, np.int32).reshape(-1, 6)
        own = np.array([(t, x, x, y, y) for t, x, y in samples], OWN_SLOT)
        known = {sample for sample in samples if since <= sample[0] < since + tau}
        wanted = attacker_consistent(boxes, known, since, tau)
        assert ask_between(box, own, since, since + tau) == wanted
        assert ask(box, own) == attacker_consistent(boxes, set(samples), 0, LENGTH)
        answers[wanted] += 1
    assert min(answers[True], answers[False]) > 30
