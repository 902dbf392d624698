"""The few stretches that look most like all of them, against trying every choice."""

from __future__ import annotations

import random
from itertools import combinations

import numpy as np
import pytest

from shoal.core.box_sizes import BoxSizes, Histogram
from shoal.evaluate.plan.stretches import Census, TrialStretch, most_representative


def view_of(spans: list[int]) -> BoxSizes:
    counts = Histogram(*np.unique(np.array(spans, np.int64), return_counts=True))
    return BoxSizes(counts, Histogram(counts.value[:1], counts.frequency[:1]), counts, 0)


def unlike(choice: tuple[int, ...], spans: list[list[int]], samples: list[int]) -> float:
    """By the definition, with every box written out as often as it counts."""
    everybody = [(span, 1 / n) for boxes, n in zip(spans, samples, strict=True) for span in boxes]
    everybody.sort()
    total, sums = sum(weight for _, weight in everybody), {}
    for span, _ in everybody:
        sums[span] = sum(weight for other, weight in everybody if other <= span) / total
    off = 0.0
    for level in (0.25, 0.5, 0.75):
        quartile = min(span for span, share in sums.items() if share >= level - 1e-12)
        mine = [(span, 1 / samples[i]) for i in choice for span in spans[i]]
        share = sum(weight for span, weight in mine if span <= quartile) / sum(weight for _, weight in mine)
        off += abs(share - sums[quartile])
    return off


@pytest.mark.parametrize("seed", range(40))
def test_no_choice_is_more_like_all(seed: int) -> None:
    rng = random.Random(seed)
    n_all, reach, n = rng.randint(2, 7), rng.randint(1, 3), rng.randint(1, 3)
    firsts = sorted(rng.sample(range(100, 150), n_all))
    samples = [rng.randint(1, 9) for _ in range(50)]
    census = Census(100, np.array(samples, np.int64))
    stretches = [TrialStretch(first, 1, 0) for first in firsts]
    views = [
        [[rng.randint(1, 12) for _ in range(rng.randint(1, 9))] for _ in stretches]
        for _ in range(rng.randint(1, 2))
    ]
    found = most_representative(
        stretches, [[view_of(spans) for spans in view] for view in views], census, n, reach
    )

    def fits(choice: tuple[int, ...]) -> bool:
        epochs = [epoch for i in choice for epoch in stretches[i].epochs(reach)]
        return len(set(epochs)) == len(epochs) and min(epochs) >= 100 and max(epochs) < 150

    at = [samples[first - 100] for first in firsts]
    wanted = min(n, n_all)
    while wanted:
        choices = [choice for choice in combinations(range(n_all), wanted) if fits(choice)]
        if choices:
            break
        wanted //= 2
    assert len(found) == wanted
    if found:
        chosen = tuple(firsts.index(stretch.first) for stretch in found)
        assert fits(chosen)
        assert sum(stretch.samples for stretch in found) == sum(samples)
        best = min(sum(unlike(choice, view, at) for view in views) for choice in choices)
        assert sum(unlike(chosen, view, at) for view in views) == pytest.approx(best)


def test_ordinary_hours_are_preferred_to_odd_ones() -> None:
    census = Census(0, np.full(60, 100, np.int64))
    stretches = [TrialStretch(first, 1, 0) for first in (10, 20, 30, 40)]
    view = [view_of(spans) for spans in ([1] * 9, [2, 4, 6, 8] * 3, [3, 5, 7, 9] * 3, [90] * 9)]
    assert most_representative(stretches, [view], census, 1, 2)[0].first in (20, 30)
    both = most_representative(stretches, [view], census, 2, 2)
    assert {stretch.first for stretch in both} in ({20, 30}, {10, 40})
    assert [stretch.samples for stretch in both] == [3_000, 3_000]
    assert most_representative(stretches, [], census, 4, 2) == [
        each._replace(samples=1_500) for each in stretches
    ]
    assert most_representative([], [], census, 4, 2) == []
