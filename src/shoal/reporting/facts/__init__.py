"""What a report tells, computed: ``precision.py`` of boxes, ``usefulness.py`` for recipients, both on the map of
``region.py``, ``people.py`` through a day, and ``datasheet.py``, which has what may be told in public."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from shoal.auditing.result import Audit
from shoal.core.reprs import sizes_only
from shoal.reporting.facts.datasheet import PublicSuppression
from shoal.reporting.facts.people import FollowedPeople
from shoal.reporting.facts.precision import PrecisionFacts
from shoal.reporting.facts.usefulness import Usefulness
from shoal.utility.squares import Frame


@dataclass(frozen=True)
class Facts:
    """Everything that the page about a release is made from.

    region: the squares of all maps. sites: of events that gave these instead of positions, in km from the corner of
    the map; none in a public report. people: None in a public report. suppression: None in any other. manifest: what
    the manifest beside the file says, None without one.
    """

    audit: Audit
    precision: PrecisionFacts
    usefulness: Usefulness
    region: Frame
    sites: list[tuple[float, float]]
    people: FollowedPeople | None
    suppression: PublicSuppression | None
    manifest: dict[str, Any] | None
    version: str
    seconds: float

    def __repr__(self) -> str:
        return sizes_only(self)
