"""The antennas of a region: laid out by a preset or read from a table, and which of them serves a position."""

from __future__ import annotations

from math import isqrt
from typing import NamedTuple

import numpy as np

from shoal.core.arrays import Floats
from shoal.core.schema import LAT, LON, X, Y
from shoal.errors import InputError
from shoal.reading.positions import read_positions
from shoal.synthetic.city_places import degrees_at
from shoal.synthetic.random_streams import Ints, Streams, bell, child, even
from shoal.synthetic.region.presets import LEAST_ANTENNAS, MOST_ANTENNAS, RegionLayout


class Antennas(NamedTuple):
    """Positions: metres from the middle of the region, and as they are written down."""

    x: Ints
    y: Ints
    columns: dict[str, Floats]  # lat and lon, or x and y


# ---- laid out by a preset -----------------------------------------------------------------------------------------

_APART_M = 150  # more than the diagonal of a cell of 100 m, so that every antenna has a cell of its own
_ATTEMPTS = 64
_CORNERS = 4


def lay_out(layout: RegionLayout, antennas: int, surface_km2: int, stream: Streams) -> Antennas:
    """Antennas over a square of the given surface; one stands in each corner."""
    half_m = isqrt(surface_km2 * 1_000_000) // 2
    centre_x, centre_y, spread_m = _centres(layout, antennas - _CORNERS, half_m, child(stream, 0))
    candidates = child(child(stream, 1), np.arange(antennas - _CORNERS))[:, None]
    candidates = child(candidates, np.arange(_ATTEMPTS))
    everywhere = (spread_m < 0)[:, None]
    anywhere_x, anywhere_y = even(candidates, 8, half_m), even(candidates, 9, half_m)
    near_x = centre_x[:, None] + bell(candidates, 0, np.abs(spread_m)[:, None])
    near_y = centre_y[:, None] + bell(candidates, 4, np.abs(spread_m)[:, None])
    # The last attempts leave the town: there is room somewhere.
    leaves = everywhere | (np.arange(_ATTEMPTS) >= _ATTEMPTS * 3 // 4)
    x, y = np.where(leaves, anywhere_x, near_x), np.where(leaves, anywhere_y, near_y)
    chosen = _spaced(x, y, half_m)
    x, y = chosen[:, 0], chosen[:, 1]
    lat, lon = degrees_at(x, y)
    return Antennas(x, y, {LAT: lat, LON: lon})


def _centres(layout: RegionLayout, antennas: int, half_m: int, stream: Streams) -> tuple[Ints, Ints, Ints]:
    """For every antenna, the middle of its town and how far the town spreads; -1 where it stands anywhere."""
    main_x, main_y = half_m * layout.main_x // 100, half_m * layout.main_y // 100
    core, suburbs, in_towns, villages = (
        antennas * percent // 100 for percent in (layout.core, layout.suburbs, layout.towns, layout.villages)
    )
    rank = np.arange(layout.n_towns, dtype=np.int64)
    each = child(stream, rank)
    town_x, town_y = even(each, 0, half_m * 9 // 10), even(each, 1, half_m * 9 // 10)
    # Zipf's law: the second town has half as many as the first, the third a third ...
    running = np.cumsum(1_000_000 // (rank + 2))
    town = np.searchsorted(
        running * in_towns, np.arange(in_towns, dtype=np.int64) * running[-1], side="right"
    )
    size = np.bincount(town, minlength=layout.n_towns)
    town_m = 250 + 300 * np.sqrt(size.astype(np.float64)).astype(np.int64)
    near = np.arange(villages) % layout.n_towns
    main, country = core + suburbs, antennas - core - suburbs - in_towns - villages
    parts = (
        (
            np.full(main, main_x),
            np.full(main, main_y),
            np.repeat([layout.core_m, layout.suburbs_m], [core, suburbs]),
        ),
        (town_x[town], town_y[town], town_m[town]),
        (town_x[near], town_y[near], np.full(villages, layout.villages_m)),
        (np.zeros(country, dtype=np.int64), np.zeros(country, dtype=np.int64), np.full(country, -1)),
    )
    x, y, spread_m = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    return x, y, spread_m


def _spaced(x: Ints, y: Ints, half_m: int) -> Ints:
    """The corners, then of every antenna's candidates the first inside the region with room around it."""
    chosen = [(-half_m, -half_m), (-half_m, half_m), (half_m, -half_m), (half_m, half_m)]
    taken = {(east // _APART_M, north // _APART_M) for east, north in chosen}
    for easts, norths in zip(x.tolist(), y.tolist(), strict=True):
        inside = [
            (east, north)
            for east, north in zip(easts, norths, strict=True)
            if abs(east) < half_m and abs(north) < half_m
        ]
        free = (place for place in inside if not _crowded(place, taken))
        place = next(free, inside[-1])
        taken.add((place[0] // _APART_M, place[1] // _APART_M))
        chosen.append(place)
    return np.array(chosen, dtype=np.int64)


def _crowded(place: tuple[int, int], taken: set[tuple[int, int]]) -> bool:
    column, row = place[0] // _APART_M, place[1] // _APART_M
    return any((column + i, row + j) in taken for i in (-1, 0, 1) for j in (-1, 0, 1))


# ---- read from a table of sites -----------------------------------------------------------------------------------

_METRES_PER_DEGREE = 111_195
_MOST_KM = 2_500  # from one side of a region to the other
_HALF_TURN, _HALF_TURN_DEGREES = 3.141592653589793, 180


def antennas_at(sites: object) -> Antennas:
    """The distinct positions of a table (columns lat and lon, or x and y), in its order."""
    first, second, geographic = read_positions(sites)
    _, rows = np.unique(np.stack([first, second], axis=1), axis=0, return_index=True)
    rows.sort()
    first, second = first[rows], second[rows]
    if not LEAST_ANTENNAS <= len(rows) <= MOST_ANTENNAS:
        raise InputError(
            f"The table of sites must have {LEAST_ANTENNAS} to {MOST_ANTENNAS:,} different positions,"
            f" found {len(rows):,}."
        )
    if not geographic:
        return Antennas(_centred(first), _centred(second), {X: first, Y: second})
    narrowing = _cosine((float(second.min()) + float(second.max())) / 2)
    x = _centred(_unbroken(first) * (_METRES_PER_DEGREE * narrowing))
    return Antennas(x, _centred(second * _METRES_PER_DEGREE), {LAT: second, LON: first})


def _unbroken(longitudes: Floats) -> Floats:
    """Longitudes that go on beyond 180 degrees where the region does."""
    across = longitudes.max() - longitudes.min() > _HALF_TURN_DEGREES
    return np.where(longitudes < 0, longitudes + 2 * _HALF_TURN_DEGREES, longitudes) if across else longitudes


def _centred(metres: Floats) -> Ints:
    """Whole metres from the middle."""
    low, high = float(metres.min()), float(metres.max())
    if high - low > 1_000 * _MOST_KM:
        raise InputError(
            f"The table of sites must lie within {_MOST_KM:,} km each way, found more: take a part of it."
        )
    return np.floor(metres - (low + high) / 2).astype(np.int64)


def _cosine(degrees: float) -> float:
    """By its series, whose sums and products are the same everywhere."""
    squared = (degrees * _HALF_TURN / _HALF_TURN_DEGREES) ** 2
    term = total = 1.0
    for n in range(1, 12):
        term = -term * squared / ((2 * n - 1) * (2 * n))
        total += term
    return total


# ---- which antenna serves where -----------------------------------------------------------------------------------

N_NEIGHBOURS = 3
_SQUARES = 1_024  # along each side
_TILE = 32  # squares along each side of a tile
_ROWS_AT_ONCE = 256
_RANGE_M = 5_000
_NEARBY_M = 2_500


class Network(NamedTuple):
    """Antennas in metres; the raster holds the nearest to the middle of every square."""

    x: Ints
    y: Ints
    in_range: (
        Ints  # (antennas, N_NEIGHBOURS): the nearest others; the antenna itself in place of one out of range
    )
    spacing_m: Ints  # how far the last of the nearest is
    around: Ints  # how many antennas within _NEARBY_M, itself included
    raster: Ints  # (squares, squares), [y, x]
    west: int
    south: int
    square_m: int

    def nearest(self, x: Ints, y: Ints) -> Ints:
        """The antenna that serves a position."""
        column = np.clip((x - self.west) // self.square_m, 0, _SQUARES - 1)
        row = np.clip((y - self.south) // self.square_m, 0, _SQUARES - 1)
        return self.raster[row, column]


def build_network(x: Ints, y: Ints) -> Network:
    """Index antennas that stand at different positions (more than N_NEIGHBOURS of them)."""
    west, south = int(x.min()), int(y.min())
    square_m = max(int(x.max()) - west, int(y.max()) - south) // _SQUARES + 1
    in_range = np.empty((len(x), N_NEIGHBOURS), dtype=np.int64)
    spacing_m, around = np.empty(len(x), dtype=np.int64), np.empty(len(x), dtype=np.int64)
    for first in range(0, len(x), _ROWS_AT_ONCE):
        rows = slice(first, first + _ROWS_AT_ONCE)
        apart = (x[rows, None] - x) ** 2 + (y[rows, None] - y) ** 2
        around[rows] = (apart <= _NEARBY_M**2).sum(axis=1)
        ranked = np.argsort(apart, axis=1, kind="stable")[:, 1 : 1 + N_NEIGHBOURS]
        squared = np.take_along_axis(apart, ranked, axis=1)
        in_range[rows] = np.where(squared <= _RANGE_M**2, ranked, np.arange(len(x))[rows, None])
        spacing_m[rows] = np.sqrt(squared[:, -1].astype(np.float64)).astype(np.int64)
    raster = _raster(x - west, y - south, square_m)
    return Network(x, y, in_range, spacing_m, around, raster, west, south, square_m)


def _raster(x: Ints, y: Ints, square_m: int) -> Ints:
    """The nearest antenna of every square, tile by tile: only some can be nearest anywhere in a tile."""
    raster = np.empty((_SQUARES, _SQUARES), dtype=np.int64)
    middles = np.arange(_SQUARES, dtype=np.int64) * square_m + square_m // 2
    reach_m = (_TILE * square_m * 3) // 2 + 2  # more than from a tile's middle to its corner and back
    for row in range(0, _SQUARES, _TILE):
        for column in range(0, _SQUARES, _TILE):
            tile_x, tile_y = middles[column : column + _TILE], middles[row : row + _TILE]
            apart = (x - tile_x[_TILE // 2]) ** 2 + (y - tile_y[_TILE // 2]) ** 2
            limit = int(np.sqrt(float(apart.min()))) + 1 + reach_m
            near = np.flatnonzero(apart <= limit**2)
            squared = ((tile_x[:, None] - x[near]) ** 2)[None, :, :] + ((tile_y[:, None] - y[near]) ** 2)[
                :, None, :
            ]
            raster[row : row + _TILE, column : column + _TILE] = near[np.argmin(squared, axis=2)]
    return raster
