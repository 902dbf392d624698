"""Tasks of a window that are decided apart: whole groups, or shards of them, with all that is needed to choose there.

The users of a task are numbered within it, so it can be sent to another process or machine. The hiding sets do not
depend on how a window is cut into tasks (docs/decisions/0013-parts-and-engines.md).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.core.arrays import Int32s, Int64s
from shoal.core.engines import Engine
from shoal.core.workers import Workers
from shoal.hiding.kernels.leakage import PublishedEpochs, chain_lengths, chain_rows
from shoal.hiding.kernels.pools import taken
from shoal.hiding.kernels.reuse import PastMembers, ReuseRule
from shoal.hiding.kernels.window import WindowArrays
from shoal.hiding.leakage.surcharge import LeakageContext
from shoal.hiding.matching.hiding_sets import choose_hiding_sets
from shoal.hiding.window import HidingSets

_SMALLEST = 256  # users: a smaller task is not worth sending away


class WindowTask(NamedTuple):
    """Some groups of a window, or all of them: their users, who may not serve whom, and what the surcharge goes by."""

    window: int
    k: int
    arrays: WindowArrays
    rule: ReuseRule
    leakage: LeakageContext | None


def decide_task(task: WindowTask) -> HidingSets:
    """The hiding sets of a task, in its own numbers, on one thread."""
    with Workers(1) as workers:
        return choose_hiding_sets(task.window, task.arrays, task.k, task.rule, workers, task.leakage)


def decide_window(whole: WindowTask, workers: Workers, engine: Engine) -> HidingSets:
    """The hiding sets of a window: decided here, or in tasks on the engine if the window is large enough."""
    arrays = whole.arrays
    borders = _borders(arrays, engine.n_tasks)
    if len(borders) <= 1:
        return choose_hiding_sets(whole.window, arrays, whole.k, whole.rule, workers, whole.leakage)
    hiding_sets = list(engine.map(decide_task, (_task(whole, begin, end) for begin, end in borders)))
    return _joined(hiding_sets, [arrays.user[begin:end] for begin, end in borders])


def _borders(arrays: WindowArrays, n_tasks: int) -> list[tuple[int, int]]:
    """Where about so many tasks of whole groups begin and end, none but the last smaller than _SMALLEST."""
    size = max(_SMALLEST, -(-len(arrays.user) // n_tasks))
    ends = np.unique(arrays.last).tolist()
    borders, begin = [], 0
    for end in ends:
        if end - begin >= size or end == ends[-1]:
            borders.append((begin, end))
            begin = end
    return borders


def _joined(hiding_sets: list[HidingSets], users: list[Int32s]) -> HidingSets:
    """The hiding sets of all tasks, in the numbers of the dataset."""
    owners = np.concatenate(users)
    members = np.concatenate([who[task.members] for task, who in zip(hiding_sets, users, strict=True)])
    relaxed, exposure = (
        np.concatenate([getattr(task, name) for task in hiding_sets]) for name in ("relaxed", "exposure")
    )
    return HidingSets(owners, members, relaxed, exposure)


def _task(whole: WindowTask, begin: int, end: int) -> WindowTask:
    arrays, users = whole.arrays, whole.arrays.user[begin:end]
    leakage = whole.leakage
    if leakage is not None:
        oldest = leakage.oldest_epoch
        leakage = leakage._replace(
            published_epochs=_published_epochs_of(leakage.published_epochs, users, oldest)
        )
    return whole._replace(
        arrays=_arrays(arrays, begin, end),
        rule=whole.rule._replace(
            past=_past_of(whole.rule.past, arrays.place, users, begin, end),
            picked=np.empty((end - begin, 0), np.int32),
        ),
        leakage=leakage,
    )


def _arrays(arrays: WindowArrays, begin: int, end: int) -> WindowArrays:
    """Users begin .. end - 1 of a window, with their rows."""
    row = arrays.row[begin:end]
    rows = np.sort(row[row >= 0])
    everybody = np.arange(end - begin, dtype=np.int32)
    return WindowArrays(
        pools=taken(arrays.pools, rows),
        raw=taken(arrays.raw, rows),
        row=np.where(row >= 0, np.searchsorted(rows, row), -1),
        base=arrays.base[rows],
        first=arrays.first[begin:end] - np.int32(begin),
        last=arrays.last[begin:end] - np.int32(begin),
        user=everybody,
        place=everybody,
        weight=arrays.weight,
    )


def _past_of(past: PastMembers, place: Int32s, users: Int32s, begin: int, end: int) -> PastMembers:
    """The former members of some users, as far as these members are among the users themselves."""
    length = past.length[users]
    owner = np.repeat(np.arange(len(users)), length)
    entry = past.first[users][owner] + np.arange(len(owner)) - np.repeat(np.cumsum(length) - length, length)
    member = place[past.member[entry]] - begin
    inside = (member >= 0) & (member < end - begin)
    entry, kept = entry[inside], np.bincount(owner[inside], minlength=len(users))
    return PastMembers(
        member[inside], past.when[entry], past.exposure[entry], np.cumsum(kept) - kept, kept.astype(np.int32)
    )


def _published_epochs_of(published_epochs: PublishedEpochs, users: Int32s, oldest: int) -> PublishedEpochs:
    """The published epochs of some users, numbered by their places in the list, from an epoch on."""
    lengths = np.empty(len(users), np.int64)
    chain_lengths(published_epochs, users, oldest, lengths)
    first = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
    rows = np.empty(int(first[-1]), np.int64)
    chain_rows(published_epochs, users, first, rows)
    own_first, own = _lines(published_epochs.own_first, rows)
    box_first, box = _lines(published_epochs.box_first, rows)
    earlier = np.arange(-1, len(rows) - 1)
    earlier[first[:-1][lengths > 0]] = -1
    latest = np.where(lengths > 0, first[1:] - 1, -1)
    return PublishedEpochs(
        published_epochs.epoch[rows],
        own_first,
        published_epochs.own[own],
        box_first,
        published_epochs.box[box],
        earlier,
        latest,
    )


def _lines(first: Int64s, rows: Int64s) -> tuple[Int64s, Int64s]:
    """The lines of some rows put together: where each row begins, and which lines they are."""
    sizes = first[rows + 1] - first[rows]
    ptr = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])
    return ptr, np.arange(int(ptr[-1])) + np.repeat(first[rows] - ptr[:-1], sizes)
