"""Edges on a map, outside of which events are left out."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from shoal.errors import InputError, ParameterError


@dataclass(frozen=True, repr=False)
class BoundingBox:
    """West, south, east and north edge in degrees, or in metres for x and y; edges belong to it."""

    west: float
    south: float
    east: float
    north: float

    @classmethod
    def parse(cls, text: str | Sequence[float]) -> BoundingBox:
        """A box from ``W,S,E,N``."""
        wanted = ParameterError("bbox must be four numbers W,S,E,N: west, south, east and north edge.")
        try:
            edges = [float(part) for part in (text.split(",") if isinstance(text, str) else text)]
        except (TypeError, ValueError):
            raise wanted from None
        if len(edges) != 4 or not all(map(math.isfinite, edges)):
            raise wanted
        box = cls(*edges)
        if box.south > box.north:
            raise ParameterError("bbox must be W,S,E,N with S no larger than N: swap them.")
        return box

    def check(self, *, geographic: bool) -> None:
        """Refuse edges that cannot be coordinates of these events; only degrees go round the Earth."""
        if geographic:
            if not (self.south >= -90 and self.north <= 90 and max(abs(self.west), abs(self.east)) <= 180):
                raise InputError(
                    "bbox must be in degrees, as the events are: W,S,E,N from -180 to 180 and -90 to 90."
                )
        elif self.west > self.east:
            raise ParameterError("bbox must be W,S,E,N with W no larger than E: swap them.")
