"""Coarse squares over the area of a release, in which density and flows are estimated."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from shoal.core.arrays import Bools, Floats, Int64s
from shoal.core.boxes import Boxes
from shoal.core.checks import told
from shoal.core.promise import Grid, parse_length
from shoal.core.reprs import sizes_only
from shoal.core.schema import X_MAX, X_MIN, Y_MAX, Y_MIN
from shoal.core.zones import Zone
from shoal.errors import ParameterError
from shoal.reading import PublishedTable, read_published
from shoal.utility.kernels.squares import Areas

MOST_SQUARES = 1 << 22  # of a frame: a table of hours and squares has room in memory


class Frame(NamedTuple):
    """A rectangle of n_i x n_j squares, from number (first_i, first_j) on; square (0, 0) begins at the origin."""

    square_m: float
    first_i: int
    first_j: int
    n_i: int
    n_j: int


class Squares(NamedTuple):
    """Some squares by number: square (i, j) is [i, i + 1) x [j, j + 1) times ``side_m`` metres."""

    side_m: float
    i: Int64s
    j: Int64s

    def __repr__(self) -> str:
        return sizes_only(self)

    def columns(self, suffix: str = "") -> dict[str, pa.Array]:
        """Their edges in metres, as columns of a table."""
        edges = {X_MIN: self.i, X_MAX: self.i + 1, Y_MIN: self.j, Y_MAX: self.j + 1}
        return {name + suffix: pa.array(edge * self.side_m) for name, edge in edges.items()}


def opened(published: object) -> PublishedTable:
    """A published file or table, read unless it is a PublishedTable already."""
    return published if isinstance(published, PublishedTable) else read_published(published)


def frame_over(boxes: Boxes, grid: Grid, cell: str) -> Frame:
    """The squares of a given side over the area of some boxes."""
    square_m = float(parse_length(cell, "cell"))
    per_square = square_m / grid.cell_m
    (first_i, n_i), (first_j, n_j) = (
        _stretch(int(low.min()) / per_square, (int(high.max()) + 1) / per_square)
        for low, high in ((boxes.x0, boxes.x1), (boxes.y0, boxes.y1))
    )
    if n_i * n_j > MOST_SQUARES:
        raise ParameterError(
            f"cell must be coarse enough for at most {MOST_SQUARES:,} squares over the release, got {told(cell)},"
            f" which makes {n_i * n_j:,}: give a longer one."
        )
    return Frame(square_m, first_i, first_j, n_i, n_j)


def areas_in(frame: Frame, boxes: Boxes, grid: Grid, zone: Zone | None = None) -> Areas:
    """Boxes measured in squares of a frame, their times on the clocks of a zone.

    A box counts by the clock at its beginning, even where clocks change before its end.
    """
    per_square = frame.square_m / grid.cell_m
    begin = boxes.t0 * grid.step_s
    duration = (boxes.t1 - boxes.t0 + 1) * grid.step_s
    if zone is not None:
        begin = zone.from_utc(begin)
    return Areas(
        boxes.owner,
        begin,
        begin + duration,
        boxes.x0 / per_square - frame.first_i,
        (boxes.x1 + np.int64(1)) / per_square - frame.first_i,
        boxes.y0 / per_square - frame.first_j,
        (boxes.y1 + np.int64(1)) / per_square - frame.first_j,
    )


def squares_of(frame: Frame, number: Int64s) -> Squares:
    """Squares of a frame by their number inside it, i * n_j + j."""
    i, j = np.divmod(number, frame.n_j)
    return Squares(frame.square_m, i + frame.first_i, j + frame.first_j)


def squares_at(x_m: Floats, y_m: Floats, side_m: float) -> Squares:
    """The squares in which points lie."""
    i, j = (np.floor(axis / side_m).astype(np.int64) for axis in (x_m, y_m))
    return Squares(side_m, i, j)


def _stretch(low: float, high: float) -> tuple[int, int]:
    """First of the squares between two ends, and how many there are."""
    first = int(np.floor(low))
    return first, int(np.ceil(high)) - first


def outside(frame: Frame, boxes: Boxes, grid: Grid) -> Bools:
    """Which boxes are not wholly inside a frame."""
    per_square = frame.square_m / grid.cell_m
    west, south = frame.first_i * per_square, frame.first_j * per_square
    east, north = (frame.first_i + frame.n_i) * per_square, (frame.first_j + frame.n_j) * per_square
    not_inside: Bools = (
        (boxes.x0 < west) | (boxes.x1 + 1 > east) | (boxes.y0 < south) | (boxes.y1 + 1 > north)
    )
    return not_inside


def gathered(frame: Frame, boxes: Boxes, grid: Grid) -> Boxes:
    """The boxes, with those outside a frame moved to one cell beyond its south-west corner."""
    elsewhere = outside(frame, boxes, grid)
    if not elsewhere.any():
        return boxes
    per_square = frame.square_m / grid.cell_m
    x, y = (np.int32(math.floor(first * per_square) - 1) for first in (frame.first_i, frame.first_j))
    x0, x1 = (np.where(elsewhere, x, column) for column in (boxes.x0, boxes.x1))
    y0, y1 = (np.where(elsewhere, y, column) for column in (boxes.y0, boxes.y1))
    return boxes._replace(x0=x0, x1=x1, y0=y0, y1=y1)
