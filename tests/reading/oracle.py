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
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


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


def read_time(text: str, zone: ZoneInfo) -> tuple[str, int] | None:
    """("s", seconds), or ("number", value rounded down), or None."""
    seconds = iso_seconds(text, zone)
    if seconds is not None:
        return "s", seconds
    if re.fullmatch(r"-?\d{1,18}", text, re.ASCII):
        return "number", int(text)
    if NUMBER.fullmatch(text) and abs(float(text)) < 2**62:
        return "number", math.floor(float(text))
    return None


def read_number(text: str) -> float | None:
    """A number, NaN and infinities included, or None."""
    if NUMBER.fullmatch(text) or re.fullmatch(r"[+-]?(nan|inf|infinity)", text, re.IGNORECASE):
        return float(text)
    return None


def user_name(text: str) -> str:
    """The text of a user."""
    text = text.strip()
    return text[:-2] if re.fullmatch(r"[+-]?\d+\.0", text, re.ASCII) else text


def fault_of(user: str, time: str, first: str, second: str, zone: ZoneInfo, degrees: bool) -> str | None:
    """The first reason why a row cannot be used."""
    if not user_name(user):
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
    kept, rows = [], 0
    for line in lines:
        if not line:
            continue
        rows += 1
        if len(line) != len(header):
            dropped["malformed row"] += 1
            continue
        values = line[user_at], line[time_at], line[first_at], line[second_at]
        fault = fault_of(*values, zone, degrees)
        if fault:
            dropped[fault] += 1
        else:
            place = read_number(values[2].strip()), read_number(values[3].strip())
            kept.append((user_name(values[0]), read_time(values[1].strip(), zone), *place))
    numbers = sorted(abs(time[1]) for _, time, _, _ in kept if time[0] == "number")
    middle = numbers[(len(numbers) - 1) // 2] if numbers else 0
    unit = 1 if middle < 10**11 else 10**3 if middle < 10**14 else 10**6 if middle < 10**17 else 10**9
    since, until = (None if text is None else iso_seconds(text, zone) for text in (start, end))
    used = []
    for user, (kind, value), first, second in kept:
        seconds = value if kind == "s" else value // unit
        if not -62135596800 <= seconds <= 253402300799:
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
