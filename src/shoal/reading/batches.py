"""One batch of rows to compact columns: everything that can be decided without the other batches."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np

from shoal.core.arrays import Bools, Int32s, Int64s
from shoal.core.schema import TIME, USER
from shoal.core.zones import Zone
from shoal.reading import summary
from shoal.reading.name_index import Users
from shoal.reading.positions import NO_FAULT, Locator, Places, numbered
from shoal.reading.source import guarded
from shoal.reading.times import read_times


@dataclass
class Batch:
    """The usable rows of a batch as columns; ``dropped`` counts the others.

    ``user`` is numbered over all batches; ``place`` indexes ``places``, of this batch only. ``when`` is in Unix
    seconds, or, where ``numeric``, in a unit that is known once all batches are read.
    """

    user: Int32s
    when: Int64s
    numeric: Bools | None
    place: Int32s
    places: Places
    dropped: Counter[str]
    rows: int

    def keep(self, usable: Bools, reason: str) -> None:
        """Drop the other rows for a reason."""
        lost = len(usable) - int(np.count_nonzero(usable))
        if lost:
            self.dropped[reason] += lost
            self.user, self.when, self.place = self.user[usable], self.when[usable], self.place[usable]
            self.numeric = None if self.numeric is None else self.numeric[usable]


def digest(batch: Any, zone: Zone, locate: Locator, users: Users) -> Batch:
    """Type the values of a record batch, drop what cannot be used, and keep codes instead of values."""
    columns = dict(zip(batch.schema.names, batch.columns, strict=True))
    with guarded("The input", "events"):
        codes = users.numbers(columns[USER])
        times = read_times(columns[TIME], zone)
        located = locate(columns)
    faults = {
        summary.MISSING_USER: codes < 0,
        summary.MISSING_TIME: times.missing,
        summary.UNPARSABLE_TIME: ~times.valid & ~times.missing,
    }
    fault = np.minimum(numbered(faults, len(codes)), located.fault)
    columns_kept = codes, times.value, located.code, times.numeric
    if (fault != NO_FAULT).any():
        usable = fault == NO_FAULT
        columns_kept = tuple(column[usable] for column in columns_kept)
    user, when, place, numeric = columns_kept
    counts = np.bincount(fault, minlength=NO_FAULT + 1)
    return Batch(
        user=user,
        when=when,
        numeric=numeric if numeric.any() else None,
        place=place,
        places=located.places,
        dropped=Counter(
            {reason: int(counts[number]) for number, reason in enumerate(summary.REASONS) if counts[number]}
        ),
        rows=len(fault),
    )
