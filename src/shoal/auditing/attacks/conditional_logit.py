"""Which of several records is the right one? A conditional logit, learnt from cases whose right record is known.

The chance of a line among the lines of its case is proportional to exp(weights . features).
"""

from __future__ import annotations

import numpy as np

from shoal.core.arrays import Bools, Floats, Int64s

_RIDGE = 1.0  # keeps weights small that few cases support; features are standardised
_STEPS = 30
_CLOSE = 1e-8


def chances(case: Int64s, features: Floats, right: Bools, half: Int64s) -> Floats:
    """The chance of every line to be its case's right one, with weights learnt from the cases of the other half.

    ``case`` is the number of each line's case, 0, 1, ... in order; ``half`` (0 or 1) goes by case. A feature that is
    NaN is unknown. A case without a right line is not learnt from.
    """
    features = _standardised(case, features)
    solved = np.bincount(case, weights=right, minlength=len(half)) == 1
    found = np.empty(len(case))
    for own in (0, 1):
        taught = (solved & (half != own))[case]
        weights = _fit_weights(_renumbered(case[taught]), features[taught], right[taught])
        lines = half[case] == own
        found[lines] = _softmax(_renumbered(case[lines]), features[lines] @ weights)
    return found


def _standardised(case: Int64s, features: Floats) -> Floats:
    """Features in standard deviations from their mean over each case; 0 where unknown."""
    known = ~np.isnan(features)
    values = np.where(known, features, 0.0)
    n_cases = int(case.max(initial=-1)) + 1
    result = np.empty_like(values)
    for column in range(values.shape[1]):
        total = np.bincount(case, weights=values[:, column], minlength=n_cases)
        n = np.bincount(case, weights=known[:, column], minlength=n_cases)
        result[:, column] = values[:, column] - (total / np.maximum(n, 1))[case]
    result[~known] = 0.0
    spread = np.sqrt((result**2).mean(axis=0)) if len(result) else np.ones(values.shape[1])
    return result / np.where(spread > _CLOSE, spread, 1.0)


def _renumbered(case: Int64s) -> Int64s:
    """Cases, whose lines stand together, numbered anew from 0 without gaps."""
    return np.cumsum(np.diff(case, prepend=case[:1]) != 0)


def _softmax(case: Int64s, score: Floats) -> Floats:
    """exp(score), scaled to a sum of 1 in each case."""
    n_cases = int(case.max(initial=-1)) + 1
    highest = np.full(n_cases, -np.inf)
    np.maximum.at(highest, case, score)
    weight = np.exp(score - highest[case])
    chance: Floats = weight / np.bincount(case, weights=weight, minlength=n_cases)[case]
    return chance


def _fit_weights(case: Int64s, features: Floats, right: Bools) -> Floats:
    """The weights of the highest penalised likelihood: Newton's method, with steps halved while they overshoot."""
    weights = np.zeros(features.shape[1])
    if not len(case):
        return weights
    worth = _penalised_likelihood(case, features, right, weights)
    for _ in range(_STEPS):
        chance = _softmax(case, features @ weights)
        n_cases = int(case[-1]) + 1
        expected = np.stack(
            [np.bincount(case, weights=chance * column, minlength=n_cases) for column in features.T], axis=1
        )
        gradient = features[right].sum(axis=0) - chance @ features - _RIDGE * weights
        curvature = (features * chance[:, None]).T @ features - expected.T @ expected
        step = np.linalg.solve(curvature + _RIDGE * np.eye(len(weights)), gradient)
        while (better := _penalised_likelihood(case, features, right, weights + step)) < worth:
            step /= 2
            if np.abs(step).max() < _CLOSE:
                return weights
        weights, worth = weights + step, better
        if np.abs(step).max() < _CLOSE:
            break
    return weights


def _penalised_likelihood(case: Int64s, features: Floats, right: Bools, weights: Floats) -> float:
    """The logarithm of the likelihood of the right lines, less the ridge penalty of the weights."""
    likely = np.maximum(_softmax(case, features @ weights)[right], np.finfo(np.float64).tiny)
    return float(np.log(likely).sum() - _RIDGE / 2 * weights @ weights)
