"""Static generalization: every sample snapped to a coarse grid of space and time, whether others are there or not."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import ClassVar

import numpy as np

from shoal.core.arrays import Int32s
from shoal.core.boxes import Boxes
from shoal.core.checks import told
from shoal.core.progress import Progress
from shoal.core.promise import Grid, parse_length
from shoal.core.samples import Samples
from shoal.errors import ParameterError
from shoal.evaluate.baselines.method import Anonymized, check_k, generalized

PAPER_GRIDS = (("2h", "4km"), ("4h", "10km"), ("8h", "20km"))  # the three columns of its comparison


@dataclass(frozen=True)
class Static:
    """Every sample snapped to the same coarse grid: a user who is alone in a part of it stays alone there."""

    name: ClassVar[str] = "static"
    cells: int
    slots: int
    grid: Grid = field(default_factory=Grid)

    def __post_init__(self) -> None:
        if min(self.cells, self.slots) < 1:
            raise ParameterError(
                f"a static grid needs at least 1 cell and 1 slot, got {self.cells} and {self.slots}."
            )

    @classmethod
    def parse(cls, time: str, space: str, grid: Grid | None = None) -> Static:
        """From texts such as ``2h`` and ``4km``."""
        grid = grid or Grid()
        cells = parse_length(space, "space") / Fraction(grid.cell_m)
        if cells.denominator != 1:
            raise ParameterError(
                f"space must be a whole number of cells of {grid.cell_m:g} m, got {told(space)}: change it or --cell."
            )
        return cls(int(cells), grid.slots(time, "time"), grid)

    def __call__(self, samples: Samples, k: int, progress: Progress | None = None) -> Anonymized:  # noqa: ARG002
        """Snap everything; users are hidden where k of them have become identical."""
        check_k(samples, k)
        boxes = publish_on_grid(samples, self.cells, self.slots)
        return generalized(samples, k, boxes, alike(boxes, samples.n_users), self.grid)


def publish_on_grid(samples: Samples, cells: int = 1, slots: int = 1) -> Boxes:
    """A box of ``cells`` by ``cells`` cells and ``slots`` slots for every part of the coarse grid that a user visits.

    Counted from the origin of the grid and of time. One cell and slot: the samples as they are, under pseudonyms. A
    user seen in two places within ``slots`` has two boxes at the same time.
    """
    columns = (samples.user, samples.t // slots, samples.x // cells, samples.y // cells)
    user, t, x, y = np.unique(np.stack(columns, axis=1), axis=0).T
    x0, y0 = (x * cells).astype(np.int32), (y * cells).astype(np.int32)
    return Boxes(
        owner=user.astype(np.int32),
        t0=t * slots,
        t1=(t + 1) * slots - 1,
        x0=x0,
        x1=x0 + np.int32(cells - 1),
        y0=y0,
        y1=y0 + np.int32(cells - 1),
    )


def alike(boxes: Boxes, n_users: int) -> Int32s:
    """A number for every user, the same for those with the same boxes; boxes come owner by owner in one order."""
    rows = np.stack(boxes[1:], axis=1, dtype=np.int64)
    ends = np.searchsorted(boxes.owner, np.arange(n_users + 1))
    numbers: dict[bytes, int] = {}
    group = np.empty(n_users, np.int32)
    for user in range(n_users):
        record = rows[ends[user] : ends[user + 1]].tobytes()
        group[user] = numbers.setdefault(record, len(numbers))
    return group
