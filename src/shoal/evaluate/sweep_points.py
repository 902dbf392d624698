"""Which promises a sweep tries: one thing varies at a time, the others stay."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from shoal.core.evaluation_options import AXES
from shoal.core.option_checks import check_epsilon
from shoal.core.promise import Duration, Grid, Promise
from shoal.errors import ParameterError

TAU, K, EPSILON, HOURS = AXES
_PARTS_OF_TAU = (3, 2, 1)  # epsilons unless given: a third of tau, a half, all of it


class Point(NamedTuple):
    """One release to make and measure; durations in slots."""

    selector: str
    k: int
    tau: int
    epsilon: int

    @property
    def promise(self) -> Promise:
        """The promise of this release."""
        return Promise(self.k, self.tau, self.epsilon)

    @property
    def name(self) -> str:
        """A name for files."""
        return "-".join(map(str, self))


class SweepPlan(NamedTuple):
    """The points of every axis, and the one in the middle that all axes share."""

    middle: list[Point]  # one per selector
    by_axis: dict[str, list[Point]]

    @property
    def points(self) -> list[Point]:
        """Every point once, in the order in which they are made."""
        return list(dict.fromkeys(point for points in self.by_axis.values() for point in points))


def plan_sweep(
    over: Iterable[str],
    *,
    selectors: Sequence[str],
    k: int,
    tau: Duration,
    ks: Sequence[int],
    taus: Sequence[Duration],
    epsilons: Sequence[Duration] | None,
    grid: Grid,
) -> SweepPlan:
    """``taus`` vary with epsilon = tau, ``ks`` and ``epsilons`` at the ``tau`` given; hours are of the middle point.

    Epsilons are tau, its half and its third, as far as these are whole steps, unless given; they must divide tau.
    """
    chosen = list(dict.fromkeys(over))
    unknown = [axis for axis in chosen if axis not in AXES]
    if unknown or not chosen:
        raise ParameterError(
            f"over must name some of {', '.join(AXES)}, got {', '.join(map(repr, chosen)) or 'nothing'}."
        )
    values: dict[str, Sequence[Any] | None] = {TAU: taus, K: ks, EPSILON: epsilons}
    empty = [f"{axis}s" for axis in chosen if values.get(axis) is not None and not values[axis]]
    if empty or not selectors:
        raise ParameterError(f"{(empty or ['selectors'])[0]} must name at least one value, got none.")
    at = grid.slots(tau, "tau")
    if epsilons is None:
        epsilon_slots = [at // parts for parts in _PARTS_OF_TAU if at % parts == 0]
    else:
        epsilon_slots = [grid.slots(value, "epsilon") for value in epsilons]
    middle = [Point(selector, k, at, at) for selector in selectors]
    varied = {
        TAU: [(k, slots, slots) for slots in (grid.slots(value, "tau") for value in taus)],
        K: [(value, at, at) for value in ks],
        EPSILON: [(k, at, slots) for slots in epsilon_slots],
        HOURS: [(k, at, at)],
    }
    by_axis = {
        axis: [Point(selector, *values) for values in sorted(set(varied[axis])) for selector in selectors]
        for axis in chosen
    }
    for points in by_axis.values():
        for point in points:
            check_epsilon(point.promise, grid)
    return SweepPlan(middle, by_axis)
