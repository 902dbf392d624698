"""What hardening pays, so that a level means an outcome: at most so many attacks leave fewer than k records.

While epochs are published, attacks by somebody who links windows are tried on them (hiding.linking). How many of these
leave fewer than k records, and at which price, says what the price must be in the epochs that follow.
"""

from __future__ import annotations

from math import sqrt

from shoal.hiding.linking import Tried

AIMS = (1.0, 0.085, 0.0425, 0.017)  # at each level: 15 % below what it means, 10, 5 and 2 %
_MOST = 20.0  # a price that is not exceeded, whatever the aim
_STEEPNESS = 0.7  # how fast the share falls with the price, see ``fall``: fitted to four datasets
_UNHARDENED = 0.35  # the share without hardening, assumed before anything is known
_ASSUMED = 300.0  # attacks for which that assumption stands
_KEPT = 15 / 16  # how much of what was observed still counts an epoch later
_REPAID_IN = 4_000.0  # attacks in which later epochs make up for earlier ones
_LEAST_PART, _MOST_PART = 0.7, 1.25  # of the aim, to which that may bring it


class Steering:
    """The price of a need whose worth is one, in mean costs of a record in the epoch, and what it has achieved so far.

    The share of attacks that leave fewer than k records is modelled as the share without hardening times fall(price);
    the former is learnt from the attacks tried, and the price is that at which the model meets the aim.
    """

    def __init__(self, aim: float) -> None:
        self._aim = aim
        self._n_left, self._n_weighed = _ASSUMED * _UNHARDENED, _ASSUMED
        self._debt = 0.0  # attacks that left fewer than k records, beyond the aim
        self._left, self._present = 0.0, 0

    @property
    def price(self) -> float:
        """The price at which the model meets the aim, what earlier epochs left too many or too few made up for."""
        part = 1 - self._debt / (self._aim * _REPAID_IN)
        aim = self._aim * min(_MOST_PART, max(_LEAST_PART, part))
        return min(_MOST, max(0.0, sqrt(self._n_left / self._n_weighed / aim) - 1) / _STEEPNESS)

    @property
    def share_left(self) -> float | None:
        """The estimated share of attacks that leave fewer than k records, in all epochs so far; None where none is."""
        return self._left / self._present if self._present else None

    def observe(self, tried: Tried, price: float) -> None:
        """Learn from attacks on an epoch that was published at a price."""
        n, n_left, present = tried
        self._n_left = _KEPT * self._n_left + n_left
        self._n_weighed = _KEPT * self._n_weighed + n * fall(price)
        self._debt += n_left - self._aim * n
        self._left += present * n_left / n
        self._present += present


def fall(price: float) -> float:
    """To which part of itself a price brings the share of attacks that leave fewer than k records."""
    return 1 / (1 + _STEEPNESS * price) ** 2
