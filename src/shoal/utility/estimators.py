"""What a recipient can estimate from boxes alone: density, flows, radius of gyration."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from shoal.core.arrays import Floats, Int64s
from shoal.core.boxes import Boxes
from shoal.core.promise import Duration, parse_duration
from shoal.core.reprs import sizes_only
from shoal.core.zones import Zone
from shoal.utility.kernels.squares import HOUR_S, Areas, spread_over_hours, spread_trips
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

    def __repr__(self) -> str:
        return sizes_only(self)

    def to_arrow(self) -> pa.Table:
        """A row for each hour and square where anybody is expected: hour, edges in metres, people."""
        hour, square = np.nonzero(self.people)
        where = Squares(self.squares.side_m, self.squares.i[square], self.squares.j[square])
        return pa.table({"hour": hour, **where.columns(), "people": self.people[hour, square]})


def density(published: object, cell: str = "5km", timezone: str = "UTC") -> Density:
    """Estimate how many people are in each square at each hour of the day.

    A box holds a sample, nobody knows where: it counts once, spread evenly over its area and its time. In each hour the
    boxes of a record are scaled so that it counts as one person there, if it has a box at all. Hours are averaged over
    the days from the first box to the last. People who are suppressed or not seen in an hour are missing from its sum.

    Parameters
    ----------
    published : path, table or Published
        What was published.
    cell : str
        The side of a square.
    timezone : str
        The zone of the hours.

    Returns
    -------
    Density
        People by hour and square.

    Examples
    --------
    >>> import shoal
    >>> published = shoal.anonymize(shoal.make_city(100, seed=1), k=2, tau="30min", epsilon="30min")
    >>> shoal.utility.density(published, cell="10km").to_arrow().column_names
    ['hour', 'x_min', 'x_max', 'y_min', 'y_max', 'people']
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


MOST = 4  # squares that stand for a box
CROWD = 16  # a box that meets more squares says next to nothing: its middle stands for it
_AT_A_TIME = 1 << 20  # boxes


@dataclass(frozen=True)
class Flows:
    """Trips between different squares: trips[line] from square origin[line] to destination[line] of ``squares``.

    Lines are different pairs, in order. ``n_trips`` counts all, inside one square or not.
    """

    squares: Squares
    origin: Int64s
    destination: Int64s
    trips: Floats
    n_trips: int
    crs: str | None

    def __repr__(self) -> str:
        return sizes_only(self)

    def to_arrow(self) -> pa.Table:
        """A row for each pair of squares: edges in metres of origin (``_from``) and destination (``_to``), trips."""
        ends = {"_from": self.origin, "_to": self.destination}
        columns: dict[str, pa.Array] = {}
        for suffix, square in ends.items():
            where = Squares(self.squares.side_m, self.squares.i[square], self.squares.j[square])
            columns |= where.columns(suffix)
        return pa.table({**columns, "trips": self.trips})


def flows(published: object, cell: str = "5km", gap: Duration = "6h") -> Flows:
    """Estimate how many trips lead from each square to each other one.

    From one box of a record to its next is a trip. It weighs 1, spread over pairs of squares by the product of the
    boxes' shares in them: the four largest of each box, or the square of its middle where it meets more than 16. (Of
    seven ways tried on two synthetic cities, none was ahead of this by more than about 0.02 at 1, 2 or 5 km. Two
    squares for each box did a little better at 5 km; one did worse by 0.04 to 0.07 at 1 and 2 km.) Trips inside one
    square are not counted. Who stays near a border seems to cross it, so there are too many short trips; movement
    inside a box is lost.

    Parameters
    ----------
    published : path, table or Published
        What was published.
    cell : str
        The side of a square.
    gap : str or timedelta
        No trip leads over a longer time without boxes.

    Returns
    -------
    Flows
        Trips by pair of squares.

    Examples
    --------
    >>> import shoal
    >>> published = shoal.anonymize(shoal.make_city(100, seed=1), k=2, tau="30min", epsilon="30min")
    >>> "trips" in shoal.utility.flows(published, cell="10km").to_arrow().column_names
    True
    """
    table = opened(published)
    gap_s = int(parse_duration(gap, "gap"))
    boxes = _by_time(table.boxes)
    frame = frame_over(boxes, table.grid, cell)
    areas = areas_in(frame, boxes, table.grid)
    n_squares, n_trips = frame.n_i * frame.n_j, 0
    pairs, trips = np.empty(0, np.int64), np.empty(0)
    for first in range(0, boxes.n_boxes, _AT_A_TIME):
        last = min(first + _AT_A_TIME, boxes.n_boxes)
        origin, destination = np.empty((2, MOST * MOST * (last - first)), np.int64)
        weight = np.empty(len(origin))
        n, more = spread_trips(areas, gap_s, MOST, CROWD, frame.n_j, first, last, origin, destination, weight)
        pair = origin[:n] * n_squares + destination[:n]
        pairs, trips = _summed(np.concatenate([pairs, pair]), np.concatenate([trips, weight[:n]]))
        n_trips += more
    met, end = np.unique(np.concatenate(np.divmod(pairs, n_squares)), return_inverse=True)
    origin, destination = end.reshape(2, -1)
    return Flows(squares_of(frame, met), origin, destination, trips, n_trips, table.crs)


def _by_time(boxes: Boxes) -> Boxes:
    """Each record's boxes together and by time; those of one moment by place, whatever the order of the rows."""
    order = np.lexsort((boxes.y1, boxes.x1, boxes.y0, boxes.x0, boxes.t1, boxes.t0, boxes.owner))
    return Boxes._make(column[order] for column in boxes)


def _summed(pairs: Int64s, trips: Floats) -> tuple[Int64s, Floats]:
    """Each pair once, in order, with all its trips."""
    different, line = np.unique(pairs, return_inverse=True)
    return different, np.asarray(np.bincount(line, trips, len(different)), np.float64)


def gyration(published: object) -> Floats:
    """Estimate each record's radius of gyration: of box centres, weighted by duration.

    It is biased both ways. The centre of a box lies off the sample inside, and that scatter adds to the radius: most
    for people who hardly move, so that small radii come out too large. Movement inside a box is lost, and a box reaches
    towards others who were near, so that long ways come out too short. Duration is that of boxes, not of stays: an
    imprecise box weighs more than a precise one.

    Parameters
    ----------
    published : path, table or Published
        What was published.

    Returns
    -------
    numpy array of float
        In km, in the order of names.

    Examples
    --------
    >>> import shoal
    >>> published = shoal.anonymize(shoal.make_city(100, seed=1), k=2, tau="30min", epsilon="30min")
    >>> len(shoal.utility.gyration(published))
    100
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
