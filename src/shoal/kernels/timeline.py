"""Sorting samples by epoch without comparing them."""

from __future__ import annotations

from shoal.kernels.compiled import kernel
from shoal.samples import Int32s, Int64s


@kernel
def order_by_epoch(epoch: Int32s, ptr: Int64s, order: Int64s) -> None:
    """order = positions of samples, epoch by epoch, otherwise as they stood.

    epoch numbers the epochs that occur 0 .. len(ptr) - 2; ptr[e] says where the samples of epoch e begin.
    """
    place = ptr[:-1].copy()
    for i in range(len(epoch)):
        order[place[epoch[i]]] = i
        place[epoch[i]] += 1
