"""Counts and shares that may be told: few people look like none, and all but a few like all."""

from __future__ import annotations

from pathlib import Path

import pytest

from auditing.audits import some_audit
from reporting.town import by_day, publish
from shoal.auditing.measures import Measure
from shoal.auditing.opening import open_audit
from shoal.auditing.published_part import published_part
from shoal.core.disclosure import (
    CountRange,
    PublicShare,
    public_count,
    public_count_in_words,
    public_share,
    public_share_of_people,
    range_of_count,
    round_down,
    round_up,
)
from shoal.core.options import AuditOptions, ReadingOptions
from shoal.core.progress import SilentProgress
from shoal.core.proportions import Proportion, proportion_among
from shoal.reporting.facts.datasheet import public_audit
from shoal.reporting.facts.usefulness import measure_usefulness


@pytest.mark.parametrize("k", [2, 3, 10, 17, 104, 1000])
def test_public_counts(k: int) -> None:
    few = max(k, 10)
    assert public_count(0, k) == 0
    said = {public_count(count, k) for count in range(1, few)}
    assert said == {f"fewer than {few}"}  # one word for all of them, k = 2 and a count of one included
    for count in [*range(few, few + 300), 12_345, 999_999, 10**7]:
        told = public_count(count, k)
        assert isinstance(told, int)
        assert count <= told <= count * 1.1
        assert len(str(told).rstrip("0")) <= 2


@pytest.mark.parametrize("k", [2, 17, 104, 1000])
def test_what_a_public_count_leaves_open(k: int) -> None:
    for count in [*range(1200), 12_345, 999_999, 10**7]:
        told = range_of_count(public_count(count, k), k)
        assert told is not None
        assert told.least <= count <= told.most
        assert told.least >= 0.9 * told.most or told == (1, max(k, 10) - 1)
    assert range_of_count(0, k) == (0, 0)
    for nothing in (None, True, -1, 1.5, "fewer than 3", "some"):
        assert range_of_count(nothing, k) is None
    assert (CountRange(9, 9).in_words(), CountRange(991, 1000).in_words()) == ("9", "991 to 1,000")


def test_public_shares() -> None:
    assert public_share(0, 500, 0, 2) == 0
    assert public_share(1, 500, 1, 2) == public_share(9, 500, 9, 2) == "some, of fewer than 10 users"
    assert public_share(49, 500, 49, 50) == "some, of fewer than 50 users"
    assert public_share(400, 500, 9, 2) == "some, of fewer than 10 users"
    assert public_share(15, 3813, 12, 2) == 0.004
    assert public_share(10, 10**9, 10, 2) == 0.001


def test_few_users_are_not_told_apart_however_many_intervals_they_have() -> None:
    assert public_share(3, 1000, 2, 2) == public_share(900, 1000, 9, 2) == "some, of fewer than 10 users"
    assert public_share(31, 10_000, 20, 2) == 0.004
    assert public_share(0, 10_000, 0, 2) == 0


def test_counts_in_words() -> None:
    assert public_count_in_words(public_count(5, 2)) == "fewer than 10"
    assert public_count_in_words(public_count(12_345, 2)) == "up to 13,000"


def test_of_ten_people_nothing_is_told() -> None:
    """Or 9 of 10 homes in place would tell that one is not."""
    assert {public_share_of_people(count / 10, 10, 10) for count in range(11)} == {None}
    assert {public_share_of_people(count / 19, 19, 10) for count in range(20)} == {None}


def test_of_41_people_few_look_like_none_and_like_all() -> None:
    told = [public_share_of_people(count / 41, 41, 10) for count in range(42)]
    assert set(told[:10]) == {PublicShare(0.25, "under")}
    assert set(told[-10:]) == {PublicShare(0.75, "over")}
    assert told[10:-10] == [PublicShare(round(count / 41, 2)) for count in range(10, 32)]


@pytest.mark.parametrize("few", [10, 25])
@pytest.mark.parametrize("n", [50, 64, 99, 100, 101, 997, 5000, 20_000])
def test_what_is_told_is_true(n: int, few: int) -> None:
    """Whatever the count; and any two counts of few people look alike."""
    told = {
        count: public_share_of_people(count / n, n, few)
        for count in {*range(40), *range(n // 2 - 9, n // 2), *range(n - 40, n + 1)}
    }
    for count, share in told.items():
        assert share is not None
        if share.side == "under":
            assert count / n < share.value
        elif share.side == "over":
            assert count / n > share.value
        else:
            assert few <= count <= n - few
            assert 0 < share.value < 1
    assert len({told[count] for count in range(few)}) == len({told[n - count] for count in range(few)}) == 1


def test_rounding_widens() -> None:
    assert (round_down(0.0399), round_up(0.0301)) == (0.03, 0.04)
    assert (round_down(0.0), round_up(1.0)) == (0.0, 1.0)


def told_of(value: float, victims: int) -> Proportion | str:
    """An attack as the datasheet has it."""
    figures = [
        Measure("home_and_work", "home", "within_1km", proportion_among(value, 500, victims), "", None)
    ]
    return public_audit(some_audit(figures=figures)).figures[0].published


def test_attacks_on_ten_victims_are_not_told() -> None:
    assert {told_of(count / 10, 10) for count in range(11)} == {"not told: fewer than 20 victims"}


def test_attacks_on_41_victims_tell_no_few_of_them_by_value_or_interval() -> None:
    low, high = ({told_of(count / 41, 41) for count in counts} for counts in (range(10), range(32, 42)))
    assert len(low) == len(high) == 1
    (under,), (over,) = low, high
    assert isinstance(under, Proportion)
    assert isinstance(over, Proportion)
    assert (under.in_words(), over.in_words()) == ("under 25 %", "over 75 %")
    for count in range(10):
        assert under.low <= proportion_among(count / 41, 500, 41).high <= under.high
        assert over.low <= proportion_among(1 - count / 41, 500, 41).low <= over.high


@pytest.mark.parametrize(("n_users", "told"), [(10, False), (41, True)])
def test_agreement_of_a_small_town_tells_no_few_people(n_users: int, told: bool, tmp_path: Path) -> None:
    made = publish(tmp_path, by_day(n_users))
    options = AuditOptions(key=made.key, attacks=20)
    with open_audit(made.events, made.published, SilentProgress(), options, ReadingOptions()) as (context, _):
        found = measure_usefulness(published_part(context, by_record=True), public=True)
    shares = {
        name: getattr(found.agreement, name) for name in ("homes", "workplaces", "flows", "gyration_distance")
    }
    assert told == any(share is not None for share in shares.values())
    assert set(found.sides) <= set(shares)
    for name, share in shares.items():
        if share is not None and name not in found.sides:
            assert 10 / n_users - 0.005 <= share <= 1 - 10 / n_users + 0.005
