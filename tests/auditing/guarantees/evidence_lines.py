"""The evidence of a release as lines that tests can change, and lines as evidence."""

from __future__ import annotations

from typing import Any

import numpy as np

from shoal.auditing.context import AuditContext
from shoal.reading import HidingEvidence
from support.release_worlds import Release

Line = tuple[int, int, Any, Any, bool]


def lines_of(made: Release, users: list[Any]) -> list[Line]:
    """The lines of evidence of a release: begin, end, user, owner, and whether it is a witness's."""
    return [
        (part.begin, part.end, users[member], users[owner], part.in_epoch)
        for part in made.outcome.hidden()
        for owner, member in zip(part.owners.tolist(), part.members.tolist(), strict=True)
    ]


def evidence_of(lines: list[Any], users: list[Any], context: AuditContext) -> HidingEvidence:
    own = context.published.own
    columns = list(zip(*lines, strict=True)) or [()] * 5
    return HidingEvidence(
        np.array(columns[0], np.int64),
        np.array(columns[1], np.int64),
        np.array([users.index(user) for user in columns[2]], np.int32),
        np.array([own[users.index(owner)] for owner in columns[3]], np.int32),
        np.array(columns[4], np.bool_),
    )
