"""What Python users and the command say, checked once: settings, counts, grids and promises."""

from __future__ import annotations

import os
from importlib.util import find_spec
from numbers import Integral, Real

from shoal.errors import InputError, ParameterError
from shoal.fold import Selector, Settings
from shoal.hiding.hardening import HARDEN, MOST_REACH, PRICES
from shoal.hiding.reuse import Reuse
from shoal.promise import Grid, Promise
from shoal.reading import PublishedTable

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


def check_count(number: int, name: str, *, least: int, most: int | None = None) -> int:
    """A whole number that is neither too small nor too large."""
    if isinstance(number, bool) or not isinstance(number, Integral) or number < least:
        raise ParameterError(f"{name} must be a whole number of at least {least}, got {number!r}.")
    if most is not None and number > most:
        raise ParameterError(f"{name} must be at most {most:,}, got {number:,}: give fewer.")
    return int(number)


def check_workers(workers: int | None) -> int:
    """How many threads; all cores unless given."""
    if workers is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return check_count(workers, "workers", least=1)


def given_grid(cell: str | None, step: str | None) -> Grid | None:
    """The grid of a published file, where it is given."""
    if cell is None and step is None:
        return None
    if cell is None or step is None:
        raise ParameterError("cell and step go together: give --cell and --step, or neither.")
    return Grid.parse(cell, step)


def given_promise(
    k: int | None, tau: str | None, epsilon: str | None, whole: bool, grid: Grid
) -> Promise | None:
    """The promise to hold a file to, where it is given."""
    if k is None:
        if whole or tau is not None or epsilon is not None:
            raise ParameterError("k missing: give --k as well, or nothing of the promise to take the file's.")
        return None
    return Promise.parse(k, tau, epsilon, grid=grid, whole=whole)


def own_promise(table: PublishedTable) -> Promise | None:
    """The promise that a file makes for itself; None where it does not tell."""
    try:
        return noted_promise(table)
    except InputError:
        return None


def noted_promise(table: PublishedTable) -> Promise:
    """The promise that a file makes for itself."""
    unknown = InputError(
        "The published file does not tell its promise: give --k with --tau and --epsilon, or with --whole."
    )
    noted = (table.notes or {}).get("promise")
    if not isinstance(noted, dict):
        raise unknown
    try:
        slots = [
            None if noted[name] is None else divmod(noted[name], table.grid.step_s)
            for name in ("tau_s", "epsilon_s")
        ]
        if any(slot is not None and slot[1] for slot in slots):
            raise unknown
        slots = [None if slot is None else slot[0] for slot in slots]
        return Promise(noted["k"], *slots)
    except (KeyError, TypeError, ParameterError):
        raise unknown from None
