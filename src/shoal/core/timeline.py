"""Sorting samples by user without comparing them."""

from __future__ import annotations

from shoal.core.arrays import Int32s, Int64s
from shoal.core.compiled import kernel


@kernel
def order_by_user(user: Int32s, ptr: Int64s, order: Int64s) -> None:
    """order = positions of samples, user by user, otherwise as they stood; ptr[u] says where those of user u begin."""
    place = ptr[:-1].copy()
    for i in range(len(user)):
        order[place[user[i]]] = i
        place[user[i]] += 1
