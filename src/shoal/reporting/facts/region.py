"""The ground that all maps of a report show, in squares that are the same in every report about a region."""

from __future__ import annotations

import numpy as np

from shoal.auditing.context import AuditContext
from shoal.core.boxes import Boxes
from shoal.core.promise import Grid
from shoal.utility.squares import Frame, frame_over

SIDES_M = (1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 200_000, 500_000)
_SQUARES_ACROSS = 25  # at most, along the longer side
_SNAP = 5  # maps begin and end at multiples of so many squares
_MOST_SITES = 2_000


def region_of(boxes: Boxes, grid: Grid) -> Frame:
    """The squares of the maps, from published boxes alone.

    Reports are laid side by side. So the side is one of a few round ones, squares count from the origin of the plane,
    and the map ends a few squares at a time: a release in which somebody far out was suppressed has the same map.
    """
    frame = frame_over(boxes, grid, f"{_side_m(boxes, grid.cell_m)}m")
    first_i, first_j = (first // _SNAP * _SNAP for first in (frame.first_i, frame.first_j))
    end_i, end_j = (
        -(-(first + n) // _SNAP) * _SNAP
        for first, n in ((frame.first_i, frame.n_i), (frame.first_j, frame.n_j))
    )
    return Frame(frame.square_m, first_i, first_j, end_i - first_i, end_j - first_j)


def _side_m(boxes: Boxes, cell_m: float) -> int:
    """The first side of the ladder with which the boxes are no more than _SQUARES_ACROSS squares wide or high."""
    reach = max(
        int(high.max()) - int(low.min()) for low, high in ((boxes.x0, boxes.x1), (boxes.y0, boxes.y1))
    )
    wanted = max(reach * cell_m / _SQUARES_ACROSS, cell_m)
    return next((side for side in SIDES_M if side >= wanted), SIDES_M[-1])


def sites_in(context: AuditContext, region: Frame) -> list[tuple[float, float]]:
    """Sites of the events in km from the corner of the map, those with most samples first; none of other events.

    They are raw data: in a public report they have no place.
    """
    if not context.by_site:
        return []
    samples = context.people_samples()
    cells, uses = np.unique(np.stack([samples.x, samples.y], axis=1), axis=0, return_counts=True)
    busiest = cells[np.argsort(-uses, kind="stable")[:_MOST_SITES]]
    corner = np.array([region.first_i, region.first_j]) * region.square_m
    return [(x, y) for x, y in (((busiest + 0.5) * context.grid.cell_m - corner) / 1000).tolist()]
