"""Which column plays which role, and what may be said of columns in a message.

The first line of a file without a header is data. So a message lists only what surely is a column's name.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from shoal.core.checks import told
from shoal.core.formatting import counted, joined
from shoal.core.schema import ALIASES, LAT, LON, SITE, TIME, USER, X, Y
from shoal.errors import InputError

NO_HEADER = (
    "{title} seems to have no header line: expected column names such as user, time, lat, lon"
    " in its first line; add one, or name its --format."
)
IN_MEMORY = "The table"  # the title of a table that is no file
_NAMES_LIKE_DATA = (
    "{title} has names of columns that look like data: expected user, time, lat, lon or the like; rename them"
    " (rename() of a frame)."
)
_USERS_AS_COLUMNS = (
    "{lacks} in {title}, and {n} of its {columns} look like users: turn it into rows of user, time and position, as"
    " melt() of pandas does."
)
_SEVERAL = 5  # columns that are named alike but for a number: u-1, u-2, ...
_POSITIONS: tuple[tuple[str, ...], ...] = ((LAT, LON), (X, Y), (SITE,))
_WEAK = frozenset({"id", "tid", "track_id", "trajectory_id"})  # a user only where nothing says so better
_DATA = re.compile(r"\s*|.*\d{4}.*|\W*\d[\d\W]*|.*\d[.:/,-]\d.*|.*[@{}\[\]|].*", re.DOTALL)
_NAME = re.compile(r"[^\W\d][\w .()%/#-]{0,39}")
_MOST_DIGITS = 2
_SURE = 2  # so many known names, of more than a letter, make a header
_MOST_LISTED = 12
_ALIKE = 0.75  # how much a name must look like the one wanted, from 0 to 1
_FEWEST = 3  # columns that events have: user, time and site
POSITION = "position"  # in place of roles where nothing says where a row is
# What names of columns often hold, in several languages: only to propose one, never to choose it.
_WORDS: dict[str, tuple[str, ...]] = {
    USER: ("user", "subscr", "msisdn", "imsi", "abonn", "client", "customer", "person", "caller", "calling", "phone",
           "mobile", "numero", "number", "nummer", "device", "imei", "sim", "uid", "kunde", "usuario", "utente"),
    TIME: ("timestamp", "datetime", "horodat", "time", "date", "fecha", "stamp", "zeit", "heure", "hora", "ts"),
    LAT: ("lat", "breite"),
    LON: ("lon", "lng", "laenge", "länge"),
    X: ("x",),
    Y: ("y",),
    SITE: ("site", "cell", "antenn", "tower", "bts", "lac"),
}  # fmt: skip


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


def is_user_name(name: object) -> bool:
    """Whether a name can only be that of a column of users."""
    return isinstance(name, str) and plain(name) in ALIASES[USER] and plain(name) not in _WEAK


def check_same_columns(columns: Mapping[str, str], names: Sequence[str], title: str, what: str) -> None:
    """Refuse one of several tables that lacks a column of the first; ``what``: what the tables are called."""
    lacking = [role for role, name in columns.items() if names.count(name) != 1]
    if lacking:
        raise InputError(
            f"{title} lacks the {' and '.join(lacking)} column of the first: give all {what} the same columns."
        )


class AmbiguousColumnsError(InputError):
    """Several columns, ``candidates``, could each be that of a role."""

    def __init__(self, role: str, candidates: Sequence[str]) -> None:
        super().__init__(
            f"Columns {', '.join(candidates)} could each be the {role}: choose one with {flag(role)}."
        )
        self.role = role
        self.candidates = tuple(candidates)


class MissingColumnsError(InputError):
    """Columns that events need and do not have: all of them, what is there, and what might be meant.

    ``closest`` has a column for those roles of which one comes close.
    """

    def __init__(self, message: str, missing: Sequence[str], closest: Mapping[str, str]) -> None:
        super().__init__(message)
        self.missing = tuple(missing)
        self.closest = dict(closest)


def find_roles(
    names: Sequence[str],
    mapping: Mapping[str, str] | None,
    title: str,
    *,
    has_sites: bool = False,
    names_recur: bool = False,
    numeric: Collection[str] = (),
) -> Roles:
    """Find user, time and position among the columns of events; all that is missing is told at once.

    ``names_recur``: whether a row has the same values, so that the names may be data. ``numeric``: the columns known to
    hold numbers; many unknown ones may be users, whose places stand in a column for each.
    """
    finder = _Finder(names, mapping, title, names_recur=names_recur, numeric=numeric)
    used = {role: finder.find(role) for role in (USER, TIME)}
    position = finder.position(has_sites=has_sites)
    used |= {role: finder.find(role) for role in position or ()}
    found = {role: name for role, name in used.items() if name is not None}
    missing = [role for role in used if role not in found]
    if missing or not position:
        raise finder.missing(missing if position else [*missing, POSITION])
    if position == (SITE,) and not has_sites:
        raise InputError(
            f"{title} gives positions by site only: add the table of sites (columns site and lat, lon"
            " or x, y) with --sites."
        )
    return _roles(found, names, finder.people)


def find_site_roles(names: Sequence[str], title: str, *, named: bool = True) -> Roles:
    """Find position among the columns of a table of sites, and the name of the site unless it has none."""
    finder = _Finder(names, None, title, renamed=True)
    position = finder.position(has_sites=False, without_site=True)
    used = {role: finder.find(role) for role in ((SITE, *position) if named else position)}
    found = {role: name for role, name in used.items() if name is not None}
    missing = [role for role in used if role not in found]
    if missing or not position:
        raise finder.missing(missing if position else [POSITION])
    return _roles(found, names, finder.people)


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


def _roles(used: dict[str, str], names: Sequence[str], people: Collection[str]) -> Roles:
    repeated = sorted({role for role, name in used.items() if list(used.values()).count(name) > 1})
    if repeated:
        raise InputError(f"One column cannot be both {' and '.join(repeated)}: name a column for each.")
    dropped = [
        f"column {place}" if name in people else safe_name(name, place)
        for place, name in enumerate(names, 1)
        if name not in used.values()
    ]
    return Roles(used, dropped)


def safe_name(name: str, place: int) -> str:
    """A column's name, or its place where the name might be data."""
    return name if _is_name(name) else f"column {place}"


