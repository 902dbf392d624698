"""The sites of a file, cells that are a corner of some box, laid out for kernels/sites.py."""

from __future__ import annotations

import numpy as np

from shoal.auditing.box_index import Records
from shoal.auditing.kernels.sites import EpochCounts, Sites
from shoal.core.arrays import Bools, Int64s


def make_sites(records: Records, epoch_slots: int) -> Sites:
    """Find all sites, and count for every epoch how many boxes have a corner or a face where."""
    boxes = records.boxes
    x0, x1, y0, y1 = (column.astype(np.int64) for column in (boxes.x0, boxes.x1, boxes.y0, boxes.y1))
    wide, high = x0 < x1, y0 < y1
    corner_box = _box_of(np.ones(len(x0), np.bool_), wide, high, wide & high)
    corner_x = np.concatenate([x0, x1[wide], x0[high], x1[wide & high]])
    corner_y = np.concatenate([y0, y0[wide], y1[high], y1[wide & high]])
    low, rows = int(corner_y.min()), int(corner_y.max() - corner_y.min()) + 1
    cells, site, n = np.unique(
        (corner_x - corner_x.min()) * rows + corner_y - low, return_inverse=True, return_counts=True
    )
    x, y = cells // rows + corner_x.min(), cells % rows + low
    column_x, first, column = np.unique(x, return_index=True, return_inverse=True)
    row_y, row = np.unique(y, return_inverse=True)
    epoch = boxes.t0.astype(np.int64) // epoch_slots
    first_epoch = int(epoch.min())
    epoch -= first_epoch
    n_epochs = int(epoch.max()) + 1
    face_x, face_y = np.concatenate([x0, x1[wide]]), np.concatenate([y0, y1[high]])
    all_boxes = np.ones(len(x0), np.bool_)
    return Sites(
        x=x,
        y=y,
        n=n,
        column_x=column_x,
        first=np.append(first, len(x)),
        column=column,
        row=row,
        row_y=row_y,
        epoch_slots=epoch_slots,
        first_epoch=first_epoch,
        corners=_by_epoch(epoch[corner_box], site, n_epochs, len(x)),
        columns=_by_epoch(
            epoch[_box_of(all_boxes, wide)], np.searchsorted(column_x, face_x), n_epochs, len(column_x)
        ),
        rows=_by_epoch(epoch[_box_of(all_boxes, high)], np.searchsorted(row_y, face_y), n_epochs, len(row_y)),
    )


def _box_of(*some: Bools) -> Int64s:
    """The numbers of the boxes that each mask picks, one mask after the other."""
    return np.concatenate([np.flatnonzero(mask) for mask in some])


def _by_epoch(epoch: Int64s, what: Int64s, n_epochs: int, n_whats: int) -> EpochCounts:
    lines, n = np.unique(epoch * n_whats + what, return_counts=True)
    ptr = np.searchsorted(lines, np.arange(n_epochs + 1) * n_whats)
    return EpochCounts(ptr, lines % n_whats, n)
