"""The synthetic city: its antennas, where people live, and what draws them elsewhere."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.core.arrays import Floats
from shoal.synthetic.random_streams import Ints, Streams, bell, child, even, log_logistic, uniform_below

# Open ocean, so that nobody takes the city for a real one. A degree there is this many metres.
CENTRE_LAT_E5, CENTRE_LON_E5 = 1_000_000, -3_000_000
_METRES_PER_DEGREE_LAT, _METRES_PER_DEGREE_LON = 110_574, 109_639

EDGE_M = 25_000  # the city is the square from -EDGE_M to EDGE_M both ways
_RASTER_M = 250
_RASTER_CELLS = 2 * EDGE_M // _RASTER_M
_SPACING_M = 200
_ATTEMPTS = 64
N_TOWNS = 6
N_NEIGHBOURS = 3

# Districts: antennas, half-width of their spread (m), people and attraction per antenna (relative).
# Operators build where the load is, so the number of people per antenna differs less than their density.
_CORE, _SUBURBS, _TOWNS, _COUNTRY = range(4)
_ANTENNAS = (110, 110, 108, 72)
_SPREAD_M = (2_200, 5_200, 1_000, EDGE_M)
_PEOPLE = (700, 1_300, 900, 350)
_ATTRACTION = (6_000, 1_500, 1_500, 300)
N_ANTENNAS = sum(_ANTENNAS)

_COMMUTE_SCALE_M = 4_000  # people accept work places some kilometres away,
_ERRAND_SCALE_M = 1_500  # and shops and friends nearer by
_TRIP_START_S = 240  # walking to the stop or the car, parking
_SPEED_M_PER_S = 9


class CityPlaces(NamedTuple):
    """Antennas and the tables drawn from; positions in metres from the centre, weights as running totals."""

    x: Ints
    y: Ints
    homes: Ints  # (1, antennas): people
    work: Ints  # (antennas, antennas): attraction as a work place, seen from a home
    errands: Ints  # (antennas, antennas): attraction as a shop, a friend, a park, seen from anywhere
    outings: Ints  # (1, antennas): attraction whatever the distance
    travel_s: Ints  # (antennas, antennas)
    neighbours: Ints  # (antennas, N_NEIGHBOURS): the nearest other antennas
    raster: Ints  # (cells, cells): nearest antenna of every square, [y, x]

    def nearest(self, x: Ints, y: Ints) -> Ints:
        """The antenna that serves a position."""
        column = np.clip((x + EDGE_M) // _RASTER_M, 0, _RASTER_CELLS - 1)
        row = np.clip((y + EDGE_M) // _RASTER_M, 0, _RASTER_CELLS - 1)
        return self.raster[row, column]

    def degrees(self) -> tuple[Floats, Floats]:
        """Latitude and longitude of every antenna, rounded to 1e-5 degrees."""
        return degrees_at(self.x, self.y)


def build_places(stream: Streams) -> CityPlaces:
    """Lay out a city: a dense core, suburbs, a few towns around and some antennas in the country."""
    x, y = _antennas(stream)
    district = np.repeat(np.arange(len(_ANTENNAS)), _ANTENNAS)
    each = np.arange(N_ANTENNAS)
    people = (
        np.array(_PEOPLE)[district] * (500 + uniform_below(child(child(stream, 1), each), 1_000)) // 1_000
    )
    draw = log_logistic(child(child(stream, 2), each), cap=8.0)
    attraction = (np.array(_ATTRACTION)[district] * (0.3 + draw)).astype(np.int64)
    squared = (x[:, None] - x) ** 2 + (y[:, None] - y) ** 2
    apart = np.sqrt(squared.astype(np.float64)).astype(np.int64)
    travel_s = np.where(apart > 0, _TRIP_START_S + apart // _SPEED_M_PER_S, 0)
    return CityPlaces(
        x=x,
        y=y,
        homes=np.cumsum(people)[None, :],
        work=_gravity(attraction, squared, _COMMUTE_SCALE_M),
        errands=_gravity(attraction, squared, _ERRAND_SCALE_M),
        outings=np.cumsum(attraction)[None, :],
        travel_s=travel_s,
        neighbours=np.argsort(squared, axis=1, kind="stable")[:, 1 : 1 + N_NEIGHBOURS].astype(np.int64),
        raster=_nearest_raster(x, y),
    )


def _gravity(attraction: Ints, squared_m: Ints, scale_m: int) -> Ints:
    """Running totals of attraction / (1 + (distance / scale)^2), in whole numbers."""
    weights = attraction[None, :] * 1_000 // (1_000 + 1_000 * squared_m // scale_m**2)
    return np.cumsum(weights, axis=1)


def _antennas(stream: Streams) -> tuple[Ints, Ints]:
    town_x, town_y = _towns(child(stream, 3))
    district = np.repeat(np.arange(len(_ANTENNAS)), _ANTENNAS)
    town = np.arange(N_ANTENNAS) % N_TOWNS
    in_town = district == _TOWNS
    middle_x = np.where(in_town, town_x[town], 0)
    middle_y = np.where(in_town, town_y[town], 0)
    candidates = child(child(stream, 4), np.arange(N_ANTENNAS))[:, None]
    candidates = child(candidates, np.arange(_ATTEMPTS))
    spread = np.array(_SPREAD_M)[district][:, None]
    flat = (district == _COUNTRY)[:, None]
    x = np.where(flat, even(candidates, 0, spread), bell(candidates, 0, spread)) + middle_x[:, None]
    y = np.where(flat, even(candidates, 8, spread), bell(candidates, 8, spread)) + middle_y[:, None]
    return _spaced(x, y)


def _spaced(x: Ints, y: Ints) -> tuple[Ints, Ints]:
    """Of every antenna's candidates, the first inside the city that is not too near an earlier antenna."""
    inside = (np.abs(x) < EDGE_M) & (np.abs(y) < EDGE_M)
    chosen_x, chosen_y = np.zeros(len(x), dtype=np.int64), np.zeros(len(x), dtype=np.int64)
    for i in range(len(x)):
        squared = (x[i][:, None] - chosen_x[:i]) ** 2 + (y[i][:, None] - chosen_y[:i]) ** 2
        free = inside[i] & (squared >= _SPACING_M**2).all(axis=1)
        first = int(np.argmax(free))
        chosen_x[i], chosen_y[i] = x[i][first], y[i][first]
    return chosen_x, chosen_y


