"""Published records as the audit sees them, and the index over their boxes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shoal.boxes import Boxes
from shoal.kernels.consistency import Shelves, Trails, place_codes
from shoal.samples import Int64s, Samples

_LEAST_ENTRIES = 4  # boxes may stand in this many buckets each on average, before buckets grow wider


@dataclass(frozen=True)
class Records:
    """Boxes record by record and by time; ``boxes.owner`` numbers the records 0, 1, ... in that order."""

    boxes: Boxes

    @property
    def n_records(self) -> int:
        """How many records there are."""
        return int(self.boxes.owner[-1]) + 1 if self.boxes.n_boxes else 0

    @property
    def ptr(self) -> Int64s:
        """Where each record's boxes begin."""
        sizes = np.bincount(self.boxes.owner, minlength=self.n_records)
        return np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])


def make_records(boxes: Boxes) -> Records:
    """Number the owners that occur from 0 on and sort their boxes."""
    owner = np.unique(boxes.owner, return_inverse=True)[1].astype(np.int32)
    return Records(boxes._replace(owner=owner).by_owner())


def make_trails(samples: Samples) -> Trails:
    """Samples user by user."""
    sizes = np.bincount(samples.user, minlength=samples.n_users)
    return Trails(np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)]), samples.t, samples.x, samples.y)


def make_shelves(records: Records, width: int) -> Shelves:
    """An index by time (buckets of about ``width`` slots) and place."""
    boxes = records.boxes
    origin = int(boxes.t0.min())
    span = int(boxes.t1.max()) - origin + 1
    width = max(width, 1, -(-span // (2 * boxes.n_boxes + 1000)))
    first, last = (boxes.t0 - origin) // width, (boxes.t1 - origin) // width
    while int((last - first + 1).sum()) > _LEAST_ENTRIES * boxes.n_boxes + 1000:
        width *= 2
        first, last = (boxes.t0 - origin) // width, (boxes.t1 - origin) // width
    repeats = last - first + 1
    box = np.repeat(np.arange(boxes.n_boxes), repeats)
    within = np.arange(len(box)) - np.repeat(np.cumsum(repeats) - repeats, repeats)
    bucket = first[box] + within
    codes = np.empty(boxes.n_boxes, np.int64)
    middle_x = (boxes.x0.astype(np.int64) + boxes.x1) // 2 + 2**30
    middle_y = (boxes.y0.astype(np.int64) + boxes.y1) // 2 + 2**30
    place_codes(middle_x, middle_y, codes)
    order = np.lexsort((codes[box], bucket))
    n_buckets = span // width + 1
    return Shelves(
        ptr=records.ptr,
        record=boxes.owner,
        t0=boxes.t0,
        t1=boxes.t1,
        x0=boxes.x0,
        x1=boxes.x1,
        y0=boxes.y0,
        y1=boxes.y1,
        origin=origin,
        width=width,
        bucket_ptr=np.concatenate(
            [np.zeros(1, np.int64), np.cumsum(np.bincount(bucket, minlength=n_buckets))]
        ),
        bucket_box=box[order],
        bucket_code=codes[box][order],
    )
