"""Periods: the stretches of time after which records get new names (docs/decisions/0021-new-names.md)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from shoal.core.arrays import Int64s, Integers
from shoal.core.formatting import counted
from shoal.core.promise import DAY_S, Grid, Promise
from shoal.core.zones import Zone
from shoal.errors import ParameterError, ShoalError


@dataclass(frozen=True, repr=False)
class Periods:
    """Time cut at borders, slots in increasing order: period p ends before border p, and the last one never ends."""

    borders: Int64s

    def __repr__(self) -> str:
        return f"<Periods: {counted(self.n_periods, 'period')}>"

    @property
    def n_periods(self) -> int:
        """How many there are; one where names never change."""
        return len(self.borders) + 1

    def of(self, slots: Integers) -> Int64s:
        """The period of each slot."""
        return np.searchsorted(self.borders, slots, side="right").astype(np.int64)


ONE_PERIOD = Periods(np.empty(0, np.int64))


class Renaming(NamedTuple):
    """How often records get new names, and on which clock; noted in manifests and published files."""

    every_s: int
    timezone: str

    def to_dict(self) -> dict[str, Any]:
        """As manifests note it."""
        return {"rename_every_s": self.every_s, "timezone": self.timezone}

    @classmethod
    def from_dict(cls, noted: object) -> Renaming | None:
        """The note of which ``to_dict`` made this, None where names never change; a ParameterError otherwise."""
        if noted is None:
            return None
        try:
            every_s, timezone = noted["rename_every_s"], noted["timezone"]  # type: ignore[index]
            known = type(every_s) is int and every_s > 0 and bool(Zone(timezone).name)
        except (KeyError, TypeError, ShoalError):
            known = False
        if not known or (DAY_S % every_s and every_s % DAY_S):
            raise ParameterError(
                "Periods have rename_every_s, a part of a day or whole days, and a timezone."
            )
        return cls(every_s, timezone)

    def periods(self, first: int, last: int, promise: Promise, grid: Grid) -> Periods:
        """The periods of slots first .. last."""
        return find_periods(self.every_s, first, last, promise, grid, Zone(self.timezone))


def find_periods(
    rename_s: int | None, first: int, last: int, promise: Promise, grid: Grid, zone: Zone
) -> Periods:
    """The periods of slots first .. last, where records get new names every ``rename_s`` seconds; None: never.

    ``rename_s`` divides a day or is a whole number of days, so borders are due wherever it divides the seconds since
    1970-01-01T00:00 on the clock of the zone.
    """
    if rename_s is None:
        return ONE_PERIOD
    beside = max(rename_s, DAY_S)  # however far a clock is off
    local = zone.from_utc(np.array([first, last]) * grid.step_s)
    number = np.arange((local[0] - beside) // rename_s, (local[1] + beside) // rename_s + 1)
    return periods_due(zone.to_utc(number * rename_s), first, last, promise, grid)


def periods_due(due_s: Int64s, first: int, last: int, promise: Promise, grid: Grid) -> Periods:
    """The periods of slots first .. last where names are due to change at Unix seconds: they do at the first epoch
    border from then on, over whole trajectories with the next slot."""
    epsilon = promise.epsilon or 1
    borders = np.unique(-(-due_s // (epsilon * grid.step_s))) * epsilon
    return Periods(borders[(borders > first) & (borders <= last)])
