"""Which records fit what attackers know, and what follows from the records that fit (docs/audit.md)."""

from __future__ import annotations

from typing import NamedTuple

from shoal.auditing.kernels.box_index import record_found, slot_over
from shoal.auditing.kernels.consistency import (
    BoxIndex,
    Trajectories,
    box_cost,
    box_holding,
    first_box_ending_after,
    first_sample_from,
    holds,
    is_consistent,
)
from shoal.core.arrays import Bools, Floats, Int64s
from shoal.core.compiled import jit, jit_inline


class Knowledge(NamedTuple):
    """What attackers know: attack i has pieces ptr[i] .. ptr[i + 1] - 1, at least one.

    A piece is samples first .. last - 1 (at least one), all that the victim has in slots begin .. end - 1. Where
    begin == end the attacker knows these samples only, and not that there are no others.
    """

    victim: Int64s
    ptr: Int64s
    first: Int64s
    last: Int64s
    begin: Int64s
    end: Int64s


class Fits(NamedTuple):
    """Records that fit: those of attack i are record[at[i]] .. record[at[i] + n[i] - 1].

    forgiven[i]: no record fits as it is, so these are the ones that fit best where gaps are forgiven.
    """

    at: Int64s
    n: Int64s
    record: Int64s
    forgiven: Bools


@jit
def find_rows(
    trajectories: Trajectories, user: Int64s, begin: Int64s, end: Int64s, first: Int64s, last: Int64s
) -> None:
    """first, last: the samples of user[i] in slots begin[i] .. end[i] - 1."""
    for i in range(len(user)):
        row, stop = trajectories.ptr[user[i]], trajectories.ptr[user[i] + 1]
        first[i] = first_sample_from(trajectories, row, stop, begin[i])
        last[i] = first_sample_from(trajectories, row, stop, end[i])


@jit_inline
def fits_all(
    trajectories: Trajectories, index: BoxIndex, knowledge: Knowledge, attack: int, record: int
) -> bool:
    """Whether a record is consistent with every piece that the attacker knows."""
    for piece in range(knowledge.ptr[attack], knowledge.ptr[attack + 1]):
        first, last = knowledge.first[piece], knowledge.last[piece]
        begin, end = knowledge.begin[piece], knowledge.end[piece]
        if not is_consistent(trajectories, index, record, first, last, begin, end, 0, False):
            return False
    return True


@jit_inline
def samples_held(
    trajectories: Trajectories, index: BoxIndex, knowledge: Knowledge, attack: int, record: int, epsilon: int
) -> int:
    """How many of the known samples a record holds, if it is consistent with all pieces once gaps are forgiven; else 0.

    Forgiven are samples in epochs, of epsilon slots, in which the record has no box.
    """
    n = 0
    for piece in range(knowledge.ptr[attack], knowledge.ptr[attack + 1]):
        first, last = knowledge.first[piece], knowledge.last[piece]
        begin, end = knowledge.begin[piece], knowledge.end[piece]
        if not is_consistent(trajectories, index, record, first, last, begin, end, epsilon, True):
            return 0
        for row in range(first, last):
            n += holds_sample(trajectories, index, record, row)
    return n


@jit_inline
def holds_sample(trajectories: Trajectories, index: BoxIndex, record: int, row: int) -> bool:
    """Whether a record has a box that holds a sample."""
    sample = trajectories.sample[row]
    t = sample["t"]
    box = first_box_ending_after(index, record, t)
    return box_holding(index, box, index.ptr[record + 1], t, sample["x"], sample["y"]) >= 0


@jit_inline
def is_first_held(
    trajectories: Trajectories, index: BoxIndex, knowledge: Knowledge, attack: int, record: int, row: int
) -> bool:
    """Whether a sample is the first of those known that a record holds."""
    for piece in range(knowledge.ptr[attack], knowledge.ptr[attack + 1]):
        for earlier in range(knowledge.first[piece], knowledge.last[piece]):
            if earlier == row:
                return True
            if holds_sample(trajectories, index, record, earlier):
                return False
    return True


@jit
def find_best_with_gaps(
    trajectories: Trajectories,
    index: BoxIndex,
    knowledge: Knowledge,
    attack: int,
    own_record: int,
    epsilon: int,
    wanted: int,
    most: int,
    found: Int64s,
) -> tuple[int, int]:
    """The most known samples that a record holds which fits once gaps are forgiven, and how many records hold as many.

    Where ``wanted`` is above 0 only records that hold so many are noted in ``found``, the victim's own first.
    """
    best, n = max(wanted, 1), 0
    if own_record >= 0:
        held = samples_held(trajectories, index, knowledge, attack, own_record, epsilon)
        if held > 0 and held >= best:
            best, n = held, 1
            if wanted > 0:
                found[0] = own_record
    for piece in range(knowledge.ptr[attack], knowledge.ptr[attack + 1]):
        for row in range(knowledge.first[piece], knowledge.last[piece]):
            sample = trajectories.sample[row]
            t, x, y = sample["t"], sample["x"], sample["y"]
            for probe in range(4 * len(index.levels)):
                slot = slot_over(index, probe, t, x, y)
                for entry in range(index.slot_ptr[slot], index.slot_ptr[slot + 1]):
                    record = record_found(index, slot, entry, probe, t, x, y)
                    if record < 0 or record == own_record:
                        continue
                    if not is_first_held(trajectories, index, knowledge, attack, record, row):
                        continue
                    held = samples_held(trajectories, index, knowledge, attack, record, epsilon)
                    if held > best and wanted == 0:
                        best, n = held, 0
                    if held == best and n < most:
                        if wanted > 0:
                            found[n] = record
                        n += 1
    return best, n


