"""Clock times in text: patterns, dates as countries write them and digits, against datetime on thousands of values."""

from __future__ import annotations

import random
import re
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow as pa
import pytest

from reading import oracle
from shoal.core.time_format import TimeFormat
from shoal.core.zones import Zone
from shoal.errors import InputError, ParameterError
from shoal.reading.clock_text import parse_national, parse_pattern, seconds_of_digits
from shoal.reading.marks import NUMBER, REPEATED, SKIPPED, UNORDERED
from shoal.reading.times import DateVote, NumberVote, TimeVote, read_pending, read_times

EPOCH = datetime(1970, 1, 1)
PATTERNS = (
    "%d.%m.%Y %H:%M:%S", "%d.%m.%Y", "%d.%m.%y %H.%M", "%m/%d/%Y %I:%M:%S %p", "%d/%m/%Y %H:%M", "%d-%b-%Y %H:%M:%S",
    "%A, %d %B %Y %I:%M %p", "%a %b %d %H:%M:%S %Y", "%Y%m%d%H%M%S", "%Y%m%d %H%M", "%y%m%d%H%M%S%f",
    "%Y-%m-%dT%H:%M:%S.%f", "%Y-%m-%dT%H:%M:%S%z", "%d/%m/%Y um %H:%M", "%Y年%m月%d日 %H:%M", "%H:%M:%S %d/%m/%Y",
    "%d%m%Y", "%d.%m.%Y%%",
)  # fmt: skip
ZONES = (
    "UTC",
    "Europe/Paris",
    "America/St_Johns",
    "Australia/Lord_Howe",
    "Asia/Kathmandu",
    "America/New_York",
)
LETTERS = {
    "Y": r"(?P<Y>\d{4})", "y": r"(?P<y>\d\d)", "b": r"(?P<b>[A-Za-z]{3})", "B": r"(?P<B>[A-Za-z]+)",
    "a": r"(?P<a>[A-Za-z]{3})", "A": r"(?P<A>[A-Za-z]+)", "p": r"(?P<p>[AaPp][Mm])",
    "z": r"(?P<z>[Zz]|[+-]\d\d(:?\d\d)?)",
}  # fmt: skip


def column(texts: list[str]) -> pa.Array:
    return pa.array([text.encode() for text in texts], pa.large_binary())


def seconds_since_1970(moment: datetime) -> int:
    return (moment.replace(tzinfo=None) - EPOCH) // timedelta(seconds=1)


def slow_pattern(text: str, pattern: str) -> int | None:
    """Seconds since 1970 on the clock of a text (UTC with %z), by a regular expression and strptime; None if none."""
    expression = ""
    for literal, letter, following in re.findall(r"([^%]*)(?:%(.)(?=(%[YymdHIMSf])?))?", pattern):
        expression += re.sub(r"(\\ )+", r"[ \\t]+", re.escape(literal))
        if letter == "f":
            expression += r"\d{6}" if following else r"\d{1,9}"
        elif letter == "%":
            expression += "%"
        elif letter:
            digits = r"\d\d" if following else r"\d\d?"
            expression += LETTERS.get(letter, f"(?P<{letter}>{digits})")
    match = re.fullmatch(expression, text, re.ASCII)
    if match is None:
        return None
    found = match.groupdict()
    zone = found.pop("z", None)
    plain = {letter: value for letter, value in found.items() if value}
    try:
        moment = datetime.strptime(" ".join(plain.values()), " ".join(f"%{letter}" for letter in plain))
    except ValueError:
        return None
    offset = 0
    if zone and zone not in "Zz":
        hours, minutes = int(zone[1:3]), int(zone[3:].lstrip(":") or 0)
        if hours > 23 or minutes > 59:
            return None
        offset = (-1 if zone[0] == "-" else 1) * (hours * 3600 + minutes * 60)
    return seconds_since_1970(moment) - offset


def written(moment: datetime, pattern: str, rng: random.Random) -> str:
    """A time as a pattern says, sometimes without zeros in front or in other letters."""
    text = moment.strftime(pattern.replace("%Y", f"{moment.year:04d}"))
    if rng.random() < 0.3 and not re.search(r"%[a-zA-Z]%|%z|%f", pattern):
        text = re.sub(r"(?<!\d)0(\d)(?!\d)", r"\1", text)
    return text.lower() if rng.random() < 0.1 and "%p" in pattern else text


