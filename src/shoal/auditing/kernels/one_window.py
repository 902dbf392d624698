"""Guarantee 2 from the private evidence: whether it is true, whether it explains every box, who serves more than once.

A *line* of evidence says that a record was made to hold a user's samples in slots begin .. end - 1.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.auditing.kernels.box_index import is_probed, slot_over
from shoal.auditing.kernels.consistency import (
    BoxIndex,
    Trajectories,
    box_holding,
    first_box_ending_after,
    first_sample_from,
    holds,
    is_consistent,
)
from shoal.core.arrays import Bools, Int32s, Int64s
from shoal.core.compiled import jit, jit_inline, jit_no_arrays

_ALL_FACES = 63


class EvidenceLines(NamedTuple):
    """Lines of evidence, record by record, by their begins: record j has lines ptr[j] .. ptr[j + 1] - 1.

    longest: the most slots of a line.
    """

    ptr: Int64s
    begin: Int64s
    end: Int64s
    user: Int32s
    record: Int32s
    longest: int


class WindowLines(NamedTuple):
    """Lines of windows, user by user: user i has lines ptr[i] .. ptr[i + 1] - 1, by the numbers of their windows and
    then by record."""

    ptr: Int64s
    window: Int64s
    record: Int32s


@jit_no_arrays
def check_lines(
    trajectories: Trajectories,
    held: Bools,
    index: BoxIndex,
    lines: EvidenceLines,
    window: int,
    begin: int,
    end: int,
    true: Bools,
    too_long: Bools,
    idle: Bools,
) -> None:
    """For lines begin .. end - 1: whether the record holds all published samples of the user there, whether these
    samples are further apart than a window allows, and whether there are none. held: which samples are published."""
    for line in range(begin, end):
        user, record = lines.user[line], lines.record[line]
        first = first_sample_from(
            trajectories, trajectories.ptr[user], trajectories.ptr[user + 1], lines.begin[line]
        )
        earliest, latest = np.int64(0), np.int64(-1)
        true[line] = True
        for sample in range(first, trajectories.ptr[user + 1]):
            t = trajectories.sample[sample]["t"]
            if t >= lines.end[line]:
                break
            if not held[sample]:
                continue
            if latest < earliest:
                earliest = t
            latest = t
            box = first_box_ending_after(index, record, t)
            x, y = trajectories.sample[sample]["x"], trajectories.sample[sample]["y"]
            if box_holding(index, box, index.ptr[record + 1], t, x, y) < 0:
                true[line] = False
        idle[line] = latest < earliest
        too_long[line] = lines.end[line] - lines.begin[line] > window and latest - earliest + 1 > window


@jit_inline
def _faces_touched(
    trajectories: Trajectories, held: Bools, index: BoxIndex, box: int, user: int, begin: int, end: int
) -> int:
    """Which of a box's six faces are touched by the user's published samples in the box and slots begin .. end - 1."""
    row, touched = index.box[box], 0
    first = first_sample_from(trajectories, trajectories.ptr[user], trajectories.ptr[user + 1], begin)
    for sample in range(first, trajectories.ptr[user + 1]):
        t, x = trajectories.sample[sample]["t"], trajectories.sample[sample]["x"]
        y = trajectories.sample[sample]["y"]
        if t >= end:
            break
        if held[sample] and holds(index, box, t, x, y):
            touched |= (
                (t == row["t0"])
                | (t == row["t1"]) << 1
                | (x == row["x0"]) << 2
                | (x == row["x1"]) << 3
                | (y == row["y0"]) << 4
                | (y == row["y1"]) << 5
            )
    return int(touched)


@jit_no_arrays
def explain_boxes(
    trajectories: Trajectories,
    held: Bools,
    index: BoxIndex,
    owner: Int64s,
    lines: EvidenceLines,
    begin: int,
    end: int,
    explained: Bools,
) -> None:
    """For every box of records begin .. end - 1: whether each of its faces is touched by a published sample of the
    owner, or of a user whom the record holds there by the evidence. Boxes of shoal are such hulls."""
    for record in range(begin, end):
        for box in range(index.ptr[record], index.ptr[record + 1]):
            t0, t1 = index.box[box]["t0"], index.box[box]["t1"]
            touched = _faces_touched(trajectories, held, index, box, owner[record], t0, t1 + 1)
            line, last = lines.ptr[record], lines.ptr[record + 1]
            high = last
            while line < high:  # the first line that can reach into the box
                middle = (line + high) // 2
                if lines.begin[middle] + lines.longest <= t0:
                    line = middle + 1
                else:
                    high = middle
            while line < last and lines.begin[line] <= t1 and touched != _ALL_FACES:
                low, until = max(t0, lines.begin[line]), min(t1 + 1, lines.end[line])
                if low < until:
                    touched |= _faces_touched(trajectories, held, index, box, lines.user[line], low, until)
                line += 1
            explained[box] = touched == _ALL_FACES


@jit_no_arrays
def count_uncovered(
    trajectories: Trajectories,
    held: Bools,
    own: Int64s,
    window_begin: Int64s,
    window_end: Int64s,
    lines: WindowLines,
    needed: int,
    most: int,
    begin: int,
    end: int,
    uncovered: Int64s,
) -> None:
    """uncovered[i]: in how many windows user i has a published sample, and lines of fewer than ``needed`` or more than
    ``most`` different records, none of them own[i]. Windows go by their begins; held: which samples are published."""
    for user in range(begin, end):
        sample, stop = trajectories.ptr[user], trajectories.ptr[user + 1]
        line, last_line = lines.ptr[user], lines.ptr[user + 1]
        uncovered[user] = 0
        for window in range(len(window_begin)):
            while sample < stop and (
                not held[sample] or trajectories.sample[sample]["t"] < window_begin[window]
            ):
                sample += 1
            covers, last = 0, np.int64(-1)
            while line < last_line and lines.window[line] == window:
                record = np.int64(lines.record[line])
                if record != own[user] and record != last:
                    covers += 1
                    last = record
                line += 1
            is_there = sample < stop and trajectories.sample[sample]["t"] < window_end[window]
            if is_there and (covers < needed or covers > most):
                uncovered[user] += 1


@jit_no_arrays
def count_again(user: Int32s, record: Int32s, begin: Int64s, end: Int64s, window: int) -> int:
    """How many lines go beyond one window of their user and record; lines go by user and record, then by begin."""
    again, since = 0, np.int64(0)
    for line in range(len(user)):
        if line == 0 or user[line] != user[line - 1] or record[line] != record[line - 1]:
            since = begin[line]
        elif end[line] > since + window:
            again += 1
            since = begin[line]
    return again


@jit
def find_held_apart(
    trajectories: Trajectories,
    index: BoxIndex,
    own: Int64s,
    epsilon: int,
    reach: int,
    begin: int,
    end: int,
    found: Bools,
    n_fitting: Int64s,
) -> None:
    """found[i]: whether some record other than own[i] fits user i in two epochs, present in both, that no window joins.
    n_fitting[i]: how many such records fit in some epoch.

    A record that was made to hold a user fits, epoch by epoch: all samples lie in its boxes, all boxes hold one.
    """
    first_held = np.empty(len(index.ptr) - 1, np.int64)
    asked = np.full(len(index.ptr) - 1, -1, np.int64)
    for user in range(begin, end):
        found[user], n_fitting[user] = False, 0
        first, stop = trajectories.ptr[user], trajectories.ptr[user + 1]
        while first < stop:
            row = trajectories.sample[first]
            t, x, y = row["t"], row["x"], row["y"]
            epoch = t // epsilon
            last = first_sample_from(trajectories, first, stop, (epoch + 1) * epsilon)
            for probe in range(4 * len(index.levels)):
                slot = slot_over(index, probe, t, x, y)
                for entry in range(index.slot_ptr[slot], index.slot_ptr[slot + 1]):
                    box = index.slot_box[entry]
                    record = index.box[box]["record"]
                    if record == own[user] or not is_probed(index, slot, entry, probe, x, y):
                        continue
                    if asked[record] == user and (found[user] or epoch - first_held[record] <= reach):
                        continue
                    if holds(index, box, t, x, y) and is_consistent(
                        trajectories, index, record, first, last,
                        epoch * epsilon, (epoch + 1) * epsilon, epsilon, False,
                    ):  # fmt: skip
                        if asked[record] == user:
                            found[user] = True
                        else:
                            asked[record], first_held[record] = user, epoch
                            n_fitting[user] += 1
            first = last


@jit_no_arrays
def count_windows(
    trajectories: Trajectories, window_begin: Int64s, window_end: Int64s, begin: int, end: int, number: Int64s
) -> None:
    """number[i]: in how many windows user i has a sample; windows go by their begins."""
    for user in range(begin, end):
        sample, stop = trajectories.ptr[user], trajectories.ptr[user + 1]
        number[user] = 0
        for window in range(len(window_begin)):
            while sample < stop and trajectories.sample[sample]["t"] < window_begin[window]:
                sample += 1
            number[user] += sample < stop and trajectories.sample[sample]["t"] < window_end[window]
