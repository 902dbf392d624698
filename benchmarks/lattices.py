"""Boxes rounded outwards to lattices against coarser cells: the tables of docs/decisions/0026-no-lattices.md.

    python benchmarks/lattices.py [city | dense | yjmob ...]

Prints, for every rule, what boxes cost, how large they are, and in how many of them the owner's exact cell is found.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from exact_cell import Ints, attack_cells
from run import DATA, yjmob_events

import shoal
from shoal.core.boxes import Boxes
from shoal.core.options import HidingOptions
from shoal.core.promise import Grid, Promise
from shoal.core.samples import Samples, samples_from_columns
from shoal.core.workers import Workers
from shoal.hiding.pipeline import anonymize_samples
from shoal.reading.events import read_events


class Dataset(NamedTuple):
    """Events, the finest cell, tau = epsilon in minutes, and what is tried, in finest cells."""

    events: Callable[[], object]
    cell_m: int
    epsilon: int
    cells: tuple[int, ...]
    lattices: tuple[int, ...]
    nested: tuple[int, ...]


DATASETS = {
    "city": Dataset(lambda: shoal.make_city(3000, seed=1), 100, 30, (1, 2, 5, 10, 15, 20), (5, 10), (1, 5, 10)),
    "dense": Dataset(lambda: shoal.make_city(8000, seed=4), 100, 30, (1, 5, 10, 20), (10,), (1,)),
    "yjmob": Dataset(
        lambda: yjmob_events(DATA / "yjmob100k_1k_users.parquet"), 500, 60, (1, 2, 3, 4, 6, 8), (2, 4), (1, 2)
    ),
}  # fmt: skip
NESTED = {"a quarter": 0.25, "a half": 0.5}


class Release(NamedTuple):
    """Boxes by owner and time in finest cells; ``sides`` has x0, x1, y0, y1 and the step of the box's lattice."""

    owner: Ints
    t0: Ints
    t1: Ints
    sides: Ints

    @property
    def longer_side(self) -> Ints:
        """In finest cells."""
        return np.maximum(*self._spans())

    def cost(self) -> int:
        """The cost of all boxes."""
        return int(((self.t1 - self.t0 + 1) * sum(self._spans())).sum())

    def _spans(self) -> tuple[Ints, Ints]:
        x0, x1, y0, y1, _ = self.sides.T
        return x1 - x0 + 1, y1 - y0 + 1

    def rounded(self, step: Ints) -> Release:
        """The same boxes, their faces moved outwards to multiples of a step, of each box its own."""
        x0, x1, y0, y1, _ = self.sides.T
        low = [face // step * step for face in (x0, y0)]
        high = [(face // step + 1) * step - 1 for face in (x1, y1)]
        return self._replace(sides=np.column_stack([low[0], high[0], low[1], high[1], step]))

    def nested_steps(self, share: float) -> Ints:
        """The largest of the finest step times 1, 2, 4, ... that is at most a share of the longer side."""
        finest = self.sides[:, 4]
        times = np.maximum(self.longer_side * share / finest, 1)
        return finest * 2 ** np.floor(np.log2(times) + 1e-12).astype(np.int64)


def release(samples: Samples, promise: Promise, cell: int) -> Release:
    """A release of samples with a coarser cell, a number of finest ones."""
    coarse = samples_from_columns(
        samples.users, samples.user, samples.t, samples.x // cell, samples.y // cell
    )
    with Workers(1) as workers:
        boxes: Boxes = anonymize_samples(coarse, promise, HidingOptions().for_promise(promise), workers).boxes
    low = [face.astype(np.int64) * cell for face in (boxes.x0, boxes.y0)]
    high = [face.astype(np.int64) * cell + cell - 1 for face in (boxes.x1, boxes.y1)]
    step = np.full(boxes.n_boxes, cell)
    return Release(
        boxes.owner.astype(np.int64),
        boxes.t0,
        boxes.t1,
        np.column_stack([low[0], high[0], low[1], high[1], step]),
    )


def coarser_in_time(samples: Samples, epsilon: int, step: int) -> Release:
    """A release of samples with a longer step, a number of finest ones; tau = epsilon in finest ones."""
    coarse = samples_from_columns(samples.users, samples.user, samples.t // step, samples.x, samples.y)
    found = release(coarse, Promise(2, epsilon // step, epsilon // step), 1)
    return found._replace(t0=found.t0 * step, t1=found.t1 * step + step - 1)


def rounded_in_time(made: Release, step: int) -> Release:
    """Boxes whose beginnings and ends are moved outwards to multiples of a step; those that meet then are joined."""
    t0, t1 = made.t0 // step * step, (made.t1 // step + 1) * step - 1
    apart = np.ones(len(t0), np.bool_)
    apart[1:] = (made.owner[1:] != made.owner[:-1]) | (t0[1:] > t1[:-1])
    first = np.flatnonzero(apart)
    sides = [
        hull.reduceat(made.sides[:, column], first)
        for column, hull in enumerate((np.minimum, np.maximum, np.minimum, np.maximum, np.minimum))
    ]
    return Release(
        made.owner[first], t0[first], np.maximum.reduceat(t1, first), np.column_stack(sides).astype(np.int64)
    )


def tell_of_time(samples: Samples, epsilon: int, finest: Release) -> None:
    """What a lattice in time costs, and what a longer step does."""
    print("\n| rule | cost | boxes |\n|---|---|---|")
    for step in (5, 10):
        for rule, made in (
            (f"`--step {step}min`", coarser_in_time(samples, epsilon, step)),
            (f"lattice of {step} min", rounded_in_time(finest, step)),
        ):
            print(f"| {rule} | x {made.cost() / finest.cost():.2f} | {len(made.t0):,} |", flush=True)


def tell(name: str) -> None:
    """The tables of a dataset."""
    dataset = DATASETS[name]
    samples = read_events(dataset.events(), grid=Grid.parse(f"{dataset.cell_m}m")).samples
    promise = Promise(2, dataset.epsilon, dataset.epsilon)
    releases = {cell: release(samples, promise, cell) for cell in sorted({*dataset.cells, *dataset.nested})}
    finest = releases[1].cost()

    def row(rule: str, made: Release) -> None:
        found = attack_cells(samples, made.owner, made.t0, made.t1, made.sides, dataset.epsilon)
        side = made.longer_side * dataset.cell_m / 1000
        minutes = (made.t1 - made.t0 + 1).mean()
        print(
            f"| {rule} | x {made.cost() / finest:.2f} | {len(side):,} | {np.median(side):.1f} | {side.mean():.1f}"
            f" | {minutes:.1f} | {100 * found.picked:.0f} % | {100 * found.guessing:.1f} % |",
            flush=True,
        )

    print(
        f"\n{name}\n\n| rule | cost | boxes | side, median, km | mean | time, mean, min | found | guessing |"
    )
    print("|---|---|---|---|---|---|---|---|")
    for cell in dataset.cells:
        row(f"`--cell {cell * dataset.cell_m}m`", releases[cell])
    for cell in dataset.nested:
        made, words = releases[cell], f"`--cell {cell * dataset.cell_m}m`"
        for step in (step for step in dataset.lattices if step > cell):
            every = np.full(len(made.t0), step)
            row(f"{words}, one lattice of {step * dataset.cell_m} m", made.rounded(every))
        for share_words, share in NESTED.items():
            row(f"{words}, nested, {share_words}", made.rounded(made.nested_steps(share)))
    tell_of_time(samples, dataset.epsilon, releases[1])


if __name__ == "__main__":
    for chosen in sys.argv[1:] or DATASETS:
        tell(chosen)
