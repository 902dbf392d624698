"""What needs all batches: the unit of numeric times, the numbering of users, the centre of the projection."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from shoal.promise import Grid
from shoal.reading import intake
from shoal.reading.batches import Batch
from shoal.reading.ordering import Columns, Part, sort_distinct
from shoal.reading.period import Period
from shoal.reading.positions import Places, cells
from shoal.reading.projection import CentreFinder, Plane, Projection
from shoal.reading.times import FIRST_SECOND, LAST_SECOND, UnitVote
from shoal.samples import Int32s, Samples


def settle_times(batches: list[Batch], period: Period) -> None:
    """Bring numeric times to seconds, in one unit for all, and drop what lies outside the period."""
    vote = UnitVote()
    for batch in batches:
        if batch.numeric is not None:
            vote.add(batch.when[batch.numeric])
    for batch in batches:
        if batch.numeric is not None and vote.per_second > 1:
            batch.when = np.where(batch.numeric, batch.when // vote.per_second, batch.when)
        batch.numeric = None
        batch.keep((batch.when >= FIRST_SECOND) & (batch.when <= LAST_SECOND), intake.TIME_OUT_OF_RANGE)
        if period.limited:
            batch.keep(period.holds(batch.when), intake.OUTSIDE_PERIOD)


def settle_users(batches: list[Batch], names: Any, excluded: set[str]) -> tuple[Any, int]:
    """Number users in the order of their names instead of that of the rows, and drop the excluded ones.

    Returns the names in order, and how many of the users to exclude do not occur.
    """
    order = pc.sort_indices(names)
    rank = np.empty(len(names), np.int32)
    rank[order.to_numpy()] = np.arange(len(names), dtype=np.int32)
    names = names.take(order)
    unwanted = pc.is_in(names, value_set=pa.array(sorted(excluded), pa.large_string()))
    wanted = ~unwanted.to_numpy(zero_copy_only=False)
    for batch in batches:
        batch.user[:] = rank[batch.user]
        if not wanted.all():
            batch.keep(wanted[batch.user], intake.EXCLUDED)
    return names, len(excluded) - int(np.count_nonzero(~wanted))


def settle_cells(
    batches: list[Batch], cell_m: float, projection: Plane | None, *, geographic: bool
) -> Plane | None:
    """Choose the projection, if one is needed and none is given, and turn places into cells."""
    if projection is None and geographic and any(len(batch.place) for batch in batches):
        projection = _centred(batches)
    for batch in batches:
        if geographic and projection is None:
            break
        x, y, held = cells(batch.places, cell_m, projection)
        batch.places = Places(x, y)
        if not held.all():
            batch.keep(held[batch.place], intake.POSITION_OUT_OF_RANGE)
    return projection


def _centred(batches: list[Batch]) -> Projection:
    finder = CentreFinder()
    for batch in batches:
        weights = np.bincount(batch.place, minlength=len(batch.places.first))
        there = weights > 0
        finder.add(batch.places.first[there], batch.places.second[there], weights[there])
    return finder.projection()


def settle_samples(batches: list[Batch], names: Any, grid: Grid) -> Samples:
    """Sort the rows of all batches, which are emptied, into samples."""
    present = np.zeros(len(names), bool)
    for batch in batches:
        present[batch.user] = True
    number = (np.cumsum(present) - 1).astype(np.int32)
    parts = [_part(batch, number, grid.step_s) for batch in batches if len(batch.when)]
    columns = sort_distinct(parts)
    users: npt.NDArray[np.object_] = np.empty(int(present.sum()), object)
    users[:] = names.filter(pa.array(present)).to_pylist()
    return Samples(users, *columns)


def _part(batch: Batch, number: Int32s, step_s: int) -> Part:
    def take() -> Columns:
        t, x, y = batch.when // step_s, batch.places.first[batch.place], batch.places.second[batch.place]
        user = number[batch.user]
        batch.clear()
        return Columns(user, t, x, y)

    bounds = [
        (int(column.min()), int(column.max()))
        for column in (batch.when, batch.places.first, batch.places.second)
    ]
    lows, highs = zip(*((0, len(number)), *bounds), strict=True)
    return Part(
        rows=len(batch.when),
        lows=(lows[0], lows[1] // step_s, *lows[2:]),
        highs=(highs[0], highs[1] // step_s, *highs[2:]),
        take=take,
    )
