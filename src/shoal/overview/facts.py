"""Everything a report tells, in one place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from shoal.auditing.result import Audit
from shoal.overview.people import People
from shoal.overview.precision import Precision
from shoal.overview.suppression import PublicSuppression
from shoal.overview.usefulness import Usefulness


@dataclass(frozen=True)
class Facts:
    """What was found out about a release.

    people: None in a report that is to be published. suppression: in one of those only.
    manifest: what the file's own manifest says, None without one.
    """

    audit: Audit
    precision: Precision
    usefulness: Usefulness
    people: People | None
    suppression: PublicSuppression | None
    manifest: dict[str, Any] | None
    version: str
    seconds: float
