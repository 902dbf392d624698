"""Attackers who weigh candidates by their features: with transferred weights, with learnt ones, by one feature alone.

A weak attacker would flatter the file, so all of them are tried, and the best one counts (docs/audit.md).
"""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

import numpy as np

from shoal.auditing.attacks.conditional_logit import centred, highest_of, learn_weights, softmax
from shoal.core.arrays import Bools, Floats, Int64s
from shoal.errors import UnfinishedError

TRANSFER, LEARNT = "transfer", "learnt"
WEIGHTS_FORMAT = 1
_WEIGHTS = "weights.json"
_ALIKE = 1e-9  # scores that differ by less are equal: they were summed in another order


def transferred_weights(attack: str, features: tuple[str, ...]) -> Floats:
    """The weights of an attack's features that were learnt on synthetic cities (``make attackers``)."""
    told = _shipped().get("weights", {}).get(attack, {})
    if set(told) != set(features):
        raise _unusable(f"has not the features of the attack {attack}")
    return np.array([told[name] for name in features], np.float64)


@cache
def _shipped() -> dict[str, Any]:
    try:
        found = json.loads(files(__package__).joinpath(_WEIGHTS).read_text())
    except (OSError, ValueError):
        found = None
    if not isinstance(found, dict):
        raise _unusable("cannot be read")
    if found.get("format") != WEIGHTS_FORMAT:
        raise _unusable(f"has format {found.get('format')}, not {WEIGHTS_FORMAT}")
    return found


def _unusable(why: str) -> UnfinishedError:
    return UnfinishedError(
        f"{_WEIGHTS} of the audit's attackers {why}: install shoal again, or run make attackers."
    )


def forget_weights() -> None:
    """Read the weights anew when they are next asked for."""
    _shipped.cache_clear()


class Cases(NamedTuple):
    """Cases to decide, each with some candidates. case: the number of each line's case, 0, 1, ... in order.

    right: which lines are right; features: a column for each; half (0 or 1): of every case. learnt_features: more
    columns, for the attacker who learns from the other half.
    """

    case: Int64s
    right: Bools
    features: Floats
    half: Int64s
    learnt_features: Floats | None = None


def chosen_cases(cases: Cases, lines: Bools) -> Cases:
    """The cases with some of their lines only; cases without any of these are left out."""
    which, case = np.unique(cases.case[lines], return_inverse=True)
    more = None if cases.learnt_features is None else cases.learnt_features[lines]
    return Cases(case, cases.right[lines], cases.features[lines], cases.half[which], more)


class Outcomes(NamedTuple):
    """How attackers fared. picks: for each of them, for every case, the share of right lines among those that look
    best. score: for transfer and learnt, the score of every line; chance: what follows from it."""

    picks: dict[str, Floats]
    score: dict[str, Floats]
    chance: dict[str, Floats]

    @property
    def best(self) -> Floats:
        """The picks of the most successful attacker."""
        return max(self.picks.values(), key=_mean)

    @property
    def best_feature(self) -> Floats:
        """The picks of the most successful among those who go by a single feature."""
        return max((found for name, found in self.picks.items() if name not in (TRANSFER, LEARNT)), key=_mean)

    def picks_of(self, some: Bools) -> Outcomes:
        """How attackers fared in some of the cases, by their picks alone."""
        return Outcomes({name: found[some] for name, found in self.picks.items()}, {}, {})

    @property
    def best_chance(self) -> Floats:
        """The chances given by the more successful of transfer and learnt."""
        return self.chance[max(self.chance, key=lambda name: _mean(self.picks[name]))]


def _mean(found: Floats) -> float:
    return float(found.mean()) if len(found) else 0.0


def try_attackers(cases: Cases, weights: Floats, names: tuple[str, ...]) -> Outcomes:
    """Let every attacker decide all cases; ``weights`` are the transferred ones of the features called ``names``."""
    case, right, half = cases.case, cases.right, cases.half
    features = centred(case, cases.features)
    known = features
    if cases.learnt_features is not None:
        known = np.concatenate([features, centred(case, cases.learnt_features)], axis=1)
    score = {TRANSFER: features @ weights, LEARNT: np.zeros(len(case))}
    for own in (0, 1):
        taught, lines = (half != own)[case], (half == own)[case]
        score[LEARNT][lines] = known[lines] @ learn_weights(case[taught], known[taught], right[taught])
    alone = dict(zip(names, features.T, strict=True))
    alone |= {f"least {name}": -column for name, column in alone.items()}
    picks = {name: picked(case, found, right, len(half)) for name, found in {**score, **alone}.items()}
    return Outcomes(picks, score, {name: softmax(case, found) for name, found in score.items()})


def picked(case: Int64s, score: Floats, right: Bools, n_cases: int, n_alike: Int64s | None = None) -> Floats:
    """For every case, the share of right lines among those with the highest score; 0 without lines.

    ``n_alike``: for how many candidates that look the same each line stands; one of those of a right line is right.
    """
    highest = highest_of(case, score, n_cases)
    best = score >= highest[case] - _ALIKE * np.maximum(np.abs(highest[case]), 1)
    looks_best = best if n_alike is None else best * n_alike
    n, n_right = (np.bincount(case, weights=each, minlength=n_cases) for each in (looks_best, best & right))
    share: Floats = n_right / np.maximum(n, 1)
    return share