def mutated(text: str, rng: random.Random) -> str:
    """The same with one letter more, less or another."""
    place, mark = rng.randrange(len(text) + 1), rng.choice("0123456789.:/- TZaMé")
    return rng.choice((text[:place] + mark + text[place:], text[:place] + text[place + 1 :],
                       text[:place] + mark + text[place + 1 :], text + mark, text[:-1]))  # fmt: skip


def moments(rng: random.Random, n: int) -> list[datetime]:
    """Times of all years that patterns with two digits of a year can tell, with many ends of months."""
    found = [
        datetime(1969, 1, 1) + timedelta(seconds=rng.randrange(99 * 365 * 86_400)) for _ in range(n // 2)
    ]
    for _ in range(n - len(found)):
        first = datetime(rng.randrange(1970, 2068), rng.randrange(1, 13), 1)
        found.append(first - timedelta(seconds=rng.choice((1, 60, 3600, 86_400, 43_200))))
    return found


@pytest.mark.parametrize("pattern", PATTERNS)
def test_patterns_against_strptime(pattern: str) -> None:
    rng = random.Random(pattern)
    times = [moment.replace(tzinfo=UTC, microsecond=rng.randrange(10**6)) for moment in moments(rng, 2000)]
    texts = [moment.strftime(pattern.replace("%Y", f"{moment.year:04d}")) for moment in times]
    read = parse_pattern(column(texts), TimeFormat.parse(pattern))
    assert read.valid.all()
    assert read.zoned.all() == ("%z" in pattern)
    assert read.seconds.tolist() == [seconds_since_1970(datetime.strptime(text, pattern)) for text in texts]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_patterns_on_texts_that_hardly_fit(pattern: str) -> None:
    rng = random.Random(f"bad {pattern}")
    texts = [written(moment.replace(tzinfo=UTC), pattern, rng) for moment in moments(rng, 1500)]
    texts = [text if rng.random() < 0.3 else mutated(text, rng) for text in texts] + ["", " ", "0", "31"]
    read = parse_pattern(column(texts), TimeFormat.parse(pattern))
    for text, seconds, valid in zip(texts, read.seconds.tolist(), read.valid.tolist(), strict=True):
        assert (seconds if valid else None) == slow_pattern(text, pattern), (pattern, text)
    assert 0.2 < read.valid.mean() < 0.9


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        ("%d.%m %H:%M", "must tell the year"),
        ("%Y-%m", "must tell the day"),
        ("%d.%m.%Y %M", "must tell the hour"),
        ("%d.%m.%Y %H %S", "must tell the minute"),
        ("%d.%m.%Y %d", "the day once"),
        ("%m %b %d %Y", "the month once"),
        ("%d.%m.%Y %I:%M", "%I and %p together"),
        ("%d.%m.%Y %H:%M %p", "%I and %p together"),
        ("%d.%m.%Y %q", "got '%q'"),
        ("%d.%m.%Y %", "got '%'"),
        ("", "must tell the year"),
        (5, "must be text"),
    ],
)
def test_patterns_that_tell_no_time(pattern: str, words: str) -> None:
    with pytest.raises(ParameterError) as caught:
        TimeFormat.parse(pattern)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def national(moment: datetime, rng: random.Random) -> str:
    """A time as some country writes it."""
    pad = rng.choice(("{:02d}", "{}"))
    year, month, day = f"{moment.year:04d}", pad.format(moment.month), pad.format(moment.day)
    separator = rng.choice("./-")
    parts = rng.choice(((day, month, year), (month, day, year), (year, month, day)))
    clock = rng.choice(("", " %H:%M", " %H:%M:%S", " %H:%M:%S.25", " %-H:%M", " %H:%M:%S,5"))
    return separator.join(parts) + moment.strftime(clock)


