"""The sites of a file, cells that are a corner of some box, laid out for kernels/sites.py."""

from __future__ import annotations

import numpy as np

from shoal.auditing.box_index import AttackedRecords, Records
from shoal.auditing.kernels.sites import EpochCounts, Sites
from shoal.core.arrays import Bools, Int64s

_MOST_CELLS = 3  # by which boxes are made smaller on every side
_FEW_BOXES, _ENOUGH_BOXES = 100, 100_000


def tightened(published: AttackedRecords) -> AttackedRecords:
    """The records with smaller boxes, if that brings their corners together as no other number does; else as they are.

    Corners of boxes that are as small as they can be are places of people, so many of them coincide. Whoever widens all
    boxes by some cells tears them apart.
    """
    cells = _cells_to_shrink(published.records)
    if not cells:
        return published
    return AttackedRecords(_moved(published.records, cells), published.own)


def _cells_to_shrink(records: Records) -> int:
    """By how many cells boxes are to be made smaller so that corners come together; 0 where nothing stands out.

    On a coarse grid nearly every cell is a corner, and smaller boxes have fewer corners in any case: a number counts
    only by how far it lies below the numbers on either side of it. Only boxes that stay longer than one cell whatever
    the number are looked at, so that all have four corners throughout; a few of them say nothing.
    """
    boxes = records.boxes
    most = 2 * (_MOST_CELLS + 1)
    longer = (boxes.x1 - boxes.x0 > most) & (boxes.y1 - boxes.y0 > most)
    some = Records(records.box[longer][:_ENOUGH_BOXES], records.n_records)
    if len(some.box) < _FEW_BOXES:
        return 0
    n = np.array([_n_corners(_moved(some, cells)) for cells in range(-1, _MOST_CELLS + 2)])
    less, here, more = n[:-2], n[1:-1], n[2:]
    chosen = int(np.argmax(less - 2 * here + more))
    return chosen if here[chosen] < min(less[chosen], more[chosen]) else 0


def _n_corners(records: Records) -> int:
    """How many different cells are corners of boxes."""
    boxes = records.boxes
    corners = [
        x.astype(np.int64) << 32 | y.astype(np.int64) & 0xFFFFFFFF
        for x in (boxes.x0, boxes.x1)
        for y in (boxes.y0, boxes.y1)
    ]
    return len(np.unique(np.concatenate(corners)))


def _moved(records: Records, cells: int) -> Records:
    """Boxes with every side moved inwards by some cells, along axes that are long enough; outwards if below 0."""
    box = records.box.copy()
    for low, high in (("x0", "x1"), ("y0", "y1")):
        inwards = np.where(box[high] - box[low] >= 2 * cells, cells, 0)
        box[low] += inwards
        box[high] -= inwards
    return Records(box, records.n_records)


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
