"""Static generalization: every sample snapped to a coarse grid of space and time, whoever else is there."""

from __future__ import annotations

import numpy as np

from shoal.boxes import Boxes
from shoal.samples import Samples


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
