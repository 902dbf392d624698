"""Published boxes as a struct of arrays, and as rows of one array for files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from shoal.core.arrays import Bools, Int32s, Int64s

UNKNOWN, NONE = -1, -2  # a user's own record, where it is not a number


class Boxes(NamedTuple):
    """Generalized samples in slots and cells, ends included; ``owner`` is the user whose record holds the box."""

    owner: Int32s
    t0: Int64s
    t1: Int64s
    x0: Int32s
    x1: Int32s
    y0: Int32s
    y1: Int32s

    def __repr__(self) -> str:
        return f"<Boxes: {self.n_boxes:,}>"

    @property
    def n_boxes(self) -> int:
        """How many boxes there are (``len`` counts the columns)."""
        return len(self.owner)

    def cost(self) -> Int64s:
        """Loss of every box: slots times cells, span_t (span_x + span_y)."""
        return (self.t1 - self.t0 + 1) * self.width_plus_height()

    def longer_side(self) -> Int64s:
        """Cells along the longer side of every box, ends included: what people are told."""
        return np.maximum(*self._sides())

    def width_plus_height(self) -> Int64s:
        """span_x + span_y of every box, as in its cost and in the paper."""
        width, height = self._sides()
        return width + height

    def _sides(self) -> tuple[Int64s, Int64s]:
        return self.x1.astype(np.int64) - self.x0 + 1, self.y1.astype(np.int64) - self.y0 + 1

    def by_owner(self) -> Boxes:
        """The same boxes, each owner's together and by time."""
        order = np.lexsort((self.t0, self.owner))
        return Boxes._make(column[order] for column in self)


@dataclass(frozen=True)
class BoxSource:
    """Where the boxes of a release are: ``read`` gives them part by part, as often as needed."""

    read: Callable[[], Iterable[Boxes]]

    def __iter__(self) -> Iterator[Boxes]:
        return iter(self.read())


BOX_ROW = np.dtype([(name, np.int64 if name in ("t0", "t1") else np.int32) for name in Boxes._fields])
BoxRows = npt.NDArray[np.void]  # of dtype BOX_ROW


def as_rows(boxes: Boxes, order: Int64s | slice) -> BoxRows:
    """Boxes as rows of one array, in an order."""
    rows = np.empty(boxes.n_boxes, BOX_ROW)
    for name in Boxes._fields:
        rows[name] = getattr(boxes, name)[order]
    return rows


def from_rows(rows: BoxRows, chosen: Int64s | Bools) -> Boxes:
    """The boxes of some rows, chosen by their positions or by a mask."""
    return Boxes._make(rows[name][chosen] for name in Boxes._fields)


def concatenate(parts: Iterable[Boxes]) -> Boxes:
    """All boxes of several parts, in their order."""
    listed = list(parts)
    if not listed:
        return Boxes._make(np.empty(0, BOX_ROW[name]) for name in Boxes._fields)
    return Boxes._make(np.concatenate(columns) for columns in zip(*listed, strict=True))
