"""What published boxes are still good for: four questions, asked of the raw samples and of the boxes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.auditing.scene import Scene
from shoal.boxes import Boxes
from shoal.reading import PublishedTable
from shoal.samples import Floats, Int64s
from shoal.utility import Agreement, Density, agreement, density, flows, gyration
from shoal.utility.squares import Squares

_SQUARES_ACROSS = 25
_STEPS = 50  # of a cumulative distribution
_FLOWS = 12
_SIDES_M = (1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 200_000, 500_000)


class Crowd(NamedTuple):
    """People in squares at one hour: numbers of squares from the lowest, and people in each."""

    i: Int64s
    j: Int64s
    people: Floats


class Usefulness(NamedTuple):
    """Each question asked of both sides, raw first, and how well they agree.

    side_km: of the squares. hour: that with most people, for which they are shown. radii: those that 0, 2, 4, ... 100 %
    of people do not exceed, in km. trips: those of the strongest flows between squares.
    """

    agreement: Agreement
    side_km: float
    hour: int
    crowds: tuple[Crowd, Crowd]
    radii: tuple[Floats, Floats]
    trips: tuple[Floats, Floats]


def measure_usefulness(scene: Scene, *, public: bool) -> Usefulness:
    """Ask raw samples and boxes; in public, squares with fewer than k raw people are left out, and so are raw flows."""
    published, raw = _table(scene.published.records.boxes, scene), _table(scene.raw.records.boxes, scene)
    zone, cell = scene.zone.name, f"{_side_m(published.boxes, scene.grid.cell_m)}m"
    one, other = (density(table, cell, zone) for table in (raw, published))
    hour = int(np.argmax(other.people.sum(axis=1)))
    west = min(int(one.squares.i.min()), int(other.squares.i.min()))
    south = min(int(one.squares.j.min()), int(other.squares.j.min()))
    least = scene.promise.k if public else 0.0
    return Usefulness(
        agreement=agreement(scene.samples, published, cell=cell, timezone=zone),
        side_km=one.squares.side_m / 1000,
        hour=hour,
        crowds=(_crowd(one, hour, west, south, least), _crowd(other, hour, west, south, 0.0)),
        radii=(_radii(gyration(raw)), _radii(gyration(published))),
        trips=_strongest(raw, published, cell) if not public else (np.empty(0), np.empty(0)),
    )


def _table(boxes: Boxes, scene: Scene) -> PublishedTable:
    """Boxes as if they had been read from a file."""
    whole = Boxes._make(np.ascontiguousarray(column) for column in boxes)
    names = np.arange(int(boxes.owner.max(initial=-1)) + 1).astype(object)
    return PublishedTable(whole, names, scene.grid, None, None, None)


def _side_m(boxes: Boxes, cell_m: float) -> int:
    """A round side of squares, a few dozen across."""
    reach = max(
        int(high.max()) - int(low.min()) for low, high in ((boxes.x0, boxes.x1), (boxes.y0, boxes.y1))
    )
    wanted = max(reach * cell_m / _SQUARES_ACROSS, cell_m)
    return next((side for side in _SIDES_M if side >= wanted), _SIDES_M[-1])


def _crowd(found: Density, hour: int, west: int, south: int, least: float) -> Crowd:
    people = found.people[hour]
    some = (people > 0) & (people >= least)
    return Crowd(found.squares.i[some] - west, found.squares.j[some] - south, people[some])


def _radii(radius: Floats) -> Floats:
    return np.asarray(np.quantile(radius, np.linspace(0, 1, _STEPS + 1)))


def _strongest(raw: PublishedTable, published: PublishedTable, cell: str) -> tuple[Floats, Floats]:
    """The trips of the strongest raw flows, and what the boxes make of the same."""
    one, other = flows(raw, cell), flows(published, cell)
    told = {
        _ends(other.squares, a, b): trips
        for a, b, trips in zip(other.origin, other.destination, other.trips, strict=True)
    }
    strongest = np.argsort(-one.trips, kind="stable")[:_FLOWS]
    known = [told.get(_ends(one.squares, one.origin[line], one.destination[line]), 0.0) for line in strongest]
    return one.trips[strongest], np.array(known)


def _ends(squares: Squares, origin: int, destination: int) -> tuple[int, ...]:
    return tuple(int(number[end]) for end in (origin, destination) for number in (squares.i, squares.j))
