"""What other Python libraries make: pandas' frames with an index of times, geopandas' frames, trackintel's
positionfixes, MovingPandas' trajectories."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from shoal.core.formatting import counted
from shoal.errors import InputError
from shoal.reading.columns import check_same_columns, is_user_name
from shoal.reading.geo.encodings import check_points
from shoal.reading.geo.point_columns import INDEX_TIME, MOVING_OBJECT, POINT_LAT, POINT_LON, as_degrees
from shoal.reading.source import Source, in_batches
from shoal.reading.summary import DroppedRows
from shoal.reading.tables import Table
from shoal.reading.values import one_as_text

_PART = re.compile(r"_\d+$")  # how splitters number the parts of a trajectory


def is_geoframe(table: Any) -> bool:
    """Whether a table behaves like a GeoDataFrame that knows which of its columns is the geometry."""
    methods = (getattr(table, name, None) for name in ("set_geometry", "to_crs", "__arrow_c_stream__"))
    return all(map(callable, methods)) and hasattr(getattr(table, "geometry", None), "geom_type")


def placed_frame(frame: Any, title: str) -> Any:
    """The frame with its points as longitude and latitude, and with the times of its index if it has any.

    Rows without a point have no longitude and latitude. The frame given is left as it was.
    """
    geometry = frame.geometry
    check_points(geometry.geom_type.dropna().unique(), title)
    lon, lat = as_degrees(geometry.x, geometry.y, frame.crs, title)
    return with_columns(frame, {POINT_LON: lon, POINT_LAT: lat})


def with_columns(frame: Any, columns: dict[str, Any]) -> Any:
    """A plain frame of all columns but geometries, of those given, and of what its index tells."""
    ordinary = frame.loc[:, [str(kind) != "geometry" for kind in frame.dtypes]]
    return ordinary.assign(**columns, **_told_by_index(frame))


def _told_by_index(frame: Any) -> dict[str, Any]:
    """Columns of what an index tells: its times, its users, or the named levels of one with several.

    A single index holds users if it is named so and no column is. One of anything else numbers rows.
    """
    index: Any = getattr(frame, "index", None)
    if str(getattr(index, "dtype", "")).startswith("datetime64"):
        return {INDEX_TIME: index}
    if getattr(index, "nlevels", 1) == 1:
        name = getattr(index, "name", None)
        named_so = is_user_name(name) and not any(map(is_user_name, frame.columns))
        return {str(name): index} if named_so else {}
    named = [name for name in index.names if isinstance(name, str) and name not in frame.columns]
    return {name: index.get_level_values(name) for name in named}


def trajectories_of(source: Any) -> list[Any] | None:
    """The trajectories of a collection, or a single one; None for anything else."""
    if callable(getattr(source, "get_traj_id_col", None)) and hasattr(source, "df"):
        return [source]
    held = getattr(source, "trajectories", None)
    if isinstance(held, list) and all(hasattr(one, "df") and hasattr(one, "id") for one in held):
        return held
    return None


class TrajectoryCollection:
    """Points of trajectories, one trajectory after the other; messages number them, since names may be of people."""

    title = "The collection of trajectories"

    def __init__(self, trajectories: list[Any], *, placed: bool) -> None:
        if not trajectories:
            raise InputError(f"{self.title} is empty: expected a trajectory for each person.")
        self._trajectories = trajectories
        self._placed = placed
        self._owners = _owners(trajectories)
        self.metadata: dict[bytes, bytes] = {}
        self.warnings = _parts(self._owners)
        self.names = self._table(0).names

    def batches(self, columns: Mapping[str, str], reject: DroppedRows, *, threads: int) -> Iterator[Any]:
        """Batches of the wanted columns in their own types."""
        return in_batches(self._small_batches(columns, reject, threads))

    def _small_batches(self, columns: Mapping[str, str], reject: DroppedRows, threads: int) -> Iterator[Any]:
        repeated = sum(map(_n_repeated, self._trajectories))
        if repeated:
            self.warnings.append(
                f"{counted(repeated, 'row')} at times that clocks showed twice (taken the first time), since"
                " MovingPandas drops zones: give the table that the trajectories were made of instead."
            )
        for number in range(len(self._trajectories)):
            table = self._table(number)
            check_same_columns(columns, table.names, self._title(number), "trajectories")
            yield from table.batches(columns, reject, threads=threads)

    def _table(self, number: int) -> Table:
        trajectory = self._trajectories[number]
        frame = _zoned(trajectory)
        frame = _placed(trajectory, frame, self._title(number)) if self._placed else with_columns(frame, {})
        return Table(frame.assign(**{MOVING_OBJECT: self._owners[number]}))

    def _title(self, number: int) -> str:
        return f"Trajectory {number + 1} of {len(self._trajectories)}"


def _zoned(trajectory: Any) -> Any:
    """The rows of a trajectory, with times in the zone they came in: MovingPandas drops it but keeps the clock."""
    frame, zone = trajectory.df, _dropped_zone(trajectory)
    if zone is None:
        return frame
    first_time = np.ones(len(frame), np.bool_)  # of hours that occur twice, as everywhere
    return frame.set_axis(frame.index.tz_localize(zone, ambiguous=first_time, nonexistent="shift_forward"))


def _dropped_zone(trajectory: Any) -> Any:
    """The zone in which times came, where MovingPandas dropped it."""
    return None if trajectory.df.index.tz is not None else getattr(trajectory, "df_orig_tz", None)


def _n_repeated(trajectory: Any) -> int:
    """How many rows have a time that occurred twice, so that nobody can tell which it was."""
    zone, index = _dropped_zone(trajectory), trajectory.df.index
    if zone is None:
        return 0
    localized = index.tz_localize(zone, ambiguous="NaT", nonexistent="shift_forward")
    return int(localized.isna().sum() - index.isna().sum())


def _placed(trajectory: Any, frame: Any, title: str) -> Any:
    """The rows with longitude and latitude; MovingPandas makes points of columns only when it needs them."""
    x, y = (getattr(trajectory, name, None) for name in ("x", "y"))
    if x in frame.columns and y in frame.columns and frame.geometry.isna().all():
        lon, lat = as_degrees(frame[x], frame[y], frame.crs, title)
        return with_columns(frame, {POINT_LON: lon, POINT_LAT: lat})
    return placed_frame(frame, title)


def _owners(trajectories: list[Any]) -> list[str | None]:
    """Who moved along each trajectory."""
    roots = [_root(trajectory) for trajectory in trajectories]
    objects = [_name_or_none(getattr(root, "obj_id", None)) for root in roots]
    n_named = len(objects) - objects.count(None)
    if 0 < n_named < len(objects):
        raise InputError(
            f"{n_named:,} of {len(objects):,} trajectories tell which object moved (obj_id): expected all or none."
        )
    return objects if n_named else [one_as_text(root.id) for root in roots]


def _name_or_none(name: Any) -> str | None:
    return None if isinstance(name, float) and math.isnan(name) else one_as_text(name)


def _root(trajectory: Any) -> Any:
    parent = getattr(trajectory, "parent", None)
    return trajectory if parent is None else _root(parent)


def _parts(owners: list[str | None]) -> list[str]:
    """A warning where names look as if several trajectories were parts of one: each would count as a person."""
    names = {name for name in owners if name is not None}
    whole = {_PART.sub("", name) for name in names}
    if not 1 < len(whole) < len(names):
        return []
    return [
        f"The names of {len(names):,} trajectories look like numbered parts of {len(whole):,}: if parts of one person's"
        " way are among them, name the column of the person, with columns={'user': ...}, or tell MovingPandas its"
        " obj_id_col."
    ]


def open_frame(source: object, *, placed: bool) -> Source | None:
    """What MovingPandas, geopandas or trackintel made, or pandas with an index that tells; None for anything else.

    Unless ``placed``, positions do not come from its points, which may then be of any kind.
    """
    trajectories = trajectories_of(source)
    if trajectories is not None:
        return TrajectoryCollection(trajectories, placed=placed)
    if is_geoframe(source):
        return Table(placed_frame(source, Table.title) if placed else with_columns(source, {}))
    return Table(with_columns(source, {})) if _told_by_index(source) else None
