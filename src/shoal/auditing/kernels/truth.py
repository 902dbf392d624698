"""Which samples lie in boxes of their own user's record, and which boxes hold one."""

from __future__ import annotations

from shoal.auditing.kernels.consistency import BoxIndex, Trajectories, first_box_ending_after, holds
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
