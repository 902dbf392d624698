"""A slow reader in plain Python (csv, datetime, zoneinfo), written apart from the fast one."""

from __future__ import annotations

import csv
import math
import re
from collections import Counter
from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pyproj

ISO = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:[.,]\d+)?)?"
    r"(?: ?(?:(Z|z|UTC)|([+-])(\d\d)(?::?([0-5]\d))?))?)?",
    re.ASCII,
)
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
COMMA_NUMBER = re.compile(r"[+-]?\d+,\d+([eE][+-]?\d+)?", re.ASCII)
THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}", re.ASCII)
_CLOCK = r"(?: (\d{1,2}):(\d\d)(?::(\d\d)(?:[.,]\d{1,9})?)?)?"
YEAR_LAST = re.compile(rf"(\d{{1,2}})([./-])(\d{{1,2}})\2(\d{{4}}){_CLOCK}", re.ASCII)
YEAR_FIRST = re.compile(rf"(\d{{4}})([./])(\d{{1,2}})\2(\d{{1,2}}){_CLOCK}", re.ASCII)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
NOBODY = ("", "null", "na", "nan", "none", "-")


class DoubtfulDatesError(Exception):
    """Nobody can tell whether the day comes first or the month."""


def unix_seconds(zone: ZoneInfo, *parts: int) -> int | None:
    """Unix seconds of year, month, day and so on, on a zone's clock; None if the calendar has no such time."""
    try:
        return (datetime(*parts, tzinfo=zone) - EPOCH) // timedelta(seconds=1)
    except ValueError:
        return None


def clock_change(zone: ZoneInfo, seconds: int) -> str | None:
    """Whether clocks skipped or repeated a time, given as seconds since 1970 on that clock."""
    moment = datetime(1970, 1, 1, tzinfo=zone) + timedelta(seconds=seconds)
    first, second = (moment.replace(fold=fold).utcoffset() for fold in (0, 1))
    return None if first == second else "skipped" if first < second else "repeated"


def clock_of(number: int, zone: ZoneInfo) -> dict[int, int]:
    """Unix seconds of a number read as digits of a clock, by how many digits that takes."""
    text = str(number)
    found = {}
    for digits, pattern in ((14, "%Y%m%d%H%M%S"), (12, "%Y%m%d%H%M"), (8, "%Y%m%d")):
        try:
            moment = datetime.strptime(text, pattern)
        except ValueError:
            continue
        if len(text) == digits and 1900 <= moment.year <= 2100:
            found[digits] = (moment.replace(tzinfo=zone) - EPOCH) // timedelta(seconds=1)
    return found


def iso_seconds(text: str, zone: ZoneInfo) -> int | None:
    """Unix seconds of an ISO text, None if it is none."""
    match = ISO.fullmatch(text)
    if match is None:
        return None
    year, month, day, hour, minute, second = (int(part or 0) for part in match.groups()[:6])
    try:
        moment = datetime(year, month, day, hour, minute, second)
        if match[7]:
            moment = moment.replace(tzinfo=UTC)
        elif match[8]:
            offset = timedelta(hours=int(match[9]), minutes=int(match[10] or 0))
            moment = moment.replace(tzinfo=timezone(-offset if match[8] == "-" else offset))
        else:
            moment = moment.replace(tzinfo=zone)
        return (moment - EPOCH) // timedelta(seconds=1) if moment.tzinfo else None
    except ValueError:
        return None


def read_time(text: str, zone: ZoneInfo) -> tuple[str, object] | None:
    """("s", seconds), ("number", value rounded down), ("date", seconds with the day first, with the month first), or
    None."""
    seconds = iso_seconds(text, zone)
    if seconds is not None:
        return "s", seconds
    if re.fullmatch(r"-?\d{1,18}", text, re.ASCII):
        return "number", int(text)
    if COMMA_NUMBER.fullmatch(text) and not THOUSANDS.fullmatch(text):
        text = text.replace(",", ".")
    if NUMBER.fullmatch(text) and abs(float(text)) < 2**62:
        return "number", math.floor(float(text))
    return national_time(text, zone)


def national_time(text: str, zone: ZoneInfo) -> tuple[str, object] | None:
    """A date as countries write it, as read_time() tells it."""
    if match := YEAR_FIRST.fullmatch(text):
        year, _, month, day, *clock = match.groups()
        seconds = unix_seconds(zone, int(year), int(month), int(day), *(int(part or 0) for part in clock))
        return None if seconds is None else ("s", seconds)
    match = YEAR_LAST.fullmatch(text)
    if match is None:
        return None
    one, separator, two, year, *clock = match.groups()
    day_first, month_first = (
        unix_seconds(zone, int(year), int(month), int(day), *(int(part or 0) for part in clock))
        for day, month in ((one, two), (two, one))
    )
    if separator == ".":
        return None if day_first is None else ("s", day_first)
    return None if day_first is None and month_first is None else ("date", (day_first, month_first))


