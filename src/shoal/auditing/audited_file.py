"""Which file an audit is about: its name, its checksum and the time it covers, so that a page cannot be mistaken."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from shoal.core.boxes import Boxes
from shoal.core.promise import Grid
from shoal.core.zones import Zone
from shoal.storage.files import sha256_of


class AuditedFile(NamedTuple):
    """The published file under audit; name and checksum are None for a table in memory.

    sha256: of the published file, which is public. first, last: the days its boxes begin and end on, in the time zone
    of the audit. audited: the day of the audit; version: of shoal.
    """

    name: str | None
    sha256: str | None
    first: str
    last: str
    audited: str
    version: str

    @property
    def period(self) -> str:
        """From which day to which, or the only day."""
        return self.first if self.first == self.last else f"{self.first} to {self.last}"

    @property
    def name_and_period(self) -> str:
        """What the file is called, and of which days it is."""
        return f"{self.name or 'a table in memory'}, {self.period}"

    @property
    def when_audited(self) -> str:
        """Date and version of the audit."""
        return f"audited on {self.audited} with shoal {self.version}"

    def in_words(self) -> str:
        """Name and period of the file, date and version of the audit; the checksum stands on a line of its own."""
        return f"{self.name_and_period}; {self.when_audited}"


def describe_file(published: Any, boxes: Boxes, grid: Grid, zone: Zone) -> AuditedFile:
    """Name a published file, and say of which days its boxes are."""
    path = Path(published) if isinstance(published, str | os.PathLike) else None
    sha256 = sha256_of(path) if path is not None and path.is_file() else None
    first, last = (_day(int(slot) * grid.step_s, zone) for slot in (boxes.t0.min(), boxes.t1.max()))
    today = datetime.now(UTC).date().isoformat()
    return AuditedFile(None if path is None else path.name, sha256, first, last, today, version("shoal"))


def _day(second: int, zone: Zone) -> str:
    """The day of a Unix second on a zone's clock; the day's number where the calendar does not reach that far."""
    local = int(zone.from_utc(np.array([second]))[0])
    try:
        return datetime.fromtimestamp(local, UTC).date().isoformat()
    except (ValueError, OverflowError, OSError):
        return f"day {local // 86_400}"
