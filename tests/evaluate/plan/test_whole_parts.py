"""Forecasts of whole parts: the middle period is hidden as in a full run, and stands for all of them."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import shoal
from shoal.cli.text.plan import plan_lines, whole_parts_advice
from shoal.core.box_sizes import box_sizes_of
from shoal.core.boxes import Boxes, concatenate
from shoal.core.options import HidingOptions
from shoal.core.period_text import NEVER, parse_period
from shoal.core.periods import find_periods
from shoal.core.progress import SilentProgress
from shoal.core.promise import Grid, Promise
from shoal.core.workers import Workers
from shoal.core.zones import Zone
from shoal.evaluate.plan.planning import Plan, plan
from shoal.evaluate.plan.whole_parts import WholeParts, forecast_whole_parts
from shoal.hiding.pipeline import anonymize_samples
from shoal.reading import read_events
from shoal.storage.sample_store import SampleStore
from shoal.utility import precision_of
from shoal.utility.read_share import PeriodOutlook

GRID, UTC = Grid(), Zone("UTC")
SIX_HOURS = [PeriodOutlook(NEVER, 1.0), PeriodOutlook("1d", 0.9), PeriodOutlook("6h", 0.15)]


@pytest.fixture(scope="module")
def store() -> SampleStore:
    return read_events(shoal.make_city(500, days=2, seed=1), grid=GRID).store


def forecast(
    store: SampleStore, k: int, outlooks: list[PeriodOutlook] = SIX_HOURS, budget_s: float = 1e6
) -> WholeParts | None:
    with Workers(1) as alone:
        return forecast_whole_parts(
            store, k, outlooks, HidingOptions(), alone, GRID, UTC, budget_s, SilentProgress()
        )


@pytest.mark.parametrize("k", [2, 3])
def test_the_middle_period_is_hidden_as_in_a_full_run(k: int, store: SampleStore) -> None:
    promise = Promise(k, None, None)
    first, last = int(store.slots[0]), int(store.slots[-1])
    periods = find_periods(parse_period("6h"), first, last, promise, GRID, UTC)
    with Workers(1) as alone:
        full = anonymize_samples(store, promise, HidingOptions().for_promise(promise), alone, periods=periods)
    told = forecast(store, k)
    assert told is not None
    boxes = concatenate(full.source)
    t = store.between(first, last + 1).t
    sizes = np.bincount(periods.of(t), minlength=periods.n_periods)
    order = np.argsort(sizes, kind="stable")
    middle = next(each for n, each in enumerate(order) if sizes[order[: n + 1]].sum() >= len(store) / 2)
    inside = periods.of(boxes.t0) == middle
    own = precision_of(box_sizes_of(Boxes._make(column[inside] for column in boxes)), GRID)
    # Of larger groups, users are drawn for exchanges by the number of the period.
    off = 0 if k == 2 else 0.15
    assert told.longer_side_km_median == pytest.approx(own.longer_side_km.median, rel=off)
    assert told.time_min_median == pytest.approx(own.time_minutes.median, rel=off)
    assert told.longer_side_km_median == pytest.approx(
        precision_of(full.box_sizes, GRID).longer_side_km.median, rel=0.25
    )
    assert (told.k, told.rename_every) == (k, "6h")
    assert told.suppressed_share == full.n_suppressed / full.n_samples == 0
    assert told.seconds > 0


def store_of_town(n_by_night: int, n_by_day: int) -> SampleStore:
    """Some people who are there from 0 to 6 o'clock, and some from 6 to 24, a sample every 35 minutes."""
    rows = [
        (f"u{user}", 60 * minute, 500.0 * user)
        for user in range(n_by_night + n_by_day)
        for minute in range(5, 1440, 35)
        if (minute < 360) == (user < n_by_night)
    ]
    user, time, x = zip(*rows, strict=True)
    return read_events(pa.table({"user": user, "time": time, "x": x, "y": x}), grid=GRID).store


def test_suppression_is_exact_where_few_people_are_in_a_period() -> None:
    town, promise = store_of_town(3, 8), Promise(4, None, None)
    periods = find_periods(parse_period("6h"), int(town.slots[0]), int(town.slots[-1]), promise, GRID, UTC)
    with Workers(1) as alone:
        full = anonymize_samples(town, promise, HidingOptions().for_promise(promise), alone, periods=periods)
    told = forecast(town, 4)
    assert told is not None
    assert told.suppressed_share == full.n_suppressed / full.n_samples > 0
    nobody = forecast(store_of_town(3, 3), 4)
    assert nobody is not None
    assert nobody.suppressed_share == 1
    assert np.isnan(nobody.longer_side_km_median)


