"""Estimates of where records live and work: where their boxes of the night or of working hours pile up."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from shoal.core.arrays import Bools, Floats, Int64s
from shoal.core.boxes import Boxes
from shoal.core.reprs import sizes_only
from shoal.core.schema import RECORD, X, Y
from shoal.core.zones import Zone
from shoal.utility.kernels.home_work import Footprints, find_heaviest_places
from shoal.utility.squares import opened

_DAY_S, _HOUR_S = 86_400, 3_600


def footprints(boxes: Boxes, rows: Int64s, n_records: int) -> Footprints:
    """The rectangles of some boxes; boxes of a record with equal rectangles are counted together."""
    columns = (boxes.owner, boxes.x0, boxes.x1, boxes.y0, boxes.y1)
    lines = np.stack([column[rows].astype(np.int64) for column in columns], axis=1)
    places, line, times = np.unique(lines, axis=0, return_inverse=True, return_counts=True)
    earliest = np.full(len(places), np.iinfo(np.int64).max)
    np.minimum.at(earliest, line.reshape(-1), boxes.t0[rows])
    sizes = np.bincount(places[:, 0], minlength=n_records)
    ptr = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])
    x0, x1, y0, y1 = places[:, 1:].T.copy()
    return Footprints(ptr, x0, x1, y0, y1, times, earliest)


def at_night(local_s: Int64s) -> Bools:
    """Which wall-clock times (seconds since 1970-01-01T00:00 on that clock) are from 22 to 6."""
    hour = local_s % _DAY_S // _HOUR_S
    return (hour >= 22) | (hour < 6)


def at_work(local_s: Int64s) -> Bools:
    """Which wall-clock times are from 9 to 17, Monday to Friday."""
    hour, weekday = local_s % _DAY_S // _HOUR_S, (local_s // _DAY_S + 3) % 7  # 1970-01-01 was a Thursday
    return (hour >= 9) & (hour < 17) & (weekday < 5)


@dataclass(frozen=True)
class Places:
    """A point in metres for each record; NaN for one that has no box in the hours that count."""

    record: npt.NDArray[np.object_]
    x_m: Floats
    y_m: Floats
    crs: str | None

    def __repr__(self) -> str:
        return sizes_only(self)

    def known(self) -> Bools:
        """Which records have a place."""
        return ~np.isnan(self.x_m)

    def to_arrow(self) -> pa.Table:
        """A row for each record that has a place: record, x and y in metres."""
        known = self.known()
        record = pa.array(self.record[known].tolist(), pa.string())
        return pa.table({RECORD: record, X: self.x_m[known], Y: self.y_m[known]})


def homes(published: object, timezone: str = "UTC") -> Places:
    """Estimate where each record lives: the place where its boxes that begin from 22 to 6 pile up.

    Each box weighs 1 / area on its area, so a precise one counts more; the place is the centre of the box whose middle
    has most weight. It is as fine as that box, not as fine as the number looks: no address of anybody.

    Parameters
    ----------
    published : path, table or Published
        What was published.
    timezone : str
        The zone of the hours.

    Returns
    -------
    Places
        A place for each record that has such boxes.

    Examples
    --------
    >>> import shoal
    >>> published = shoal.anonymize(shoal.make_city(100, seed=1), k=2, tau="30min", epsilon="30min")
    >>> len(shoal.utility.homes(published).x_m)
    100
    """
    return _heaviest(published, timezone, at_night)


def workplaces(published: object, timezone: str = "UTC") -> Places:
    """Estimate where each record works, as homes() does, with boxes that begin from 9 to 17, Monday to Friday.

    Parameters
    ----------
    published : path, table or Published
        What was published.
    timezone : str
        The zone of the hours.

    Returns
    -------
    Places
        A place for each record that has such boxes.

    Examples
    --------
    >>> import shoal
    >>> published = shoal.anonymize(shoal.make_city(100, seed=1), k=2, tau="30min", epsilon="30min")
    >>> len(shoal.utility.workplaces(published).x_m)
    100
    """
    return _heaviest(published, timezone, at_work)


def _heaviest(published: object, timezone: str, when: Callable[[Int64s], Bools]) -> Places:
    table, zone = opened(published), Zone(timezone)
    rows = np.flatnonzero(when(zone.from_utc(table.boxes.t0 * table.grid.step_s)))
    x, y = np.empty((2, len(table.names)))
    find_heaviest_places(footprints(table.boxes, rows, len(x)), 0, len(x), x, y)
    return Places(table.names, x * table.grid.cell_m, y * table.grid.cell_m, table.crs)
