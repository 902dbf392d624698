"""Boxes in metres as boxes in degrees, and as polygons: hulls that leave nothing out."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from shoal.reading.projection import Projection

Floats = npt.NDArray[np.float64]

_DECIMALS = 6  # of a degree: about 0.1 m


class Hulls(NamedTuple):
    """Bounds of boxes along two axes."""

    x_min: Floats
    x_max: Floats
    y_min: Floats
    y_max: Floats


def in_degrees(boxes: Hulls, projection: Projection) -> Hulls:
    """Longitudes and latitudes that enclose boxes given in metres, rounded outwards.

    Edges of a box are curves in degrees, so corners are not enough. Along an edge of city or country size a
    coordinate is a parabola for all that matters: it leaves the span of its ends by no more than its middle leaves
    the straight line between them, and the hull grows by that. Boxes across the antimeridian span all longitudes.
    """
    distinct, place = np.unique(np.stack(boxes, axis=1), axis=0, return_inverse=True)
    x0, x1, y0, y1 = distinct.T
    xm, ym = (x0 + x1) / 2, (y0 + y1) / 2
    # Around the box: corner, middle of the edge, corner, ...
    around_x = np.stack([x0, xm, x1, x1, x1, xm, x0, x0], axis=1)
    around_y = np.stack([y0, y0, y0, ym, y1, y1, y1, ym], axis=1)
    lon, lat = projection.to_degrees(around_x, around_y)
    lon_min, lon_max = _enclosing(lon)
    lat_min, lat_max = _enclosing(lat)
    across = lon_max - lon_min > 180
    lon_min, lon_max = np.where(across, -180.0, lon_min), np.where(across, 180.0, lon_max)
    bounds = Hulls(
        np.clip(lon_min, -180, 180),
        np.clip(lon_max, -180, 180),
        np.clip(lat_min, -90, 90),
        np.clip(lat_max, -90, 90),
    )
    return Hulls(*(bound[place.reshape(-1)] for bound in bounds))


def _enclosing(around: Floats) -> tuple[Floats, Floats]:
    """Lowest and highest value on the curve through points around a box."""
    corner, middle = around[:, 0::2], around[:, 1::2]
    bulge = np.abs(middle - (corner + np.roll(corner, -1, axis=1)) / 2).max(axis=1)
    unit = 10.0**-_DECIMALS
    lowest = np.floor((around.min(axis=1) - bulge) / unit) * unit
    highest = np.ceil((around.max(axis=1) + bulge) / unit) * unit
    return np.round(lowest, _DECIMALS), np.round(highest, _DECIMALS)


_POLYGON = np.dtype(
    [("order", "u1"), ("kind", "<u4"), ("rings", "<u4"), ("points", "<u4"), ("ring", "<f8", (5, 2))]
)


def as_polygons(hulls: Hulls) -> pa.Array:
    """Boxes as well-known binary, counter-clockwise and closed."""
    polygons = np.zeros(len(hulls.x_min), _POLYGON)
    polygons["order"], polygons["kind"], polygons["rings"], polygons["points"] = 1, 3, 1, 5
    xs = (hulls.x_min, hulls.x_max, hulls.x_max, hulls.x_min, hulls.x_min)
    ys = (hulls.y_min, hulls.y_min, hulls.y_max, hulls.y_max, hulls.y_min)
    polygons["ring"] = np.stack([np.stack(xs, axis=1), np.stack(ys, axis=1)], axis=2)
    offsets = np.arange(len(polygons) + 1, dtype=np.int64) * _POLYGON.itemsize
    return pa.LargeBinaryArray.from_buffers(
        pa.large_binary(), len(polygons), [None, pa.py_buffer(offsets), pa.py_buffer(polygons.tobytes())]
    ).cast(pa.binary())
