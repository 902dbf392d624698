"""Where the boxes of a record pile up: what an attacker or a recipient takes for a home or a place of work."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.core.arrays import Floats, Int64s
from shoal.core.compiled import jit


class Footprints(NamedTuple):
    """Places of boxes: record j has lines ptr[j] .. ptr[j + 1] - 1, different rectangles of cells, ends included.

    times: how many of its boxes are there; earliest: when the first of these begins.
    """

    ptr: Int64s
    x0: Int64s
    x1: Int64s
    y0: Int64s
    y1: Int64s
    times: Int64s
    earliest: Int64s


@jit
def find_heaviest_places(places: Footprints, begin: int, end: int, x: Floats, y: Floats) -> None:
    """x[j], y[j]: where the boxes of record j pile up, a box weighing 1 / cells inside on each of its cells.

    Looked at are the middles of the boxes; NaN where there is none. Of equals the earliest to begin.
    """
    for record in range(begin, end):
        x[record], y[record], heaviest, earliest = np.nan, np.nan, 0.0, 0
        for here in range(places.ptr[record], places.ptr[record + 1]):
            middle_x = (places.x0[here] + places.x1[here]) // 2
            middle_y = (places.y0[here] + places.y1[here]) // 2
            weight = 0.0
            for line in range(places.ptr[record], places.ptr[record + 1]):
                if (
                    places.x0[line] <= middle_x <= places.x1[line]
                    and places.y0[line] <= middle_y <= places.y1[line]
                ):
                    span_x = places.x1[line] - places.x0[line] + 1.0
                    weight += places.times[line] / (span_x * (places.y1[line] - places.y0[line] + 1.0))
            if weight > heaviest or (weight == heaviest and places.earliest[here] < earliest):
                heaviest, earliest = weight, places.earliest[here]
                x[record] = (places.x0[here] + places.x1[here] + 1) / 2
                y[record] = (places.y0[here] + places.y1[here] + 1) / 2
