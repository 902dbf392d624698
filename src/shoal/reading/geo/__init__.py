"""Positions that come as points, not as two columns: frames and trajectories of other libraries, WKT, GeoJSON."""

from shoal.reading.geo.implied import implied_columns, names_position
from shoal.reading.geo.opening import open_frame
from shoal.reading.geo.points import with_points

__all__ = ["implied_columns", "names_position", "open_frame", "with_points"]
