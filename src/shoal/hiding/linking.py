"""Attacks by somebody who links windows, tried on what is published already: what hardening goes by.

They say how many records such an attacker is left with, and for whom a witness would help. The audit's attack is
another, which shares no code with this one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.core.arrays import Floats, Int32s
from shoal.core.promise import Promise
from shoal.core.workers import Workers
from shoal.hiding.kernels.linking import LinkingAttacks, count_left, weigh_needs
from shoal.hiding.kernels.witnesses import CoveredWindows, NeighbouringEpochs, WitnessCandidates
from shoal.hiding.surroundings import Surroundings, covered_windows, neighbouring_epochs

_MOST_ATTACKS = 512  # tried on an epoch; where fewer than twice as many are present, half as many as these
_NEAR = (
    64,
    2048,
)  # users on either side who are looked at in each window, first and where too few records are left
_NEAR_BEFORE = 16  # the same, where it is asked whom a witness would help: of everybody, so quickly
_N_BEGINS = 2  # of intervals, in an epoch, for which that is asked
_LEAST = 0.05  # what a need is worth where covers are tested in windows that close before it is known whom they serve
_SINCE = 2**40  # epochs before 1970 have negative numbers, which seeds may not have


class Tried(NamedTuple):
    """Attacks on people present in one epoch: how many, how many left fewer than k records, how many were present."""

    n_attacks: int
    n_left: int
    n_present: int


def attack_published(
    surroundings: Surroundings, epoch: int, n_users: int, promise: Promise, seed: int, workers: Workers
) -> Tried:
    """Attack users who are present in a published epoch, drawn at random, each over a tau that holds a sample of it."""
    shown = surroundings.around(epoch)
    here = next((each for each in shown if each.epoch == epoch and len(each.users)), None)
    if here is None:
        return Tried(0, 0, 0)
    first = shown[0].epoch
    windows = surroundings.windows_between(first, shown[-1].epoch + 1)
    epsilon, tau, present = int(promise.epsilon or 1), int(promise.tau or 1), len(here.users)
    randomness = np.random.default_rng([seed, epoch + _SINCE])
    n = min(_MOST_ATTACKS, (present + 1) // 2)
    row = randomness.integers(0, present, n)
    ptr = here.raw.ptr
    slot = here.raw.slot["t"][ptr[row] + randomness.integers(0, (ptr[1:] - ptr[:-1])[row])]
    begin = (epoch - first) * epsilon + slot.astype(np.int64) - randomness.integers(0, tau, n)
    victim = here.users[row]
    epochs, covered = neighbouring_epochs(shown, 0, n_users), covered_windows(windows, first)
    for near in _NEAR:
        attacks = LinkingAttacks(victim, begin, tau, epsilon, promise.k, near)
        left = _count_left(epochs, covered, attacks, workers)
        victim, begin = victim[left < promise.k], begin[left < promise.k]
    return Tried(n, len(victim), present)


def _count_left(
    epochs: NeighbouringEpochs, windows: CoveredWindows, attacks: LinkingAttacks, workers: Workers
) -> Int32s:
    left = np.empty(len(attacks.victim), np.int32)
    workers.for_blocks(len(left), lambda begin, end: count_left(epochs, windows, attacks, begin, end, left))
    return left


def worth_of_needs(
    nearby: NeighbouringEpochs,
    windows: CoveredWindows,
    n_closed: int,
    candidates: WitnessCandidates,
    needs: tuple[int, int],
    promise: Promise,
    workers: Workers,
) -> Floats:
    """In which share of attacks serving a need would leave k records where fewer are left; a line for each victim.

    With a tau of several epsilon, needs are worth a little in any case.

    The first n_closed windows do not hold the epoch in question. needs: of how many covers of each window needs are
    served, and how many needs a victim has then.
    """
    n_covers, n_needs = needs
    worth = np.zeros((len(candidates.victim), n_needs))
    epsilon, tau = int(promise.epsilon or 1), int(promise.tau or 1)
    nowhere = np.empty(0, np.int64)
    attacks = LinkingAttacks(candidates.victim, nowhere, tau, epsilon, promise.k, _NEAR_BEFORE)
    workers.for_blocks(
        len(worth),
        lambda begin, end: weigh_needs(
            nearby, windows, attacks, candidates, n_closed, n_covers, _N_BEGINS, begin, end, worth
        ),
    )
    return worth if promise.reach == 1 else np.maximum(worth, _LEAST)
