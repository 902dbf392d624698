"""Stand-ins for frames of other libraries: just what shoal looks at, and as they behave.

The tests that use them run once more with the real libraries where these are installed.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import pandas as pd


class Geometry(NamedTuple):
    """A geometry of shapely's, as far as one can see from outside."""

    geom_type: str
    x: float = float("nan")
    y: float = float("nan")


class GeoSeries:
    """geopandas.GeoSeries: coordinates are given only where all geometries are points."""

    def __init__(self, values: pd.Series) -> None:
        self._values = values

    @property
    def geom_type(self) -> pd.Series:
        return self._values.map(lambda value: None if value is None else value.geom_type)

    @property
    def x(self) -> pd.Series:
        return self._coordinate("x")

    @property
    def y(self) -> pd.Series:
        return self._coordinate("y")

    def isna(self) -> pd.Series:
        return self._values.isna()

    def _coordinate(self, name: str) -> pd.Series:
        if not set(self.geom_type.dropna()) <= {"Point"}:
            raise ValueError("x attribute access only provided for Point geometries")
        return self._values.map(lambda value: float("nan") if value is None else getattr(value, name)).astype(
            float
        )


class GeoDataFrame(pd.DataFrame):
    """geopandas.GeoDataFrame with one column of geometries."""

    _metadata = ["crs", "geometry_name"]  # noqa: RUF012

    @property
    def _constructor(self) -> type:
        return GeoDataFrame

    @property
    def geometry(self) -> GeoSeries:
        if getattr(self, "geometry_name", None) not in self.columns:
            raise AttributeError("geometry")
        return GeoSeries(self[self.geometry_name])

    @property
    def dtypes(self) -> pd.Series:
        kinds = super().dtypes
        return kinds.where(kinds.index != self.geometry_name, "geometry")

    def set_geometry(self, *_: Any) -> None:
        raise AssertionError("shoal must not change a frame")

    def to_crs(self, *_: Any) -> None:
        raise AssertionError("shoal must not change a frame")

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        if self.geometry_name in self.columns:
            raise TypeError("Conversion failed for column geometry")
        return pd.DataFrame(self).__arrow_c_stream__(requested_schema)


def geoframe(
    frame: pd.DataFrame, geometries: list[Any], crs: Any = "EPSG:4326", name: str = "geometry"
) -> GeoDataFrame:
    """A GeoDataFrame of a frame's other columns."""
    made = GeoDataFrame(frame.assign(**{name: pd.Series(geometries, frame.index, object)}))
    made.crs, made.geometry_name = crs, name
    return made


class Trajectory:
    """movingpandas.Trajectory: rows by time, without the zone they came in."""

    def __init__(self, df: GeoDataFrame, traj_id: Any, **about: Any) -> None:
        self.id, self.df_orig_tz, self.df = traj_id, df.index.tz, df.tz_localize(None)
        self.df.crs, self.df.geometry_name = df.crs, df.geometry_name
        for name in ("obj_id", "parent", "x", "y"):
            setattr(self, name, about.get(name))

    def get_traj_id_col(self) -> str:
        return "traj_id"


class TrajectoryCollection:
    """movingpandas.TrajectoryCollection."""

    def __init__(self, trajectories: list[Trajectory]) -> None:
        self.trajectories = trajectories


class TrajDataFrame(pd.DataFrame):
    """skmob.TrajDataFrame: a data frame with columns of fixed names, and two attributes."""

    _metadata = ["_parameters", "_crs"]  # noqa: RUF012

    def __init__(self, data: pd.DataFrame) -> None:
        super().__init__(data)
        self._crs, self._parameters = {"init": "epsg:4326"}, {}

    @property
    def crs(self) -> dict[str, str]:
        return self._crs

    @property
    def parameters(self) -> dict[str, Any]:
        return self._parameters

    def __getitem__(self, key: Any) -> Any:
        return pd.DataFrame(self)[key]
