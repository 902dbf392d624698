"""Events as the statistics want them: by user and time, with places numbered and the clock on the wall."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shoal.core.arrays import Floats, Int32s, Int64s
from shoal.core.zones import Zone
from shoal.reading import Events

HOUR_S, DAY_S = 3_600, 86_400
_COUNTRY_KM = 200.0  # YJMob's area is 141 km from corner to corner, the countries of the paper 600 and more
_STRAY_SHARE = 0.005  # of the samples on each side may lie anywhere without making a city a country


@dataclass(frozen=True)
class Traces:
    """Samples by user and time. A place is a cell of the grid; antennas lie further apart than cells of 100 m.

    ``second`` counts Unix seconds, ``local`` those of the clock on the wall. ``place`` indexes ``x_km`` and ``y_km``.
    """

    n_users: int
    user: Int32s
    second: Int64s
    local: Int64s
    place: Int64s
    x_km: Floats
    y_km: Floats

    @property
    def n_places(self) -> int:
        """How many different places there are."""
        return len(self.x_km)

    @property
    def n_hours(self) -> int:
        """Hours from the first sample to the last, both included."""
        return int(self.second.max() // HOUR_S - self.second.min() // HOUR_S) + 1

    @property
    def n_days(self) -> float:
        """The same in days."""
        return self.n_hours / 24

    @property
    def resolution_s(self) -> int:
        """The period of which all times are multiples, such as 1800 for half hours; 1 for a single time."""
        return max(1, int(np.gcd.reduce(self.second - self.second.min())))

    @property
    def width_km(self) -> float:
        """From corner to corner of what holds nearly all samples."""
        spans = [
            np.subtract(*np.quantile(axis[self.place], (1 - _STRAY_SHARE, _STRAY_SHARE)))
            for axis in (self.x_km, self.y_km)
        ]
        return float(np.hypot(*spans))

    @property
    def is_country(self) -> bool:
        """Whether people can go further than any city reaches."""
        return self.width_km > _COUNTRY_KM


def traces_of(events: Events) -> Traces:
    """Traces of samples that were read in slots of time of whatever length."""
    samples, grid = events.samples, events.grid
    second = samples.t * grid.step_s
    x, y = samples.x.astype(np.int64), samples.y.astype(np.int64)
    rows = int(y.max() - y.min()) + 1
    cells, place = np.unique((x - x.min()) * rows + y - y.min(), return_inverse=True)
    return Traces(
        n_users=samples.n_users,
        user=samples.user,
        second=second,
        local=Zone(events.timezone).from_utc(second),
        place=place.reshape(-1).astype(np.int64),
        x_km=cells // rows * (grid.cell_m / 1000),
        y_km=cells % rows * (grid.cell_m / 1000),
    )
