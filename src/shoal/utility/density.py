"""How many people are where at which hour of the day, as published boxes tell it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from shoal.core.arrays import Floats, Int64s
from shoal.core.zones import Zone
from shoal.utility.kernels.squares import HOUR_S, Areas, spread_over_hours
from shoal.utility.squares import Squares, areas_in, frame_over, opened, squares_of


@dataclass(frozen=True)
class Density:
    """Expected people in each square at each hour of the day: people[hour, square], averaged over ``days``.

    ``days[hour]`` counts how often that hour came from the first to the last hour of the release, ``present[hour]``
    the (record, day) pairs that have a box in it: people[hour].sum() == present[hour] / days[hour]. ``crs`` is that of
    the squares, None for plain metres.
    """

    squares: Squares
    people: Floats
    days: Int64s
    present: Int64s
    crs: str | None

    def to_arrow(self) -> pa.Table:
        """A row for each hour and square where anybody is expected: hour, edges in metres, people."""
        hour, square = np.nonzero(self.people)
        where = Squares(self.squares.side_m, self.squares.i[square], self.squares.j[square])
        return pa.table({"hour": hour, **where.columns(), "people": self.people[hour, square]})


def density(published: object, cell: str = "5km", timezone: str = "UTC") -> Density:
    """Estimate how many people are in each square of side ``cell`` at each hour of the day.

    ``published`` is a path, a table (pandas, polars, pyarrow) or a release. A box holds a sample, nobody knows where:
    it counts once, spread evenly over its area and its time. In each hour the boxes of a record are scaled so that it
    counts as one person there, if it has a box at all. Hours are those of ``timezone``, averaged over the days from the
    first box to the last. People who are suppressed or not seen in an hour are missing from its sum.
    """
    table = opened(published)
    frame = frame_over(table.boxes, table.grid, cell)
    areas = areas_in(frame, table.boxes, table.grid, Zone(timezone))
    people = np.zeros((24, frame.n_i, frame.n_j))
    present = np.zeros(24, np.int64)
    spread_over_hours(areas, _longest(areas), people, present)
    by_square, days = people.reshape(24, -1), _hours_of_the_day(areas)
    met = np.flatnonzero(by_square.any(axis=0))
    return Density(
        squares_of(frame, met), by_square[:, met] / np.maximum(days, 1)[:, None], days, present, table.crs
    )


def _longest(areas: Areas) -> int:
    """Hours from the first to the last of a record, at most."""
    starts = np.flatnonzero(np.diff(areas.record, prepend=-1))
    first = np.minimum.reduceat(areas.begin, starts) // HOUR_S
    last = (np.maximum.reduceat(areas.end, starts) - 1) // HOUR_S
    return int((last - first).max()) + 1


def _hours_of_the_day(areas: Areas) -> Int64s:
    """How often each hour of the day comes from the first hour to the last."""
    first, last = int(areas.begin.min()) // HOUR_S, (int(areas.end.max()) - 1) // HOUR_S
    whole_days, rest = divmod(last - first + 1, 24)
    days = np.full(24, whole_days, np.int64)
    days[(first + np.arange(rest)) % 24] += 1
    return days
