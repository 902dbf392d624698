"""What users may choose: every option of reading, promising, hiding and auditing, each in one place.

A field of these dataclasses is an option of the command, a keyword of the Python functions, an entry of a configuration
and, where it decides the boxes, a part of a checkpoint's identity and of the manifest. The ``...Keywords`` beside each
class are the same names for type checkers. Invalid options cannot be constructed. Nothing here needs numpy, so that
help appears at once.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from importlib.util import find_spec
from numbers import Real
from pathlib import Path
from typing import Any, NamedTuple, Self, TypedDict

from shoal.core.bounding_box import BoundingBox
from shoal.core.checks import check_count, told
from shoal.core.formatting import duration
from shoal.core.option_fields import Options, choice
from shoal.core.period_text import NEVER, parse_period
from shoal.core.promise import Duration, Grid, Promise, duration_text, in_metres, parse_duration
from shoal.core.time_format import TimeFormat
from shoal.errors import ParameterError

FORMAT_NAMES = (
    "cabspotting", "d4d-ivory-coast", "d4d-senegal", "foursquare", "geolife", "gpx", "mpat", "porto", "sessions",
    "shanghai-telecom", "snap", "t-drive", "yjmob", "table",
)  # fmt: skip
MISSING_USERS = ("NULL", "NA", "NaN", "None", "-")
ROLES = ("user", "time", "lat", "lon", "x", "y", "site")

HARDEN_DEFAULT = 1  # boxes cost at most a quarter more
HARDEN_MOST = 3
HARDEN_MOST_REACH = 5  # r beyond which there are too many windows to link
_SMALLEST_SHARD = 100  # users: among fewer, partners run out within days
TOLERANCE = 0.01  # of the members: for so many guarantee 2 may be weakened before an audit fails a file
MODERATE = 0.09  # of attacks: the bound that EMA (policy 0070) and Health Canada set for public releases
HIGH = 0.33  # of attacks: as if hidden among fewer than three

MACHINE = "a matter of the machine"  # and hence in no file of settings

_MOST_ATTACKS = 1_000_000
_SELECTS = ("select", "with", "values", "from")  # how SQL that reads rows begins; from: in DuckDB
_TAU = "How long an attacker may have followed somebody, e.g. 30min."
_EPSILON = "How much more they may learn, e.g. 30min."
_WHOLE = "Hide whole trajectories instead; no tau, no epsilon."


class SelectorName(StrEnum):
    """How hiding sets are chosen."""

    MATCHING = "matching"  # the cheapest permutations of users with equal presence patterns
    MUTUAL = "mutual"  # full consistency: groups of k users who all hide each other
    SPECTRAL = "spectral"  # the paper's way: greedy cycles inside clusters; guarantee 1 only once repaired


class Reuse(StrEnum):
    """When an owner may have the same member again."""

    ONCE = "once"  # the ordered pair (owner, member) serves in one window only
    PAIR = "pair"  # the unordered pair does
    SPACED = "spaced"  # again after 2r + 1 windows; guarantee 2 is not given


class ReadingKeywords(TypedDict, total=False):
    """ReadingOptions as keywords of a function."""

    columns: Mapping[str, str] | None
    sites: Any
    format: str | None
    timezone: str | None
    time_format: str | None
    start: str | date | None
    end: str | date | None
    missing_user: str | Sequence[str] | None
    exclude_users: str | Path | Iterable[str] | None
    bbox: str | Sequence[float] | None
    min_days_active: int | None
    resample: Duration | None
    query: str | None


@dataclass(frozen=True)
class ReadingOptions(Options):
    """How events are read; None chooses nothing.

    columns: from roles (user, time, lat, lon, x, y, site) to names of columns. sites: a path or a table, for events
    with a site instead of a position. format: a format of docs/formats.md, recognised where there is no doubt.
    timezone: of times without one, and of hours of the day; the format's, or UTC. time_format: how times are written,
    as for strptime; recognised where there is no doubt. start, end: ISO 8601, half open. missing_user: what stands for
    no user, in a list with commas; NULL, NA, NaN, None and - unless given. exclude_users: names, or a file with one
    name per line. bbox: W,S,E,N in degrees, or in metres for x and y.
    min_days_active: users with events on fewer days are left out. resample: only the first sample of each user in each
    period is kept. query: the SELECT that gives the rows of an SQLite or DuckDB file; its only table unless given.
    """

    columns: Mapping[str, str] | None = choice(None, "Names of columns", name="--user-column and the like")
    sites: Any = choice(
        None,
        "Table of sites, for events with a site instead of a position.",
        kind=Path,
        shown=False,
        kept_out="a path",
    )
    format: str | None = choice(
        None, f"What the events are, unless recognised: {', '.join(FORMAT_NAMES)}.", metavar="NAME"
    )
    timezone: str | None = choice(
        None,
        "Zone of times that come without one, and of hours of the day; that of the format, or UTC, unless given.",
    )
    time_format: str | None = choice(
        None, "How times are written, unless recognised, e.g. '%d/%m/%Y %H:%M'.", metavar="PATTERN"
    )
    start: str | None = choice(None, "Leave out events before this time.", name="--from")
    end: str | None = choice(None, "Leave out events from this time on.", name="--to")
    missing_user: str | Sequence[str] | None = choice(
        None,
        f"What stands for no user, besides an empty cell: {','.join(MISSING_USERS)} unless given.",
        metavar="LIST",
    )
    exclude_users: str | Path | Iterable[str] | None = choice(
        None,
        "File with one user per line to leave out.",
        kind=Path,
        shown=False,
        kept_out="a list of people, or a path to one",
    )
    bbox: str | Sequence[float] | None = choice(
        None, "Leave out events elsewhere: degrees, or metres for x and y.", metavar="W,S,E,N", shown=False
    )
    min_days_active: int | None = choice(
        None, "Leave out users with events on fewer days (of the time zone)."
    )
    resample: str | None = choice(
        None, "Keep the first sample of each user in each period, e.g. 5min.", metavar="PERIOD"
    )
    query: str | None = choice(
        None,
        "SELECT that gives the rows of an SQLite or DuckDB file; its only table unless given.",
        metavar="SQL",
        shown=False,
        kept_out="a query, which may name people",
    )

    def __post_init__(self) -> None:
        if self.columns is not None and not isinstance(self.columns, Mapping):
            raise ParameterError(
                "columns must map roles to names of columns, such as {'user': 'who', 'time': 'when'}, got"
                f" {told(self.columns)}."
            )
        _save_as_text(self, "resample")
        for name in ("start", "end"):
            object.__setattr__(self, name, _moment_text(getattr(self, name)))
        if self.min_days_active is not None:
            check_count(self.min_days_active, "--min-days-active", least=1)
        seconds = None if self.resample is None else parse_duration(self.resample, "resample")
        if seconds is not None and seconds.denominator != 1:
            raise ParameterError(f"resample must be a whole number of seconds, got {self.resample!r}.")
        if self.bbox is not None:
            BoundingBox.parse(self.bbox)
        if self.query is not None and not _is_select(self.query):
            raise ParameterError("query must be one SELECT in SQL: give what gives the rows of the events.")
        if self.time_format is not None:
            TimeFormat.parse(self.time_format)
        if not isinstance(self.missing_user, str) and not all(
            isinstance(name, str) for name in self.missing_user or ()
        ):
            raise ParameterError("missing user must be texts, in a list or with commas between them.")

    @property
    def bounding_box(self) -> BoundingBox | None:
        """What lies elsewhere is left out."""
        return None if self.bbox is None else BoundingBox.parse(self.bbox)

    @property
    def resample_s(self) -> int | None:
        """The period of which one sample is kept, in seconds."""
        return None if self.resample is None else int(parse_duration(self.resample, "resample"))

    @property
    def time_pattern(self) -> TimeFormat | None:
        """How times are written, where somebody says it."""
        return None if self.time_format is None else TimeFormat.parse(self.time_format)

    @property
    def missing_users(self) -> frozenset[str]:
        """What stands for no user, in lower case."""
        given = MISSING_USERS if self.missing_user is None else self.missing_user
        names = given.split(",") if isinstance(given, str) else given
        return frozenset(name.strip().lower() for name in names if name.strip())

    @property
    def files(self) -> list[Path]:
        """The files that are read beside the events."""
        return [Path(given) for given in (self.sites, self.exclude_users) if isinstance(given, str | Path)]


def _is_select(query: object) -> bool:
    """Whether a text begins as SQL that reads rows does, behind comments and brackets."""
    if not isinstance(query, str):
        return False
    begins = re.match(r"(?:\s|--[^\n]*\n|/\*.*?\*/|\()*(\w+)", query, re.DOTALL)
    return begins is not None and begins.group(1).lower() in _SELECTS


class PromiseKeywords(TypedDict, total=False):
    """PromiseOptions as keywords of a function."""

    k: int
    tau: Duration | None
    epsilon: Duration | None
    whole: bool
    cell: str
    step: Duration


@dataclass(frozen=True)
class PromiseOptions(Options):
    """What is promised, and on which grid: k with tau and epsilon such as 30min, or with whole trajectories."""

    k: int = choice(dataclasses.MISSING, "Hide everybody among at least k records.")
    tau: str | None = choice(None, _TAU)
    epsilon: str | None = choice(None, f"{_EPSILON[:-1]}; divides tau.")
    whole: bool = choice(False, _WHOLE)
    cell: str = choice("100m", "Finest resolution in space.")
    step: str = choice("1min", "Finest resolution in time.")

    def __post_init__(self) -> None:
        _save_as_text(self, "tau", "epsilon", "step")
        check_epsilon(self.promise, self.grid)

    @property
    def grid(self) -> Grid:
        """The finest resolution published."""
        return Grid.parse(self.cell, self.step)

    @property
    def promise(self) -> Promise:
        """The promise, counted in steps of the grid."""
        return Promise.parse(self.k, self.tau, self.epsilon, grid=self.grid, whole=self.whole)


def check_epsilon(promise: Promise, grid: Grid) -> None:
    """Refuse to make a release with an epsilon that does not divide tau: it would give away more than epsilon."""
    seconds = promise.in_seconds(grid)
    if seconds is None or promise.epsilon_divides_tau:
        return
    nearest = " or ".join(duration(slots * grid.step_s) for slots in promise.nearest_epsilons())
    raise ParameterError(
        f"epsilon must divide tau, got {duration(seconds.epsilon)} for {duration(seconds.tau)}, with which a window"
        f" holds {duration(seconds.beyond_tau)} beyond tau: use {nearest}, or another tau."
    )


class HidingKeywords(TypedDict, total=False):
    """HidingOptions as keywords of a function."""

    selector: str | None
    repair: bool
    reuse: str
    space_weight: float
    seed: int
    shard_size: int
    harden: int | None
    rename_every: Duration
    min_spread: str | None


@dataclass(frozen=True)
class HidingOptions(Options):
    """How the promise is kept: what it costs, and with the paper's selector also whether it holds.

    selector: None until for_promise() has chosen, mutual over whole trajectories, else matching. repair: suppress until
    nobody relies on what was suppressed; only for the paper's selector (docs/decisions/0009-spectral.md). space_weight:
    the exponent p of space in the cost of a box. shard_size: among how many users of a window hiding sets are chosen at
    most. harden: 0 to 3, how seldom linking windows may single out (docs/hardening.md); None until
    for_promise() has chosen. rename_every: after which time records get new names (docs/new-names.md), a part of a day
    or whole days, or "never". min_spread: how long the longer side of every box is at least, because people in it were
    so far apart. leak_price: what to pay for an epoch less that leaks by accident, in cheapest edges, 0 for nothing
    (docs/decisions/0006-leakage.md). forget_served: whether who hid whom before a border counts no longer behind it
    (docs/decisions/0021-new-names.md). The last two are not offered to users.
    """

    selector: SelectorName | None = choice(
        None,
        "How hiding sets are chosen: matching (unless given); mutual (with --whole unless given), in groups of k who"
        " all hide each other; or spectral as in the paper.",
        kind=str,
        decides_boxes=True,
        public=True,
    )
    repair: bool = choice(
        False,
        "With spectral: suppress more, until everybody is hidden among k records.",
        decides_boxes=True,
        public=True,
    )
    reuse: Reuse = choice(
        Reuse.ONCE,
        "How often two users may hide each other: once, pair or spaced.",
        kind=str,
        decides_boxes=True,
        public=True,
    )
    space_weight: float = choice(
        1.0,
        "1: space and time count alike; 2 buys precision in space with precision in time.",
        metavar="NUMBER",
        decides_boxes=True,
        public=True,
    )
    seed: int = choice(0, "Breaks ties; the same seed gives the same boxes.", decides_boxes=True)
    shard_size: int = choice(
        5_000,
        "Among how many users of a place and time one is hidden at most, 100 or more: fewer take less time and cost"
        " precision.",
        decides_boxes=True,
        public=True,
    )
    harden: int | None = choice(
        None,
        "How seldom linking windows may single out: 0 whatever comes, 1 (unless given), 2 and 3 aim at 10, 5 and 2 % of"
        " attacks; with matching.",
        metavar="LEVEL",
        decides_boxes=True,
        public=True,
    )
    rename_every: str = choice(
        NEVER,
        "Give everybody a new name each period, e.g. 1d or 6h, so that whoever finds a record reads no more than that;"
        " never unless given.",
        metavar="PERIOD",
        decides_boxes=True,
    )
    min_spread: str | None = choice(
        None,
        "How far apart people of a group were at least in every box, e.g. 1km; goes with --whole and selector mutual.",
        metavar="DISTANCE",
        decides_boxes=True,
        public=True,
    )
    leak_price: float = 0.8
    forget_served: bool = True

    def __post_init__(self) -> None:
        self._check_selector()
        _save_as_text(self, "rename_every")
        parse_period(self.rename_every)
        if str(self.reuse) not in list(Reuse):
            raise ParameterError(f"reuse must be one of {', '.join(Reuse)}, got {told(self.reuse)}.")
        if not isinstance(self.space_weight, Real) or not 0 <= self.space_weight <= 4:
            raise ParameterError(
                f"--space-weight must be a number from 0 to 4, got {told(self.space_weight)}."
            )
        exact = {
            "space_weight": float(self.space_weight),
            "selector": None if self.selector is None else SelectorName(self.selector),
            "reuse": Reuse(self.reuse),
            "repair": bool(self.repair),
            "seed": check_count(self.seed, "seed", least=0),
            "shard_size": check_count(self.shard_size, "--shard-size", least=1),
            "harden": None if self.harden is None else _check_harden(self.harden),
            "min_spread": None if self.min_spread is None else in_metres(self.min_spread, "--min-spread"),
        }
        for name, value in exact.items():
            object.__setattr__(self, name, value)

    def _check_selector(self) -> None:
        if self.selector is not None and str(self.selector) not in list(SelectorName):
            raise ParameterError(
                f"selector must be one of {', '.join(SelectorName)}, got {told(self.selector)}."
            )
        if self.selector == SelectorName.SPECTRAL and find_spec("sklearn") is None:
            raise ParameterError(
                "selector spectral needs scikit-learn, which is not installed: pip install 'shoal[spectral]'."
            )
        if self.repair and self.selector != SelectorName.SPECTRAL:
            raise ParameterError(
                f"repair goes with selector spectral, got selector {self.selector or SelectorName.MATCHING},"
                " which needs none: leave it out."
            )

    @property
    def rename_s(self) -> int | None:
        """After how many seconds records get new names; None for never."""
        return parse_period(self.rename_every)

    def check_period(self, promise: Promise, grid: Grid) -> None:
        """Refuse new names more often than a promise allows: what is hidden for tau must be of one name or two."""
        seconds = promise.in_seconds(grid)
        if self.rename_s is None or seconds is None or self.rename_s >= seconds.tau:
            return
        raise ParameterError(
            f"--rename-every must be at least tau, {duration(seconds.tau)}, got {duration(self.rename_s)}: choose a"
            " longer period or a shorter tau."
        )

    @property
    def gives_coverage(self) -> bool:
        """Whether guarantee 1 holds by construction."""
        return self.selector is not SelectorName.SPECTRAL or self.repair

    def for_promise(self, promise: Promise) -> Self:
        """These options with the selector and the level of hardening that apply to a promise; refuse what cannot."""
        check_count(self.shard_size, "--shard-size", least=_SMALLEST_SHARD)
        if self.rename_s is not None and self.selector is SelectorName.SPECTRAL:
            raise ParameterError(
                "--rename-every goes with selectors matching and mutual, got spectral: leave it out."
            )
        if self.min_spread is not None and not promise.whole:
            raise ParameterError("--min-spread goes with --whole, got tau and epsilon: leave it out.")
        if self.min_spread is not None and self.selector_for(promise) is not SelectorName.MUTUAL:
            raise ParameterError(
                f"--min-spread goes with selector mutual, got {self.selector}: leave either out."
            )
        lack = self._lacks_to_harden(promise)
        if lack is not None and self.harden:
            raise ParameterError(f"harden needs {lack}: leave it out.")
        return self.hardened_where_possible(promise)

    def hardened_where_possible(self, promise: Promise) -> Self:
        """These options with the level that applies to one promise of several: none where nothing can be hardened."""
        level = HARDEN_DEFAULT if self.harden is None else self.harden
        level = level if self._lacks_to_harden(promise) is None else 0
        return dataclasses.replace(self, selector=self.selector_for(promise), harden=level)

    def min_spread_cells(self, grid: Grid) -> int:
        """Cells that the longer side of every box has at least."""
        return 1 if self.min_spread is None else grid.cells(self.min_spread, "--min-spread")

    def selector_for(self, promise: Promise) -> SelectorName:
        """The selector that was chosen; else groups with identical records over whole trajectories, else matching."""
        if self.selector is not None:
            return self.selector
        return SelectorName.MUTUAL if promise.whole else SelectorName.MATCHING

    def _lacks_to_harden(self, promise: Promise) -> str | None:
        """What hardening needs and is not there; None where it applies."""
        if promise.whole:
            return "tau and epsilon, got whole trajectories"
        if self.selector_for(promise) is not SelectorName.MATCHING:
            return f"selector matching, got selector {self.selector}"
        if promise.reach > HARDEN_MOST_REACH:
            return f"a tau of at most {HARDEN_MOST_REACH} epsilon, got more"
        return None


def _save_as_text(options: Options, *names: str) -> None:
    """Keep the durations among these options as texts, whatever they were given as: what is saved is text."""
    for name in names:
        spelled = options.spelled(name) if "_" in name else name
        object.__setattr__(options, name, duration_text(getattr(options, name), spelled))


def _moment_text(given: Any) -> Any:
    """A date or time of Python or pandas as text; anything else as it is."""
    return given.isoformat() if isinstance(given, date) else given


def _check_harden(harden: int) -> int:
    level = check_count(harden, "harden", least=0)
    if level > HARDEN_MOST:
        fewer = ", ".join(str(lower) for lower in range(HARDEN_MOST))
        raise ParameterError(
            f"harden must be at most {HARDEN_MOST}, got {level:,}: give {fewer} or {HARDEN_MOST}."
        )
    return level


class AuditKeywords(TypedDict, total=False):
    """AuditOptions as keywords of a function."""

    k: int | None
    tau: Duration | None
    epsilon: Duration | None
    whole: bool
    rename_every: Duration | None
    key: Any
    cell: str | None
    step: Duration | None
    crs: str | None
    tolerance: float
    moderate: float
    high: float
    attacks: int
    seed: int
    workers: int | None


@dataclass(frozen=True)
class AuditOptions(Options):
    """What a published file is held to, and how it is attacked.

    k with tau and epsilon, or with whole: the promise to hold the file to; the file's own unless given. rename_every:
    how often records get new names, of a file that does not tell. key: which record is whose, a path or a table; what
    needs it is not checked without. cell, step, crs: of a file that does not tell its own. tolerance: for which share
    of the members guarantee 2 may be weakened. moderate, high: the shares of attacks that succeed from which a risk is
    called so. attacks: how many are drawn of each kind. seed: another seed draws other attacks.
    """

    k: int | None = choice(
        None,
        "The promise to hold the file to; with --tau and --epsilon, or --whole. The file's own unless given.",
    )
    tau: str | None = choice(None, _TAU)
    epsilon: str | None = choice(None, _EPSILON)
    whole: bool = choice(False, _WHOLE)
    rename_every: str | None = choice(
        None, "How often records get new names, of a file that does not tell it.", metavar="PERIOD"
    )
    key: Any = choice(
        None,
        "Which record is whose (secret), as anonymize wrote it.",
        kind=Path,
        shown=False,
        kept_out="a path to a secret",
    )
    cell: str | None = choice(None, "Cell of a file that does not tell it.")
    step: str | None = choice(None, "Time step of a file that does not tell it.")
    crs: str | None = choice(None, "Coordinate system of a file that does not tell it, e.g. EPSG:3035.")
    tolerance: float = choice(
        TOLERANCE,
        "Share of members for which a guarantee may be weakened before the file fails: 0.01 is 1 %.",
    )
    moderate: float = choice(MODERATE, "Share of attacks that succeed from which a risk is called moderate.")
    high: float = choice(HIGH, "Share of attacks that succeed from which a risk is called high.")
    attacks: int = choice(2000, "How many attacks to draw of each kind.")
    seed: int = choice(0, "Other attacks for another seed.")
    workers: int | None = choice(
        None, "How many threads or processes; all cores unless given.", kept_out=MACHINE
    )

    def __post_init__(self) -> None:
        _save_as_text(self, "tau", "epsilon", "rename_every", "step")
        check_count(self.attacks, "attacks", least=1, most=_MOST_ATTACKS)
        if self.rename_every is not None:
            parse_period(self.rename_every)
        check_count(self.seed, "seed", least=0)
        if not 0 <= self.tolerance <= 1:
            raise ParameterError(f"tolerance must be a share from 0 to 1, got {self.tolerance}: 0.01 is 1 %.")
        if not 0 <= self.moderate <= self.high <= 1:
            raise ParameterError(
                f"moderate and high must be shares from 0 to 1, the first not above the second, got {self.moderate}"
                f" and {self.high}: 0.09 is 9 %."
            )
        if (self.cell is None) != (self.step is None):
            raise ParameterError("cell and step go together: give --cell and --step, or neither.")
        if self.k is None and (self.whole or self.tau is not None or self.epsilon is not None):
            raise ParameterError("k missing: give --k as well, or nothing of the promise to take the file's.")

    @property
    def grid(self) -> Grid | None:
        """The grid of the published file, where it is given."""
        return None if self.cell is None or self.step is None else Grid.parse(self.cell, self.step)

    def promise(self, grid: Grid) -> Promise | None:
        """The promise to hold the file to, where it is given, in steps of the file's grid."""
        if self.k is None:
            return None
        return Promise.parse(self.k, self.tau, self.epsilon, grid=grid, whole=self.whole)


class ReleaseKeywords(PromiseKeywords, HidingKeywords, ReadingKeywords, total=False):
    """ReleaseOptions as keywords of a function."""


class ReleaseOptions(NamedTuple):
    """All that decides a release: what is promised, how it is kept, and how events are read."""

    promise: PromiseOptions
    hiding: HidingOptions
    reading: ReadingOptions

    @classmethod
    def from_keywords(cls, keywords: Mapping[str, Any]) -> ReleaseOptions:
        """The options among the keywords of a call."""
        return cls(
            PromiseOptions.from_keywords(keywords),
            HidingOptions.from_keywords(keywords),
            ReadingOptions.from_keywords(keywords),
        )
