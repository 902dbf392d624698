"""Frames with a column of points: geopandas, and what builds on it (trackintel's positionfixes)."""

from __future__ import annotations

from typing import Any

from shoal.reading.geo.degrees import as_degrees
from shoal.reading.geo.implied import INDEX_TIME, POINT_LAT, POINT_LON
from shoal.reading.geo.kinds import check_points


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
    """A plain frame of all columns but geometries, of those given, and of the index where it holds times."""
    ordinary = frame.loc[:, [str(kind) != "geometry" for kind in frame.dtypes]]
    if str(frame.index.dtype).startswith("datetime64"):
        columns = columns | {INDEX_TIME: frame.index}
    return ordinary.assign(**columns)
