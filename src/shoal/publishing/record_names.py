"""Fresh names for records, from the operating system's randomness and nothing else."""

from __future__ import annotations

import copy
import secrets
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt

from shoal.core.arrays import Int32s, Int64s
from shoal.core.boxes import Boxes
from shoal.storage.box_sorting import in_order, in_pieces

_BYTES = 8


class NamedBoxes:
    """Boxes in the order of publication: records by their random names, each record's boxes by time.

    A record is a part of a person, or all of one where names never change. ``name[i]`` belongs to ``owner[i]``; names
    increase, so the order of records is as random as they are. The boxes stay where they are, in ``pieces`` that can be
    read again and again, until somebody asks for them.
    """

    def __init__(self, pieces: Iterable[Boxes], sizes: Int64s) -> None:
        """``sizes[i]`` is how many boxes owner i has; those with none get no name."""
        owner = np.flatnonzero(sizes).astype(np.int32)
        names = _fresh_names(len(owner))
        order = np.argsort(names)
        self.owner: Int32s = owner[order]
        self.name: npt.NDArray[np.str_] = names[order]
        self._pieces, self._sizes = pieces, sizes

    def with_boxes(self, pieces: Iterable[Boxes]) -> NamedBoxes:
        """The same names for the same boxes, read from elsewhere."""
        moved = copy.copy(self)
        moved._pieces = pieces
        return moved

    def pieces(self, most: int, spill: Path | None = None) -> Iterator[Boxes]:
        """The boxes in order, ``most`` at a time; their owner is the number of the record here.

        They are sorted in files in the folder ``spill``, or in memory without one.
        """
        record = np.full(len(self._sizes), -1, np.int32)
        record[self.owner] = np.arange(len(self.owner), dtype=np.int32)
        return in_pieces(in_order(self._pieces, record, self._sizes[self.owner], spill), most)


def named_boxes(boxes: Boxes) -> NamedBoxes:
    """Boxes in memory under fresh names."""
    return NamedBoxes([boxes], np.bincount(boxes.owner))


def _fresh_names(n: int) -> npt.NDArray[np.str_]:
    """n different names that tell nothing; a letter in front, lest a reader takes them for numbers."""
    while True:
        text = secrets.token_bytes(_BYTES * n).hex()
        names = np.array([f"r{text[i : i + 2 * _BYTES]}" for i in range(0, len(text), 2 * _BYTES)], dtype=str)
        if len(np.unique(names)) == n:
            return names
