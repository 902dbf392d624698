"""Guarantee 3 in one window: which records fit each person, and k matchings of people to records that share no line.

k matchings without a common line exist if and only if some lines can be chosen so that every person and every record
has exactly k of them (a bipartite graph in which all have k lines falls apart into k matchings, by Koenig). That is a
flow: k from the source into every person, one along a line, k from every record into the sink.

Records without any box in the window fit everybody, so there is no line to write down for them: they are one node,
*the absent ones*, into which a person may send as much as there are such records. Whatever reaches that node can be
dealt out to its records in turn, so that no record gets two lines of one person and all get equally many.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.auditing.kernels.box_index import is_probed, slot_over
from shoal.auditing.kernels.consistency import (
    BoxIndex,
    Trajectories,
    first_box_ending_after,
    first_sample_from,
    holds,
    is_consistent,
)
from shoal.core.arrays import Bools, Bytes, Int32s, Int64s
from shoal.core.compiled import jit, jit_inline, jit_no_arrays

ABSENT = 0  # no box of the record meets the window
INSIDE = 1  # a box lies wholly inside
ACROSS = 2  # boxes meet the window, and all of them reach beyond it


class WindowSlots(NamedTuple):
    """A window of whole epochs, slots begin .. end - 1; epsilon 0: all of time is one epoch."""

    begin: int
    end: int
    epsilon: int


class Lines(NamedTuple):
    """Records that fit each person: record[ptr[i] .. ptr[i + 1] - 1]; the absent ones, ``n_absent``, fit everybody."""

    ptr: Int64s
    record: Int32s
    n_absent: int


class Flow(NamedTuple):
    """Lines chosen so far. chosen: for each line; degree: lines that a person has; absent: how many of these lead to
    the absent ones, total[0] in all. of_record[j, :load[j]]: the chosen lines of record j; person: whose a line is."""

    chosen: Bools
    person: Int32s
    degree: Int32s
    absent: Int32s
    total: Int64s
    load: Int32s
    of_record: Int64s


class PathSearch(NamedTuple):
    """A search for a path. seen[p] or met[j] is the number of the search that came by last; for a person p in the
    queue: who gives up nothing but takes line ``takes[p]`` instead is ``giver[p]``, and p gives up line ``gives[p]``;
    a line of -1 leads to the absent ones."""

    queue: Int32s
    seen: Int64s
    met: Int64s
    giver: Int32s
    takes: Int64s
    gives: Int64s


@jit_no_arrays
def classify_records(index: BoxIndex, window: WindowSlots, kind: Bytes) -> None:
    """kind[j] (uint8): ABSENT, INSIDE or ACROSS, for every record."""
    for record in range(len(index.ptr) - 1):
        kind[record] = ABSENT
        box = first_box_ending_after(index, record, window.begin)
        while box < index.ptr[record + 1] and index.box[box]["since"] < window.end:
            t0, t1 = index.box[box]["t0"], index.box[box]["t1"]
            if t0 >= window.begin and t1 < window.end:
                kind[record] = INSIDE
                break
            if t0 < window.end:
                kind[record] = ACROSS
            box += 1


@jit_inline
def _note_fit(
    trajectories: Trajectories,
    index: BoxIndex,
    window: WindowSlots,
    record: int,
    first: int,
    last: int,
    line: int,
    fits: Int32s,
) -> int:
    """Write a record to fits[line], if there is room, where it fits; returns the line to write next."""
    if is_consistent(
        trajectories, index, record, first, last, window.begin, window.end, window.epsilon, True
    ):
        if line < len(fits):
            fits[line] = record
        return line + 1
    return line


@jit
def find_lines(
    trajectories: Trajectories,
    index: BoxIndex,
    window: WindowSlots,
    kind: Bytes,
    across: Int32s,
    people: Int64s,
    own: Int64s,
    most: int,
    begin: int,
    end: int,
    at: Int64s,
    number: Int64s,
    fits: Int32s,
    looked: Int64s,
) -> None:
    """The records, the absent ones aside, that fit people[begin .. end - 1], gaps forgiven: at most ``most`` of each.

    number[i]: how many there are; they are written to fits[at[i] ...] as far as there is room. looked[i]: how many
    boxes were looked at. own[i]: a record to try first, or negative. across: the records of kind ACROSS.

    A record with a box inside the window fits only if that box holds a sample of the person. In the epoch of that
    sample it has boxes, so it must hold all of the person's samples there, the first one, too. So records over the
    first sample of each epoch are looked at, in an order that differs from person to person: otherwise all would list
    the same few where ``most`` is small.
    """
    asked = np.full(len(index.ptr) - 1, -1, np.int32)
    for i in range(begin, end):
        user, line = people[i], at[i]
        first = first_sample_from(
            trajectories, trajectories.ptr[user], trajectories.ptr[user + 1], window.begin
        )
        last = first_sample_from(trajectories, first, trajectories.ptr[user + 1], window.end)
        looked[i] = 0
        if own[i] >= 0 and kind[own[i]] != ABSENT:
            asked[own[i]] = i
            line = _note_fit(trajectories, index, window, own[i], first, last, line, fits)
        for place in range(len(across)):
            if line < at[i] + most and asked[across[place]] != i:
                asked[across[place]] = i
                line = _note_fit(trajectories, index, window, across[place], first, last, line, fits)
        epoch = np.int64(-1)
        for sample in range(first, last):
            row = trajectories.sample[sample]
            t, x, y = row["t"], row["x"], row["y"]
            here = t // window.epsilon - window.begin // window.epsilon if window.epsilon else np.int64(0)
            # Over whole trajectories a record that fits holds the first sample; gaps are not forgiven there.
            if here == epoch or line >= at[i] + most:
                continue
            epoch = here
            n_probes, turn = 4 * len(index.levels), (user * 40_503) & 0xFFFF
            for step in range(n_probes):
                probe = (step + turn) % n_probes
                slot = slot_over(index, probe, t, x, y)
                low, size = index.slot_ptr[slot], index.slot_ptr[slot + 1] - index.slot_ptr[slot]
                looked[i] += size
                for shift in range(size):
                    entry = low + (shift + turn) % size
                    box = index.slot_box[entry]
                    record = index.box[box]["record"]
                    if (
                        line >= at[i] + most
                        or asked[record] == i
                        or not is_probed(index, slot, entry, probe, x, y)
                    ):
                        continue
                    if holds(index, box, t, x, y):
                        asked[record] = i
                        line = _note_fit(trajectories, index, window, record, first, last, line, fits)
        number[i] = line - at[i]


@jit_no_arrays
def check_pairs(
    trajectories: Trajectories,
    index: BoxIndex,
    window: WindowSlots,
    user: Int64s,
    record: Int64s,
    begin: int,
    end: int,
    fits: Bools,
) -> None:
    """fits[i]: whether record[i] fits user[i] in a window, gaps forgiven, for i in begin .. end - 1."""
    for i in range(begin, end):
        stop = trajectories.ptr[user[i] + 1]
        first = first_sample_from(trajectories, trajectories.ptr[user[i]], stop, window.begin)
        last = first_sample_from(trajectories, first, stop, window.end)
        fits[i] = is_consistent(
            trajectories, index, record[i], first, last, window.begin, window.end, window.epsilon, True
        )


@jit
def match_people(lines: Lines, k: int, n_records: int) -> int:
    """How many lines are lacking at the end: 0 if everybody can have k of them, and no record more than k.

    Everybody is given lines to the records with the fewest first. For the lines that are still lacking, others' lines
    are moved along a path as long as there is one. The first person for whom there is none ends the search.
    """
    n_people, n_lines = len(lines.ptr) - 1, len(lines.record)
    flow = Flow(
        np.zeros(n_lines, np.bool_),
        np.repeat(np.arange(n_people).astype(np.int32), np.diff(lines.ptr)),
        np.zeros(n_people, np.int32),
        np.zeros(n_people, np.int32),
        np.zeros(1, np.int64),
        np.zeros(n_records, np.int32),
        np.empty((n_records, k), np.int64),
    )
    give_freely(lines, k, flow)
    search = PathSearch(
        np.empty(n_people, np.int32),
        np.full(n_people, -1, np.int64),
        np.full(n_records + 1, -1, np.int64),
        np.empty(n_people, np.int32),
        np.empty(n_people, np.int64),
        np.empty(n_people, np.int64),
    )
    number = 0
    for person in range(n_people):
        while flow.degree[person] < k:
            if not find_path(lines, k, flow, search, person, number):
                return int(k - flow.degree[person])
            number += 1
    return 0


@jit_no_arrays
def give_freely(lines: Lines, k: int, flow: Flow) -> None:
    """Give everybody up to k lines that nobody has to give up: own records (listed first), then the least loaded."""
    n_people = len(lines.ptr) - 1
    for turn in range(k):
        for person in range(n_people):
            best, least = -1, k
            for line in range(lines.ptr[person], lines.ptr[person + 1]):
                load = int(flow.load[lines.record[line]])
                if not flow.chosen[line] and load < least:
                    best, least = line, load
                    if turn == 0:
                        break
            if best >= 0:
                take_line(lines, flow, person, best)
            elif flow.absent[person] < lines.n_absent and flow.total[0] < k * lines.n_absent:
                take_absent(flow, person)


@jit_inline
def take_line(lines: Lines, flow: Flow, person: int, line: int) -> None:
    """Choose a line to a record that has fewer than k."""
    record = lines.record[line]
    flow.chosen[line] = True
    flow.of_record[record, flow.load[record]] = line
    flow.load[record] += 1
    flow.degree[person] += 1


@jit_inline
def take_absent(flow: Flow, person: int) -> None:
    """Choose one more line to the absent ones."""
    flow.absent[person] += 1
    flow.total[0] += 1
    flow.degree[person] += 1


@jit_no_arrays
def find_path(lines: Lines, k: int, flow: Flow, search: PathSearch, start: int, number: int) -> bool:
    """Give a person one more line, others moving theirs where needed; False if that cannot be done."""
    absent_node = len(flow.load)
    search.queue[0] = start
    search.seen[start] = number
    n_queued, place = 1, 0
    while place < n_queued:
        person = search.queue[place]
        place += 1
        if flow.absent[person] < lines.n_absent and search.met[absent_node] != number:
            search.met[absent_node] = number
            if flow.total[0] < k * lines.n_absent:
                flow.total[0] += 1
                flow.absent[person] += 1
                move_lines(lines, flow, search, start, person)
                return True
            for other in range(len(flow.degree)):
                if flow.absent[other] > 0 and search.seen[other] != number:
                    search.seen[other], search.giver[other] = number, person
                    search.takes[other], search.gives[other] = -1, -1
                    search.queue[n_queued] = other
                    n_queued += 1
        for line in range(lines.ptr[person], lines.ptr[person + 1]):
            record = lines.record[line]
            if flow.chosen[line] or search.met[record] == number:
                continue
            search.met[record] = number
            if flow.load[record] < k:
                flow.chosen[line] = True
                flow.of_record[record, flow.load[record]] = line
                flow.load[record] += 1
                move_lines(lines, flow, search, start, person)
                return True
            for column in range(k):
                given = flow.of_record[record, column]
                other = flow.person[given]
                if search.seen[other] != number:
                    search.seen[other], search.giver[other] = number, person
                    search.takes[other], search.gives[other] = line, given
                    search.queue[n_queued] = other
                    n_queued += 1
    return False


@jit_inline
def move_lines(lines: Lines, flow: Flow, search: PathSearch, start: int, person: int) -> None:
    """Along the path from ``start`` to a person who has found a line: each takes the line that the next gives up."""
    while person != start:
        giver, takes, gives = search.giver[person], search.takes[person], search.gives[person]
        if takes < 0:
            flow.absent[person] -= 1
            flow.absent[giver] += 1
        else:
            record = lines.record[takes]
            flow.chosen[gives], flow.chosen[takes] = False, True
            for column in range(flow.load[record]):
                if flow.of_record[record, column] == gives:
                    flow.of_record[record, column] = takes
        person = giver
    flow.degree[start] += 1
