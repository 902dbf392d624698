"""Risks are low, moderate or high by the upper end of the interval, and by nothing else."""

from __future__ import annotations

import pytest

from shoal.auditing.measures import NO_KEY
from shoal.auditing.rating import DEFAULT_THRESHOLDS, Rating, Thresholds, worst_of
from shoal.core.options import AuditOptions
from shoal.core.proportions import Proportion
from shoal.errors import ParameterError


def rated(high: float, thresholds: Thresholds = DEFAULT_THRESHOLDS, **changes: str) -> Rating:
    """The rating of a share with this upper end; the share itself would be low."""
    return thresholds.rate(Proportion(0.0, 0.0, high, 100, **changes))


@pytest.mark.parametrize(
    ("high", "rating"),
    [
        (0.0, Rating.LOW),
        (0.0899, Rating.LOW),
        (0.09, Rating.MODERATE),
        (0.3299, Rating.MODERATE),
        (0.33, Rating.HIGH),
        (1.0, Rating.HIGH),
    ],
)
def test_the_upper_end_decides(high: float, rating: Rating) -> None:
    assert rated(high) is rating


def test_few_attacks_do_not_make_a_risk_small() -> None:
    """None of 3 victims found is not low; none of 100 is."""
    from shoal.core.proportions import proportion_among

    assert DEFAULT_THRESHOLDS.rate(proportion_among(0.0, 3)) is Rating.HIGH
    assert DEFAULT_THRESHOLDS.rate(proportion_among(0.0, 20)) is Rating.MODERATE
    assert DEFAULT_THRESHOLDS.rate(proportion_among(0.0, 100)) is Rating.LOW


def test_what_a_datasheet_bounds_from_below_may_be_everything() -> None:
    assert rated(0.2, side="over") is Rating.HIGH
    assert rated(0.2, side="under") is Rating.MODERATE


def test_what_was_not_measured_is_not_low() -> None:
    assert DEFAULT_THRESHOLDS.rate(NO_KEY) is Rating.UNKNOWN
    assert str(Rating.UNKNOWN) == "not checked"


def test_thresholds_can_be_set() -> None:
    own = Thresholds(0.01, 0.02)
    assert [rated(high, own) for high in (0.009, 0.01, 0.02)] == [Rating.LOW, Rating.MODERATE, Rating.HIGH]
    assert rated(0.999, Thresholds(1.0, 1.0)) is Rating.LOW
    assert own.in_words() == (
        "an attack is rated moderate from 1 % on, high from 2 % on, by the upper end of its 95 % interval"
    )
    assert DEFAULT_THRESHOLDS == (0.09, 0.33)


@pytest.mark.parametrize(("moderate", "high"), [(-0.1, 0.3), (0.1, 1.1), (0.4, 0.3)])
def test_thresholds_that_make_no_sense_are_refused(moderate: float, high: float) -> None:
    with pytest.raises(ParameterError, match="the first not above the second"):
        AuditOptions(moderate=moderate, high=high)


def test_the_worst_counts() -> None:
    assert worst_of([Rating.LOW, Rating.HIGH, Rating.MODERATE]) is Rating.HIGH
    assert (
        worst_of([Rating.LOW, Rating.UNKNOWN]) is Rating.UNKNOWN
    )  # nothing is low while something is unchecked
    assert worst_of([Rating.MODERATE, Rating.UNKNOWN]) is Rating.MODERATE
    assert worst_of([Rating.UNKNOWN]) is worst_of([]) is Rating.UNKNOWN
