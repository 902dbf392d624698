"""The promise k^{tau,epsilon} and the grid it is counted in: invalid ones cannot exist."""

from __future__ import annotations

import math
import re
import sys
from dataclasses import dataclass
from datetime import timedelta
from fractions import Fraction
from numbers import Real
from typing import TYPE_CHECKING, Any, NamedTuple

from shoal.core.checks import check_count, told
from shoal.errors import ParameterError

if TYPE_CHECKING:
    import numpy as np

    Duration = str | timedelta | np.timedelta64  # a pandas Timedelta is a timedelta
else:
    Duration = object  # help needs no numpy

_SECONDS = {
    "s": 1, "sec": 1, "second": 1, "seconds": 1,
    "m": 60, "min": 60, "minute": 60, "minutes": 60,
    "h": 3600, "hour": 3600, "hours": 3600,
    "d": 86400, "day": 86400, "days": 86400,
}  # fmt: skip
DAY_S = 86_400
MOST_K = 10**15  # kernels count in 64 bits
MOST_SLOTS = 2**31 - 1  # an epoch counts its slots, and the data their epochs, in 32 bits
_METRES = {"m": Fraction(1), "km": Fraction(1000)}
_PART = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([a-z]+)\s*")
_WRITTEN = (("d", DAY_S), ("h", 3600), ("min", 60))
_NUMPY_UNITS = {
    "W": Fraction(7 * DAY_S), "D": Fraction(DAY_S), "h": Fraction(3600), "m": Fraction(60), "s": Fraction(1),
    "ms": Fraction(1, 10**3), "us": Fraction(1, 10**6), "ns": Fraction(1, 10**9), "ps": Fraction(1, 10**12),
    "fs": Fraction(1, 10**15), "as": Fraction(1, 10**18),
}  # fmt: skip


def parse_duration(given: Duration, name: str = "duration") -> Fraction:
    """Seconds of a duration such as ``30min``, ``2h``, ``90s`` or ``1h30min``, or of a timedelta of any library."""
    wanted = f"{name} must be a duration such as 30min, 2h or 90s"
    seconds = _seconds_of(given)
    if seconds is None:
        return _parse(given, _SECONDS, wanted)
    if seconds <= 0:
        raise ParameterError(f"{wanted} and more than zero, got {given!r}.")
    return seconds


def duration_text(given: Any, name: str) -> Any:
    """A timedelta as text such as ``1h30min``, so that it can be saved; anything else as it is."""
    if _seconds_of(given) is None:
        return given
    seconds = parse_duration(given, name)
    if seconds.denominator != 1:
        raise ParameterError(f"{name} must be a whole number of seconds, got {given!r}.")
    written, rest = "", int(seconds)
    for unit, size in _WRITTEN:
        number, rest = divmod(rest, size)
        written += f"{number}{unit}" if number else ""
    return written + (f"{rest}s" if rest else "")


def _seconds_of(given: object) -> Fraction | None:
    """The exact seconds of a timedelta of Python, pandas or numpy; None for anything else."""
    if isinstance(given, timedelta):
        whole = given.days * DAY_S + given.seconds
        return whole + Fraction(given.microseconds, 10**6) + Fraction(getattr(given, "nanoseconds", 0), 10**9)
    numpy = sys.modules.get("numpy")  # who has one of its timedeltas has loaded it
    if numpy is None or not isinstance(given, numpy.timedelta64):
        return None
    unit, count = numpy.datetime_data(given)
    if unit not in _NUMPY_UNITS or numpy.isnat(given):  # months are of no fixed length
        return None
    return Fraction(int(given.astype(numpy.int64)) * count) * _NUMPY_UNITS[unit]


def parse_length(text: str, name: str = "length") -> Fraction:
    """Metres of a length such as ``100m`` or ``1.5km``."""
    return _parse(text, _METRES, f"{name} must be a length such as 100m or 1km")


def in_metres(text: str, name: str) -> str:
    """A length as text in metres, so that what is published says it in one way."""
    metres = parse_length(text, name)
    if metres >= 10**8 or (metres * 1000).denominator != 1:
        raise ParameterError(f"{name} must be whole millimetres and less than 100,000 km, got {told(text)}.")
    return f"{float(metres):.11g}m"


