"""Whether the evidence of guarantee 2 tells all that there is: every window, and everybody who is hidden in it.

Who leaves lines out can leave out those that serve again. So the windows of the evidence must be those of the promise,
one after the other, and in each of them everybody must be held by as many records as the promise asks for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from shoal.auditing.claims import windows_of
from shoal.auditing.kernels.one_window import WindowLines, count_uncovered
from shoal.core.arrays import Bools, Int64s
from shoal.core.formatting import counted
from shoal.core.promise import Promise
from shoal.reading import HidingEvidence

if TYPE_CHECKING:
    from shoal.auditing.context import AuditContext

_ANY_NUMBER = 1 << 62


class _Windows(NamedTuple):
    """The different windows that lines tell of, by their begins: slots begin .. end - 1."""

    begin: Int64s
    end: Int64s


def missing_from(context: AuditContext, evidence: HidingEvidence) -> str | None:
    """What the evidence lacks to tell of all windows and everybody in them, as part of a sentence; None if nothing."""
    promise = promise_of_evidence(context)
    whole_epochs = _are_epochs(evidence, promise)
    if not whole_epochs.all():
        n_other = int((~whole_epochs).sum())
        return f"{n_other:,} of {len(evidence.user):,} lines of the evidence tell of no epoch or window"
    windows = _windows_of(evidence)
    n_missing = _count_outside(
        windows, *windows_of(context.published.records.boxes, promise, context.periods)
    )
    if n_missing:
        return f"the evidence leaves {counted(n_missing, 'window')} out"
    why = _missing_neighbours(context, windows, promise)
    if why is not None:
        return why
    n_uncovered = _uncovered(context, evidence, windows, promise)
    if n_uncovered:
        others, cases = counted(promise.k - 1, "other record"), counted(n_uncovered, "case")
        return f"by the evidence, in {cases} somebody in a window is not held there by {others}"
    return None


def promise_of_evidence(context: AuditContext) -> Promise:
    """The promise by whose windows the evidence tells: the file's own, where that is enough for the one required."""
    noted, required = context.noted, context.promise
    return noted if noted is not None and noted.counts_for(required) else required


def _are_epochs(evidence: HidingEvidence, promise: Promise) -> Bools:
    """Which lines tell of whole epochs: of a single one, or of no more than a window has."""
    length, epsilon = evidence.end - evidence.begin, promise.epsilon
    if epsilon is None:
        return ~evidence.in_epoch
    whole = (evidence.begin % epsilon == 0) & (evidence.end % epsilon == 0)
    longest = np.where(evidence.in_epoch, epsilon, (promise.reach + 1) * epsilon)
    return np.asarray(whole & (length <= longest))


def _windows_of(evidence: HidingEvidence) -> _Windows:
    lines = np.flatnonzero(~evidence.in_epoch)
    order = lines[np.lexsort((evidence.end[lines], evidence.begin[lines]))]
    begin, end = evidence.begin[order], evidence.end[order]
    is_new = np.append(True, (np.diff(begin) != 0) | (np.diff(end) != 0))[: len(order)]
    return _Windows(begin[is_new], end[is_new])


def _count_outside(windows: _Windows, begin: Int64s, end: Int64s) -> int:
    """How many stretches begin .. end - 1 lie inside of no window."""
    latest = np.maximum.accumulate(np.append(np.iinfo(np.int64).min, windows.end))
    inside = latest[np.searchsorted(windows.begin, begin, side="right")] >= end
    return int((~inside).sum())


def _missing_neighbours(context: AuditContext, windows: _Windows, promise: Promise) -> str | None:
    """Windows of a stretch begin with every epoch and have r + 1 of them, unless the stretch has fewer.

    Windows with fewer than r epochs between them belong to one stretch. Only windows without a published sample have
    no lines. Over whole trajectories there is one window in every period.
    """
    epsilon, reach = promise.epsilon, promise.reach
    if epsilon is None:
        once = len(np.unique(context.periods.of(windows.begin))) == len(windows.begin)
        return None if once else "the evidence tells of more than one window"
    first, last = windows.begin // epsilon, windows.end // epsilon - 1
    latest = np.maximum.accumulate(last)
    joins = first[1:] - latest[:-1] <= reach  # the window before, in one stretch
    alone = ~np.append(False, joins) & ~np.append(joins, False)
    n_short = int(((last - first != reach) & ~alone).sum())
    if n_short:
        return f"{n_short:,} of {len(first):,} windows of the evidence are too short beside others"
    before = np.flatnonzero(joins & (np.diff(first) > 1))
    left_out = [np.arange(first[place] + 1, first[place + 1]) for place in before.tolist()]
    begins = np.concatenate([np.empty(0, np.int64), *left_out])
    epochs = np.unique(context.samples.t[context.held.samples] // epsilon)
    n_left_out = int(
        (np.searchsorted(epochs, begins) < np.searchsorted(epochs, begins + reach, side="right")).sum()
    )
    return f"the evidence leaves {counted(n_left_out, 'window')} out" if n_left_out else None


def _uncovered(context: AuditContext, evidence: HidingEvidence, windows: _Windows, promise: Promise) -> int:
    """How often somebody with a published sample in a window is not held there by k - 1 other records.

    Where the file notes its promise, more than that are as wrong: further lines would water down a share of them. Not
    over whole trajectories, where nobody serves again and clusters of more than k users hold each other.
    """
    chosen = np.flatnonzero(~evidence.in_epoch)
    order = chosen[np.lexsort((evidence.record[chosen], evidence.begin[chosen], evidence.user[chosen]))]
    ptr = np.searchsorted(evidence.user[order], np.arange(context.store.n_users + 1)).astype(np.int64)
    window = np.searchsorted(windows.begin, evidence.begin[order])  # no two windows begin alike
    lines = WindowLines(ptr, window, evidence.record[order])
    needed = promise.k - 1
    most = needed if promise == context.noted and not promise.whole else _ANY_NUMBER
    uncovered = np.zeros(context.store.n_users, np.int64)
    context.workers.for_blocks(
        context.store.n_users,
        lambda begin, end: count_uncovered(
            context.trajectories, context.held.samples, context.published.own, windows.begin, windows.end,
            lines, needed, most, begin, end, uncovered,
        ),
    )  # fmt: skip
    return int(uncovered.sum())
