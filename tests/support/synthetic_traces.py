"""Small datasets to measure: given row by row, at random, or made to have a known answer."""

from __future__ import annotations

import itertools
from collections.abc import Iterable

import numpy as np

from shoal.core.promise import Grid
from shoal.core.samples import samples_from_columns
from shoal.reading import Events, ReadSummary
from shoal.storage.sample_store import store_of
from shoal.synthetic.credibility.traces import Traces, traces_of

Row = tuple[int, int, int, int]  # user, second, x and y in cells of 1 km

DAY, HOUR = 86_400, 3_600


def traces(rows: Iterable[Row], timezone: str = "UTC") -> Traces:
    """Traces of samples on a grid of 1 km and 1 s."""
    user, t, x, y = np.array(list(rows), dtype=np.int64).T
    names = np.array([f"u{number}" for number in range(int(user.max()) + 1)], dtype=object)
    samples = samples_from_columns(names, user, t, x, y)
    read_summary = ReadSummary(len(samples), {}, 0, [], [], [], None)
    return traces_of(Events(store_of(samples), Grid(1000.0, 1), None, read_summary, timezone))


def rows_of(found: Traces) -> list[tuple[int, int, float, float]]:
    """The samples again, user by user and by time."""
    place = found.place.tolist()
    return [
        (user, second, float(found.x_km[at]), float(found.y_km[at]))
        for user, second, at in zip(found.user.tolist(), found.second.tolist(), place, strict=True)
    ]


def by_user(found: Traces) -> dict[int, list[tuple[int, float, float]]]:
    """Seconds and places of every user, by time."""
    users: dict[int, list[tuple[int, float, float]]] = {}
    for user, *sample in rows_of(found):
        users.setdefault(user, []).append(tuple(sample))
    return users


def random_rows(seed: int) -> list[Row]:
    """A few users, a few places, many ties; users with a single sample among them."""
    rng = np.random.default_rng(seed)
    users, places, span = (int(rng.integers(1, high)) for high in (9, 7, 4))
    step = int(rng.choice([1, 60, 1800]))
    rows = []
    for user in range(users):
        n = int(rng.choice([1, 2, 7, 60]))
        times = rng.integers(0, span * DAY // step, n) * step
        where = rng.integers(-places, places, (n, 2))
        rows += [(user, int(t), int(x), int(y)) for t, (x, y) in zip(times, where, strict=True)]
    return rows


ODD_ROWS: dict[str, list[Row]] = {
    "one sample": [(0, 5, 0, 0)],
    "one user at one place": [(0, HOUR * t, 3, 3) for t in range(40)],
    "everybody once": [(user, 7, user, 0) for user in range(5)],
    "all at one second": [(user, 60, x, 0) for user in range(3) for x in range(4)],
}
CASES = {**{f"seed {seed}": random_rows(seed) for seed in range(25)}, **ODD_ROWS}


def people(counts: Iterable[int], seconds: np.ndarray, places: np.ndarray) -> Traces:
    """Users with so many samples each; times and places are dealt out in order."""
    owner = np.repeat(np.arange(len(list(counts := list(counts)))), counts)
    return traces(zip(owner.tolist(), seconds.tolist(), places.tolist(), itertools.repeat(0), strict=False))
