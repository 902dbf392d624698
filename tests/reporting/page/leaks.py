"""Looking for raw data in a page: everywhere in the file, scripts and drawings included, and in every unit."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

_NUMBER = re.compile(r"(?<![\w.#])-?\d+(?:\.\d+)?")
_RUN = 7  # differences in a row that are nobody's by accident
_STRIDES = (1, 2, 3, 4, 5)  # samples may stand in a page as columns, or as rows of so many numbers


class Raw(NamedTuple):
    """What must not be found: names, and samples of each user by time; degrees or None."""

    names: set[str]
    user: list[str]
    t_s: np.ndarray
    x_m: np.ndarray
    y_m: np.ndarray
    degrees: np.ndarray | None = None
    cell_m: float = 100.0
    step_s: int = 60


def traces(page: str, raw: Raw) -> list[str]:
    """What of the raw data is in a page; nothing but kinds, so that a failing test tells no more than that."""
    found = [f"name {name}" for name in sorted(raw.names & set(re.findall(r"[\w-]+", page)))]
    texts = _NUMBER.findall(page)
    numbers = np.array([float(text) for text in texts])
    digits = np.array([len(text.partition(".")[2]) for text in texts])
    for unit, values in _values(raw):
        found += [f"value in {unit}"] * _has_value(numbers, digits, values, fine=unit == "degrees")
    told = {run for stride in _STRIDES for run in _runs(np.round(numbers, 2), stride)}
    found += [
        f"way in {unit}" for unit, values in _offsets(raw) if not told.isdisjoint(_runs(values, 1, raw.user))
    ]
    return found


def _values(raw: Raw) -> Iterator[tuple[str, np.ndarray]]:
    """Values as a page could tell them; cells by their corners."""
    for axis in (raw.x_m, raw.y_m):
        cell = np.floor(axis / raw.cell_m)
        yield "metres", np.concatenate([axis, np.round(axis), cell * raw.cell_m])
        yield "kilometres", np.concatenate([axis, cell * raw.cell_m]) / 1000
        yield "cells", cell
    yield "seconds", raw.t_s
    yield "milliseconds", raw.t_s * 1000
    yield "slots", raw.t_s // raw.step_s
    if raw.degrees is not None:
        yield "degrees", raw.degrees


def _has_value(numbers: np.ndarray, digits: np.ndarray, values: np.ndarray, *, fine: bool) -> bool:
    """Whether a number of the page is a value as it is rounded there; degrees are small, and need three digits."""
    return any(
        np.isin(np.round(numbers[digits == n], n), np.round(values, n)).any()
        for n in set(digits.tolist())
        if n >= 3 or not fine
    )


def _offsets(raw: Raw) -> Iterator[tuple[str, np.ndarray]]:
    """Values of which the differences tell a way, wherever it begins."""
    for axis in (raw.x_m, raw.y_m):
        cell = np.floor(axis / raw.cell_m)
        yield "cells", cell
        yield "metres", cell * raw.cell_m
        yield "kilometres", np.round(cell * raw.cell_m / 1000, 2)
    yield "slots", raw.t_s // raw.step_s


def _runs(values: np.ndarray, stride: int, user: Iterable[str] | None = None) -> Iterator[tuple[float, ...]]:
    """Differences in a row, of at least two sizes that are not zero."""
    names = np.zeros(len(values)) if user is None else np.unique(list(user), return_inverse=True)[1]
    steps = np.round(values[stride:] - values[:-stride], 2)
    same = names[stride:] == names[:-stride]
    for at in range(len(steps) - (_RUN - 1) * stride):
        run = steps[at : at + _RUN * stride : stride]
        together = len(run) == _RUN and same[at : at + _RUN * stride : stride].all()
        if together and len({*np.abs(run).tolist()} - {0.0}) >= 2:
            yield tuple(run.tolist())
