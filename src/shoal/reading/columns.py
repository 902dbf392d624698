"""Which column plays which role, and what may be said of columns in a message.

The first line of a file without a header is data. So a message lists only what surely is a column's name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from shoal.core.schema import ALIASES, LAT, LON, SITE, TIME, USER, X, Y
from shoal.errors import InputError

NO_HEADER = (
    "{title} seems to have no header line: expected column names such as user, time, lat, lon"
    " in its first line; add one, or name its --format."
)
_POSITIONS: tuple[tuple[str, ...], ...] = ((LAT, LON), (X, Y), (SITE,))
_WEAK = frozenset({"id", "tid", "track_id", "trajectory_id"})  # a user only where nothing says so better
_DATA = re.compile(r"\s*|.*\d{4}.*|\W*\d[\d\W]*|.*\d[.:/,-]\d.*|.*[@{}\[\]|].*", re.DOTALL)
_NAME = re.compile(r"[^\W\d][\w .()%/#-]{0,39}")
_MOST_DIGITS = 2
_SURE = 2  # so many known names, of more than a letter, make a header
_MOST_LISTED = 12


@dataclass(frozen=True)
class Roles:
    """The column found for each role, and those that have none."""

    used: dict[str, str]
    dropped: list[str]

    @property
    def position(self) -> tuple[str, ...]:
        """The roles that give the position: (lat, lon), (x, y) or (site,)."""
        return next(kind for kind in _POSITIONS if kind[0] in self.used)


def flag(role: str) -> str:
    """The option that names the column of a role."""
    return f"--{role}-column"


def plain(name: str) -> str:
    """A column's name as it is compared: ``User ID`` is user_id."""
    return "_".join(name.lower().split())


def check_same_columns(columns: Mapping[str, str], names: Sequence[str], title: str, what: str) -> None:
    """Refuse one of several tables that lacks a column of the first; ``what``: what the tables are called."""
    lacking = [role for role, name in columns.items() if names.count(name) != 1]
    if lacking:
        raise InputError(
            f"{title} lacks the {' and '.join(lacking)} column of the first: give all {what} the same columns."
        )


def find_roles(
    names: Sequence[str], mapping: Mapping[str, str] | None, title: str, *, has_sites: bool = False
) -> Roles:
    """Find user, time and position among the columns of events."""
    finder = _Finder(names, mapping, title)
    used = {role: finder.need(role) for role in (USER, TIME)}
    position = finder.position(has_sites=has_sites)
    if position == (SITE,) and not has_sites:
        raise InputError(
            f"{title} gives positions by site only: add the table of sites (columns site and lat, lon"
            " or x, y) with --sites."
        )
    used |= {role: finder.need(role) for role in position}
    return _roles(used, names)


def find_site_roles(names: Sequence[str], title: str, *, named: bool = True) -> Roles:
    """Find position among the columns of a table of sites, and the name of the site unless it has none."""
    finder = _Finder(names, None, title, remedy="rename it.")
    position = finder.position(has_sites=False, without_site=True)
    return _roles({role: finder.need(role) for role in ((SITE, *position) if named else position)}, names)


def need_columns(names: Sequence[str], wanted: Sequence[str], title: str) -> dict[str, str]:
    """The columns of a schema that leaves no choice of names: each must be there once, others do not matter."""
    lacking = [name for name in wanted if name not in names]
    if lacking:
        mostly = len(lacking) > len(wanted) / 2  # then what it lacks says what was expected
        expected = "" if mostly else f"expected {', '.join(wanted)}; "
        another = "check which file is which, " if len(lacking) >= len(wanted) / 2 else ""
        raise InputError(
            f"{title} lacks {_joined(lacking)} among its {len(names)} columns: {expected}{another}"
            "rename its columns, or add a header line if there is none."
        )
    repeated = [name for name in wanted if names.count(name) > 1]
    if repeated:
        raise InputError(f"{title} has several columns named {' and '.join(repeated)}: rename all but one.")
    return {name: name for name in wanted}


def _joined(names: Sequence[str]) -> str:
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last


def _roles(used: dict[str, str], names: Sequence[str]) -> Roles:
    repeated = sorted({role for role, name in used.items() if list(used.values()).count(name) > 1})
    if repeated:
        raise InputError(f"One column cannot be both {' and '.join(repeated)}: name a column for each.")
    dropped = [safe_name(name, place) for place, name in enumerate(names, 1) if name not in used.values()]
    return Roles(used, dropped)


def safe_name(name: str, place: int) -> str:
    """A column's name, or its place where the name might be data."""
    return name if _is_name(name) else f"column {place}"


