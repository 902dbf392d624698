"""A binary heap of numbered items, the one of least key on top: two arrays (float64 keys, int64 items) and a length.

The arrays must have room for every item that is pushed; nothing is checked.
"""

from __future__ import annotations

from shoal.core.arrays import Floats, Int64s
from shoal.core.compiled import jit_inline


@jit_inline
def push(keys: Floats, items: Int64s, n: int, key: float, item: int) -> int:
    """Add an item to a heap of n; return how many there are."""
    place = n
    while place > 0:
        above = (place - 1) >> 1
        if keys[above] <= key:
            break
        keys[place], items[place] = keys[above], items[above]
        place = above
    keys[place], items[place] = key, item
    return n + 1


@jit_inline
def drop_top(keys: Floats, items: Int64s, n: int) -> int:
    """Take the top off a heap of n; return how many are left."""
    n -= 1
    key, item = keys[n], items[n]
    place = 0
    while True:
        below = 2 * place + 1
        if below >= n:
            break
        if below + 1 < n and keys[below + 1] < keys[below]:
            below += 1
        if keys[below] >= key:
            break
        keys[place], items[place] = keys[below], items[below]
        place = below
    keys[place], items[place] = key, item
    return n