@jit
def find_fits(
    trajectories: Trajectories,
    index: BoxIndex,
    knowledge: Knowledge,
    own: Int64s,
    epsilon: int,
    most: int,
    begin: int,
    end: int,
    fits: Fits,
) -> None:
    """Find the records that fit attacks begin .. end - 1, ``most`` at most; only count them where fits.record is empty.

    own[attack]: the victim's own record, which comes first if it fits; below 0 where it is not known. Where none fits,
    those fit best that hold the most samples once gaps of whole epochs, of epsilon slots (0: none), are forgiven.
    """
    counting = len(fits.record) == 0
    for attack in range(begin, end):
        n, own_record = 0, own[attack]
        if own_record >= 0 and fits_all(trajectories, index, knowledge, attack, own_record):
            if not counting:
                fits.record[fits.at[attack]] = own_record
            n = 1
        sample = trajectories.sample[knowledge.first[knowledge.ptr[attack]]]
        t, x, y = sample["t"], sample["x"], sample["y"]
        for probe in range(4 * len(index.levels)):
            slot = slot_over(index, probe, t, x, y)
            for entry in range(index.slot_ptr[slot], index.slot_ptr[slot + 1]):
                if n == most:
                    break
                record = record_found(index, slot, entry, probe, t, x, y)
                if record < 0 or record == own_record:
                    continue
                if fits_all(trajectories, index, knowledge, attack, record):
                    if not counting:
                        fits.record[fits.at[attack] + n] = record
                    n += 1
        fits.forgiven[attack] = n == 0 and epsilon > 0
        if fits.forgiven[attack]:
            best, n = find_best_with_gaps(
                trajectories, index, knowledge, attack, own_record, epsilon, 0, most, fits.record
            )
            if not counting and n > 0:
                find_best_with_gaps(
                    trajectories, index, knowledge, attack, own_record, epsilon, best, most,
                    fits.record[fits.at[attack] : fits.at[attack] + n],
                )  # fmt: skip
        fits.n[attack] = n


@jit_inline
def touched_faces(trajectories: Trajectories, index: BoxIndex, box: int, first: int, last: int) -> int:
    """How many of a box's six faces are touched by those of samples first .. last - 1 that it holds; -1: holds none."""
    row = index.box[box]
    t0 = t1 = x0 = x1 = y0 = y1 = held = False
    for line in range(first, last):
        sample = trajectories.sample[line]
        t, x, y = sample["t"], sample["x"], sample["y"]
        if holds(index, box, t, x, y):
            held = True
            t0, t1 = t0 or t == row["t0"], t1 or t == row["t1"]
            x0, x1 = x0 or x == row["x0"], x1 or x == row["x1"]
            y0, y1 = y0 or y == row["y0"], y1 or y == row["y1"]
    return int(t0) + int(t1) + int(x0) + int(x1) + int(y0) + int(y1) if held else -1


@jit_inline
def off_centre(value: int, low: int, high: int) -> float:
    """How far a coordinate is from the middle of a box: 0 in the middle, near 1 at its edge."""
    return abs(2 * value - low - high) / (high - low + 1)


@jit_inline
def score_record(
    trajectories: Trajectories, index: BoxIndex, record: int, first: int, last: int, score: Floats
) -> None:
    """score: minus the cost of the boxes that hold a sample; the share of their faces touched; minus the distance of
    samples from the middle of the boxes that hold them."""
    cost, touched, n_boxes, distance, n_held = 0.0, 0, 0, 0.0, 0
    box = first_box_ending_after(index, record, trajectories.sample[first]["t"])
    end = index.ptr[record + 1]
    while box < end and index.box[box]["since"] <= trajectories.sample[last - 1]["t"]:
        faces = touched_faces(trajectories, index, box, first, last)
        if faces >= 0:
            cost += box_cost(index, box)
            touched += faces
            n_boxes += 1
        box += 1
    for line in range(first, last):
        sample = trajectories.sample[line]
        t, x, y = sample["t"], sample["x"], sample["y"]
        held_by = box_holding(index, first_box_ending_after(index, record, t), end, t, x, y)
        if held_by < 0:  # a sample in a gap that was forgiven
            continue
        n_held += 1
        row = index.box[held_by]
        distance += off_centre(t, row["t0"], row["t1"])
        distance += off_centre(x, row["x0"], row["x1"])
        distance += off_centre(y, row["y0"], row["y1"])
    score[0] = -cost
    score[1] = touched / (6 * n_boxes)
    score[2] = -distance / (3 * n_held)


