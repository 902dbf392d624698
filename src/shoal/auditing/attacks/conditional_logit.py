"""Which of several lines is the right one? A conditional logit, learnt from cases whose right line is known.

The chance of a line among the lines of its case is proportional to exp(weights . features).
"""

from __future__ import annotations

import numpy as np
from threadpoolctl import threadpool_limits

from shoal.core.arrays import Bools, Floats, Int64s

_RIDGE = 1.0  # keeps weights small that few cases support; features are standardised
_STEPS = 30
_CLOSE = 1e-8


def centred(case: Int64s, features: Floats) -> Floats:
    """Features less their mean over the lines of each case; NaN, which stands for unknown, becomes 0."""
    known = ~np.isnan(features)
    values = np.where(known, features, 0.0)
    n_cases = int(case.max(initial=-1)) + 1
    for column in range(values.shape[1]):
        total = np.bincount(case, weights=values[:, column], minlength=n_cases)
        n = np.bincount(case, weights=known[:, column], minlength=n_cases)
        values[:, column] -= (total / np.maximum(n, 1))[case]
    values[~known] = 0.0
    return values


def learn_weights(case: Int64s, features: Floats, right: Bools) -> Floats:
    """The weights of centred features that make the right lines likeliest; ``case`` numbers lines that stand together.

    A case is learnt from if exactly one of its lines is right.
    """
    solved = (np.bincount(case, weights=right, minlength=int(case.max(initial=-1)) + 1) == 1)[case]
    taught = features[solved]
    spread = np.sqrt((taught**2).mean(axis=0)) if len(taught) else np.ones(features.shape[1])
    spread = np.where(spread > _CLOSE, spread, 1.0)
    # On a busy machine the threads of a BLAS wait for each other: a fit took 13 s instead of 0.5.
    with threadpool_limits(1, "blas"):
        return _fit_weights(_renumbered(case[solved]), taught / spread, right[solved]) / spread


def highest_of(case: Int64s, score: Floats, n_cases: int) -> Floats:
    """The highest score of every case, whose lines stand together; minus infinity for a case without lines."""
    highest = np.full(n_cases, -np.inf)
    if len(case):
        begin = np.flatnonzero(np.diff(case, prepend=-1))
        highest[case[begin]] = np.maximum.reduceat(score, begin)
    return highest


def softmax(case: Int64s, score: Floats) -> Floats:
    """exp(score), scaled to a sum of 1 in each case."""
    n_cases = int(case.max(initial=-1)) + 1
    weight = np.exp(score - highest_of(case, score, n_cases)[case])
    total = np.bincount(case, weights=weight, minlength=n_cases)
    chance: Floats = weight / total[case]
    return chance


def _renumbered(case: Int64s) -> Int64s:
    """Cases, whose lines stand together, numbered anew from 0 without gaps."""
    return np.cumsum(np.diff(case, prepend=case[:1]) != 0)


def _fit_weights(case: Int64s, features: Floats, right: Bools) -> Floats:
    """The weights of the highest penalised likelihood: Newton's method, with steps halved while they overshoot."""
    weights = np.zeros(features.shape[1])
    if not len(case):
        return weights
    worth = _penalised_likelihood(case, features, right, weights)
    for _ in range(_STEPS):
        chance = softmax(case, features @ weights)
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
    likely = np.maximum(softmax(case, features @ weights)[right], np.finfo(np.float64).tiny)
    return float(np.log(likely).sum() - _RIDGE / 2 * weights @ weights)