def _parse(text: object, units: dict[str, int] | dict[str, Fraction], wanted: str) -> Fraction:
    if not isinstance(text, str):
        number = isinstance(text, Real) and not isinstance(text, bool)
        remedy = "add a unit" if number or units is not _SECONDS else "give a text or a timedelta"
        raise ParameterError(f"{wanted}, got {told(text)}: {remedy}.")
    lowered = text.strip().lower()
    total, position = Fraction(0), 0
    while (part := _PART.match(lowered, position)) and part.group(2) in units:
        total += Fraction(part.group(1)) * units[part.group(2)]
        position = part.end()
    if position == 0 or position != len(lowered):
        raise ParameterError(f"{wanted}, got {told(text)}.")
    if total <= 0:
        raise ParameterError(f"{wanted} and more than zero, got {told(text)}.")
    return total


@dataclass(frozen=True)
class Grid:
    """The finest resolution published: square cells of ``cell_m`` metres and time slots of ``step_s`` seconds."""

    cell_m: float = 100.0
    step_s: int = 60

    def __post_init__(self) -> None:
        if not (math.isfinite(self.cell_m) and self.cell_m > 0):
            raise ParameterError(f"cell must be a length of more than zero metres, got {self.cell_m}.")
        if self.step_s != int(self.step_s) or self.step_s < 1:
            raise ParameterError(f"step must be a whole number of seconds of at least 1, got {self.step_s}.")

    @classmethod
    def parse(cls, cell: str = "100m", step: Duration = "1min") -> Grid:
        """A grid from a length such as ``100m`` and a duration such as ``1min``."""
        seconds = parse_duration(step, "step")
        if seconds.denominator != 1:
            raise ParameterError(f"step must be a whole number of seconds, got {told(step)}.")
        return cls(cell_m=float(parse_length(cell, "cell")), step_s=int(seconds))

    def slots(self, duration: Duration, name: str) -> int:
        """Length of a duration in time slots; it must be a whole number of them."""
        slots = parse_duration(duration, name) / self.step_s
        if slots.denominator != 1:
            raise ParameterError(
                f"{name} must be a whole number of steps of {self.step_s} s, got {told(duration)}:"
                f" change {name} or --step."
            )
        return int(slots)

    def cells(self, length: str, name: str) -> int:
        """The fewest cells that are as long as a length together."""
        return math.ceil(parse_length(length, name) / Fraction(repr(self.cell_m)))


class PromiseSeconds(NamedTuple):
    """The lengths of a promise in seconds; ``window`` is the longest for which one record hides one person."""

    tau: int
    epsilon: int
    window: int

    @property
    def beyond_tau(self) -> int:
        """What a window holds beyond tau: epsilon where that divides tau, else more, but less than twice epsilon."""
        return self.window - self.tau


