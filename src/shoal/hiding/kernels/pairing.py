"""Pairs out of a permutation: every cycle is split into pairs of neighbours, the cheaper way."""

from __future__ import annotations

import numpy as np

from shoal.core.arrays import Floats, Int32s
from shoal.core.compiled import kernel


@kernel
def split_into_pairs(member: Int32s, cost: Floats, mate: Int32s) -> None:
    """mate[i] becomes the partner of user i, -1 for the one left out of each odd cycle or path.

    member[i]: whom user i leads to, -1 for nobody; everybody is led to by one user at most. cost[i]: that of the pair.
    """
    n = len(member)
    mate[:] = -1
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
            pair_along(path[:length], cost, closed == 1, mate)


@kernel
def pair_along(path: Int32s, cost: Floats, closed: bool, mate: Int32s) -> None:
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
        mate[one], mate[other] = other, one


@kernel
def left_of_pair(n: int, begin: int, step: int, closed: bool) -> int:
    """Where the pair ``step`` users on begins; ``begin`` is the one left out of an odd number."""
    if closed:
        return (begin + n % 2 + step) % n
    return step if step < begin or n % 2 == 0 else step + 1
