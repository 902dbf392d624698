"""Times: ISO text, numbers, native types and zones, against datetime."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reading import oracle
from shoal.core.zones import Zone
from shoal.errors import InputError
from shoal.reading.clock_text import parse_iso
from shoal.reading.marks import NUMBER
from shoal.reading.times import NumberVote, read_times
from support.reading import read_with

pytestmark = pytest.mark.usefixtures("by_command")

EPOCH = datetime(1970, 1, 1)
ZONES = (
    "UTC",
    "Europe/Paris",
    "America/St_Johns",
    "Australia/Lord_Howe",
    "Asia/Kathmandu",
    "Pacific/Apia",
    "Africa/Casablanca",
)


@settings(max_examples=300, deadline=None)
@given(
    st.one_of(
        st.datetimes().map(lambda moment: moment.isoformat()),
        st.datetimes(timezones=st.timezones()).map(lambda moment: moment.isoformat(" ", "minutes")),
        st.dates().map(str),
        st.from_regex(oracle.ISO, fullmatch=True),
        st.from_regex(r"\A\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?(\.\d+)?.{0,3}\Z"),
        st.text(max_size=25),
    )
)
def test_iso_text_against_datetime(text: str) -> None:
    parsed = parse_iso(pa.array([text.encode("utf-8", "replace")], pa.large_binary()))
    expected = oracle.iso_seconds(text, ZoneInfo("UTC"))
    assert (int(parsed.seconds[0]) if parsed.valid[0] else None) == expected


def test_iso_columns_that_are_slices() -> None:
    texts = [b"x", b"2024-01-01", b"", b"2024-01-02T00:00:01Z", b"2024-01-03 00:00+01"] * 3
    whole = parse_iso(pa.array(texts, pa.large_binary()))
    part = parse_iso(pa.array(texts, pa.large_binary()).slice(3, 7))
    for one, two in zip(whole, part, strict=True):
        assert one[3:10].tolist() == two.tolist()
    assert len(parse_iso(pa.array([], pa.large_binary())).seconds) == 0


@settings(max_examples=200, deadline=None)
@given(
    st.sampled_from(ZONES),
    st.lists(st.datetimes(datetime(1, 1, 4), datetime(9999, 12, 28)), min_size=1, max_size=20),
)
def test_zones_against_datetime(name: str, moments: list[datetime]) -> None:
    local = np.array([(moment - EPOCH) // timedelta(seconds=1) for moment in moments], np.int64)
    expected = [
        (moment.replace(tzinfo=ZoneInfo(name)) - EPOCH.replace(tzinfo=UTC)) // timedelta(seconds=1)
        for moment in moments
    ]
    assert Zone(name).to_utc(local).tolist() == expected


@pytest.mark.parametrize("name", ZONES)
def test_every_second_around_changes(name: str) -> None:
    """Changes of clocks in 2010 and 2011: a date line crossed, half hours, minutes past midnight."""
    zone = ZoneInfo(name)
    hours = np.arange(
        int(datetime(2010, 1, 1, tzinfo=UTC).timestamp()),
        int(datetime(2012, 1, 2, tzinfo=UTC).timestamp()),
        3600,
    )
    offsets = [datetime.fromtimestamp(int(hour), zone).utcoffset() for hour in hours]
    changes = [int(hours[i]) for i in range(1, len(hours)) if offsets[i] != offsets[i - 1]]
    assert name in ("UTC", "Asia/Kathmandu") or changes
    fast = Zone(name)
    for change in changes:
        at = change + round(zone.utcoffset(datetime.fromtimestamp(change)).total_seconds())
        local = np.arange(at - 12_000, at + 12_000, 7)
        expected = [
            round((EPOCH + timedelta(seconds=int(second))).replace(tzinfo=zone).timestamp())
            for second in local
        ]
        assert fast.to_utc(local).tolist() == expected


def test_gap_and_repeated_hour() -> None:
    zone = Zone("Europe/Paris")
    text = pa.array(["2024-03-31 02:30", "2024-10-27 02:30", "2024-10-27 02:30+01:00", "2024-10-27"])
    value = read_times(text, zone).value
    expected = ["2024-03-31T01:30Z", "2024-10-27T00:30Z", "2024-10-27T01:30Z", "2024-10-26T22:00Z"]
    assert value.tolist() == [int(datetime.fromisoformat(moment).timestamp()) for moment in expected]


def test_native_types() -> None:
    zone = Zone("Asia/Tokyo")
    before = datetime(1969, 12, 31, 23, 59, 59, 999_000)
    for unit in ("s", "ms", "us", "ns"):
        naive = pa.array([before, None], pa.timestamp("us")).cast(pa.timestamp(unit), safe=False)
        expected = -1 if unit != "s" else naive[0].value
        assert read_times(naive, zone).value[0] == expected - 9 * 3600
        assert read_times(naive.cast(pa.timestamp(unit, tz="Asia/Tokyo")), zone).value[0] == expected
        assert read_times(naive, zone).missing.tolist() == [False, True]
    for kind in (pa.date32(), pa.date64()):
        assert read_times(pa.array([date(1970, 1, 2)], kind), zone).value[0] == 86_400 - 9 * 3600
    assert read_times(pa.nulls(2), zone).missing.all()
    with pytest.raises(InputError, match="type duration"):
        read_times(pa.array([timedelta(1)]), zone)


def test_numbers() -> None:
    zone = Zone("Asia/Tokyo")
    floats = read_times(pa.array([1.5, -0.5, float("nan"), float("inf"), None, 1e300]), zone)
    assert floats.value.tolist()[:2] == [1, -1]
    assert floats.valid.tolist() == [True, True, False, False, False, False]
    assert floats.missing.tolist() == [False, False, False, False, True, False]
    for kind in (pa.int8(), pa.uint16(), pa.int32(), pa.uint64()):
        assert read_times(pa.array([7, None], kind), zone).value.tolist() == [7, 0]
    text = read_times(
        pa.array(["1700000000", " 17.9 ", "1700000000000000000", "1e3", "+5", "5,5", "0x5"]), zone
    )
    assert text.value[text.valid].tolist() == [1_700_000_000, 17, 1_700_000_000_000_000_000, 1000, 5, 5]
    assert text.marks.tolist() == [NUMBER] * 6 + [0]
    assert not read_times(pa.array(["5,555", "1,2,3", "1.234,5"]), zone).valid.any()  # thousands, or nothing
    published = read_times(pa.array(["1700000000", "31.12.2024", "2024-12-31"]), zone, only_iso=True)
    assert published.valid.tolist() == [False, False, True]


@pytest.mark.parametrize(
    "name", ["America/St_Johns", "Europe/Paris", "Australia/Lord_Howe", "Asia/Kathmandu"]
)
def test_clocks_show_what_python_says(name: str) -> None:
    """Newfoundland set its clocks back at one past midnight, to the day before, until 2010."""
    zone = ZoneInfo(name)
    for first in (1_289_090_000, 1_268_450_000, 1_617_454_000, 1_616_890_000):
        seconds = np.arange(first, first + 12_000, 17)
        shown = [datetime.fromtimestamp(second, zone).replace(tzinfo=UTC) for second in seconds.tolist()]
        assert Zone(name).from_utc(seconds).tolist() == [int(moment.timestamp()) for moment in shown]


def test_bounds_of_units() -> None:
    for number, expected in ((10**11 - 1, 1), (10**11, 1000), (-(10**14), 10**6), (10**17, 10**9)):
        vote = NumberVote()
        vote.add(np.array([number], np.int64))
        assert vote.per_second == expected


@pytest.mark.parametrize("per_second", [1, 1000, 10**6, 10**9])
def test_unit_is_that_of_the_median(per_second: int) -> None:
    vote = NumberVote()
    vote.add(np.array([0, 5], np.int64))
    vote.add(np.array([1_700_000_000 * per_second] * 3, np.int64))
    assert vote.per_second == per_second


def test_small_numbers_are_seconds() -> None:
    vote = NumberVote()
    assert vote.per_second == 1
    vote.add(np.arange(0, 75 * 86_400, 1800))  # counted from day 0, as in YJMob
    assert vote.per_second == 1


ASSUMED = (
    "Times come without a zone, and were read as UTC: if clocks were local, name the zone with --timezone."
)


@pytest.mark.parametrize(
    ("times", "options", "expected"),
    [
        (["2024-05-17 08:30"], {}, "assumed"),
        (["2024-05-17 08:30", "2024-05-17T08:30Z"], {}, "assumed"),
        (["17.05.2024 08:30"], {}, "assumed"),
        (["17/05/2024 08:30"], {}, "assumed"),
        (["20240517083000"], {}, "assumed"),
        ([20240517083000], {}, "assumed"),
        ([datetime(2024, 5, 17, 8, 30)], {}, "assumed"),
        (["2024-05-17 08:30"], {"timezone": "UTC"}, "given"),
        (["17.05.2024 08:30"], {"timezone": "Asia/Tokyo"}, "given"),
        (["2024-05-17T08:30Z", "1715934600", "soon"], {}, "written"),
        ([1715934600], {}, "written"),
        ([datetime(2024, 5, 17, 8, 30, tzinfo=UTC)], {}, "written"),
        (["17.05.24 08:30"], {"time_format": "%d.%m.%y %H:%M"}, "assumed"),
        (["17.05.24 08:30 +02:00"], {"time_format": "%d.%m.%y %H:%M %z"}, "written"),
    ],
)
def test_where_the_zone_comes_from_is_told(times: list, options: dict, expected: str) -> None:
    n = len(times)
    table = pa.table({"user": ["u"] * n, "time": times, "x": [5] * n, "y": [5] * n})
    events = read_with(table, **options)
    assert events.read_summary.zone_from == expected
    assert (events.read_summary.warnings == [ASSUMED]) == (expected == "assumed")
    assert events.timezone == options.get("timezone", "UTC")


def test_the_zone_of_a_format(tmp_path: Path) -> None:
    (tmp_path / "1.txt").write_text("1,2008-02-02 15:36:08,116.51172,39.92123\n")
    for options, expected in (({}, "format"), ({"timezone": "UTC"}, "given")):
        events = read_with(tmp_path / "1.txt", format="t-drive", **options)
        assert (events.read_summary.zone_from, events.read_summary.warnings) == (expected, [])
    sessions = tmp_path / "sessions.csv"
    sessions.write_text("user,start,end,lat,lon\na,2024-05-17 08:30,2024-05-17 09:00,48,2\n")
    assert read_with(sessions).read_summary.warnings == [ASSUMED]
    assert read_with(sessions).read_summary.format == "sessions"


def test_sessions_in_a_format_of_their_own(tmp_path: Path) -> None:
    """Of two sessions over the end of a month, the one that ends before it starts is left out."""
    path = tmp_path / "sessions.csv"
    path.write_text(
        "user,start,end,lat,lon\na,31/01/2024 23:00,01/02/2024 01:00,48,2\nb,01/02/2024 01:00,31/01/2024 23:00,48,2\n"
    )
    events = read_with(path, time_format="%d/%m/%Y %H:%M", timezone="UTC")
    assert events.read_summary.dropped == {"session that ends before it starts": 2}
    assert events.samples.users.tolist() == ["a"]
    assert (60 * events.samples.t).tolist() == [
        int(datetime(2024, *day, tzinfo=UTC).timestamp()) for day in ((1, 31, 23), (2, 1, 1))
    ]


def test_rows_at_changes_of_clocks_are_counted_and_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """However they are written, over several batches, and only those that are used."""
    monkeypatch.setattr("shoal.reading.tables.BATCH_ROWS", 3)
    local = [datetime(2024, 3, 31, 2, 30), datetime(2024, 10, 27, 2, 10), datetime(2024, 10, 27, 2, 50)]
    local += [
        datetime(2024, 3, 31, 1, 59),
        datetime(2024, 3, 31, 3),
        datetime(2024, 10, 27, 3),
        datetime(2024, 5, 1),
    ]
    for pattern in ("%Y-%m-%d %H:%M", "%d/%m/%Y %H:%M", "%d.%m.%Y %H:%M", "%Y%m%d%H%M", "%Y%m%d%H%M%S"):
        times = [moment.strftime(pattern) for moment in local]
        table = pa.table({"user": ["u"] * 7, "time": times, "x": [5] * 7, "y": [5] * 7})
        summary = read_with(table, timezone="Europe/Paris").read_summary
        assert (summary.times_skipped, summary.times_repeated) == (1, 2)
        assert summary.warnings == [
            "Clocks of Europe/Paris were set: 1 row at times that clocks skipped (read as if they had not been set"
            " forward) and 2 rows at times that clocks showed twice (taken the first time). If these were on another"
            " clock, such as UTC, name it with --timezone; else write times with their zone."
        ]
        summary = read_with(table, timezone="Europe/Paris", end="2024-10-01").read_summary
        assert (summary.times_skipped, summary.times_repeated) == (1, 0)
        assert read_with(table, timezone="Asia/Tokyo").read_summary.warnings == []
