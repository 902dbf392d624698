"""Positions that come as points, not as two columns: frames and trajectories of other libraries, WKT, GeoJSON."""

from shoal.reading.geo.frames import open_frame
from shoal.reading.geo.point_columns import implied_columns, names_position, with_points

__all__ = ["implied_columns", "names_position", "open_frame", "with_points"]
