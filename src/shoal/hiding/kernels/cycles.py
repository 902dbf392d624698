"""Greedy cycles through the users of a group: the paper's way to give everybody k - 1 parents.

docs/how-it-works.md, "The paper's own way", step 3.
"""

from __future__ import annotations

import numpy as np

from shoal.core.arrays import Bools, Floats, Int32s, Int64s
from shoal.core.compiled import jit, jit_inline_allocating
from shoal.hiding.kernels.cost_bounds import OWN
from shoal.hiding.kernels.edge_cost import edge_cost, make_scratch, write_outlines
from shoal.hiding.kernels.reuse import ReuseRule, mark_forbidden
from shoal.hiding.kernels.window import WindowArrays


@jit_inline_allocating
def find_cycles(cost: Floats, allowed: Bools, n_cycles: int, patience: int, parent: Int32s) -> bool:
    """Fill parent[i, c] (int32), the parent of user i in cycle c; return whether there are such cycles.

    cost: n x n. allowed[j, i]: whether j may be a parent of i. Every cycle leads through all n >= 2 users, and nobody
    has a parent twice. From each user a cycle goes on to the cheapest user allowed (the first of equals); where it gets
    stuck, the last choice is taken back, ``patience`` times at most.
    """
    n = len(cost)
    order = np.empty((n, n), np.int64)
    for i in range(n):
        order[i] = np.argsort(cost[i], kind="mergesort")
    length = n_cycles * n
    at, tried = np.zeros(length + 1, np.int64), np.zeros(length + 1, np.int64)
    used, visited = np.zeros((n, n), np.bool_), np.zeros((n_cycles, n), np.bool_)
    visited[:, 0] = True
    depth = 0
    while depth < length:
        cycle, closes = depth // n, depth % n == n - 1
        here, found = at[depth], -1
        while found < 0 and tried[depth] < n:
            there = order[here, tried[depth]]
            tried[depth] += 1
            fits = there == 0 if closes else not visited[cycle, there]
            if fits and allowed[here, there] and not used[here, there]:
                found = there
        if found >= 0:
            used[here, found] = True
            visited[cycle, found] = True
            depth += 1
            at[depth], tried[depth] = found, 0
            continue
        patience -= 1
        depth -= 1
        if depth < 0 or patience < 0:
            return False
        used[at[depth], at[depth + 1]] = False
        visited[depth // n, at[depth + 1]] = at[depth + 1] == 0
    for step in range(length):
        parent[at[step + 1], step // n] = at[step]
    return True


@jit
def cycles_of_groups(
    arrays: WindowArrays,
    rule: ReuseRule,
    bounds: Int64s,
    patience: int,
    begin: int,
    end: int,
    member: Int32s,
    hidden: Bools,
) -> None:
    """Look for cycles in groups begin .. end - 1; group g is the users bounds[g] .. bounds[g + 1] - 1.

    member[i] (int32, k - 1 columns) becomes the line of user i's parents, -1 where there are none; hidden[g] whether
    the group has cycles. The cost of a pair goes by ``arrays.pools``, which hold the users' own samples only.
    """
    scratch, own = make_scratch(arrays), np.empty((arrays.row.shape[1], OWN))
    mark = np.full(len(arrays.user), -1, np.int32)
    for group in range(begin, end):
        first, n = bounds[group], bounds[group + 1] - bounds[group]
        member[first : first + n] = -1
        hidden[group] = n > member.shape[1]
        if not hidden[group]:
            continue
        cost, allowed = np.zeros((n, n)), np.ones((n, n), np.bool_)
        for i in range(n):
            mark_forbidden(arrays, rule, first + i, mark)
            for j in range(n):
                allowed[j, i] = mark[first + j] != first + i
            write_outlines(arrays, first + i, own)
            for j in range(i):
                cost[i, j] = edge_cost(arrays, first + i, first + j, own, np.inf, scratch)
                cost[j, i] = cost[i, j]
        hidden[group] = find_cycles(cost, allowed, member.shape[1], patience, member[first : first + n])
        for i in range(first, first + n):
            for cycle in range(member.shape[1]):
                member[i, cycle] = member[i, cycle] + first if hidden[group] else -1
