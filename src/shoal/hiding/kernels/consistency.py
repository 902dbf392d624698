"""Is what a record shows consistent with what an attacker knows of a user? Both directions, in one pass over time.

Forward: every sample known lies in a box. Backward: every box that lies wholly inside the time known holds a sample.
(docs/promise.md, "Against whom"; the audit has a copy of its own, since it must not share code with what it audits.)

Boxes are int32 lines t0, t1, x0, x1, y0, y1; samples are records of pools.SLOT or pools.OWN_SLOT, a slot of time each.
Both are in order of time, boxes do not overlap in it, and times count from the beginning of the epoch, ends included.
"""

from __future__ import annotations

from typing import Any

from shoal.core.arrays import Int32s, Int64s
from shoal.core.compiled import jit_inline
from shoal.hiding.kernels.pools import Slots

# Before and after any slot that 32 bits can hold: the compiler leaves out comparisons with these.
_ALWAYS_SINCE, _ALWAYS_UNTIL = -(2**31), 2**31


@jit_inline
def consistent_between(
    box: Int32s, begin: int, end: int, own: Slots, first: int, last: int, since: int, until: int
) -> bool:
    """Whether boxes begin .. end - 1 are consistent with samples first .. last - 1 from ``since`` to before ``until``.

    These samples are all that the user has in that time.
    """
    b, held = begin, False
    while b < end and box[b, 1] < since:
        b += 1
    for q in range(first, last):
        slot = own[q]
        t = slot.t
        if t < since or t >= until:
            continue
        while b < end and box[b, 1] < t:
            if not held and box[b, 0] >= since:
                return False
            b, held = b + 1, False
        if b == end or box[b, 0] > t:
            return False
        if slot.x0 < box[b, 2] or slot.x1 > box[b, 3] or slot.y0 < box[b, 4] or slot.y1 > box[b, 5]:
            return False
        held = True
    while b < end and box[b, 1] < until:
        if not held and box[b, 0] >= since:
            return False
        b, held = b + 1, False
    return True


@jit_inline
def consistent(box: Int32s, begin: int, end: int, own: Slots, first: int, last: int) -> bool:
    """Whether boxes begin .. end - 1 are consistent with samples first .. last - 1, known for the whole epoch."""
    return bool(consistent_between(box, begin, end, own, first, last, _ALWAYS_SINCE, _ALWAYS_UNTIL))


@jit_inline
def row_consistent_between(
    shown: Any, row: int, own: Slots, own_first: Int64s, known: int, since: int, until: int
) -> bool:
    """Whether what a record shows in one row is consistent with what a user has in another between two times.

    shown: the boxes of row r are the first n_boxes[r] lines of ``box`` from first[r] on. The samples of row r are
    own_first[r] .. own_first[r + 1] - 1 of ``own``.
    """
    begin = shown.first[row]
    end = begin + shown.n_boxes[row]
    return bool(
        consistent_between(shown.box, begin, end, own, own_first[known], own_first[known + 1], since, until)
    )


@jit_inline
def row_consistent(shown: Any, row: int, own: Slots, own_first: Int64s, known: int) -> bool:
    """Whether what a record shows in one row is consistent with what a user has in another, known for all of it."""
    return bool(row_consistent_between(shown, row, own, own_first, known, _ALWAYS_SINCE, _ALWAYS_UNTIL))