@dataclass(frozen=True)
class Promise:
    """Hide every user among k records from an attacker who followed them for tau slots, giving away epsilon more.

    ``tau`` and ``epsilon`` are whole numbers of time slots; both None is the promise over whole trajectories
    (one epoch and one window that span the data).
    """

    k: int
    tau: int | None
    epsilon: int | None

    def __post_init__(self) -> None:
        # numpy's integers are welcome, but must not spread
        object.__setattr__(self, "k", check_count(self.k, "k", least=2, most=MOST_K))
        if (self.tau is None) != (self.epsilon is None):
            raise ParameterError("tau and epsilon go together: give both, or --whole for whole trajectories.")
        for name, slots in (("tau", self.tau), ("epsilon", self.epsilon)):
            if slots is not None and (not isinstance(slots, int) or isinstance(slots, bool) or slots < 1):
                raise ParameterError(f"{name} must be a whole number of slots of at least 1, got {slots!r}.")
            if slots is not None and slots > MOST_SLOTS:
                raise ParameterError(
                    f"{name} must be at most {MOST_SLOTS:,} steps, got {slots:,}: shorten it."
                )

    @classmethod
    def parse(
        cls,
        k: int,
        tau: Duration | None = None,
        epsilon: Duration | None = None,
        *,
        grid: Grid,
        whole: bool = False,
    ) -> Promise:
        """A promise from durations such as ``30min``, or over whole trajectories."""
        if whole:
            if tau is not None or epsilon is not None:
                raise ParameterError("--whole takes no tau and no epsilon: leave them out.")
            return cls(k=k, tau=None, epsilon=None)
        if tau is None or epsilon is None:
            missing = "tau and epsilon" if tau is epsilon else ("tau" if tau is None else "epsilon")
            raise ParameterError(f"{missing} missing: give --tau and --epsilon, or --whole.")
        return cls(k=k, tau=grid.slots(tau, "tau"), epsilon=grid.slots(epsilon, "epsilon"))

    @classmethod
    def from_dict(cls, noted: dict[str, Any], grid: Grid) -> Promise:
        """The promise of which ``to_dict`` made this; a ParameterError where it is none."""
        try:
            k, tau, epsilon = noted["k"], *(_slots(noted[name], grid) for name in ("tau_s", "epsilon_s"))
        except (KeyError, TypeError):
            raise ParameterError("A promise has k, tau_s and epsilon_s, in seconds.") from None
        return cls(k, tau, epsilon)

    def to_dict(self, grid: Grid) -> dict[str, Any]:
        """k, tau and epsilon as manifests and audits note them: in seconds, None over whole trajectories."""
        seconds = self.in_seconds(grid)
        return {
            "k": self.k,
            "whole": self.whole,
            "tau_s": None if seconds is None else seconds.tau,
            "epsilon_s": None if seconds is None else seconds.epsilon,
        }

    def in_seconds(self, grid: Grid) -> PromiseSeconds | None:
        """Tau, epsilon and the window in seconds; None over whole trajectories."""
        if self.tau is None or self.epsilon is None:
            return None
        tau, epsilon = self.tau * grid.step_s, self.epsilon * grid.step_s
        return PromiseSeconds(tau, epsilon, window=(self.reach + 1) * epsilon)

    @property
    def whole(self) -> bool:
        """Whether the promise covers whole trajectories."""
        return self.epsilon is None

    def weakness(self, other: Promise) -> str | None:
        """What makes it weaker than another promise: a smaller k, a shorter tau, a longer epsilon, or None."""
        if self.k < other.k:
            return f"k = {self.k} for {other.k}"
        if self.tau is None or self.epsilon is None:
            return None
        if other.tau is None or other.epsilon is None:
            return "tau for whole trajectories"
        if self.tau < other.tau:
            return "a shorter tau"
        return "a longer epsilon" if self.epsilon > other.epsilon else None

    def counts_for(self, other: Promise) -> bool:
        """Whether the records that fit under it are enough for another: as many, and as much watched."""
        if self.k < other.k:
            return False
        return self.tau is None or (other.tau is not None and self.tau >= other.tau)

    @property
    def epsilon_divides_tau(self) -> bool:
        """Whether a window holds no more than epsilon beyond tau."""
        return self.tau is None or self.epsilon is None or self.tau % self.epsilon == 0

    def nearest_epsilons(self) -> list[int]:
        """The nearest shorter and the nearest longer epsilon, as far as there are any, that divide tau."""
        if self.tau is None or self.epsilon is None:
            return []
        small = [slots for slots in range(1, math.isqrt(self.tau) + 1) if self.tau % slots == 0]
        dividing = sorted({*small, *(self.tau // slots for slots in small)} - {self.epsilon})
        shorter = [slots for slots in dividing if slots < self.epsilon]
        longer = [slots for slots in dividing if slots > self.epsilon]
        return [*shorter[-1:], *longer[:1]]

    @property
    def window(self) -> float:
        """The slots of a window: for so long one record may hide one person. Infinite over whole trajectories."""
        return math.inf if self.epsilon is None else (self.reach + 1) * self.epsilon

    @property
    def reach(self) -> int:
        """r: a window is the epochs m .. m + r."""
        if self.tau is None or self.epsilon is None:
            return 0
        return -(-self.tau // self.epsilon)


def _slots(seconds: Any, grid: Grid) -> Any:
    if seconds is None:
        return None
    slots, rest = divmod(seconds, grid.step_s)
    if rest:
        raise ParameterError(f"{seconds} s are no whole number of steps of {grid.step_s} s.")
    return slots
