"""What is left to be read with new names: against all draws of four samples, and the one rule for choosing a period."""

from __future__ import annotations

import random
from collections import Counter
from itertools import combinations

import numpy as np
import pytest

from oracles.parts import borders, period_of
from shoal.core.period_text import NEVER
from shoal.core.periods import ONE_PERIOD, Periods, Renaming
from shoal.core.promise import DAY_S, Grid, Promise
from shoal.core.samples import samples_from_columns
from shoal.core.zones import Zone
from shoal.storage.sample_store import SampleStore, store_of
from shoal.utility.read_share import PeriodOutlook, outlook_on_periods, read_share, recommend_period

HOURS = Grid.parse("100m", "1h")
UTC = Zone("UTC")


def store_from(times: list[list[int]]) -> SampleStore:
    """Samples of people at slots; everybody is always in one place."""
    rows = [(user, t) for user, own in enumerate(times) for t in own]
    user, t = (np.array(column) for column in zip(*rows, strict=True))
    names = np.array([f"u{number}" for number in range(len(times))], object)
    return store_of(samples_from_columns(names, user, t, np.zeros_like(t), np.zeros_like(t)))


def share_by_hand(times: list[list[int]], edges: list[int]) -> float:
    """Every draw of four different samples (all, of fewer), and all that lies in the periods of these."""
    shares = []
    for own in times:
        count = Counter(period_of(t, edges) for t in own)
        draws = [
            sum(count[p] for p in {period_of(t, edges) for t in four})
            for four in combinations(own, min(4, len(own)))
        ]
        shares.append(np.mean(draws) / len(own))
    return float(np.mean(shares))


@pytest.mark.parametrize("seed", range(40))
def test_shares_are_those_of_all_draws(seed: int) -> None:
    rng = random.Random(seed)
    times = [sorted(rng.sample(range(60), rng.randint(1, 9))) for _ in range(4)]
    edges = sorted(rng.sample(range(1, 60), rng.randint(1, 5)))
    assert read_share(store_from(times), Periods(np.array(edges))) == pytest.approx(
        share_by_hand(times, edges)
    )
    assert read_share(store_from(times), ONE_PERIOD) == 1


def test_outlooks_are_on_periods_that_can_be_chosen() -> None:
    """Longer than tau, shorter than the data, and of these that are shorter than what there is."""
    times = [list(range(user, 24 * 3, 2 + user)) for user in range(3)]
    store, zone = store_from(times), Zone("Asia/Tokyo")
    timed = Promise(2, 6, 6)
    found = outlook_on_periods(store, timed, HOURS, zone)
    assert [outlook.rename_every for outlook in found] == [NEVER, "1d", "12h", "6h"]
    for outlook, period_s in zip(found[1:], (DAY_S, DAY_S // 2, DAY_S // 4), strict=True):
        edges = borders(0, int(store.slots[-1]), period_s, zone.name, 6, 3600)
        assert outlook.read_share == pytest.approx(read_share(store, Periods(np.array(edges))))
        assert outlook.n_people == 3
    now = outlook_on_periods(store, timed, HOURS, zone, Renaming(DAY_S, zone.name))
    assert now == found[1:]
    whole = outlook_on_periods(store, Promise(2, None, None), HOURS, UTC)
    assert [outlook.rename_every for outlook in whole] == [NEVER, "1d", "12h", "6h", "3h"]
    odd = outlook_on_periods(store, timed, HOURS, UTC, Renaming(8 * 3600, "UTC"))
    assert [outlook.rename_every for outlook in odd] == ["8h", "6h"]
    assert outlook_on_periods(store_from([[1, 2], [2]]), timed, HOURS, UTC) == [PeriodOutlook(NEVER, 1.0, 2)]


def outlooks(*shares: float) -> list[PeriodOutlook]:
    """Names that never change, then shorter and shorter periods."""
    names = (NEVER, "7d", "1d", "12h", "6h", "3h")
    return [PeriodOutlook(name, share) for name, share in zip(names, shares, strict=False)]


@pytest.mark.parametrize(
    ("shares", "chosen"),
    [
        ((1, 0.9, 0.4, 0.2, 0.1, 0.05), "12h"),  # the longest of those that leave a fifth or less
        ((1, 0.9, 0.8, 0.7, 0.6, 0.5), "3h"),  # else the shortest
        ((1, 0.15), "7d"),
        ((0.2, 0.1), None),  # that is little already
        ((0.21, 0.2), "7d"),
        ((1,), None),
        ((), None),
        ((0.6, 0.6, 0.6), None),  # nothing would be gained
    ],
)
def test_one_rule_chooses(shares: tuple[float, ...], chosen: str | None) -> None:
    found = recommend_period(outlooks(*shares))
    assert (None if found is None else found.rename_every) == chosen
