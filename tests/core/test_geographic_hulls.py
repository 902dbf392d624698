"""A hull in degrees leaves out no point of its box in metres."""

from __future__ import annotations

import struct

import numpy as np
import pytest

from shoal.core.geographic_hulls import Bounds, as_polygons, in_degrees
from shoal.core.projection import Projection

POINTS = 501
Box = tuple[float, float, float, float]


def hull_of(box: Box, projection: Projection) -> Box:
    west, east, south, north = in_degrees(Bounds(*(np.array([bound]) for bound in box)), projection)
    return west.item(), east.item(), south.item(), north.item()


def inner_points(box: Box, projection: Projection) -> tuple[np.ndarray, np.ndarray]:
    """Longitudes and latitudes along the edges, and across the middle, of a box."""
    x0, x1, y0, y1 = box
    x, y = np.linspace(x0, x1, POINTS), np.linspace(y0, y1, POINTS)
    across = [np.broadcast_arrays(x, level) for level in (y0, (y0 + y1) / 2, y1)]
    up = [np.broadcast_arrays(level, y) for level in (x0, (x0 + x1) / 2, x1)]
    xs, ys = (np.concatenate(parts) for parts in zip(*across, *up, strict=True))
    return projection.to_degrees(xs, ys)


def assert_encloses(box: Box, projection: Projection) -> None:
    west, east, south, north = hull_of(box, projection)
    lon, lat = inner_points(box, projection)
    context = f"{box=} {projection=}"
    assert west <= lon.min(), context
    assert lon.max() <= east, context
    assert south <= lat.min(), context
    assert lat.max() <= north, context


@pytest.mark.parametrize("side_m", [100, 3_000, 100_000, 700_000, 2_000_000])
def test_hulls_enclose_their_boxes(side_m: float) -> None:
    rng = np.random.default_rng(side_m)
    for _ in range(60):
        projection = Projection(lon_0=int(rng.integers(-180, 181)), lat_0=int(rng.integers(-75, 76)))
        x, y = rng.normal(0, 300_000, 2)
        width, height = np.minimum(rng.exponential(side_m, 2), 3_000_000)
        assert_encloses((x, x + width, y, y + height), projection)


def test_hulls_are_tight() -> None:
    projection = Projection(lon_0=10, lat_0=50)
    box = (5_000.0, 12_000.0, -40_000.0, -31_000.0)
    west, east, south, north = hull_of(box, projection)
    lon, lat = inner_points(box, projection)
    for bound, reached in ((west, lon.min()), (east, lon.max()), (south, lat.min()), (north, lat.max())):
        assert abs(bound - reached) < 2e-5


def test_bounds_have_six_decimals() -> None:
    box = (1_234.0, 5_678.0, 91_011.0, 121_314.0)
    for bound in hull_of(box, Projection(lon_0=-70, lat_0=-33)):
        assert bound == round(bound, 6)


def test_antimeridian_spans_all_longitudes() -> None:
    west, east, south, north = hull_of((-5_000.0, 5_000.0, 0.0, 5_000.0), Projection(lon_0=180, lat_0=-17))
    assert (west, east) == (-180, 180)
    assert -17.1 < south < north < -16.9


@pytest.mark.parametrize("lat_0", [90, 89, -90])
def test_poles_lie_inside(lat_0: int) -> None:
    projection = Projection(lon_0=0, lat_0=lat_0)
    x, y = (float(metres) for metres in projection.to_metres(0, 90 if lat_0 > 0 else -90))
    west, east, south, north = hull_of((x - 4e5, x + 1e5, y - 1e5, y + 2e5), projection)
    assert (west, east) == (-180, 180)
    assert (north if lat_0 > 0 else -south) == 90
    assert north - south < 10


def test_boxes_beyond_the_plane_are_the_whole_world() -> None:
    assert hull_of((-2e7, 2e7, -2e7, 2e7), Projection(lon_0=0, lat_0=0)) == (-180, 180, -90, 90)


def test_polygons_are_closed_counterclockwise_rings() -> None:
    (binary,) = as_polygons(Bounds(*(np.array([bound]) for bound in (1.0, 2.0, 30.0, 40.0)))).to_pylist()
    order, kind, rings, points, *ring = struct.unpack("<BIII10d", binary)
    assert (order, kind, rings, points) == (1, 3, 1, 5)
    assert ring == [1, 30, 2, 30, 2, 40, 1, 40, 1, 30]