class _Finder:
    def __init__(
        self, names: Sequence[str], mapping: Mapping[str, str] | None, title: str, remedy: str | None = None
    ) -> None:
        self._remedy = remedy
        self._names = [str(name) for name in names]
        self._title = title
        self._mapping = {role: name for role, name in (mapping or {}).items() if name is not None}
        for role in self._mapping:
            if role not in ALIASES:
                raise InputError(f"Columns can be mapped for {', '.join(ALIASES)}, not for {role!r}.")

    def need(self, role: str) -> str:
        """The column of a role; an error where there is none, or where several could be it."""
        found = self._find(role)
        if found is None:
            raise self._missing(role)
        return found

    def position(self, *, has_sites: bool, without_site: bool = False) -> tuple[str, ...]:
        """Which roles give the position: what is mapped, else what is there."""
        kinds = _POSITIONS[:2] if without_site else _POSITIONS
        mapped = [kind for kind in kinds if any(role in self._mapping for role in kind)]
        if len(mapped) > 1:
            options = " and ".join(flag(role) for kind in mapped for role in kind if role in self._mapping)
            raise InputError(
                f"Positions come from lat and lon, or x and y, or site: {options} do not go together."
            )
        if mapped:
            return mapped[0]
        if has_sites:
            return (SITE,)
        there = [kind for kind in kinds if all(self._candidates(role) for role in kind)]
        if (LAT, LON) in there and (X, Y) in there:
            raise InputError(
                f"{self._title} has both lat, lon and x, y: choose with --lat-column and --lon-column,"
                " or with --x-column and --y-column."
            )
        if there:
            return there[0]
        begun = [kind for kind in kinds if any(self._candidates(role) for role in kind)]
        if begun:
            return begun[0]  # the half that is missing will be named
        raise self._no_position(without_site=without_site)

    def _candidates(self, role: str) -> list[str]:
        if role in self._mapping:
            return [name for name in self._names if name == self._mapping[role]]
        mapped = set(self._mapping.values())
        aliases = ALIASES[role]
        return [name for name in self._names if plain(name) in aliases and name not in mapped]

    def _find(self, role: str) -> str | None:
        candidates = self._candidates(role)
        exact = [name for name in candidates if plain(name) == role]
        strong = [name for name in candidates if plain(name) not in _WEAK]
        for chosen in (exact, strong, candidates):
            if len(chosen) == 1:
                return chosen[0]
            if chosen and len(set(chosen)) == 1:
                raise InputError(
                    f"{self._title} has {len(chosen)} columns named {chosen[0]!r}: rename all but one."
                )
            if chosen:
                raise InputError(
                    f"Columns {', '.join(chosen)} could each be the {role}: choose one with {flag(role)}."
                )
        return None

    def _missing(self, role: str) -> InputError:
        wanted = self._mapping.get(role, role)
        remedy = f"name it with {flag(role)}." if wanted == role else f"check {flag(role)}."
        remedy = self._remedy or remedy
        return self._unfound(f"No column {wanted!r}", remedy)

    def _no_position(self, *, without_site: bool) -> InputError:
        kinds = "lat and lon, or x and y" + ("" if without_site else ", or site with --sites")
        remedy = (
            "rename them." if without_site else "name them with --lat-column and --lon-column, or the like."
        )
        return self._unfound("No position", f"expected {kinds}; {remedy}")

    def _unfound(self, what: str, remedy: str) -> InputError:
        known = sum(any(len(name) > 1 for name in self._candidates(role)) for role in ALIASES)
        like_data = any(_DATA.fullmatch(name) for name in self._names)
        if any(_is_number(name) for name in self._names) or (like_data and known < _SURE):
            return InputError(NO_HEADER.format(title=self._title))
        if known < _SURE:
            return InputError(
                f"{what} in {self._title}, and few of its {len(self._names)} columns have names that"
                f" shoal knows: {remedy[:-1]}, or add a header line if there is none."
            )
        return InputError(f"{what} among {_listed(self._names)}: {remedy}")


def _is_number(name: str) -> bool:
    return bool(re.search(r"\d", name)) and not re.search(r"[^\W\dTZ_]", name)


def _is_name(name: str) -> bool:
    digits = sum(letter.isdigit() for letter in name)
    return digits <= _MOST_DIGITS and bool(_NAME.fullmatch(name)) and not _DATA.fullmatch(name)


def _listed(names: Iterable[str]) -> str:
    everything = list(names)
    listed = [name for name in everything if _is_name(name)][:_MOST_LISTED]
    others = len(everything) - len(listed)
    if not listed:
        return f"{others} columns"
    return ", ".join(listed) + (f" and {others} more" if others else "")
