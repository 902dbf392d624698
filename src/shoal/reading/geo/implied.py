"""Columns that a source has beside those of its table, and the roles they play unless somebody names others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from shoal.core.schema import ALIASES, LAT, LON, SITE, TIME, USER, X, Y
from shoal.reading.columns import plain

POINT_LON, POINT_LAT = "longitude of the point", "latitude of the point"
INDEX_TIME = "time of the index"
MOVING_OBJECT = "object of the trajectory"

_POSITION = (LAT, LON, X, Y, SITE)


def names_position(columns: Mapping[str, str] | None, *, has_sites: bool) -> bool:
    """Whether somebody says where positions come from, so that points do not matter."""
    return has_sites or any(role in (columns or {}) for role in _POSITION)


def has_position(names: Sequence[str]) -> bool:
    """Whether a table has two columns that together look like a position."""
    known = {role for role in _POSITION for name in names if plain(name) in ALIASES[role]}
    return {LAT, LON} <= known or {X, Y} <= known


def implied_columns(
    names: Sequence[str], columns: Mapping[str, str] | None, *, has_sites: bool
) -> dict[str, str]:
    """The columns that were named, and those that go without saying.

    A point is where a row is, whatever other positions the table has; an index of times is the time where no column
    is. Whoever names columns for a role knows better.
    """
    implied = {}
    if MOVING_OBJECT in names:
        implied[USER] = MOVING_OBJECT
    if INDEX_TIME in names and not any(plain(name) in ALIASES[TIME] for name in names):
        implied[TIME] = INDEX_TIME
    if POINT_LAT in names and not names_position(columns, has_sites=has_sites):
        implied |= {LAT: POINT_LAT, LON: POINT_LON}
    return {**implied, **(columns or {})}
