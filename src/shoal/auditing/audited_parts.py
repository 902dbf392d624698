"""Whose parts they are that an audit looks at, where records change their names (docs/decisions/0021-new-names.md)."""

from __future__ import annotations

from typing import NamedTuple

from shoal.core.arrays import Int64s
from shoal.core.periods import Periods


class AuditedParts(NamedTuple):
    """Person and period of every user of a context whose users are parts: user u is person[u] in period[u]."""

    person: Int64s
    period: Int64s
    periods: Periods
    n_people: int
