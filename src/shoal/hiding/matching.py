"""Choose the hiding sets of a window: the cheapest k-pick under the joint cost (design 3.3)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.blocks import Workers, costs_of, with_members
from shoal.errors import UnfinishedError
from shoal.hiding.company import Company
from shoal.hiding.neighbours import nearest_edges, plant_tree, with_nearest, with_reused
from shoal.hiding.pick import Edges, cheapest_permutation, edges_inside
from shoal.hiding.reuse import History
from shoal.hiding.window import member_rows
from shoal.kernels.search import Barred, WindowArrays, windows_since
from shoal.kernels.tree import Tree
from shoal.samples import Bools, Int32s

CANDIDATES = 16  # nearest members considered for each owner; more change the total cost by less than 1 %
_WIDENING = 8  # how many times more candidates an owner gets who found no place


class Picks(NamedTuple):
    """The hiding sets of one window: a line of k - 1 members per owner, numbered in the whole dataset.

    relaxed counts members that serve an owner again although the reuse rule forbids it, a number per owner.
    """

    owners: Int32s
    members: Int32s
    relaxed: Int32s


def no_picks(k: int) -> Picks:
    """The hiding sets of a window in which nobody is present."""
    return Picks(np.empty(0, np.int32), np.empty((0, k - 1), np.int32), np.empty(0, np.int32))


def choose(
    window: int,
    arrays: WindowArrays,
    k: int,
    history: History,
    workers: Workers,
    company: Company | None = None,
) -> Picks:
    """k - 1 permutations of every pattern group, one after the other, each the cheapest beside those before it.

    Given the company that records and users keep, members who would let other epochs leak are dearer.
    """
    n = len(arrays.user)
    if n and int((arrays.last - arrays.first).min()) < k:
        raise UnfinishedError("Self-check failed: a presence pattern is shared by fewer than k users.")
    picked = np.full((n, k - 1), -1, np.int32)
    relaxed = np.zeros(n, np.int32)
    tree = plant_tree(arrays)
    for turn in range(k - 1):
        barred = history.barred(window, picked)
        member, again = _permutation(window, arrays, tree, barred, workers, company)
        picked[:, turn] = member
        relaxed += again
        if turn < k - 2:
            pools = with_members(arrays.pools, arrays.raw, member_rows(arrays, member), workers)
            arrays = arrays._replace(pools=pools, base=costs_of(pools, arrays.weight, workers))
    return Picks(arrays.user, arrays.user[picked], relaxed)


def _permutation(
    window: int,
    arrays: WindowArrays,
    tree: Tree,
    barred: Barred,
    workers: Workers,
    company: Company | None,
) -> tuple[Int32s, Bools]:
    """The cheapest permutation of every group, and which owners had to reuse a member for it.

    Whoever finds no place among the nearest is given more candidates; a group in which somebody finds none among all
    that are allowed has too few partners left, and may reuse.
    """
    n = len(arrays.user)
    width = np.full(n, CANDIDATES)
    member = np.full(n, -1, np.int32)
    edges = nearest_edges(arrays, tree, barred, CANDIDATES, workers)
    if company is not None:
        edges.cost[:] += company.surcharge(window, arrays, barred, edges, workers)
    reusing = np.zeros(n, np.bool_)
    while True:
        unserved = np.flatnonzero(member < 0)
        for first in np.unique(arrays.first[unserved]).tolist():
            last = int(arrays.last[first])
            member[first:last] = _permutation_of_group(edges, first, last)
        unserved = np.flatnonzero(member < 0).astype(np.int32)
        if not len(unserved):
            break
        if reusing[unserved].any():
            raise UnfinishedError("Self-check failed: a group that may reuse members found no permutation.")
        exhausted = width[unserved] >= arrays.last[unserved] - arrays.first[unserved] - 1
        if exhausted.any():
            groups = np.unique(arrays.first[unserved[exhausted]])
            reusing |= np.isin(arrays.first, groups)
            edges = with_reused(edges, arrays, barred, groups, window, workers)
        more = unserved[~exhausted].astype(np.int32)
        if len(more):
            width[more] *= _WIDENING
            widest = int((arrays.last[more] - arrays.first[more]).max()) - 1
            edges = with_nearest(
                edges, arrays, tree, barred, more, min(int(width[more].max()), widest), workers
            )
    age = np.empty(n, np.int32)
    windows_since(arrays, barred, np.arange(n, dtype=np.int32), member, window, age)
    return member, age > 0


def _permutation_of_group(edges: Edges, first: int, last: int) -> Int32s:
    """The cheapest permutation of users first .. last - 1; -1 for those who find no place. Edges go by owner."""
    inside = edges_inside(edges, first, last)
    member = cheapest_permutation(last - first, inside)
    return np.where(member < 0, -1, member + np.int32(first))
