"""Pairs for k = 2: a permutation's cycles split into pairs, and pairs improved along alternating cycles.

Users are numbered within their group (int32, -1 for none); costs are float64.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.core.arrays import Floats, Int32s, Int64s
from shoal.core.compiled import jit, jit_inline
from shoal.hiding.kernels.improving import LEAST_GAIN, next_waiting

_MOST_STEPS = 4000  # of one search: more are seldom needed, and a remote user must not search a whole city


class PairGraph(NamedTuple):
    """The pairs that may be made: user i with member[ptr[i] .. ptr[i + 1] - 1] (int32), at a cost (float64) each."""

    ptr: Int64s
    member: Int32s
    cost: Floats


class Walks(NamedTuple):
    """Alternating paths found so far, as a tree: step s leads from the end of step before[s] over via[s] to end[s]."""

    end: Int32s
    via: Int32s
    before: Int32s
    depth: Int32s
    gain: Floats


@jit
def split_into_pairs(member: Int32s, cost: Floats, partner: Int32s) -> None:
    """partner[i] becomes the partner of user i, -1 for the user left out of each odd cycle or path.

    member[i]: the user to whom user i leads, -1 for nobody; everybody is led to by one user at most. cost[i]: the cost
    of the pair of i and member[i].
    """
    n = len(member)
    partner[:] = -1
    is_led_to = np.zeros(n, np.bool_)
    for user in range(n):
        if member[user] >= 0:
            is_led_to[member[user]] = True
    seen = np.zeros(n, np.bool_)
    path = np.empty(n, np.int32)
    for closed in range(2):  # paths first, from their beginnings; what is left are cycles
        for begin in range(n):
            if seen[begin] or (not closed and is_led_to[begin]):
                continue
            length, user = 0, begin
            while user >= 0 and not seen[user]:
                seen[user] = True
                path[length] = user
                length += 1
                user = member[user]
            pair_along(path[:length], cost, closed == 1, partner)


@jit
def pair_along(path: Int32s, cost: Floats, closed: bool, partner: Int32s) -> None:
    """Pair neighbours along a path or round a cycle, from the place where that is cheapest."""
    n = len(path)
    best, least = 0, np.inf
    for begin in range(n if closed else 1 + n % 2 * (n - 1)):
        if not closed and begin % 2:
            continue
        total = 0.0
        for step in range(0, n - 1, 2):
            total += cost[path[left_of_pair(n, begin, step, closed)]]
        if total < least:
            best, least = begin, total
    for step in range(0, n - 1, 2):
        place = left_of_pair(n, best, step, closed)
        one, other = path[place], path[(place + 1) % n]
        partner[one], partner[other] = other, one


@jit
def left_of_pair(n: int, begin: int, step: int, closed: bool) -> int:
    """The place where the pair ``step`` users on begins; ``begin`` is the place left out of an odd number."""
    if closed:
        return (begin + n % 2 + step) % n
    return step if step < begin or n % 2 == 0 else step + 1


@jit_inline
def leads_back(walks: Walks, step: int, one: int, other: int) -> bool:
    """Whether the path to a step has been at one of two users already."""
    while step >= 0:
        if walks.end[step] == one or walks.end[step] == other:
            return True
        step = walks.before[step]
    return False


@jit_inline
def best_walk(
    graph: PairGraph, partner: Int32s, paid: Floats, user: int, reached: Floats, walks: Walks
) -> tuple[int, float]:
    """The last step of the alternating cycle through a user that gains most, among the shortest that gain; -1: none.

    A path begins by dissolving the pair of the user. It is followed as long as its gain is positive; of several paths
    to one end, the one that has gained most so far. reached: scratch, 0 everywhere before and after.
    """
    walks.end[0], walks.via[0], walks.before[0], walks.depth[0] = partner[user], user, -1, 0
    walks.gain[0] = paid[user]
    n_steps, step, best, most = 1, 0, -1, LEAST_GAIN * paid[user]
    while step < n_steps and (best < 0 or walks.depth[step] <= walks.depth[best]):
        end = walks.end[step]
        for entry in range(graph.ptr[end], graph.ptr[end + 1]):
            via, gain = graph.member[entry], walks.gain[step] - graph.cost[entry]
            if via == user:
                if step > 0 and gain > most:
                    best, most = step, gain
                continue
            other = partner[via]
            if gain <= 0.0 or other == user or n_steps == len(walks.end):
                continue
            gain += paid[via]
            if gain > reached[other] and not leads_back(walks, step, via, other):
                reached[other] = gain
                walks.end[n_steps], walks.via[n_steps] = other, via
                walks.before[n_steps], walks.depth[n_steps] = step, walks.depth[step] + 1
                walks.gain[n_steps] = gain
                n_steps += 1
        step += 1
    for step in range(n_steps):
        reached[walks.end[step]] = 0.0
    return best, most


@jit_inline
def cost_of_pair(graph: PairGraph, one: int, other: int) -> float:
    """The cost of a pair in the graph, infinite where it may not be made."""
    for entry in range(graph.ptr[one], graph.ptr[one + 1]):
        if graph.member[entry] == other:
            return float(graph.cost[entry])
    return np.inf


@jit
def alternate(graph: PairGraph, partner: Int32s, paid: Floats) -> None:
    """Change partner[i], and paid[i], the cost of that pair, until no alternating cycle makes the pairs cheaper.

    Everybody has a partner. The pairs at the beginning need not be in the graph; new ones are.
    """
    n = len(partner)
    walks = Walks(
        np.empty(_MOST_STEPS, np.int32),
        np.empty(_MOST_STEPS, np.int32),
        np.empty(_MOST_STEPS, np.int32),
        np.empty(_MOST_STEPS, np.int32),
        np.empty(_MOST_STEPS),
    )
    reached, waiting = np.zeros(n), np.ones(n, np.bool_)
    user = next_waiting(waiting, 0)
    while user >= 0:
        waiting[user] = False
        step, _ = best_walk(graph, partner, paid, user, reached, walks)
        last = user
        while step >= 0:
            end = walks.end[step]
            partner[end], partner[last] = last, end
            paid[end] = paid[last] = cost_of_pair(graph, end, last)
            waiting[end] = waiting[last] = True
            last, step = walks.via[step], walks.before[step]
        user = next_waiting(waiting, user)
