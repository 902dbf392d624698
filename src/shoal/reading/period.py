"""The period asked for with --from and --to."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from shoal.core.arrays import Bools, Int64s
from shoal.core.zones import Zone
from shoal.errors import InputError
from shoal.reading.iso import parse_iso


@dataclass(frozen=True)
class Period:
    """From ``start`` up to but without ``end``, in Unix seconds; None is open."""

    start: int | None
    end: int | None

    @classmethod
    def parse(cls, start: str | None, end: str | None, zone: Zone) -> Period:
        """A period from ISO 8601 texts; those without a zone are on the clock of ``zone``."""
        period = cls(_second(start, "--from", zone), _second(end, "--to", zone))
        if period.start is not None and period.end is not None and period.start >= period.end:
            raise InputError(f"--from must be earlier than --to, got {start!r} and {end!r}.")
        return period

    @property
    def limited(self) -> bool:
        """Whether anything lies outside."""
        return self.start is not None or self.end is not None

    def holds(self, seconds: Int64s) -> Bools:
        """Which times lie inside."""
        after = seconds >= (self.start if self.start is not None else -(2**63))
        before = seconds < self.end if self.end is not None else seconds >= -(2**63)
        return after & before


def _second(text: str | None, option: str, zone: Zone) -> int | None:
    if text is None:
        return None
    written = str(text).strip()
    parsed = parse_iso(pa.array([written.encode("utf-8", "replace")], pa.large_binary()))
    if not parsed.valid[0] or "." in written or "," in written:
        raise InputError(
            f"{option} must be a date or time in whole seconds, such as 2024-05-01 or 2024-05-01T06:00,"
            f" got {text!r}."
        )
    return int(parsed.seconds[0] if parsed.zoned[0] else zone.to_utc(parsed.seconds)[0])
