"""Fresh names for records, from the operating system's randomness and nothing else."""

from __future__ import annotations

import secrets

import numpy as np
import numpy.typing as npt

from shoal.boxes import Boxes
from shoal.samples import Int32s

_BYTES = 8


class NamedBoxes:
    """Boxes in the order of publication: records by their random names, each record's boxes by time.

    ``name[i]`` belongs to ``owner[i]``; names increase, so the order of records is as random as they are.
    """

    def __init__(self, boxes: Boxes) -> None:
        self.owner: Int32s = np.unique(boxes.owner)
        names = _fresh_names(len(self.owner))
        order = np.argsort(names)
        self.owner, self.name = self.owner[order], names[order]
        rank = np.empty(int(boxes.owner.max(initial=-1)) + 1, np.int64)
        rank[self.owner] = np.arange(len(self.owner))
        self.record = rank[boxes.owner]
        line = np.lexsort((boxes.t0, self.record))
        self.record = self.record[line]
        self.boxes = Boxes._make(column[line] for column in boxes)


def _fresh_names(n: int) -> npt.NDArray[np.str_]:
    """n different names that tell nothing; a letter in front, lest a reader takes them for numbers."""
    while True:
        text = secrets.token_bytes(_BYTES * n).hex()
        names = np.array([f"r{text[i : i + 2 * _BYTES]}" for i in range(0, len(text), 2 * _BYTES)], dtype=str)
        if len(np.unique(names)) == n:
            return names