def test_national_dates_against_datetime() -> None:
    rng = random.Random(1)
    texts = [national(moment, rng) for moment in moments(rng, 6000)]
    texts = [text if rng.random() < 0.6 else mutated(text, rng) for text in texts]
    texts += [
        "",
        ".",
        "1.1.",
        "..2024",
        "1/1/0000",
        "00.01.2024",
        "1.1.2024 ",
        "29.2.2023",
        "29.2.2024",
        "31/31/2024",
    ]
    read = parse_national(column(texts))
    found = {"s": 0, "date": 0, None: 0}
    for text, value, valid, unordered in zip(texts, *(each.tolist() for each in read), strict=True):
        expected = oracle.national_time(text, ZoneInfo("UTC"))
        found[expected and expected[0]] += 1
        if expected is None or expected[0] == "s":
            assert not unordered
            assert (value if valid else None) == (expected and expected[1]), text
            continue
        assert valid, text
        assert unordered, text
        for order, wanted in zip((True, False), expected[1], strict=True):
            (seconds,), (dated,) = seconds_of_digits(np.array([value]), day_first=order)
            assert (seconds if dated else None) == wanted, text
    assert min(found.values()) > 500


@pytest.mark.parametrize("name", ZONES)
def test_every_way_of_writing_around_changes_of_clocks(name: str) -> None:
    """Both changes of two years, every seventh minute around them: the same seconds and marks however it is written."""
    zone, rng = ZoneInfo(name), random.Random(name)
    hours = [datetime(2023, 1, 1, tzinfo=UTC) + timedelta(hours=hour) for hour in range(2 * 366 * 24)]
    changes = [
        after
        for before, after in pairwise(hours)
        if before.astimezone(zone).utcoffset() != after.astimezone(zone).utcoffset()
    ] or [datetime(2023, 3, 26, 1, tzinfo=UTC)]
    assert len(changes) == (1 if name in ("UTC", "Asia/Kathmandu") else 4)
    local = [
        change.astimezone(zone).replace(tzinfo=None, minute=0) + timedelta(minutes=minutes)
        for change in changes
        for minutes in range(-300, 300, 7)
    ] + [datetime(2023, 1, 31)]  # so that days are told from months
    expected = [(moment.replace(tzinfo=zone) - oracle.EPOCH) // timedelta(seconds=1) for moment in local]
    marks = [
        {None: 0, "skipped": SKIPPED, "repeated": REPEATED}[
            oracle.clock_change(zone, seconds_since_1970(moment))
        ]
        for moment in local
    ]
    assert name in ("UTC", "Asia/Kathmandu") or {0, SKIPPED, REPEATED} == set(marks)
    fast = Zone(name)
    for pattern in (
        "%Y-%m-%d %H:%M:%S",
        "%d.%m.%Y %H:%M",
        "%Y/%m/%d %H:%M:%S",
        "%d/%m/%Y %H:%M",
        "%Y%m%d%H%M%S",
    ):
        texts = pa.array([moment.strftime(pattern) for moment in local])
        vote, times = TimeVote(), read_times(texts, fast)
        assert times.valid.all()
        vote.add(times.value, times.marks)
        if pattern[:6] == "%d/%m/":
            assert set(times.marks.tolist()) == {UNORDERED}
        seconds, left, valid = read_pending(times.value, times.marks, vote.meaning(), fast)
        assert (seconds.tolist(), left.tolist(), valid.all()) == (expected, marks, True), pattern
        named = read_times(texts, fast, TimeFormat.parse(pattern))
        assert (named.value.tolist(), named.marks.tolist()) == (expected, marks)
        assert named.local.all()
    naive = read_times(pa.array(local, pa.timestamp("us")), fast)
    assert (naive.value.tolist(), naive.marks.tolist()) == (expected, marks)
    rng.shuffle(local)
    resolved = fast.resolve(np.array([seconds_since_1970(moment) for moment in local], np.int64))
    told = [oracle.clock_change(zone, seconds_since_1970(moment)) for moment in local]
    assert resolved.skipped.tolist() == [each == "skipped" for each in told]
    assert resolved.repeated.tolist() == [each == "repeated" for each in told]


def test_a_day_that_does_not_exist() -> None:
    """Samoa went from 29 to 31 December 2011."""
    days = np.array([seconds_since_1970(datetime(2011, 12, day, 12)) for day in (29, 30, 31)], np.int64)
    resolved = Zone("Pacific/Apia").resolve(days)
    assert (resolved.skipped.tolist(), resolved.repeated.any()) == ([False, True, False], False)


@pytest.mark.parametrize(("digits", "pattern"), [(14, "%Y%m%d%H%M%S"), (12, "%Y%m%d%H%M"), (8, "%Y%m%d")])
def test_numbers_of_clocks(digits: int, pattern: str) -> None:
    rng = random.Random(digits)
    zone = Zone("Europe/Paris")
    times = [datetime(1900, 1, 2) + timedelta(seconds=rng.randrange(200 * 365 * 86_400)) for _ in range(3000)]
    texts = [moment.strftime(pattern) for moment in times]
    expected = [
        (datetime.strptime(text, pattern).replace(tzinfo=ZoneInfo("Europe/Paris")) - oracle.EPOCH)
        // timedelta(seconds=1)
        for text in texts
    ]
    for read in (
        read_times(pa.array(texts), zone),
        read_times(pa.array([int(text) for text in texts]), zone),
        read_times(pa.array([float(text) for text in texts]), zone),
        read_times(pa.array([f"{text}.0" for text in texts]), zone),
    ):
        assert set(read.marks.tolist()) == {NUMBER}
        vote = TimeVote()
        for part in (slice(0, 10), slice(10, None)):
            vote.add(read.value[part], read.marks[part])
        assert vote.meaning().clock_digits == digits
        seconds, left, valid = read_pending(read.value, read.marks, vote.meaning(), zone)
        assert (seconds.tolist(), valid.all()) == (expected, True)
        assert not (left & NUMBER).any()


def test_numbers_that_are_no_clock() -> None:
    """Most decide: a few that look like clock times among others do not, and a few others do not hide clock times."""
    clock, rng = [20240517083000 + i for i in range(60)], random.Random(1)
    for numbers, expected in (
        (clock, 14),
        ([*clock, *range(59)], 14),
        ([*clock, *range(60)], None),
        ([20240517083060], None),  # 60 seconds
        ([20240230083000], None),
        ([18990517083000, 21010517083000], None),
        ([1_700_000_000_000 + rng.randrange(10**10) for _ in range(500)], None),
        ([rng.randrange(19_000_000, 21_000_000) for _ in range(200)], None),
        ([rng.randrange(190_000_000_000, 210_000_000_000) for _ in range(200)], None),
        ([20240517] * 3, 8),
        ([], None),
    ):
        vote = NumberVote()
        vote.add(np.array(numbers, np.int64))
        assert vote.clock_digits == expected, numbers[:3]


@pytest.mark.parametrize("seed", range(40))
def test_day_or_month_first(seed: int) -> None:
    """Whatever is sure in any batch decides; a contradiction and a doubt are refused in one line without a date."""
    rng = random.Random(seed)
    highest = rng.choice((1, 12, 13, 31))
    dates = [(rng.randrange(1, highest + 1), rng.randrange(1, 13)) for _ in range(rng.choice((1, 3, 30)))]
    if seed % 4 == 0:
        dates = [(day, day) for day, _ in dates if day <= 12] or [(7, 7)]
    swapped = [rng.random() < (0.5 if seed % 5 == 0 else seed % 2) for _ in dates]
    texts = [
        f"{b:02d}/{a}/2024" if swap else f"{a}/{b:02d}/2024"
        for (a, b), swap in zip(dates, swapped, strict=True)
    ]
    read = [oracle.national_time(text, ZoneInfo("UTC")) for text in texts]
    pairs = [time[1] for time in read if time is not None]
    days, months = (any(pair[other] is None for pair in pairs) for other in (1, 0))
    vote = DateVote()
    for text in texts:
        times = parse_national(column([text]))
        if times.valid[0]:
            vote.add(times.value)
    if days == months and any(one != other for one, other in pairs):
        with pytest.raises(InputError, match=r"say which.*with time_format") as caught:
            vote.day_first()
        assert "2024" not in str(caught.value)
        assert "\n" not in str(caught.value)
    elif days != months:
        assert vote.day_first() == days


def test_patterns_are_for_text_and_digits() -> None:
    zone, pattern = Zone("UTC"), TimeFormat.parse("%Y%m%d%H%M")
    for values in (["202405170830"], [202405170830], [202405170830.0], [b" 202405170830 "]):
        times = read_times(pa.array(values), zone, pattern)
        assert (times.value.tolist(), times.marks.tolist()) == ([1715934600], [0])
    times = read_times(pa.array(["202405170830", "", None, "1715934600"]), zone, pattern)
    assert times.valid.tolist() == [True, False, False, False]
    assert times.missing.tolist() == [False, True, True, False]
    with pytest.raises(InputError, match=r"found a time column of type timestamp\[us\]: leave it out"):
        read_times(pa.array([datetime(2024, 5, 17)]), zone, pattern)