def read_number(text: str) -> float | None:
    """A number, NaN and infinities included, or None."""
    if COMMA_NUMBER.fullmatch(text):
        text = text.replace(",", ".")
    if NUMBER.fullmatch(text) or re.fullmatch(r"[+-]?(nan|inf|infinity)", text, re.IGNORECASE):
        return float(text)
    return None


def user_name(text: str) -> str:
    """The text of a user."""
    text = text.strip()
    return text[:-2] if re.fullmatch(r"[+-]?\d+\.0", text, re.ASCII) else text


def fault_of(user: str, time: str, first: str, second: str, zone: ZoneInfo, degrees: bool) -> str | None:
    """The first reason why a row cannot be used."""
    if user_name(user).lower() in NOBODY:
        return "missing user"
    if not time.strip():
        return "missing time"
    if read_time(time.strip(), zone) is None:
        return "unparsable time"
    if not first.strip() or not second.strip():
        return "missing position"
    a, b = read_number(first.strip()), read_number(second.strip())
    if a is None or b is None:
        return "unparsable position"
    if not (math.isfinite(a) and math.isfinite(b)) or (degrees and not (abs(a) <= 90 and abs(b) <= 180)):
        return "position out of range"
    if degrees and a == 0 and b == 0:
        return "position 0/0"
    return None


def read(text, *, grid, zone="UTC", start=None, end=None, exclude=(), projection=None):
    """Rows of (user, t, x, y), sorted and distinct; why others were dropped; duplicates; rows."""
    zone = ZoneInfo(zone)
    lines = csv.reader(text.splitlines())
    header = next(lines)
    degrees = "lat" in header
    user_at, time_at = header.index("user"), header.index("time")
    first_at, second_at = (
        (header.index("lat"), header.index("lon")) if degrees else (header.index("x"), header.index("y"))
    )
    dropped: Counter[str] = Counter()
    kept, rows, decimal_comma = [], 0, False
    for line in lines:
        if not line:
            continue
        rows += 1
        if len(line) != len(header):
            dropped["malformed row"] += 1
            continue
        values = line[user_at], line[time_at], line[first_at], line[second_at]
        places = [value.strip() for value in values[2:]]
        decimal_comma |= any(
            COMMA_NUMBER.fullmatch(text) and not THOUSANDS.fullmatch(text) for text in places
        )
        fault = fault_of(*values, zone, degrees)
        if fault:
            dropped[fault] += 1
        else:
            doubtful = not degrees and any(THOUSANDS.fullmatch(text) for text in places)
            place = tuple(map(read_number, places))
            kept.append((user_name(values[0]), read_time(values[1].strip(), zone), *place, doubtful))
    numbers = sorted(abs(time[1]) for _, time, *_ in kept if time[0] == "number")
    middle = numbers[(len(numbers) - 1) // 2] if numbers else 0
    unit = 1 if middle < 10**11 else 10**3 if middle < 10**14 else 10**6 if middle < 10**17 else 10**9
    like_clocks = Counter(
        digits for _, time, *_ in kept if time[0] == "number" for digits in clock_of(time[1], zone)
    )
    digits = next((each for each, n in like_clocks.items() if 2 * n > len(numbers)), None)
    dates = [time[1] for _, time, *_ in kept if time[0] == "date"]
    day_first, month_first = (any(date[other] is None for date in dates) for other in (1, 0))
    if any(one != two for one, two in dates) and day_first == month_first:
        raise DoubtfulDatesError
    since, until = (None if text is None else iso_seconds(text, zone) for text in (start, end))
    used = []
    for user, (kind, value), first, second, doubtful in kept:
        if kind == "number":
            seconds = value // unit if digits is None else clock_of(value, zone).get(digits)
        else:
            seconds = value if kind == "s" else value[0 if day_first else 1]
        if seconds is None:
            dropped["unparsable time"] += 1
        elif doubtful and not decimal_comma:
            dropped["unparsable position"] += 1
        elif not -62135596800 <= seconds <= 253402300799:
            dropped["time out of range"] += 1
        elif (since is not None and seconds < since) or (until is not None and seconds >= until):
            dropped["before --from or after --to"] += 1
        elif user in exclude:
            dropped["excluded user"] += 1
        else:
            x, y = (first, second) if not degrees else metres(projection, second, first)
            cell = [math.floor(each / grid.cell_m) if math.isfinite(each) else 2**40 for each in (x, y)]
            if max(abs(cell[0]), abs(cell[1])) > 2**30:
                dropped["position out of range"] += 1
            else:
                used.append((user, seconds // grid.step_s, *cell))
    return sorted(set(used)), dict(dropped), len(used) - len(set(used)), rows


def metres(projection, lon: float, lat: float) -> tuple[float, float]:
    """Project one position, by another road than the reader."""
    road = pyproj.Transformer.from_crs("OGC:CRS84", pyproj.CRS(projection.crs), always_xy=True)
    return road.transform(lon, lat)


def rows_of(samples) -> list[tuple[str, int, int, int]]:
    """Samples as plain rows."""
    return [
        (samples.users[user], int(t), int(x), int(y))
        for user, t, x, y in zip(samples.user, samples.t, samples.x, samples.y, strict=True)
    ]
