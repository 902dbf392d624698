"""Every preset lies inside its bands; where one does not, it is known and listed in docs/credibility.md."""

from __future__ import annotations

import itertools
import re
from typing import NamedTuple

import pyarrow as pa
import pytest

import shoal
from shoal.synthetic.credibility.verdict import Credibility
from shoal.synthetic.files import PRESETS
from shoal.synthetic.region.presets import PRESETS as REGIONS
from support.paths import PROJECT

# Enough people for every statistic, and few enough for a test.
USERS = {"city": 1_500, "abi": 1_500, "dak": 1_500, "shn": 3_000, "civ": 2_000, "sen": 2_000}

SEEDS = (0, 1)

# Known, and listed on the page. The city is frozen: it was made before these were measured.
DEPARTURES = {
    ("city", 0): {"gap_exponent", "visit_exponent", "new_places"},
    ("city", 1): {"gap_exponent", "visit_exponent", "new_places"},
}


def events(preset: str, seed: int) -> pa.Table:
    if preset == "city":
        return shoal.make_city(USERS[preset], days=14, seed=seed)
    return shoal.make_region(preset, users=USERS[preset], seed=seed)


class Assessed(NamedTuple):
    preset: str
    seed: int
    found: Credibility


@pytest.fixture(
    scope="module", params=itertools.product(PRESETS, SEEDS), ids=lambda pair: "-".join(map(str, pair))
)
def assessed(request: pytest.FixtureRequest) -> Assessed:
    preset, seed = request.param
    return Assessed(preset, seed, shoal.assess(events(preset, seed)))


def test_all_statistics_lie_inside_their_bands(assessed: Assessed) -> None:
    preset, seed, found = assessed
    outside = {check.band.name: check.value for check in found.checks if check.outside}
    assert outside.keys() == DEPARTURES.get((preset, seed), set()), outside


def test_most_statistics_can_be_judged(assessed: Assessed) -> None:
    """A day says nothing of habits; a fortnight is long enough for everything."""
    preset, _, found = assessed
    lacks = {check.lack for check in found.checks if check.lack}
    assert lacks == ({"needs 7 days", "needs 2 days"} if preset == "shn" else set())


def test_rate_and_area_are_those_of_the_preset(assessed: Assessed) -> None:
    preset, _, found = assessed
    setting = found.measures.setting
    assert setting.is_country == (preset in ("civ", "sen"))
    if preset in REGIONS:
        wanted = REGIONS[preset]
        assert found.measures.activity.mean == pytest.approx(wanted.samples_per_hour, rel=0.03)
        assert setting.n_days == wanted.days
        assert 0.9 * wanted.antennas < setting.n_places <= wanted.antennas


def test_the_page_tells_of_the_departures() -> None:
    page = (PROJECT / "docs" / "credibility.md").read_text(encoding="utf-8")
    told = [row for row in re.findall(r"^\| `(\w+)` \|(.*)", page, re.MULTILINE) if " outside**" in row[1]]
    assert {preset for preset, _ in told} == {preset for preset, seed in DEPARTURES if seed == 0}
    assert sum(cells.count(" outside**") for _, cells in told) == len(DEPARTURES["city", 0])
