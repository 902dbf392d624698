"""Make pairs cheaper along alternating cycles: every other edge of a cycle leaves, those between take its place."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.core.arrays import Floats, Int32s, Int64s
from shoal.core.compiled import inner, kernel

_LEAST_GAIN = 1e-9  # share of the cost: less is rounding, and might be gained for ever
_MOST_STEPS = (
    4000  # of one search: more are seldom needed, and a lone user must not look through a whole city
)


class PairGraph(NamedTuple):
    """Who may be paired: user i with member[ptr[i] .. ptr[i + 1] - 1] (int32), at what cost (float64)."""

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


@inner
def leads_back(walks: Walks, step: int, one: int, other: int) -> bool:
    """Whether the path to a step has been at one of two users already."""
    while step >= 0:
        if walks.end[step] == one or walks.end[step] == other:
            return True
        step = walks.before[step]
    return False


@inner
def best_walk(
    graph: PairGraph, mate: Int32s, paid: Floats, user: int, reached: Floats, walks: Walks
) -> tuple[int, float]:
    """The step from which going back to the user gains most, among the shortest paths that gain; -1 for none.

    The pair of the user goes first. A path is followed while it has gained something; of several to the same end, the
    one that has gained more. reached: scratch, 0 everywhere, and left so.
    """
    walks.end[0], walks.via[0], walks.before[0], walks.depth[0] = mate[user], user, -1, 0
    walks.gain[0] = paid[user]
    n_steps, step, best, most = 1, 0, -1, _LEAST_GAIN * paid[user]
    while step < n_steps and (best < 0 or walks.depth[step] <= walks.depth[best]):
        end = walks.end[step]
        for entry in range(graph.ptr[end], graph.ptr[end + 1]):
            via, gain = graph.member[entry], walks.gain[step] - graph.cost[entry]
            if via == user:
                if step > 0 and gain > most:
                    best, most = step, gain
                continue
            other = mate[via]
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


@inner
def cost_of_pair(graph: PairGraph, one: int, other: int) -> float:
    """What the graph says about two users."""
    for entry in range(graph.ptr[one], graph.ptr[one + 1]):
        if graph.member[entry] == other:
            return float(graph.cost[entry])
    return np.inf


@kernel
def alternate(graph: PairGraph, mate: Int32s, paid: Floats) -> None:
    """Change mate[i], the partner of user i, and paid[i], the cost of the pair, until no alternating cycle helps.

    Pairs need not be in the graph; new ones are. Everybody has a partner.
    """
    n = len(mate)
    walks = Walks(
        np.empty(_MOST_STEPS, np.int32),
        np.empty(_MOST_STEPS, np.int32),
        np.empty(_MOST_STEPS, np.int32),
        np.empty(_MOST_STEPS, np.int32),
        np.empty(_MOST_STEPS),
    )
    reached, waiting = np.zeros(n), np.ones(n, np.bool_)
    settled = False
    while not settled:
        settled = True
        for user in range(n):
            while waiting[user]:
                waiting[user] = False
                step, _ = best_walk(graph, mate, paid, user, reached, walks)
                partner = user
                while step >= 0:
                    end = walks.end[step]
                    mate[end], mate[partner] = partner, end
                    paid[end] = paid[partner] = cost_of_pair(graph, end, partner)
                    waiting[end] = waiting[partner] = True
                    settled = False
                    partner, step = walks.via[step], walks.before[step]
