"""How near estimates from published boxes come to the same estimates from raw samples, a number for each."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace

import numpy as np

from shoal.core.arrays import Floats, Int64s
from shoal.core.boxes import Boxes
from shoal.core.options import ReadingOptions
from shoal.core.promise import Duration, parse_length
from shoal.core.samples import Samples
from shoal.reading import PublishedTable, check_coordinates, parse_crs, read_events
from shoal.utility.estimators import Density, Flows, density, flows, gyration
from shoal.utility.home_work import Places, homes, workplaces
from shoal.utility.squares import Squares, frame_over, gathered, opened, squares_at


@dataclass(frozen=True)
class Agreement:
    """How well estimates from boxes agree with the same estimates from raw samples; None: nothing to compare.

    - ``density``: cosine of the angle between people over squares x hours; 1 if proportional, 0 if nowhere in common.
      (A correlation would depend on how many squares count in which nobody is, on either side.)
    - ``flows``: common part of commuters, 2 sum min / (sum + sum): 1 if equal, 0 if no pair of squares in common.
    - ``gyration_distance``: largest difference of the two cumulative distributions of radii (Kolmogorov-Smirnov), 0 if
      equal; ``gyration_ratio``: published median over raw median.
    - ``homes``, ``workplaces``: share of people in common, as if moved square by square: 1 - total variation.
    """

    density: float | None
    flows: float | None
    gyration_distance: float | None
    gyration_ratio: float | None
    homes: float | None
    workplaces: float | None

    def to_dict(self) -> dict[str, float | None]:
        """The numbers by name."""
        return asdict(self)


def agreement(
    events: object,
    published: object,
    *,
    cell: str = "5km",
    gap: Duration = "6h",
    timezone: str | None = None,
) -> Agreement:
    """Compare what is estimated from published boxes with what is estimated from the raw samples.

    A sample is a box of one cell and slot, and both sides go through the same estimators. Samples outside the squares
    of the release count as one more square.

    Parameters
    ----------
    events : path, table or Samples
        The raw events, or samples on the grid of the release (``release.events.samples``).
    published : path, table or Published
        What was published.
    cell : str
        The side of a square.
    gap : str or timedelta
        As in flows().
    timezone : str, optional
        Of times of events without a zone, and of hours of the day; that of the events, else UTC, unless given.

    Returns
    -------
    Agreement
        1 is as good as raw data, 0 has nothing in common with them.

    Examples
    --------
    >>> import shoal
    >>> events = shoal.make_city(100, seed=1)
    >>> published = shoal.anonymize(events, k=2, tau="30min", epsilon="30min")
    >>> 0 < shoal.utility.agreement(events, published).density < 1
    True
    """
    table = opened(published)
    samples, zone = _samples(events, table, timezone)
    raw = _as_published(samples, table)
    near = replace(raw, boxes=gathered(frame_over(table.boxes, table.grid, cell), raw.boxes, table.grid))
    side_m = float(parse_length(cell, "cell"))
    raw_radius, radius = gyration(raw), gyration(table)
    return Agreement(
        density=_cosine(density(near, cell, zone), density(table, cell, zone)),
        flows=_common_part(flows(near, cell, gap), flows(table, cell, gap)),
        gyration_distance=_largest_difference(raw_radius, radius),
        gyration_ratio=_ratio(float(np.median(raw_radius)), float(np.median(radius))),
        homes=_overlap(homes(raw, zone), homes(table, zone), side_m),
        workplaces=_overlap(workplaces(raw, zone), workplaces(table, zone), side_m),
    )


def _samples(events: object, table: PublishedTable, timezone: str | None) -> tuple[Samples, str]:
    """Events on the grid and in the plane of the release, and their time zone."""
    if isinstance(events, Samples):
        return events, timezone or "UTC"
    plane = None if table.crs is None else parse_crs(table.crs)
    found = read_events(events, grid=table.grid, options=ReadingOptions(timezone=timezone), projection=plane)
    check_coordinates(table.crs, geographic=found.projection is not None)
    return found.samples, found.timezone


def _as_published(samples: Samples, table: PublishedTable) -> PublishedTable:
    """Samples as if they had been published as they are: a box of one slot and cell for each."""
    t, x, y = samples.t, samples.x, samples.y
    boxes = Boxes(samples.user, t, t, x, x, y, y)
    return PublishedTable(boxes, samples.users, table.grid, table.crs, None, None)


def _cosine(raw: Density, published: Density) -> float | None:
    one, other = _aligned((_keys(raw.squares), raw.people.T), (_keys(published.squares), published.people.T))
    lengths = float(np.linalg.norm(one)) * float(np.linalg.norm(other))
    return min(1.0, float((one * other).sum()) / lengths) if lengths else None


def _common_part(raw: Flows, published: Flows) -> float | None:
    one, other = _aligned((_pairs(raw), raw.trips[:, None]), (_pairs(published), published.trips[:, None]))
    total = float(one.sum() + other.sum())
    return 2 * float(np.minimum(one, other).sum()) / total if total else None


def _largest_difference(raw: Floats, published: Floats) -> float:
    radius = np.concatenate([raw, published])
    shares = (np.searchsorted(np.sort(each), radius, side="right") / len(each) for each in (raw, published))
    return float(np.abs(np.subtract(*shares)).max())


def _ratio(raw: float, published: float) -> float | None:
    if raw == 0:
        return 1.0 if published == 0 else None
    return published / raw


def _overlap(raw: Places, published: Places, side_m: float) -> float | None:
    sides = []
    for places in (raw, published):
        known = places.known()
        if not known.any():
            return None
        keys = _keys(squares_at(places.x_m[known], places.y_m[known], side_m))
        different, n = np.unique(keys, axis=0, return_counts=True)
        sides.append((different, n[:, None].astype(np.float64)))
    one, other = _aligned(*sides)
    n_raw, n_published = one.sum(), other.sum()
    return float(np.minimum(one * n_published, other * n_raw).sum() / (n_raw * n_published))


def _keys(squares: Squares) -> Int64s:
    return np.stack([squares.i, squares.j], axis=1)


def _pairs(found: Flows) -> Int64s:
    keys = _keys(found.squares)
    return np.concatenate([keys[found.origin], keys[found.destination]], axis=1)


def _aligned(raw: tuple[Int64s, Floats], published: tuple[Int64s, Floats]) -> tuple[Floats, Floats]:
    """Rows of numbers with their keys (different ones) on common lines, zero where one side has none."""
    keys, line = np.unique(np.concatenate([raw[0], published[0]]), axis=0, return_inverse=True)
    one, other = np.zeros((2, len(keys), raw[1].shape[1]))
    one[line.reshape(-1)[: len(raw[0])]] = raw[1]
    other[line.reshape(-1)[len(raw[0]) :]] = published[1]
    return one, other
