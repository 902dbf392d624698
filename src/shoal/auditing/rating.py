"""Low, moderate or high: how risks are rated, by thresholds that can be set (docs/audit.md)."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from shoal.core.formatting import percent
from shoal.core.options import HIGH, MODERATE
from shoal.core.proportions import Proportion


class Rating(StrEnum):
    """How large a risk is; a rating goes by the upper end of the interval."""

    UNKNOWN = "not checked"
    LOW = "low"
    MODERATE = "moderate"
    HIGH = "high"


_WORST_FIRST = (Rating.HIGH, Rating.MODERATE, Rating.UNKNOWN, Rating.LOW)


def worst_of(ratings: list[Rating]) -> Rating:
    """The largest of several risks; as long as one is not checked, they are not low."""
    return min(ratings, key=_WORST_FIRST.index, default=Rating.UNKNOWN)


class Thresholds(NamedTuple):
    """The shares of attacks from which a risk is called moderate, and high."""

    moderate: float
    high: float

    def in_words(self) -> str:
        """From which shares on which word is used, as part of a sentence."""
        moderate, high = (percent(share) for share in self)
        return (
            f"an attack is rated moderate from {moderate} on, high from {high} on, by the upper end of its 95 %"
            " interval"
        )

    def rate(self, share: Proportion | str) -> Rating:
        """Rate what an attacker achieves by the upper end of its interval."""
        if isinstance(share, str):
            return Rating.UNKNOWN
        worst = share.high if share.side != "over" else 1.0
        if worst >= self.high:
            return Rating.HIGH
        return Rating.MODERATE if worst >= self.moderate else Rating.LOW


DEFAULT_THRESHOLDS = Thresholds(MODERATE, HIGH)
