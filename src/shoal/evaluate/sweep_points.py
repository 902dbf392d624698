"""Which promises a sweep tries: one thing varies at a time, the others stay."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from shoal.core.promise import Grid, Promise
from shoal.errors import ParameterError

TAU, K, EPSILON, HOURS = "tau", "k", "epsilon", "hours"
AXES = (TAU, K, EPSILON, HOURS)


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
    tau: str,
    ks: Sequence[int],
    taus: Sequence[str],
    epsilons: Sequence[str],
    grid: Grid,
) -> SweepPlan:
    """``taus`` vary with epsilon = tau, ``ks`` and ``epsilons`` at the ``tau`` given; hours are of the middle point."""
    chosen = list(dict.fromkeys(over))
    unknown = [axis for axis in chosen if axis not in AXES]
    if unknown or not chosen:
        raise ParameterError(
            f"over must name some of {', '.join(AXES)}, got {', '.join(map(repr, chosen)) or 'nothing'}."
        )
    values = {TAU: taus, K: ks, EPSILON: epsilons}
    empty = [f"{axis}s" for axis in chosen if axis in values and not values[axis]]
    if empty or not selectors:
        raise ParameterError(f"{(empty or ['selectors'])[0]} must name at least one value, got none.")
    at = grid.slots(tau, "tau")
    middle = [Point(selector, k, at, at) for selector in selectors]
    varied = {
        TAU: [(k, slots, slots) for slots in (grid.slots(value, "tau") for value in taus)],
        K: [(value, at, at) for value in ks],
        EPSILON: [(k, at, grid.slots(value, "epsilon")) for value in epsilons],
        HOURS: [(k, at, at)],
    }
    by_axis = {
        axis: [Point(selector, *values) for values in sorted(set(varied[axis])) for selector in selectors]
        for axis in chosen
    }
    for points in by_axis.values():
        for point in points:
            _ = point.promise  # an invalid one cannot exist
    return SweepPlan(middle, by_axis)
