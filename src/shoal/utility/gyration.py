"""How far people move about, as published boxes tell it."""

from __future__ import annotations

import numpy as np

from shoal.core.arrays import Floats
from shoal.utility.squares import opened


def gyration(published: object) -> Floats:
    """Estimate each record's radius of gyration in km: of box centres, weighted by duration, in the order of names.

    It is biased both ways. The centre of a box lies off the sample inside, and that scatter adds to the radius: most
    for people who hardly move, so that small radii come out too large. Movement inside a box is lost, and a box reaches
    towards others who were near, so that long ways come out too short. Duration is that of boxes, not of stays: an
    imprecise box weighs more than a precise one.
    """
    table = opened(published)
    boxes, km = table.boxes, table.grid.cell_m / 1000
    duration = (boxes.t1 - boxes.t0 + 1).astype(np.float64)
    n_records = len(table.names)

    def summed(values: Floats) -> Floats:
        return np.asarray(np.bincount(boxes.owner, values, n_records), np.float64)

    total, square = summed(duration), np.zeros(n_records)
    for low, high in ((boxes.x0, boxes.x1), (boxes.y0, boxes.y1)):
        centre = (low.astype(np.float64) + high + 1) / 2 * km
        mean = summed(duration * centre) / total
        square += summed(duration * (centre - mean[boxes.owner]) ** 2) / total
    return np.asarray(np.sqrt(square))
