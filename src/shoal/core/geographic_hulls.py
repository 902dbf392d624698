"""Boxes in metres as boxes in degrees, and as polygons: hulls that leave nothing out."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from shoal.core.arrays import Floats
from shoal.core.projection import Plane

DECIMALS = 6  # of a degree: about 0.1 m
_ROUNDING = 1e-9  # degrees by which the projection's own arithmetic may err, amply
_WIDE_M = 200_000.0  # edges of boxes wider than this are looked at in more than one piece
_PIECES = 32
_BOXES_AT_A_TIME = 1 << 15  # hundreds of points around each must find room


class Bounds(NamedTuple):
    """Bounds of boxes along two axes."""

    x_min: Floats
    x_max: Floats
    y_min: Floats
    y_max: Floats


def in_degrees(boxes: Bounds, projection: Plane) -> Bounds:
    """Longitudes and latitudes that enclose boxes given in metres, rounded outwards.

    Boxes across the antimeridian span all longitudes, those around a pole reach up to it as well.
    """
    distinct, place = _distinct(boxes)
    pieces = range(0, len(distinct), _BOXES_AT_A_TIME)
    bounds = [_bounds(distinct[begin : begin + _BOXES_AT_A_TIME], projection) for begin in pieces]
    hulls = np.concatenate([np.empty((4, 0)), *bounds], axis=1)
    return Bounds(*(bound[place] for bound in hulls))


def _distinct(boxes: Bounds) -> tuple[Floats, npt.NDArray[np.int64]]:
    """Boxes that differ, one a line, and the line of every box: several times quicker than numpy's unique lines."""
    order = np.lexsort(boxes)
    lines = np.stack([bound[order] for bound in boxes], axis=1)
    differs = np.ones(len(lines), np.bool_)
    differs[1:] = (lines[1:] != lines[:-1]).any(axis=1)
    place = np.empty(len(lines), np.int64)
    place[order] = np.cumsum(differs) - 1
    return lines[differs], place


def _bounds(distinct: Floats, projection: Plane) -> Floats:
    """Lowest and highest longitude, then latitude, of boxes that are given one a line."""
    x0, x1, y0, y1 = distinct.T
    bounds = np.empty((4, len(distinct)))
    wide = np.maximum(x1 - x0, y1 - y0) > _WIDE_M
    for part, pieces in ((~wide, 1), (wide, _PIECES)):
        lon, lat = projection.to_degrees(*_around(distinct[part].T, pieces))
        bounds[:, part] = [*_enclosing(lon), *_enclosing(lat)]
    lon_min, lon_max, lat_min, lat_max = bounds
    everywhere = (
        ~np.isfinite(bounds).all(axis=0) | (lon_max - lon_min > 180) | (lon_min < -180) | (lon_max > 180)
    )
    for latitude, bound in ((-90.0, lat_min), (90.0, lat_max)):
        x, y = projection.to_metres(0.0, latitude)
        around_pole = (x0 <= x) & (x <= x1) & (y0 <= y) & (y <= y1) | ~np.isfinite(bound)
        bound[around_pole] = latitude
        everywhere |= around_pole
    lon_min[everywhere], lon_max[everywhere] = -180.0, 180.0
    return np.stack([lon_min, lon_max, np.maximum(lat_min, -90.0), np.minimum(lat_max, 90.0)])


def _around(boxes: Floats, pieces: int) -> tuple[Floats, Floats]:
    """Points around boxes, a line of them per box: both ends and the middle of every piece of every edge."""
    x0, x1, y0, y1 = (bound[:, None] for bound in boxes)
    share = np.arange(2 * pieces) / (2 * pieces)
    there, back = share[None, :], 1 - share[None, :]
    ones = np.ones_like(there)
    x = [x0 + (x1 - x0) * there, x1 * ones, x0 + (x1 - x0) * back, x0 * ones]
    y = [y0 * ones, y0 + (y1 - y0) * there, y1 * ones, y0 + (y1 - y0) * back]
    return np.concatenate(x, axis=1), np.concatenate(y, axis=1)


def _enclosing(around: Floats) -> tuple[Floats, Floats]:
    """Lowest and highest value on the curve through points around a box, rounded outwards.

    Between two ends a coordinate is a parabola for all that matters: it leaves their span by no more than the
    middle leaves the straight line between them.
    """
    end, middle = around[:, 0::2], around[:, 1::2]
    with np.errstate(invalid="ignore"):  # outside the plane, which the caller notices
        bulge = np.abs(middle - (end + np.roll(end, -1, axis=1)) / 2).max(axis=1)
        lowest = np.floor((around.min(axis=1) - bulge - _ROUNDING) * 10.0**DECIMALS)
        highest = np.ceil((around.max(axis=1) + bulge + _ROUNDING) * 10.0**DECIMALS)
    return lowest / 10.0**DECIMALS, highest / 10.0**DECIMALS


_POLYGON = np.dtype(
    [("order", "u1"), ("kind", "<u4"), ("rings", "<u4"), ("points", "<u4"), ("ring", "<f8", (5, 2))]
)


def as_polygons(hulls: Bounds) -> pa.Array:
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


def rings_of(polygons: pa.Array) -> Floats:
    """The rings of boxes in well-known binary, one of five points each; NaN for whatever else is there."""
    rings = np.full((len(polygons), 5, 2), np.nan)
    fitting = pc.fill_null(pc.equal(pc.binary_length(polygons), _POLYGON.itemsize), False)
    found = np.frombuffer(b"".join(polygons.filter(fitting).to_pylist()), _POLYGON)
    is_box = (found["order"] == 1) & (found["kind"] == 3) & (found["rings"] == 1) & (found["points"] == 5)
    rings[np.flatnonzero(fitting.to_numpy(zero_copy_only=False))[is_box]] = found["ring"][is_box]
    return rings