@jit
def score_fits(
    trajectories: Trajectories,
    index: BoxIndex,
    knowledge: Knowledge,
    fits: Fits,
    begin: int,
    end: int,
    scores: Floats,
) -> None:
    """A line of three scores for every record that fits attacks begin .. end - 1 (of one piece each)."""
    for attack in range(begin, end):
        piece = knowledge.ptr[attack]
        for line in range(fits.at[attack], fits.at[attack] + fits.n[attack]):
            score_record(
                trajectories,
                index,
                fits.record[line],
                knowledge.first[piece],
                knowledge.last[piece],
                scores[line],
            )


@jit_inline
def all_consistent(
    trajectories: Trajectories, index: BoxIndex, fits: Fits, attack: int, user: int, begin: int, end: int
) -> bool:
    """Whether every record that fits is consistent with the user's samples in slots begin .. end - 1."""
    row, stop = trajectories.ptr[user], trajectories.ptr[user + 1]
    first = first_sample_from(trajectories, row, stop, begin)
    last = first_sample_from(trajectories, row, stop, end)
    for line in range(fits.at[attack], fits.at[attack] + fits.n[attack]):
        if not is_consistent(trajectories, index, fits.record[line], first, last, begin, end, 0, False):
            return False
    return True


@jit
def find_leaks(
    trajectories: Trajectories,
    index: BoxIndex,
    knowledge: Knowledge,
    fits: Fits,
    epsilon: int,
    begin: int,
    end: int,
    leaked: Int64s,
) -> None:
    """leaked[i]: slots outside the interval, epoch by epoch, where all records that fit agree with the victim."""
    for attack in range(begin, end):
        piece, user = knowledge.ptr[attack], knowledge.victim[attack]
        low, high = knowledge.begin[piece], knowledge.end[piece]
        row, stop = trajectories.ptr[user], trajectories.ptr[user + 1]
        leaked[attack] = 0
        while row < stop:
            if low <= trajectories.sample[row]["t"] < high:
                row += 1
                continue
            epoch = trajectories.sample[row]["t"] // epsilon * epsilon
            before, after = min(epoch + epsilon, low), max(epoch, high)
            if all_consistent(trajectories, index, fits, attack, user, epoch, before) and all_consistent(
                trajectories, index, fits, attack, user, after, epoch + epsilon
            ):
                leaked[attack] += max(before - epoch, 0) + max(epoch + epsilon - after, 0)
            while row < stop and trajectories.sample[row]["t"] < epoch + epsilon:
                row += 1


@jit_inline
def common_extent(index: BoxIndex, fits: Fits, attack: int, t: int, best: int) -> tuple[int, int]:
    """Longer side of the hull of all boxes that the records have in slot t, and the next slot where it may be smaller.

    The side is ``best`` if a record has no box in slot t, or if the hull's is no smaller than ``best``.
    """
    x0, x1, y0, y1 = 2**31, -(2**31), 2**31, -(2**31)
    following = 2**62
    for line in range(fits.at[attack], fits.at[attack] + fits.n[attack]):
        record = fits.record[line]
        box = first_box_ending_after(index, record, t)
        if box == index.ptr[record + 1] or index.box[box]["since"] > t:
            absent_until = following if box == index.ptr[record + 1] else index.box[box]["since"]
            return best, absent_until
        while box < index.ptr[record + 1] and index.box[box]["since"] <= t:
            row = index.box[box]
            if row["t0"] <= t:
                x0, x1 = min(x0, row["x0"]), max(x1, row["x1"])
                y0, y1 = min(y0, row["y0"]), max(y1, row["y1"])
                following = min(following, row["t1"] + 1)
            box += 1
        if max(x1 - x0, y1 - y0) + 1 >= best:
            return best, following
    return max(x1 - x0, y1 - y0) + 1, following


@jit
def find_common_extents(
    index: BoxIndex,
    knowledge: Knowledge,
    fits: Fits,
    anywhere: bool,
    most: int,
    begin: int,
    end: int,
    extent: Int64s,
) -> None:
    """extent[i]: the smallest longer side, below ``most``, of a hull of all records that fit, in one slot outside the
    interval (or anywhere); ``most`` if there is none."""
    for attack in range(begin, end):
        piece = knowledge.ptr[attack]
        low, high = knowledge.begin[piece], knowledge.end[piece]
        best = most
        if fits.n[attack]:
            record = fits.record[fits.at[attack]]
            t = index.box[index.ptr[record]]["since"]
            last = index.box[index.ptr[record + 1] - 1]["t1"]
            while t <= last and best > 1:
                if not anywhere and low <= t < high:
                    t = high
                    continue
                best, t = common_extent(index, fits, attack, t, best)
        extent[attack] = best
