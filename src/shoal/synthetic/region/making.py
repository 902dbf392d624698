"""The events of a preset as tables: ``make_region`` gives them all at once, ``prepare`` some users at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import pyarrow as pa

from shoal.core.checks import check_count, check_seed
from shoal.core.schema import TIME, USER
from shoal.errors import ParameterError
from shoal.synthetic.city import START_S
from shoal.synthetic.random_streams import child, root
from shoal.synthetic.region.antennas import antennas_at, lay_out
from shoal.synthetic.region.people import HOUSEHOLD
from shoal.synthetic.region.presets import adapted
from shoal.synthetic.region.region import MINUTE_S, Region, RegionSamples, build_region, samples_of

_SAMPLES_AT_ONCE = 1_500_000  # about; bounds memory, and the result does not depend on it


class RegionDataset(NamedTuple):
    """The events of a region: so many users and days, made table by table."""

    region: Region
    users: int
    days: int

    @property
    def schema(self) -> pa.Schema:
        """The columns of its events."""
        position = {name: pa.float64() for name in self.region.antennas.columns}
        return pa.schema({USER: pa.string(), TIME: pa.timestamp("s", tz="UTC")} | position)

    @property
    def users_at_once(self) -> int:
        """How many users make a table of bounded size: whole households."""
        each = self.region.preset.samples_per_hour * 24 * self.days
        return HOUSEHOLD * max(int(_SAMPLES_AT_ONCE / each) // HOUSEHOLD, 1)

    def __len__(self) -> int:
        """How many tables there will be."""
        return -(-self.users // self.users_at_once)

    def tables(self) -> Iterator[pa.Table]:
        """The events, by user and time."""
        for first in range(0, self.users, self.users_at_once):
            end = min(first + self.users_at_once, self.users)
            yield self._table(first, end, samples_of(self.region, first, end, self.days))

    def _table(self, first: int, end: int, samples: RegionSamples) -> pa.Table:
        names = pa.array([f"u{index:06d}" for index in range(first, end)], pa.string())
        position = {name: values[samples.antenna] for name, values in self.region.antennas.columns.items()}
        return pa.table(
            {
                USER: names.take(pa.array(samples.user - first)),
                TIME: pa.array(START_S + MINUTE_S * samples.minute),
                **position,
            }
        ).cast(self.schema)


def prepare(
    preset: str,
    *,
    users: int | None = None,
    days: int | None = None,
    seed: int = 0,
    surface_km2: int | None = None,
    antennas: int | None = None,
    samples_per_hour: float | None = None,
    sites: object = None,
) -> RegionDataset:
    """Check the figures and lay out the region; figures that are not given are the preset's."""
    wanted = adapted(preset, surface_km2=surface_km2, antennas=antennas, samples_per_hour=samples_per_hour)
    users = wanted.users if users is None else users
    days = wanted.days if days is None else days
    check_count(users, "users", least=1)
    check_count(days, "days", least=1)
    check_seed(seed)
    stream = root(seed)
    if sites is None:
        where = lay_out(wanted.layout, wanted.antennas, wanted.surface_km2, child(stream, 0))
    elif surface_km2 is not None or antennas is not None:
        raise ParameterError(
            "A table of sites says which antennas there are: leave out surface and antennas."
        )
    else:
        where = antennas_at(sites)
    return RegionDataset(build_region(wanted, where, child(stream, 1)), users, days)


def make_region(
    preset: str,
    *,
    users: int | None = None,
    days: int | None = None,
    seed: int = 0,
    surface_km2: int | None = None,
    antennas: int | None = None,
    samples_per_hour: float | None = None,
    sites: object = None,
) -> pa.Table:
    """Make events of a synthetic region after a dataset of the paper (docs/synthetic.md).

    Parameters
    ----------
    preset : {"abi", "dak", "shn", "civ", "sen"}
        The dataset; other arguments replace its figures.
    users, days : int, optional
        How many people, for how long.
    seed : int
        Another seed makes other people.
    surface_km2, antennas : int, optional
        How large the region is, and how many antennas it has.
    samples_per_hour : float, optional
        Of each user, over the days of the preset.
    sites : path or table, optional
        Real antennas: lat and lon; or x and y in metres, and then the events have x and y as well.

    Returns
    -------
    pyarrow.Table
        Columns user, time, lat, lon (or x, y), by user and time.

    Raises
    ------
    ParameterError
        No such preset, or a number that makes no region.
    InputError
        The sites cannot be used as they are.

    Examples
    --------
    >>> import shoal
    >>> events = shoal.make_region("abi", users=50, days=1, seed=1)
    >>> len(set(events["user"].to_pylist()))
    50
    """
    dataset = prepare(
        preset,
        users=users,
        days=days,
        seed=seed,
        surface_km2=surface_km2,
        antennas=antennas,
        samples_per_hour=samples_per_hour,
        sites=sites,
    )
    return pa.concat_tables(dataset.tables())
