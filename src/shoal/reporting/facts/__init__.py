"""What a report tells, computed: precision by size, hour and area, and a few people followed through a day."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from shoal.auditing.result import Audit
from shoal.reporting.facts.datasheet import PublicSuppression
from shoal.reporting.facts.people import FollowedPeople
from shoal.reporting.facts.precision import PrecisionFacts
from shoal.reporting.facts.usefulness import Usefulness


@dataclass(frozen=True)
class Facts:
    """What was found out about a release.

    people: None in a report that is to be published. suppression: in one of those only.
    manifest: what the file's own manifest says, None without one.
    """

    audit: Audit
    precision: PrecisionFacts
    usefulness: Usefulness
    people: FollowedPeople | None
    suppression: PublicSuppression | None
    manifest: dict[str, Any] | None
    version: str
    seconds: float
