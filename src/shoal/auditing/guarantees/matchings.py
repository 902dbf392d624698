"""Guarantee 3: in every window there are k ways to match all people to all records, no two of which share a line.

Each window is judged exactly or not at all (kernels/matchings.py). Where there are too many windows for the work that
may be spent, some are drawn.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from shoal.auditing.claims import windows_of
from shoal.auditing.kernels.matchings import (
    ABSENT,
    ACROSS,
    Lines,
    WindowSlots,
    check_pairs,
    classify_records,
    find_lines,
    match_people,
)
from shoal.core.arrays import Bytes, Int32s, Int64s
from shoal.core.boxes import NONE
from shoal.reading import HidingEvidence

if TYPE_CHECKING:
    from shoal.auditing.context import AuditContext

_MOST_WORK = 25_000_000  # boxes and lines looked at in all windows: some seconds
_MOST_LINES = 40_000_000  # of a window that are held in memory: some 400 MB
_MOST_ROOM = 40_000_000  # for lines before they are counted
_SPARE = 12  # lines of a person that are tried first, beside 3 k
_DRAW = 33  # which random numbers choose windows


class Matchings(NamedTuple):
    """In how many of the windows k matchings were sought, and in how many of these there are none."""

    n_windows: int
    n_checked: int
    n_broken: int


class _Graph(NamedTuple):
    """The people and records of a window; own: each person's record, where it is known."""

    window: WindowSlots
    kind: Bytes
    across: Int32s
    people: Int64s
    own: Int64s


def check_matchings(context: AuditContext, most_work: int = _MOST_WORK) -> Matchings | None:
    """Seek k matchings in every window, or in as many as ``most_work`` allows; None if it is unknown whose records
    are there, because there is no key and somebody may have none.

    Where records get new names, windows are sought in every period, among the people who have a part in it. A window
    that crosses a border has less of a period than the last one inside of it, so that its matchings are there as well.
    """
    of_periods = context.by_period()
    found = [_check_matchings(each, most_work // max(1, len(of_periods))) for each in of_periods]
    known = [each for each in found if each is not None]
    if len(known) < len(found) or not known:
        return None
    return Matchings._make(sum(column) for column in zip(*known, strict=True))


def _check_matchings(context: AuditContext, most_work: int) -> Matchings | None:
    own = context.published.own
    if not context.published.has_key and len(own) != context.published.records.n_records:
        return None
    people = np.flatnonzero(own != NONE)
    begins, ends = _windows(context)
    if context.promise.k > context.published.records.n_records:
        return Matchings(len(begins), len(begins), len(begins))
    order = context.randomness(_DRAW).permutation(len(begins))
    n_checked = n_broken = work = 0
    for place in order.tolist():
        window = WindowSlots(int(begins[place]), int(ends[place]), context.promise.epsilon or 0)
        found, spent = _has_matchings(context, window, people)
        work += spent
        if found is not None:
            n_checked += 1
            n_broken += not found
        if work >= most_work:
            break
    return Matchings(len(begins), n_checked, n_broken)


def _windows(context: AuditContext) -> tuple[Int64s, Int64s]:
    """First slots of all windows, and slots behind their ends; over whole trajectories one with all samples in it."""
    if context.promise.whole:
        begin, end = context.span
        return np.array([begin]), np.array([end])
    return windows_of(context.published.records.boxes, context.promise)


def _has_matchings(context: AuditContext, window: WindowSlots, people: Int64s) -> tuple[bool | None, int]:
    """Whether a window has k matchings (None: it has too many lines to tell), and the work that this took."""
    kind = np.empty(context.published.records.n_records, np.uint8)
    classify_records(context.published.index, window, kind)
    across = np.flatnonzero(kind == ACROSS).astype(np.int32)
    graph = _Graph(window, kind, across, people, context.published.own[people])
    k, work = context.promise.k, 0
    # Matchings among some of the lines are matchings; that there are none can be seen only from all lines.
    if context.evidence is not None:
        known = _known_lines(context, graph, context.evidence)
        work += len(known.record)
        if match_people(known, k, len(kind)) == 0:
            return True, work
    for most in (3 * k + _SPARE, len(kind)):
        lines, looked = _lines(context, graph, most)
        work += looked
        if lines is None:
            return None, work
        work += len(lines.record)
        if match_people(lines, k, len(kind)) == 0:
            return True, work
    return False, work


def _known_lines(context: AuditContext, graph: _Graph, evidence: HidingEvidence) -> Lines:
    """The lines that the evidence names, as far as these records do fit: people's own records, and those made to hold
    them in the window. They should be enough, and are found at once."""
    n, window = len(graph.people), graph.window
    there = np.flatnonzero((evidence.begin <= window.begin) & (evidence.end >= window.end))
    place = np.full(context.store.n_users, -1, np.int64)
    place[graph.people] = np.arange(n)
    person = np.concatenate([np.arange(n), place[evidence.user[there]]])
    record = np.concatenate([graph.own, evidence.record[there].astype(np.int64)])
    usable = (person >= 0) & (record >= 0)
    usable[usable] = graph.kind[record[usable]] != ABSENT
    person, record = person[usable], record[usable]
    _, first = np.unique(person * len(graph.kind) + record, return_index=True)  # by person
    person, record = person[first], record[first]
    fits = np.zeros(len(person), np.bool_)
    user = graph.people[person]
    context.workers.for_blocks(
        len(person),
        lambda begin, end: check_pairs(
            context.trajectories, context.published.index, window, user, record, begin, end, fits
        ),
    )
    ptr = np.searchsorted(person[fits], np.arange(n + 1)).astype(np.int64)
    return Lines(ptr, record[fits].astype(np.int32), int((graph.kind == ABSENT).sum()))


def _lines(context: AuditContext, graph: _Graph, most: int) -> tuple[Lines | None, int]:
    """The records that fit each person, at most so many; None if they are too many. And how many boxes that took."""
    n, n_absent = len(graph.people), int((graph.kind == ABSENT).sum())
    number, looked = np.zeros(n, np.int64), np.zeros(n, np.int64)

    def find(at: Int64s, fits: Int32s) -> None:
        context.workers.for_blocks(
            n,
            lambda begin, end: find_lines(
                context.trajectories, context.published.index, graph.window, graph.kind, graph.across,
                graph.people, graph.own, most, begin, end, at, number, fits, looked,
            ),
        )  # fmt: skip

    if n * most <= _MOST_ROOM:
        at = np.arange(n + 1) * most
        fits = np.empty(n * most, np.int32)
        find(at, fits)
        ptr = np.concatenate([np.zeros(1, np.int64), np.cumsum(number)])
        within = np.repeat(at[:-1] - ptr[:-1], number) + np.arange(ptr[-1])
        return Lines(ptr, fits[within], n_absent), int(looked.sum())
    find(np.zeros(n + 1, np.int64), np.empty(0, np.int32))
    ptr = np.concatenate([np.zeros(1, np.int64), np.cumsum(number)])
    spent = int(looked.sum())
    if ptr[-1] > _MOST_LINES:
        return None, spent
    fits = np.empty(int(ptr[-1]), np.int32)
    find(ptr, fits)
    return Lines(ptr, fits, n_absent), 2 * spent
