"""Which samples lie in boxes of their own user's record, and which boxes hold one."""

from __future__ import annotations

from shoal.auditing.kernels.consistency import (
    BoxIndex,
    Trajectories,
    first_box_ending_after,
    first_sample_from,
    holds,
)
from shoal.core.arrays import Bools, Int64s
from shoal.core.compiled import jit


@jit
def find_held(
    trajectories: Trajectories,
    index: BoxIndex,
    own: Int64s,
    begin: int,
    end: int,
    published: Bools,
    filled: Bools,
) -> None:
    """published[s]: whether sample s lies in a box of its user's own record (own[user], below 0: none), for users
    begin .. end - 1; filled[b]: whether box b holds a sample of its own user. Both are all False before."""
    for user in range(begin, end):
        if own[user] < 0:
            continue
        stop = index.ptr[own[user] + 1]
        for sample in range(trajectories.ptr[user], trajectories.ptr[user + 1]):
            row = trajectories.sample[sample]
            box = first_box_ending_after(index, own[user], row["t"])
            while box < stop and index.box[box]["since"] <= row["t"]:
                if holds(index, box, row["t"], row["x"], row["y"]):
                    published[sample] = True
                    filled[box] = True
                box += 1


@jit
def find_true_sites(
    trajectories: Trajectories,
    index: BoxIndex,
    boxes: Int64s,
    owner: Int64s,
    x: Int64s,
    y: Int64s,
    at: Int64s,
    n: Int64s,
    site: Int64s,
    right: Bools,
    n_true: Int64s,
) -> None:
    """right[line]: whether the owner of boxes[i] has a sample inside it at the site of a line, x[site], y[site]; lines
    at[i] .. at[i] + n[i] - 1 are of boxes[i]. n_true[i]: in how many different cells the owner has samples inside."""
    for i in range(len(boxes)):
        box, first = boxes[i], trajectories.ptr[owner[i]]
        row = first_sample_from(trajectories, first, trajectories.ptr[owner[i] + 1], index.box[box]["t0"])
        begin = row
        while row < trajectories.ptr[owner[i] + 1] and trajectories.sample[row]["t"] <= index.box[box]["t1"]:
            sample, fresh = trajectories.sample[row], True
            if holds(index, box, sample["t"], sample["x"], sample["y"]):
                for earlier in range(begin, row):
                    other = trajectories.sample[earlier]
                    fresh &= other["x"] != sample["x"] or other["y"] != sample["y"]
                n_true[i] += fresh
                for line in range(at[i], at[i] + n[i]):
                    if x[site[line]] == sample["x"] and y[site[line]] == sample["y"]:
                        right[line] = True
            row += 1
