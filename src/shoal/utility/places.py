"""Where people live and work, as published boxes tell it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from shoal.core.arrays import Bools, Floats, Int64s
from shoal.core.schema import RECORD, X, Y
from shoal.core.zones import Zone
from shoal.utility.footprints import at_night, at_work, footprints
from shoal.utility.kernels.home_work import find_heaviest_places
from shoal.utility.squares import opened


@dataclass(frozen=True)
class Places:
    """A point in metres for each record; NaN for one that has no box in the hours that count."""

    record: npt.NDArray[np.object_]
    x_m: Floats
    y_m: Floats
    crs: str | None

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

    ``published`` is a path, a table or a release. Each box weighs 1 / area on its area, so a precise one counts more;
    the place is the centre of the box whose middle has most weight. It is as fine as that box, not as fine as the
    number looks: no address of anybody.
    """
    return _heaviest(published, timezone, at_night)


def workplaces(published: object, timezone: str = "UTC") -> Places:
    """Estimate where each record works: the same with boxes that begin from 9 to 17, Monday to Friday."""
    return _heaviest(published, timezone, at_work)


def _heaviest(published: object, timezone: str, when: Callable[[Int64s], Bools]) -> Places:
    table, zone = opened(published), Zone(timezone)
    rows = np.flatnonzero(when(zone.from_utc(table.boxes.t0 * table.grid.step_s)))
    x, y = np.empty((2, len(table.names)))
    find_heaviest_places(footprints(table.boxes, rows, len(x)), 0, len(x), x, y)
    return Places(table.names, x * table.grid.cell_m, y * table.grid.cell_m, table.crs)
