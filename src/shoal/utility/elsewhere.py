"""Raw samples outside the area of a release: all in one square beside it, so that one stray is no wide map."""

from __future__ import annotations

import math

import numpy as np

from shoal.core.arrays import Bools
from shoal.core.boxes import Boxes
from shoal.core.promise import Grid
from shoal.utility.squares import Frame


def outside(frame: Frame, boxes: Boxes, grid: Grid) -> Bools:
    """Which boxes are not wholly inside a frame."""
    per_square = frame.square_m / grid.cell_m
    west, south = frame.first_i * per_square, frame.first_j * per_square
    east, north = (frame.first_i + frame.n_i) * per_square, (frame.first_j + frame.n_j) * per_square
    strays: Bools = (boxes.x0 < west) | (boxes.x1 + 1 > east) | (boxes.y0 < south) | (boxes.y1 + 1 > north)
    return strays


def gathered(frame: Frame, boxes: Boxes, grid: Grid) -> Boxes:
    """The boxes, with those outside a frame moved to one cell beyond its south-west corner."""
    strays = outside(frame, boxes, grid)
    if not strays.any():
        return boxes
    per_square = frame.square_m / grid.cell_m
    x, y = (np.int32(math.floor(first * per_square) - 1) for first in (frame.first_i, frame.first_j))
    x0, x1 = (np.where(strays, x, column) for column in (boxes.x0, boxes.x1))
    y0, y1 = (np.where(strays, y, column) for column in (boxes.y0, boxes.y1))
    return boxes._replace(x0=x0, x1=x1, y0=y0, y1=y1)
