"""Tiny releases at random, and what can be estimated from them, the slow and obvious way.

A box is cut into atoms, of half a cell by half a cell and one slot: squares and hours hold atoms whole, so shares are
counts.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from itertools import pairwise
from random import Random
from typing import NamedTuple
from zoneinfo import ZoneInfo

import pyarrow as pa

from shoal.core.promise import Grid

GRID = Grid(100.0, 600)
SQUARE_M = 250  # squares of two and a half cells
SLOTS_PER_DAY = 144

Square = tuple[int, int]


class Box(NamedTuple):
    """Slots and cells, ends included."""

    t0: int
    t1: int
    x0: int
    x1: int
    y0: int
    y1: int


World = dict[str, list[Box]]


def random_world(seed: int, *, points: bool = False) -> World:
    """A few records with boxes over some days, which may overlap and be alike; or with nothing but samples."""
    rng = Random(seed)
    first = rng.choice([0, 20_000 * SLOTS_PER_DAY + 50, -3 * SLOTS_PER_DAY])
    days = rng.choice([1, 9])
    world: World = {}
    for record in range(rng.choice([1, 1, 3, 6])):
        boxes = []
        for _ in range(rng.choice([1, 2, 8])):
            t, x, y = first + rng.randrange(days * SLOTS_PER_DAY), rng.randint(-9, 6), rng.randint(-9, 6)
            longest, widest = (1, 1) if points else (rng.choice([1, 3, 20]), rng.choice([1, 4, 12]))
            spans = [rng.randint(1, longest), rng.randint(1, widest), rng.randint(1, widest)]
            boxes.append(Box(t, t + spans[0] - 1, x, x + spans[1] - 1, y, y + spans[2] - 1))
        if rng.random() < 0.3 and not points:
            boxes.append(rng.choice(boxes))
        world[f"r{record}"] = sorted(set(boxes) if points else boxes)
    return world


def table_of(world: World, seed: int = 0) -> pa.Table:
    """The world as somebody may have published it, rows in any order."""
    rows = [(record, box) for record, boxes in world.items() for box in boxes]
    Random(seed).shuffle(rows)
    metres = {
        name: [float((edge(box)) * GRID.cell_m) for _, box in rows]
        for name, edge in {
            "x_min": lambda box: box.x0,
            "x_max": lambda box: box.x1 + 1,
            "y_min": lambda box: box.y0,
            "y_max": lambda box: box.y1 + 1,
        }.items()
    }
    times = {
        "t_start": [_moment(box.t0) for _, box in rows],
        "t_end": [_moment(box.t1 + 1) for _, box in rows],
    }
    table = pa.table({"record": [record for record, _ in rows], **times, **metres})
    notes = {"grid": {"cell_m": GRID.cell_m, "step_s": GRID.step_s, "crs": None}}
    return table.replace_schema_metadata({b"shoal": json.dumps(notes).encode()})


def slow_density(world: World, zone: str) -> tuple[dict[tuple[int, Square], Fraction], Counter[int]]:
    """Expected people by (hour of the day, square), summed over the days; and (record, day) pairs in each hour."""
    people: dict[tuple[int, Square], Fraction] = defaultdict(Fraction)
    present: Counter[int] = Counter()
    for boxes in world.values():
        in_hour: dict[int, dict[Square, Fraction]] = defaultdict(lambda: defaultdict(Fraction))
        for box in boxes:
            shares = square_shares(box)
            for slot in range(box.t0, box.t1 + 1):
                for square, share in shares.items():
                    in_hour[local_s(slot, zone) // 3600][square] += share / (box.t1 - box.t0 + 1)
        for hour, squares in in_hour.items():
            present[hour % 24] += 1
            for square, weight in squares.items():
                people[hour % 24, square] += weight / sum(squares.values())
    return people, present


def slow_days(world: World, zone: str) -> Counter[int]:
    """How often each hour of the day came from the first to the last hour with a box."""
    slots = [slot for boxes in world.values() for box in boxes for slot in (box.t0, box.t1)]
    first, last = (local_s(slot, zone) // 3600 for slot in (min(slots), max(slots)))
    return Counter(hour % 24 for hour in range(first, last + 1))


def slow_flows(world: World, gap_s: int, most: int, crowd: int) -> dict[tuple[Square, Square], Fraction]:
    """Trips between different squares."""
    trips: dict[tuple[Square, Square], Fraction] = defaultdict(Fraction)
    for boxes in world.values():
        ordered = sorted(boxes, key=lambda box: (box.t0, box.t1, box.x0, box.y0, box.x1, box.y1))
        for here, there in pairwise(ordered):
            if (there.t0 - here.t1 - 1) * GRID.step_s > gap_s:
                continue
            for origin, share in _standing_for(here, most, crowd).items():
                for destination, other in _standing_for(there, most, crowd).items():
                    if origin != destination:
                        trips[origin, destination] += share * other
    return trips


def slow_gyration_km(boxes: list[Box]) -> float:
    """Root mean square distance of box centres from their mean, by duration."""
    moments = [
        ((box.x0 + box.x1 + 1) / 20, (box.y0 + box.y1 + 1) / 20)
        for box in boxes
        for _ in range(box.t0, box.t1 + 1)
    ]
    n = len(moments)
    mean = [sum(axis) / n for axis in zip(*moments, strict=True)]
    return float((sum((x - mean[0]) ** 2 + (y - mean[1]) ** 2 for x, y in moments) / n) ** 0.5)


def pile_at(boxes: list[Box], x: int, y: int) -> Fraction:
    """How much weight boxes have on a cell, each 1 / cells inside."""
    return sum(
        (
            Fraction(1, (box.x1 - box.x0 + 1) * (box.y1 - box.y0 + 1))
            for box in boxes
            if box.x0 <= x <= box.x1 and box.y0 <= y <= box.y1
        ),
        Fraction(0),
    )


def square_shares(box: Box) -> dict[Square, Fraction]:
    """The share of a box's area in each square, atom by atom."""
    per_square = 2 * SQUARE_M // 100
    atoms = Counter(
        (x // per_square, y // per_square)
        for x in range(2 * box.x0, 2 * box.x1 + 2)
        for y in range(2 * box.y0, 2 * box.y1 + 2)
    )
    return {square: Fraction(n, atoms.total()) for square, n in atoms.items()}


def local_s(slot: int, zone: str) -> int:
    """The wall clock at the beginning of a slot, in seconds since 1970-01-01T00:00 on that clock."""
    wall = _moment(slot).astimezone(ZoneInfo(zone)).replace(tzinfo=None)
    return int((wall - datetime(1970, 1, 1)).total_seconds())


def _standing_for(box: Box, most: int, crowd: int) -> dict[Square, Fraction]:
    shares = square_shares(box)
    if len(shares) > crowd:
        middle = [Fraction(low + high + 1, 2) * 100 // SQUARE_M for low, high in (box[2:4], box[4:6])]
        return {(int(middle[0]), int(middle[1])): Fraction(1)}
    best = sorted(shares, key=lambda square: (-shares[square], square))[:most]
    return {square: shares[square] / sum(shares[each] for each in best) for square in best}


def _moment(slot: int) -> datetime:
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=slot * GRID.step_s)
