"""How to keep the promise: the options of hiding, checked once."""

from __future__ import annotations

from enum import StrEnum
from importlib.util import find_spec
from numbers import Real
from typing import NamedTuple

from shoal.core.checks import check_count
from shoal.core.promise import Promise
from shoal.errors import ParameterError


class Reuse(StrEnum):
    """When an owner may have the same member again."""

    ONCE = "once"  # the ordered pair (owner, member) serves in one window only
    PAIR = "pair"  # the unordered pair does
    SPACED = "spaced"  # again after 2r + 1 windows; guarantee 2 is not given


PRICES = (0.0, 0.5, 1.0, 3.0)  # of serving one need, at each level, in mean costs of a record in the epoch


HARDEN = 1  # the level that is chosen for those who choose none: boxes cost at most a quarter more


MOST_REACH = 5  # r beyond which there are too many windows to link


class Selector(StrEnum):
    """How hiding sets are chosen."""

    MATCHING = "matching"  # the cheapest permutations of users who come and go alike
    MUTUAL = "mutual"  # full consistency: the same users in groups of k who all hide each other
    SPECTRAL = "spectral"  # the paper's way: greedy cycles inside clusters; guarantee 1 only once repaired


class Settings(NamedTuple):
    """How to keep the promise: what it costs, and with the paper's selector also whether it holds.

    leak_price: what to pay for an epoch less that leaks by accident, in cheapest edges; 0 for nothing
    (docs/decisions/0006-leakage.md). repair: suppress until nobody counts on what was suppressed; only for the paper's
    selector (docs/decisions/0009-spectral.md). shard_size: among how many users of a window one chooses at most.
    harden: how much to pay, 0 to 3, so that linking windows does not single out (docs/decisions/0016-hardening.md);
    with matching only.
    """

    space_weight: float = 1.0
    reuse: Reuse = Reuse.ONCE
    seed: int = 0
    leak_price: float = 0.8
    selector: Selector = Selector.MATCHING
    repair: bool = False
    shard_size: int = 5_000
    harden: int = 0

    @property
    def gives_coverage(self) -> bool:
        """Whether guarantee 1 holds by construction."""
        return self.selector is not Selector.SPECTRAL or self.repair


_SMALLEST_SHARD = 100  # users: among fewer, partners run out within days


def check_settings(
    space_weight: float,
    selector: str,
    reuse: str,
    seed: int,
    repair: bool = False,
    shard_size: int = Settings().shard_size,
    harden: int = 0,
) -> Settings:
    """How to hide."""
    if selector not in set(Selector):
        raise ParameterError(f"selector must be one of {', '.join(Selector)}, got {selector!r}.")
    if selector == Selector.SPECTRAL and find_spec("sklearn") is None:
        raise ParameterError(
            "selector spectral needs scikit-learn, which is not installed: pip install 'shoal[spectral]'."
        )
    if repair and selector != Selector.SPECTRAL:
        raise ParameterError(
            f"repair goes with selector spectral, got selector {selector}, which needs none: leave it out."
        )
    if reuse not in set(Reuse):
        raise ParameterError(f"reuse must be one of {', '.join(Reuse)}, got {reuse!r}.")
    if not isinstance(space_weight, Real) or not 0 <= space_weight <= 4:
        raise ParameterError(f"space weight must be a number from 0 to 4, got {space_weight!r}.")
    return Settings(
        float(space_weight),
        Reuse(reuse),
        check_count(seed, "seed", least=0),
        selector=Selector(selector),
        repair=bool(repair),
        shard_size=check_count(shard_size, "shard size", least=_SMALLEST_SHARD),
        harden=harden,
    )


def check_harden(harden: int | None) -> int:
    """How much to pay against an attacker who links windows; the default unless given."""
    if harden is None:
        return HARDEN
    level, most = check_count(harden, "harden", least=0), len(PRICES) - 1
    if level > most:
        fewer = ", ".join(str(lower) for lower in range(most))
        raise ParameterError(f"harden must be at most {most}, got {level:,}: give {fewer} or {most}.")
    return level


def applicable_harden(harden: int | None, selector: str, promise: Promise) -> int:
    """The same where there is something to harden; whoever asks for it where there is not is told."""
    level = check_harden(harden)
    lack = None
    if selector != Selector.MATCHING:
        lack = f"selector matching, got selector {selector}"
    elif promise.whole:
        lack = "tau and epsilon, got whole trajectories"
    elif promise.reach > MOST_REACH:
        lack = f"a tau of at most {MOST_REACH} epsilon, got more"
    if lack is None:
        return level
    if harden:
        raise ParameterError(f"harden needs {lack}: leave it out.")
    return 0