@pytest.mark.parametrize(
    ("shares", "tried"),
    [
        ({"1d": 0.9, "12h": 0.15, "6h": 0.1, "3h": 0.05}, "12h"),  # what is recommended
        ({"1d": 0.9, "12h": 0.8, "6h": 0.7, "3h": 0.1}, "6h"),  # shorter periods differ by the hour
        ({"3h": 0.1}, None),
        ({}, None),
    ],
)
def test_the_period_is_the_recommended_one_or_the_nearest_that_can_be_tried(
    shares: dict[str, float], tried: str | None, store: SampleStore
) -> None:
    outlooks = [PeriodOutlook(NEVER, 1.0), *(PeriodOutlook(*each) for each in shares.items())]
    found = forecast(store, 2, outlooks)
    assert (None if found is None else found.rename_every) == tried


def test_what_is_too_dear_is_tried_on_a_shorter_period_or_not_at_all(store: SampleStore) -> None:
    outlooks = [PeriodOutlook(NEVER, 1.0), PeriodOutlook("12h", 0.2), PeriodOutlook("6h", 0.1)]
    periods = {
        each: forecast(store, 2, outlooks, budget_s) for each, budget_s in enumerate((1e6, 0.35, 0.01))
    }
    found = [None if each is None else each.rename_every for each in periods.values()]
    assert found == ["12h", "6h", None]


def some_plan(whole_parts: WholeParts | None, *shares: float) -> Plan:
    names = (NEVER, "1d", "6h")
    outlooks = [PeriodOutlook(name, share) for name, share in zip(names, (1.0, *shares), strict=False)]
    return Plan([], 100, 10, [], outlooks, whole_parts)


def test_words() -> None:
    told = whole_parts_advice(some_plan(WholeParts(3, "6h", 4.12, 56.0, 0.001, 90.0), 0.5, 0.18))
    assert told[0].startswith(
        "Whole parts (--whole --rename-every 6h) protect from whatever is known of a person"
    )
    for words in (
        "inside of a period: at least k parts fit. All of them tell the same, so choose k 5 or more; at"
        " equal cost a larger k or a longer tau mostly leaves less to be read.",
        "Across borders nothing is promised: whoever knows something of two periods may be left with one person.",
        "With k 3 a box would have a median of 4.1 km and 56 min, 0.1 % of the samples would be suppressed, and a run"
        " would take 90 s, as one period of 6h tells.",
        "shoal anonymize EVENTS -o PUBLISHED --k 5 --whole --rename-every 6h --key-out KEY, then shoal audit.",
    ):
        assert words in told[0]
    assert "(--tau 6h --epsilon 6h --rename-every 6h)" in told[1]
    assert "shoal plan --taus 6h --epsilons 6h forecasts it" in told[1]
    untried = whole_parts_advice(some_plan(None, 0.5, 0.18))
    assert "What they cost is not forecast: no period can be tried here." in untried[0]
    assert "--k 5 --whole --rename-every 6h" in untried[0]
    empty = whole_parts_advice(
        some_plan(WholeParts(3, "6h", float("nan"), float("nan"), 1.0, 1.0), 0.5, 0.18)
    )
    assert "With k 3 nearly everything would be suppressed." in empty[0]
    assert whole_parts_advice(some_plan(None)) == []


def test_a_plan_tells_all_of_it() -> None:
    found = plan(shoal.make_city(60, days=2, seed=1), ks=[2, 3], taus=["1h"], epsilons=["1h"])
    assert [outlook.rename_every for outlook in found.periods] == [NEVER, "1d", "12h", "6h", "3h"]
    assert found.whole_parts is not None
    assert found.whole_parts.k == 3
    content = found.to_dict()
    assert content["whole_parts"]["rename_every"] == "6h"
    assert content["periods"][0] == {"rename_every": NEVER, "read_share": 1.0}
    lines = plan_lines(found)
    assert max(map(len, lines)) <= 80
    words = " ".join(lines)
    assert (
        "choose --rename-every 3h, the shortest tried, as none leaves a fifth or less; a larger k leaves less"
        in words
    )
    assert "Whole parts (--whole --rename-every 6h) protect" in words
    short = plan(
        shoal.make_city(60, days=2, seed=1), ks=[2], taus=["1h"], epsilons=["1h"], end="2024-01-01T02:00Z"
    )
    assert [outlook.rename_every for outlook in short.periods] == [NEVER]
    assert short.to_dict()["whole_parts"] is None
    assert "new names" not in " ".join(plan_lines(short))