def shown_names(
    names: Sequence[str], *, names_recur: bool = False, numeric: Collection[str] = ()
) -> list[str]:
    """The names of columns as they may be shown: only their places where they may be data, or users."""
    finder = _Finder(names, None, "", names_recur=names_recur, numeric=numeric)
    return [
        safe_name(str(name), place) if finder.sure and str(name) not in finder.people else f"column {place}"
        for place, name in enumerate(names, 1)
    ]


def _like_users(names: Sequence[str], numeric: Collection[str]) -> frozenset[str]:
    """Names that may be users: several that differ by a number only, or many unknown columns of numbers."""
    known = {alias for aliases in ALIASES.values() for alias in aliases}
    unknown = [name for name in names if plain(name) not in known]
    shapes = {name: re.sub(r"\d+", "9", name) for name in unknown if re.search(r"\d", name)}
    often = {shape for shape, times in Counter(shapes.values()).items() if times >= _SEVERAL}
    people = {name for name, shape in shapes.items() if shape in often}
    numbers = [name for name in unknown if name in numeric]
    return frozenset(people.union(numbers if len(numbers) > _MOST_LISTED else ()))


class _Finder:
    """Looks for the columns of roles; ``renamed``: whether columns must be renamed, as no option can name them."""

    def __init__(
        self,
        names: Sequence[str],
        mapping: Mapping[str, str] | None,
        title: str,
        *,
        renamed: bool = False,
        numeric: Collection[str] = (),
        names_recur: bool = False,
    ) -> None:
        self._renamed = renamed
        self._recur = names_recur
        self._names = [str(name) for name in names]
        self._title = title
        self.people = _like_users(self._names, numeric)
        self._mapping = {role: name for role, name in (mapping or {}).items() if name is not None}
        for role in self._mapping:
            if role not in ALIASES:
                raise InputError(f"Columns can be mapped for {', '.join(ALIASES)}, not for {told(role)}.")

    def position(self, *, has_sites: bool, without_site: bool = False) -> tuple[str, ...]:
        """Which roles give the position: what is mapped, else what is there; none where nothing is."""
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
        return begun[0] if begun else ()  # the half that is missing will be named

    def _candidates(self, role: str) -> list[str]:
        if role in self._mapping:
            return [name for name in self._names if name == self._mapping[role]]
        mapped = set(self._mapping.values())
        aliases = ALIASES[role]
        return [name for name in self._names if plain(name) in aliases and name not in mapped]

    def find(self, role: str) -> str | None:
        """The column of a role; None where there is none, an error where several could be it."""
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
                raise AmbiguousColumnsError(role, chosen)
        return None

    def missing(self, roles: Sequence[str]) -> InputError:
        """What to say of columns that are not there."""
        lacks = joined(
            [f"{'no' if place else 'No'} {self._called(role)}" for place, role in enumerate(roles)]
        )
        title, columns = self._title.replace(IN_MEMORY, "the table"), counted(len(self._names), "column")
        if self.people and USER in roles and USER not in self._mapping:
            n = len(self.people)
            return InputError(_USERS_AS_COLUMNS.format(lacks=lacks, title=title, n=n, columns=columns))
        if self._like_data:
            unlike = _NAMES_LIKE_DATA if self._title == IN_MEMORY else NO_HEADER
            return InputError(unlike.format(title=self._title))
        for role in roles:
            other = self._taken_for(role)
            if other is not None:
                name = self._mapping[other]
                return InputError(
                    f"Column {told(name)} is named for {other} with {flag(other)}, and nothing else gives {role}: name"
                    f" another there, or give {role} with {flag(role)}."
                )
        if not self.sure:
            remedy = (
                self._remedy(roles, {}) if len(roles) == 1 else "name them with --user-column and the like"
            )
            return InputError(
                f"{lacks} in {title}, and few of its {columns} have names that shoal knows:"
                f" {remedy}, or add a header line if there is none."
            )
        closest = self._closest(roles)
        remedy = self._remedy(roles, closest)
        return MissingColumnsError(
            f"{lacks} among {_listed(self._names, self.people)}: {remedy}.", roles, closest
        )

    def _taken_for(self, role: str) -> str | None:
        """The other role for which somebody named the column that would be this role's."""
        if role in self._mapping or role not in ALIASES:
            return None
        there = set(self._names)
        taken = (
            other for other, name in self._mapping.items() if name in there and plain(name) in ALIASES[role]
        )
        return next(taken, None)

    @property
    def sure(self) -> bool:
        """Whether the names are names: some are known, or they can be nothing else, since a row of events has a time,
        and so a number."""
        if self._like_data:
            return False
        others = not self._recur and len(self._names) >= _FEWEST and all(map(_is_name, self._names))
        return self._n_known >= _SURE or others

    @property
    def _n_known(self) -> int:
        return sum(any(len(name) > 1 for name in self._candidates(role)) for role in ALIASES)

    @property
    def _like_data(self) -> bool:
        """Whether the names look like a row."""
        if any(_is_number(name) for name in self._names):
            return True
        return self._n_known < _SURE and any(_DATA.fullmatch(name) for name in self._names)

    def _called(self, role: str) -> str:
        return POSITION if role == POSITION else f"column {told(self._mapping.get(role, role))}"

    def _remedy(self, roles: Sequence[str], closest: Mapping[str, str]) -> str:
        """What to do about missing roles, and which columns come close."""
        several, (first, *_) = len(roles) > 1, roles
        if self._renamed:
            kinds = "expected lat and lon, or x and y; " if POSITION in roles else ""
            return f"{kinds}rename {'them' if several or kinds else 'it'}"
        options = joined([each for role in roles for each in self._options(role, closest)])
        if several:
            return f"name them with {options}" + (", or the like" if POSITION in roles else "")
        if first == POSITION:
            return f"expected lat and lon, or x and y, or site with --sites; name them with {options}, or the like"
        return f"{'check' if first in self._mapping else 'name it with'} {options}"

    def _options(self, role: str, closest: Mapping[str, str]) -> list[str]:
        """The options that name a role's columns, each with the column that comes close."""
        wanted = (LAT, LON) if role == POSITION else (role,)
        return [flag(each) + (f" (closest: {closest[each]})" if each in closest else "") for each in wanted]

    def _closest(self, roles: Sequence[str]) -> dict[str, str]:
        """A column that may be meant for each role, of those that have no other; not every role gets one."""
        taken = {name for role in ALIASES if role not in roles for name in self._candidates(role)}
        free = [
            name for name in self._names if name not in taken and name not in self.people and _is_name(name)
        ]
        closest: dict[str, str] = {}
        wanted = (LAT, LON) if POSITION in roles else ()
        for role in [role for role in (*roles, *wanted) if role != POSITION]:
            found = _similar(self._mapping.get(role, role), role, free)
            if found is not None:
                closest[role] = found
                free.remove(found)
        return closest


def _similar(wanted: str, role: str, names: Sequence[str]) -> str | None:
    """The name that is written most like the one wanted, or like one of a role, or holds a word that goes with it."""
    plain_names = {plain(name): name for name in names}
    for written in (wanted, *ALIASES[role]):
        for near in get_close_matches(plain(written), plain_names, 1, _ALIKE) if len(written) > 2 else ():
            return plain_names[near]
    for word in _WORDS[role]:
        for near, name in plain_names.items():
            if word in (re.split(r"[\W_]", near) if len(word) < 3 else near):
                return name
    return None


def _is_number(name: str) -> bool:
    return bool(re.search(r"\d", name)) and not re.search(r"[^\W\dTZ_]", name)


def _is_name(name: str) -> bool:
    digits = sum(letter.isdigit() for letter in name)
    return digits <= _MOST_DIGITS and bool(_NAME.fullmatch(name)) and not _DATA.fullmatch(name)


def _listed(names: Iterable[str], people: Collection[str]) -> str:
    everything = list(names)
    listed = [name for name in everything if _is_name(name) and name not in people][:_MOST_LISTED]
    others = len(everything) - len(listed)
    if not listed:
        return f"{others} columns"
    return ", ".join(listed) + (f" and {others} more" if others else "")
