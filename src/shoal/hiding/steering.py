"""What hardening pays, so that a level means an outcome: at most so many attacks leave fewer than k records.

While epochs are published, attacks by somebody who links windows are rehearsed on them (hiding.hardening). How many of
these leave fewer than k records, at which price, says what the price must be for the epochs that follow.
"""

from __future__ import annotations

from math import sqrt

AIMS = (1.0, 0.09, 0.045, 0.0175)  # at each level: the share of attacks that leave fewer than k records
_MOST = 10.0  # a price that is not exceeded, whatever the aim
_STEEPNESS = 1.5  # how fast the share falls with the price: as 1 / (1 + 1.5 price)^2, fitted to three datasets
_UNHARDENED = 0.3  # share without hardening, assumed before anything is known
_ASSUMED = 300.0  # attacks for which that assumption stands
_KEPT = 15 / 16  # how much of what was observed still counts an epoch later


class Steering:
    """The price of serving one need, in mean costs of a record in the epoch, and what it has achieved so far.

    The share of attacks that leave fewer than k records is modelled as a * fall(price). How large ``a`` is, is learnt.
    """

    def __init__(self, aim: float) -> None:
        self._aim = aim
        self._bad, self._weighed = _ASSUMED * _UNHARDENED, _ASSUMED
        self.n_attacks, self.n_left = 0, 0
        self.left, self.weight = 0.0, 0.0

    @property
    def price(self) -> float:
        """The price at which the aim is expected to be met."""
        share = self._bad / self._weighed
        return min(_MOST, max(0.0, sqrt(share / self._aim) - 1) / _STEEPNESS)

    def observe(self, n_attacks: int, n_left: int, price: float, weight: float) -> None:
        """Learn from attacks on an epoch that was published at a price; n_left of them left fewer than k records."""
        self.n_attacks += n_attacks
        self.n_left += n_left
        self.left += weight * n_left / n_attacks
        self.weight += weight
        self._bad = _KEPT * self._bad + n_left
        self._weighed = _KEPT * self._weighed + n_attacks * fall(price)


def fall(price: float) -> float:
    """To which part of itself a price brings the share of attacks that leave fewer than k records."""
    return 1 / (1 + _STEEPNESS * price) ** 2
