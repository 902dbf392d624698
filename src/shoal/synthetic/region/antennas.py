"""Where the antennas stand: clustered in a main city and in towns, some in the country; or where a table says."""

from __future__ import annotations

from math import isqrt
from typing import NamedTuple

import numpy as np

from shoal.core.schema import LAT, LON
from shoal.synthetic.city_places import degrees_at
from shoal.synthetic.region.presets import Layout
from shoal.synthetic.scatter import bell, even
from shoal.synthetic.streams import Floats, Ints, Streams, child

_APART_M = 150  # more than the diagonal of a cell of 100 m, so that every antenna has a cell of its own
_ATTEMPTS = 64
_CORNERS = 4


class Antennas(NamedTuple):
    """Positions: metres from the middle of the region, and as they are written down."""

    x: Ints
    y: Ints
    columns: dict[str, Floats]  # lat and lon, or x and y


def lay_out(layout: Layout, antennas: int, surface_km2: int, stream: Streams) -> Antennas:
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


def _centres(layout: Layout, antennas: int, half_m: int, stream: Streams) -> tuple[Ints, Ints, Ints]:
    """For every antenna, the middle of its town and how far it spreads; -1 for those that stand anywhere."""
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
