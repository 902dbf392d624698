"""What was read and what was left out, and why: counts only, never data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from shoal.errors import InputError

MALFORMED = "malformed row"
ENDS_BEFORE_START = "session that ends before it starts"
MISSING_USER = "missing user"
MISSING_TIME = "missing time"
UNPARSABLE_TIME = "unparsable time"
TIME_OUT_OF_RANGE = "time out of range"
MISSING_POSITION = "missing position"
UNPARSABLE_POSITION = "unparsable position"
POSITION_OUT_OF_RANGE = "position out of range"
POSITION_ZERO = "position 0/0"
UNKNOWN_SITE = "unknown site"
OUTSIDE_PERIOD = "before --from or after --to"
EXCLUDED = "excluded user"
OUTSIDE_BOX = "outside --bbox"
SELDOM_SEEN = "user active on fewer than --min-days-active days"
RESAMPLED = "not the first in its --resample period"

# Where the zone of times comes from.
ZONE_GIVEN, ZONE_OF_FORMAT, ZONE_ASSUMED, ZONE_WRITTEN = "given", "format", "assumed", "written"

# Left out because the user asked for it, and by which option.
CHOSEN = {
    OUTSIDE_PERIOD: "--from or --to",
    EXCLUDED: "--exclude-users",
    OUTSIDE_BOX: "--bbox",
    SELDOM_SEEN: "--min-days-active",
    RESAMPLED: "--resample",
}

BY_CHOICE = "left out by choice"  # all of these together: which option it was is nobody else's business

# A row with several faults counts under the first of these.
REASONS = (
    MALFORMED,
    ENDS_BEFORE_START,
    MISSING_USER,
    MISSING_TIME,
    UNPARSABLE_TIME,
    MISSING_POSITION,
    UNPARSABLE_POSITION,
    POSITION_OUT_OF_RANGE,
    POSITION_ZERO,
    UNKNOWN_SITE,
    TIME_OUT_OF_RANGE,
    OUTSIDE_PERIOD,
    EXCLUDED,
    OUTSIDE_BOX,
    SELDOM_SEEN,
    RESAMPLED,
)


class DroppedRows:
    """Counts, by reason, rows that a source cannot hand over, and blank lines, which are no rows."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.blank_lines = 0

    def __call__(self, rows: int, reason: str = MALFORMED) -> None:
        """Count rows."""
        self.counts[reason] += rows

    @property
    def rows(self) -> int:
        """How many there are."""
        return self.counts.total()


@dataclass(frozen=True)
class ReadSummary:
    """How many rows were read, why some were left out, and which columns were used.

    ``rows_read`` is the number of samples plus ``duplicates`` plus all of ``dropped``. ``format`` is the name of one
    that is not a plain table; a row of such a format may count as several: a session as two, a trip once per position.
    ``users_seldom_seen`` are those whom --min-days-active left out. ``blank_lines`` are no rows. ``zone_from`` says
    where the zone of times without one comes from (ZONE_GIVEN, ZONE_OF_FORMAT, ZONE_ASSUMED), or that there are no such
    times (ZONE_WRITTEN); ``naive``, whether there are. ``times_skipped`` and ``times_repeated`` count rows that are
    used although clocks skipped their time, or showed it twice.
    """

    rows_read: int
    dropped: dict[str, int]
    duplicates: int
    columns_used: dict[str, str]
    columns_dropped: list[str]
    warnings: list[str]
    format: str | None = None
    users_seldom_seen: int = 0
    blank_lines: int = 0
    zone_from: str = ZONE_WRITTEN
    naive: bool = False
    times_skipped: int = 0
    times_repeated: int = 0

    @property
    def losses(self) -> list[str]:
        """One line on rows that cannot be used, for calls that show no summary; rows left out by choice are usable."""
        faults = _faults(self.dropped)
        if not faults:
            return []
        return [
            f"{faults.total():,} of {self.rows_read:,} rows of the events were not used ({describe(faults)})."
        ]

    @property
    def all_warnings(self) -> list[str]:
        """Everything to warn of, for calls that show no summary."""
        return [*self.losses, *self.warnings]


def in_order(dropped: Mapping[str, int]) -> dict[str, int]:
    """The reasons that occurred, in their fixed order."""
    return {reason: int(dropped[reason]) for reason in REASONS if dropped.get(reason)}


def choices_together(dropped: Mapping[str, int]) -> dict[str, int]:
    """Counts by reason, of all rows that were left out by choice as one."""
    by_choice = sum(rows for reason, rows in dropped.items() if reason in CHOSEN)
    return dict(_faults(dropped)) | ({BY_CHOICE: by_choice} if by_choice else {})


def describe(dropped: Mapping[str, int]) -> str:
    """Reasons and counts in one phrase, such as ``3 missing user, 1 unparsable time``."""
    return ", ".join(f"{count:,} {reason}" for reason, count in in_order(dropped).items())


def check_strict(dropped: Mapping[str, int], rows_read: int) -> None:
    """Refuse any unusable row that was not left out by choice."""
    faults = _faults(dropped)
    if faults:
        raise InputError(
            f"{faults.total():,} of {rows_read:,} rows cannot be used ({describe(faults)}):"
            " mend them, or leave out --strict to drop them."
        )


def _faults(dropped: Mapping[str, int]) -> Counter[str]:
    """What was left out for another reason than choice."""
    return Counter({reason: count for reason, count in dropped.items() if count and reason not in CHOSEN})


class NoUsableRowError(InputError):
    """No row of the input can be used: how many there are, and why not, by reason."""

    def __init__(self, message: str, dropped: Mapping[str, int], rows_read: int) -> None:
        super().__init__(message)
        self.dropped = in_order(dropped)
        self.rows_read = rows_read


def nothing_left(dropped: Mapping[str, int], rows_read: int, title: str, format: str | None) -> InputError:
    """Why input of which no row is usable is refused; the remedy is for most of the rows."""
    if rows_read == 0:
        wanted = "at least one row below the column names" if format is None else f"rows of format {format}"
        return InputError(f"{title} has no rows: expected {wanted}; check the path.")
    most = max(in_order(dropped), key=lambda reason: dropped[reason])
    message = f"No usable row among {rows_read:,} ({describe(dropped)}): {_remedy(most, format)}."
    return NoUsableRowError(message, dropped, rows_read)


def _remedy(reason: str, format: str | None) -> str:
    """What to do about rows that were left out for a reason."""
    if reason in CHOSEN:
        return "widen --from and --to, exclude fewer users, or widen --bbox and the like"
    if reason == UNKNOWN_SITE:
        return "the sites of the events must be listed in --sites"
    if format is not None:  # whose columns cannot be named
        return f"check that the events are of format {format}, or choose another with --format"
    if reason == UNPARSABLE_TIME:
        return (
            "times must be ISO 8601, Unix seconds or milliseconds, or as --time-format says, such as"
            " '%d.%m.%y %H:%M'; see --time-column"
        )
    if reason == UNPARSABLE_POSITION:
        return (
            "positions must be numbers such as 48.85 or 48,85, without separators of thousands, or POINT (lon lat);"
            " see --lat-column, --x-column and the like"
        )
    return "check the columns and their formats, or name others with --user-column and the like"
