"""Boxes with a minimum spread: k-merge where a box must hold everybody *and* be long enough on its longer side.

k-merge (merge.py) needs one thing of the boxes that are allowed: slots that may be a box may be one with others added,
too. Then a box that ends at cut e begins at or before B(e), the latest cut from which slots up to e may be a box; and
one that begins at or before B(B(e)) is never needed, since it can be split at B(e) into two that are allowed and cost
no more together. "Holds everybody and is so long" is such a property, since holding more people's slots never makes a
box shorter. So it suffices to move every ``start`` of a pool, which is B, back to where the slots are spread enough.
"""

from __future__ import annotations

from shoal.core.compiled import jit
from shoal.hiding.kernels.pools import Pools


@jit
def require_spread(pools: Pools, cells: int, begin: int, end: int) -> None:
    """Change ``start`` in rows begin .. end - 1 so that complete groups have ``cells`` cells on their longer side."""
    for row in range(begin, end):
        first = pools.ptr[row]
        for q in range(first, pools.ptr[row + 1]):
            slot = pools.slot[q]
            x0, x1, y0, y1 = slot.x0, slot.x1, slot.y0, slot.y1
            since = q
            while max(x1 - x0, y1 - y0) + 1 < cells and since > first:
                since -= 1
                other = pools.slot[since]
                x0, x1 = min(x0, other.x0), max(x1, other.x1)
                y0, y1 = min(y0, other.y0), max(y1, other.y1)
            spread = max(x1 - x0, y1 - y0) + 1 >= cells
            slot.start = min(slot.start, since - first) if spread else -1
