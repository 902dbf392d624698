"""May member j serve owner i in this window? The rule of reuse, in the one place that every selector asks.

An owner's past members are entries in order of time. The rule looks at the entries of window ``since`` or later: their
members may not serve that owner (again). What is asked of these entries differs: one pair (``may_serve``,
``last_served``), all members of an owner at once (``mark_forbidden``), or all pairs of a window (``write_forbidden``).
hiding.reuse decides ``since`` and keeps the entries.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.core.arrays import Bools, Bytes, Int32s, Int64s
from shoal.core.compiled import jit, jit_inline, jit_no_arrays
from shoal.hiding.kernels.window import WindowArrays

NEVER = -(2**31)  # before any window


class PastMembers(NamedTuple):
    """The members that users had: those of user u are entries first[u] .. first[u] + length[u] - 1, in order of time.

    member (int32): who served; when (int32): in which window; exposure (uint8): how exposed that member was in it, in
    sixtieths (hiding.leakage). Users and members are numbered in the whole dataset.
    """

    member: Int32s
    when: Int32s
    exposure: Bytes
    first: Int64s
    length: Int32s


class ReuseRule(NamedTuple):
    """Who may not serve whom in a window: past members whose window is ``since`` or later.

    picked[i] (int32): members that owner i has been given in this window already, both numbered in the window, -1 for
    none. It may have no columns.
    """

    past: PastMembers
    since: int
    picked: Int32s


@jit_inline
def first_forbidden(rule: ReuseRule, user: int) -> int:
    """The first entry of a user that the rule looks at: the members from there on may not serve that user."""
    past = rule.past
    entry, end = past.first[user], end_of_past(past, user)
    while entry < end and past.when[entry] < rule.since:
        entry += 1
    return int(entry)


@jit_inline
def end_of_past(past: PastMembers, user: int) -> int:
    """The entry behind the last one of a user."""
    return int(past.first[user] + past.length[user])


@jit_inline
def last_served(rule: ReuseRule, user: int, other: int) -> int:
    """The last window in which ``other`` served ``user``, as far as the rule looks at it; NEVER where there is none.

    Users are numbered in the whole dataset.
    """
    past = rule.past
    for entry in range(end_of_past(past, user) - 1, first_forbidden(rule, user) - 1, -1):
        if past.member[entry] == other:
            return int(past.when[entry])
    return NEVER


@jit_inline
def may_serve(rule: ReuseRule, user: int, other: int) -> bool:
    """Whether ``other`` may serve ``user``, as far as earlier windows go; both numbered in the whole dataset."""
    return last_served(rule, user, other) == NEVER


@jit_inline
def mark_forbidden(arrays: WindowArrays, rule: ReuseRule, owner: int, mark: Int32s) -> None:
    """mark[j] = owner for every user j of the window who may not serve that owner, the owner itself included."""
    mark[owner] = owner
    past, user = rule.past, arrays.user[owner]
    for entry in range(first_forbidden(rule, user), end_of_past(past, user)):
        place = arrays.place[past.member[entry]]
        if place >= 0:
            mark[place] = owner
    for column in range(rule.picked.shape[1]):
        if rule.picked[owner, column] >= 0:
            mark[rule.picked[owner, column]] = owner


@jit_no_arrays
def write_forbidden(
    arrays: WindowArrays, rule: ReuseRule, owner: Int32s, member: Int32s, when: Int32s
) -> int:
    """Write every pair of users of the window whom earlier windows forbid, and when they did; return how many.

    There may be several entries for a pair. The arrays need room for all past members of the window's users.
    """
    past, n = rule.past, 0
    for i in range(len(arrays.user)):
        user = arrays.user[i]
        for entry in range(first_forbidden(rule, user), end_of_past(past, user)):
            place = arrays.place[past.member[entry]]
            if place >= 0:
                owner[n], member[n], when[n] = i, place, past.when[entry]
                n += 1
    return n


@jit
def allowed_edges(
    arrays: WindowArrays, rule: ReuseRule, owner: Int32s, member: Int32s, allowed: Bools
) -> None:
    """allowed[q] (bool) = whether member[q] may serve owner[q]; owners should come in runs."""
    mark = np.full(len(arrays.user), -1, np.int32)
    for q in range(len(owner)):
        if q == 0 or owner[q] != owner[q - 1]:
            mark_forbidden(arrays, rule, int(owner[q]), mark)
        allowed[q] = mark[member[q]] != owner[q]


@jit
def count_forbidden(rule: ReuseRule, owners: Int32s, members: Int32s, count: Int32s) -> None:
    """count[q] (int32) = how many of members[q] the rule forbids to serve owners[q]; numbered in the whole dataset."""
    for q in range(len(owners)):
        count[q] = 0
        for column in range(members.shape[1]):
            if not may_serve(rule, owners[q], members[q, column]):
                count[q] += 1


@jit_no_arrays
def windows_since_served(
    arrays: WindowArrays, rule: ReuseRule, owner: Int32s, member: Int32s, window: int, age: Int32s
) -> None:
    """age[q] = windows since member[q] last served owner[q]; 0 if it may serve, -1 if it serves in this window already.

    Where it serves in a later window, windows until then. Owners and members are numbered in the window.
    """
    for q in range(len(owner)):
        last = last_served(rule, arrays.user[owner[q]], arrays.user[member[q]])
        age[q] = 0 if last == NEVER else abs(window - last)
        for column in range(rule.picked.shape[1]):
            if rule.picked[owner[q], column] == member[q]:
                age[q] = -1


@jit_no_arrays
def count_beyond_window(pair: Int64s, begin: Int64s, end: Int64s, window: int) -> int:
    """How many of some services go beyond one window of their pair, each of them beginning another one.

    pair (int64): owner and member in one number; begin, end (int64): slots. By pair, then by begin.
    """
    n, since = 0, np.int64(0)
    for line in range(len(pair)):
        if line == 0 or pair[line] != pair[line - 1]:
            since = begin[line]
        elif end[line] > since + window:
            n += 1
            since = begin[line]
    return n