def _towns(stream: Streams) -> tuple[Ints, Ints]:
    """Town centres between 10 and 21 km from the centre, one in each sixth of the directions."""
    sector_x = np.array([10, 5, -5, -10, -5, 5])  # a regular hexagon, near enough
    sector_y = np.array([0, 9, 9, 0, -9, -9])
    each = child(stream, np.arange(N_TOWNS))
    reach_m = 1_050 + uniform_below(child(each, 0), 850)
    return sector_x * reach_m + even(each, 1, 2_500), sector_y * reach_m + even(each, 2, 2_500)


def _nearest_raster(x: Ints, y: Ints) -> Ints:
    middles = np.arange(_RASTER_CELLS, dtype=np.int64) * _RASTER_M + _RASTER_M // 2 - EDGE_M
    squared_x = (middles[:, None] - x) ** 2
    rows = [np.argmin(squared_x + (middle - y) ** 2, axis=1) for middle in middles]
    return np.stack(rows).astype(np.int64)


def degrees_at(x: Ints, y: Ints) -> tuple[Floats, Floats]:
    """Latitudes and longitudes of positions in metres from the centre, rounded to 1e-5 degrees."""
    lat = CENTRE_LAT_E5 + _divide_rounding(y * 100_000, _METRES_PER_DEGREE_LAT)
    lon = CENTRE_LON_E5 + _divide_rounding(x * 100_000, _METRES_PER_DEGREE_LON)
    return lat / 100_000.0, lon / 100_000.0


def _divide_rounding(numerator: Ints, denominator: int) -> Ints:
    return (2 * numerator + denominator) // (2 * denominator)
