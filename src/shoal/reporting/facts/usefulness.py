"""What published boxes are still good for: four estimates, from the raw samples and from the boxes."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from shoal.auditing.box_index import pseudonymized
from shoal.auditing.context import AuditContext
from shoal.core.arrays import Floats, Int64s
from shoal.core.boxes import Boxes
from shoal.core.disclosure import minimum_people, public_share_of_people
from shoal.core.reprs import sizes_only
from shoal.reading import PublishedTable
from shoal.reporting.facts.region import region_of
from shoal.utility import Agreement, Density, agreement, density, flows, gyration, homes, workplaces
from shoal.utility.squares import Frame, Squares, frame_over, gathered, outside, squares_at

_STEPS = 50  # of a cumulative distribution
_FLOWS = 12


class Crowd(NamedTuple):
    """People in squares at one hour: numbers of squares from the south-west corner of the map, and people in each."""

    i: Int64s
    j: Int64s
    people: Floats

    def __repr__(self) -> str:
        return sizes_only(self)


FlowEnd = tuple[int, int] | None


class Usefulness(NamedTuple):
    """Each estimate from the raw samples and from the boxes, in this order, and how well they agree.

    side_km: side of the squares of the map; across: how many squares it has from west to east and from south to north;
    n_elsewhere: raw samples outside the area of the boxes. crowds: people in squares at the ``hour`` with most people.
    radii: quantiles of the radius of gyration in km, for 0, 2, 4, ... 100 % of people. trips: those of the strongest
    flows between squares; flow_ends: the squares from which and to which these lead, by number on the map, None
    for one outside. A public report has neither radii nor trips of the raw samples. sides: "under" or "over" for those
    numbers of the agreement that are only bounds.
    """

    agreement: Agreement
    side_km: float
    across: tuple[int, int]
    n_elsewhere: int
    hour: int
    crowds: tuple[Crowd, Crowd]
    radii: tuple[Floats, Floats]
    trips: tuple[Floats, Floats]
    flow_ends: list[tuple[FlowEnd, FlowEnd]]
    sides: dict[str, str]

    def __repr__(self) -> str:
        return sizes_only(self)


def measure_usefulness(context: AuditContext, *, public: bool) -> Usefulness:
    """Estimate from raw samples and from boxes; a public report shows raw samples in squares with many people only.

    The map is that of the published boxes; raw samples outside of it are not shown. Raw samples are those of people,
    whole, also where records get new names: what recipients lose thereby is told.
    """
    samples = context.people_samples()
    published, raw = (
        _table(context.published.records.boxes, context),
        _table(pseudonymized(samples).boxes, context),
    )
    region = region_of(published.boxes, context.grid)
    zone, cell = context.zone.name, f"{region.square_m:.0f}m"
    frame = frame_over(published.boxes, context.grid, cell)
    near = replace(raw, boxes=gathered(frame, raw.boxes, context.grid))
    one, other = (density(table, cell, zone) for table in (near, published))
    hour = int(
        np.argmax(other.people.sum(axis=1).round(6))
    )  # of equal hours the first, in whatever order they were summed
    k, nothing = context.promise.k, np.empty(0)
    trips, flow_ends = ((nothing, nothing), []) if public else _strongest(near, published, frame, region)
    found, sides = agreement(samples, published, cell=cell, timezone=zone), dict[str, str]()
    if public:
        found, sides = _public_agreement(found, raw, frame.square_m, zone, k)
    return Usefulness(
        agreement=found,
        side_km=frame.square_m / 1000,
        across=(region.n_i, region.n_j),
        n_elsewhere=int(outside(frame, raw.boxes, context.grid).sum()),
        hour=hour,
        crowds=(
            _crowd(one, hour, frame, region, minimum_people(k) if public else 0.0),
            _crowd(other, hour, frame, region, 0.0),
        ),
        radii=(nothing if public else _radii(gyration(raw)), _radii(gyration(published))),
        trips=trips,
        flow_ends=flow_ends,
        sides=sides,
    )


def _public_agreement(
    found: Agreement, raw: PublishedTable, side_m: float, zone: str, k: int
) -> tuple[Agreement, dict[str, str]]:
    """The agreement without numbers that stand for few people, and which of the others are only bounds.

    Half of the people are on each side of a median, so it needs twice as many.
    """
    n_users, few = len(raw.names), minimum_people(k)
    n_homes, n_workplaces = (int(where(raw, zone).known().sum()) for where in (homes, workplaces))
    people = {
        "flows": _n_travellers(raw, side_m),
        "gyration_distance": n_users,
        "homes": n_homes,
        "workplaces": n_workplaces,
    }
    shares = {name: getattr(found, name) for name in people}
    told = {
        name: None if share is None else public_share_of_people(share, people[name], k)
        for name, share in shares.items()
    }
    public = replace(
        found,
        density=found.density if n_users >= few else None,
        gyration_ratio=found.gyration_ratio if n_users >= 2 * few else None,
        **{name: None if share is None else share.value for name, share in told.items()},
    )
    return public, {name: share.side for name, share in told.items() if share is not None and share.side}


def _table(boxes: Boxes, context: AuditContext) -> PublishedTable:
    """Boxes as if they had been read from a file."""
    whole = Boxes._make(np.ascontiguousarray(column) for column in boxes)
    names = np.arange(int(boxes.owner.max(initial=-1)) + 1).astype(object)
    return PublishedTable(whole, names, context.grid, None, None, None)


def _n_travellers(raw: PublishedTable, side_m: float) -> int:
    """How many people were in more than one square."""
    boxes = raw.boxes
    x_m, y_m = (axis.astype(np.float64) * raw.grid.cell_m for axis in (boxes.x0, boxes.y0))
    squares = squares_at(x_m, y_m, side_m)
    visits = np.unique(np.stack([boxes.owner, squares.i, squares.j], axis=1), axis=0)
    return int((np.bincount(visits[:, 0]) > 1).sum())


def _crowd(found: Density, hour: int, frame: Frame, region: Frame, least: float) -> Crowd:
    """The squares of a frame with at least ``least`` people, by number on the map; nobody counts for more than one, so
    as many are there."""
    people, i, j = found.people[hour], found.squares.i, found.squares.j
    some = (people > 0) & (people >= least) & (i >= frame.first_i) & (j >= frame.first_j)
    return Crowd(i[some] - region.first_i, j[some] - region.first_j, people[some])


def _radii(radius: Floats) -> Floats:
    return np.asarray(np.quantile(radius, np.linspace(0, 1, _STEPS + 1)))


def _strongest(
    raw: PublishedTable, published: PublishedTable, frame: Frame, region: Frame
) -> tuple[tuple[Floats, Floats], list[tuple[FlowEnd, FlowEnd]]]:
    """The trips of the strongest flows in the raw samples and the trips of these flows in the boxes; and where they
    lead."""
    one, other = (flows(table, f"{frame.square_m:.0f}m") for table in (raw, published))
    told = {
        _ends(other.squares, a, b): trips
        for a, b, trips in zip(other.origin, other.destination, other.trips, strict=True)
    }
    strongest = np.argsort(-one.trips, kind="stable")[:_FLOWS]
    ends = [_ends(one.squares, one.origin[line], one.destination[line]) for line in strongest]
    trips = one.trips[strongest], np.array([told.get(each, 0.0) for each in ends])
    return trips, [(_on_map(frame, region, *each[:2]), _on_map(frame, region, *each[2:])) for each in ends]


def _ends(squares: Squares, origin: int, destination: int) -> tuple[int, int, int, int]:
    i, j = squares.i, squares.j
    return int(i[origin]), int(j[origin]), int(i[destination]), int(j[destination])


def _on_map(frame: Frame, region: Frame, i: int, j: int) -> FlowEnd:
    """A square by its number on the map; None where all samples outside the frame were gathered."""
    inside = i >= frame.first_i and j >= frame.first_j
    return (i - region.first_i, j - region.first_j) if inside else None
