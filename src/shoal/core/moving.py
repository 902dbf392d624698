"""Entries of users that move to another place."""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

from shoal.core.arrays import Int32s, Int64s
from shoal.core.compiled import lean


@lean
def move_entries(
    column: npt.NDArray[Any], first: Int64s, length: Int32s, moved: npt.NDArray[Any], place: Int64s
) -> None:
    """Copy the length[u] entries of every user u from first[u] on in a column to place[u] on in another."""
    for user in range(len(first)):
        for entry in range(length[user]):
            moved[place[user] + entry] = column[first[user] + entry]
