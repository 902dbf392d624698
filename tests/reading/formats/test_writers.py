"""The files of other formats are what the notes say: shapes, headers, encodings, traps, and nothing lost on the way."""

from __future__ import annotations

import ast
import csv
import gzip
import hashlib
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import fmean
from xml.etree import ElementTree

import pytest

from reading.formats.writers import (
    HOMES,
    WRITERS,
    Event,
    Written,
    canonical_events,
    home_of,
    trajectories,
    write_d4d_ivory_set2,
    write_d4d_ivory_set3,
    write_d4d_senegal_set2,
    write_d4d_senegal_set3,
)

_STAMP = r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d"
_DEGREES = r"-?\d+\.\d+"
_H_MM = r"\d\d?\.\d\d"

# Every line of the events, traps included, after `_HEADER` lines in each file.
_LINE = {
    "d4d-ivory-set2": rf"\d+\t{_STAMP}\t(-1|\d+)",
    "d4d-ivory-set2-folder": rf"\d+\t{_STAMP}\t(-1|\d+)",
    "d4d-ivory-set3": rf"\d+\t{_STAMP}\t(-1|\d+)",
    "d4d-senegal-set2": r"\d+,\d{4}-\d\d-\d\d \d\d:\d0:00,\d+",
    "d4d-senegal-set3": rf"\d+,{_STAMP},\d+",
    "yjmob100k": r"\d+,\d\d?,\d\d?,\d{1,3},\d{1,3}",
    "geolife": rf"{_DEGREES},{_DEGREES},0,-?\d+,\d{{5}}\.\d+,\d{{4}}-\d\d-\d\d,\d\d:\d\d:\d\d\r",
    "tdrive": rf"\d+,{_STAMP},{_DEGREES},{_DEGREES}",
    "porto": r'("[^"]*",){8}"\[[^"]*\]"',
    "snap-gowalla": rf"\d+\t\d{{4}}-\d\d-\d\dT\d\d:\d\d:\d\dZ\t{_DEGREES}\t{_DEGREES}\t\w+",
    "snap-brightkite": r"|\d+(\t[^\t]*){4}",
    "foursquare-tsmc2014": rf"\d+\t\w{{24}}\t\w{{24}}\t[^\t]+\t{_DEGREES}\t{_DEGREES}\t-?\d+"
    r"\t[A-Z][a-z]{2} [A-Z][a-z]{2} \d\d \d\d:\d\d:\d\d \+0000 \d{4}",
    "cabspotting": rf"{_DEGREES} {_DEGREES} [01] \d{{10}}",
    "shanghai-telecom": rf"{_H_MM}\t{_H_MM}\t(0\t0|{_DEGREES}\t{_DEGREES})\t[0-9a-f]{{32}}",
    "shanghai-telecom-spreadsheet": rf"(\d\d?(\.\d\d?)?\t){{2}}(0\t0|{_DEGREES}\t{_DEGREES})\t[0-9a-f]{{32}}",
    "mpat-shenzhen": rf"\d{{10}},{_STAMP},{_DEGREES},{_DEGREES}",
    "mpat-shenzhen-labelled": rf"\d{{10}},{_STAMP},{_DEGREES},{_DEGREES}",
    "sessions": rf"\d+,(\d{{4}}-\d\d-\d\dT\d\d:\d\d:\d\dZ,){{2}}{_DEGREES},{_DEGREES}",
}
_HEADER = {"yjmob100k": 1, "geolife": 6, "porto": 1, "mpat-shenzhen-labelled": 1, "sessions": 1}
_LINE_FORMATS = sorted(_LINE)  # all but GPX


@pytest.fixture(params=WRITERS)
def name(request: pytest.FixtureRequest) -> str:
    return request.param


def _events(name: str) -> list[Event]:
    return canonical_events(seed=7, n_users=4, n=30, like=home_of(name))


def _write(name: str, folder: Path) -> Written:
    return WRITERS[name](folder, _events(name))


def _event_files(written: Written) -> list[Path]:
    if written.path.is_file():
        return [written.path]
    inside = sorted(path for path in written.path.rglob("*") if path.is_file())
    return [path for path in inside if path not in written.not_events]


def _text(path: Path) -> str:
    content = path.read_bytes()
    return (gzip.decompress(content) if path.suffix == ".gz" else content).decode("latin-1")


def _lines(name: str, written: Written) -> Iterator[str]:
    for path in _event_files(written):
        text = _text(path)
        assert text.endswith("\n")
        yield from text.removesuffix("\n").split("\n")[_HEADER.get(name, 0) :]


# What holds for every writer


def test_every_format_has_a_writer_and_every_writer_a_home() -> None:
    assert set(HOMES) <= set(WRITERS)
    assert {home_of(name) for name in WRITERS} == set(HOMES)
    assert set(_LINE) == set(WRITERS) - {"gpx"}


def test_the_files_lie_where_written_says(name: str, tmp_path: Path) -> None:
    written = _write(name, tmp_path)
    assert written.path.exists()
    assert written.sites is None or written.sites.is_file()
    assert all(path.is_file() for path in written.not_events)
    assert written.path not in written.not_events
    assert written.note
    assert all(count > 0 for count in [*written.dropped.values(), *written.interpreted.values()])
    assert (written.sites is not None) == name.startswith("d4d")


def test_the_same_events_give_the_same_bytes(name: str, tmp_path: Path) -> None:
    for copy in ("a", "b"):
        _write(name, tmp_path / copy)
    for path in (tmp_path / "a").rglob("*"):
        twin = tmp_path / "b" / path.relative_to(tmp_path / "a")
        assert path.is_dir() or path.read_bytes() == twin.read_bytes()


@pytest.mark.parametrize("like", HOMES)
def test_every_writer_takes_the_events_of_every_home(name: str, like: str, tmp_path: Path) -> None:
    events = canonical_events(seed=1, n_users=2, n=9, like=like)
    assert len(WRITERS[name](tmp_path, events).expected) >= len(events)


@pytest.mark.parametrize("name", sorted(set(WRITERS) - {"yjmob100k", "porto", "d4d-ivory-set2-folder"}))
def test_nothing_is_lost_that_the_format_can_hold(name: str, tmp_path: Path) -> None:
    written, events = _write(name, tmp_path), _events(name)
    for expected, track in zip(trajectories(written.expected), trajectories(events), strict=True):
        assert [second for second, *_ in expected] == [second for second, *_ in track]
        assert [place for _, *place in expected] == [pytest.approx(place, abs=1e-9) for _, *place in track]


@pytest.mark.parametrize("name", _LINE_FORMATS)
def test_every_line_has_the_published_shape(name: str, tmp_path: Path) -> None:
    written = _write(name, tmp_path)
    bad = [line for line in _lines(name, written) if not re.fullmatch(_LINE[name], line)]
    assert bad == []


@pytest.mark.parametrize("name", _LINE_FORMATS)
def test_lines_are_events_and_traps_and_nothing_else(name: str, tmp_path: Path) -> None:
    written = _write(name, tmp_path)
    n_rows = len(_events(name)) if name == "porto" else len(written.expected)
    assert len(list(_lines(name, written))) == n_rows + sum(written.dropped.values())


@pytest.mark.parametrize("name", [name for name in _LINE_FORMATS if _STAMP in _LINE[name]])
def test_times_are_the_clocks_of_the_stated_zone(name: str, tmp_path: Path) -> None:
    written = _write(name, tmp_path)
    stamps = {stamp for path in _event_files(written) for stamp in re.findall(_STAMP, _text(path))}
    offset = timedelta(hours=8 if written.zone == "Asia/Shanghai" else 0)
    shown = {
        f"{datetime.fromtimestamp(second, UTC) + offset:%Y-%m-%d %H:%M:%S}"
        for _, second, *_ in written.expected
    }
    assert shown <= stamps
    assert len(stamps - shown) <= sum(written.dropped.values())


# Lines that the notes quote


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("d4d-senegal-set2", "1,2013-01-07 13:10:00,461"),
        ("tdrive", "1,2008-02-02 15:36:08,116.51172,39.92123"),
        ("mpat-shenzhen", "0055556100,2013-10-22 08:27:50,114.121305,22.57902"),
    ],
)
def test_a_line_quoted_in_the_notes_has_the_same_shape(name: str, line: str) -> None:
    assert re.fullmatch(_LINE[name], line)


def test_the_date_quoted_in_the_notes_is_written_so(tmp_path: Path) -> None:
    second = int(datetime(2012, 4, 3, 18, 0, 9, tzinfo=UTC).timestamp())
    written = WRITERS["foursquare-tsmc2014"](tmp_path, [Event("1", second, 40.7, -73.9)])
    assert _text(written.path).endswith("\t-240\tTue Apr 03 18:00:09 +0000 2012\n")


def test_the_taxi_quoted_in_the_notes_is_written_so(tmp_path: Path) -> None:
    second = int(datetime(2008, 2, 2, 7, 36, 8, tzinfo=UTC).timestamp())
    written = WRITERS["tdrive"](tmp_path, [Event("1", second, 39.92123, 116.51172)])
    assert (written.path / "1.txt").read_text() == "1,2008-02-02 15:36:08,116.51172,39.92123\n"


def test_the_antenna_quoted_in_the_notes_is_written_so(tmp_path: Path) -> None:
    written = write_d4d_ivory_set2(tmp_path, [Event("1", 1323043200, 5.342044, -4.143452)])
    assert written.sites is not None
    assert written.sites.read_text().splitlines()[0] == "1\t-4.143452\t5.342044"


# Traps


_WRITERS_WITH_TABLES = [
    write_d4d_ivory_set2,
    write_d4d_ivory_set3,
    write_d4d_senegal_set2,
    write_d4d_senegal_set3,
]


@pytest.mark.parametrize("writer", _WRITERS_WITH_TABLES)
def test_antennas_are_in_the_table_unless_asked_otherwise(writer, tmp_path: Path) -> None:
    events = canonical_events(seed=3, n_users=3, n=20)
    for implausible in (0, 2):
        written = writer(tmp_path / str(implausible), events, implausible=implausible)
        assert written.sites is not None
        table = [re.split("[\t,]", line) for line in written.sites.read_text().splitlines()]
        column = 1 if writer is write_d4d_senegal_set3 else 0
        known = {row[column] for row in table}
        used = [re.split("[\t,]", line)[2] for line in _lines("", written)]
        unknown = Counter(place for place in used if place not in known)
        assert sum(unknown.values()) == sum(written.dropped.values())
        assert unknown["9999"] == implausible


@pytest.mark.parametrize("name", ["d4d-ivory-set2", "d4d-ivory-set3", "d4d-senegal-set2", "d4d-senegal-set3"])
def test_places_looked_up_in_the_table_are_the_expected_ones(name: str, tmp_path: Path) -> None:
    written = _write(name, tmp_path)
    assert written.sites is not None
    key = 1 if name == "d4d-senegal-set3" else 0
    members = defaultdict(list)
    for line in written.sites.read_text().splitlines()["senegal" in name :]:
        row = re.split("[\t,]", line)
        members[row[key]].append((float(row[-1]), float(row[-2])))
    seen = []
    for user, time, place in (re.split("[\t,]", line) for line in _lines(name, written)):
        if place != "-1":
            second = int(datetime.fromisoformat(f"{time}+00:00").timestamp())
            seen.append((user, second, *map(fmean, zip(*members[place], strict=True))))
    for mine, expected in zip(sorted(seen), sorted(written.expected), strict=True):
        assert mine[:2] == expected[:2]
        assert mine[2:] == pytest.approx(expected[2:], abs=1e-9)


def test_only_the_antenna_table_of_senegal_has_a_header(tmp_path: Path) -> None:
    for name in ("d4d-senegal-set2", "d4d-ivory-set2"):
        written = _write(name, tmp_path / name)
        assert written.sites is not None
        first = written.sites.read_text().splitlines()[0]
        assert (first == "site_id,arr_id,lon,lat") == (name == "d4d-senegal-set2")


def test_an_arrondissement_is_neither_its_first_site_nor_the_site_of_its_number(tmp_path: Path) -> None:
    written = _write("d4d-senegal-set3", tmp_path)
    assert written.sites is not None
    rows = list(csv.DictReader(written.sites.read_text().splitlines()))
    centres = {(round(lat, 5), round(lon, 5)) for _, _, lat, lon in written.expected}
    firsts = {row["arr_id"]: (float(row["lat"]), float(row["lon"])) for row in reversed(rows)}
    assert centres.isdisjoint(firsts.values())
    assert len(rows) == 4 * len(firsts)
    assert len(list(written.path.iterdir())) == 2  # two months


def test_windows_of_ivory_reuse_ids_for_other_people(tmp_path: Path) -> None:
    written = _write("d4d-ivory-set2-folder", tmp_path)
    ids = [{line.split("\t")[0] for line in _text(path).splitlines()} for path in _event_files(written)]
    assert ids[1] < ids[0]  # the user of traps is in the first window alone
    assert len(trajectories(written.expected)) == 2 * len(ids[1])


def test_yjmob_counts_from_day_0_in_metres(tmp_path: Path) -> None:
    written = _write("yjmob100k", tmp_path)
    assert _text(written.path).splitlines()[0] == "uid,d,t,x,y"
    assert written.variant == "metres"
    rows = [tuple(map(int, line.split(","))) for line in _lines("yjmob100k", written)]
    assert all(d <= 74 and t <= 47 and ((x <= 200 and y <= 200) or x == y == 999) for _, d, t, x, y in rows)
    seen = {(str(u), d * 86400 + t * 1800, x * 500.0, y * 500.0) for u, d, t, x, y in rows if x != 999}
    assert seen == {tuple(event) for event in written.expected}
    assert sum(row[3] == 999 for row in rows) == written.dropped["masked"]


def test_geolife_has_six_lines_of_header_and_unknown_altitudes(tmp_path: Path) -> None:
    written = _write("geolife", tmp_path)
    files = _event_files(written)
    assert all(
        re.fullmatch(r"Data/\d{3}/Trajectory/\d{14}\.plt", str(f.relative_to(tmp_path))) for f in files
    )
    assert all(len(line.split(",")) == 7 for line in _lines("geolife", written))
    altitudes = [line.split(",")[3] for line in _lines("geolife", written)]
    assert altitudes.count("-777") == written.interpreted["altitude -777"]
    (labels,) = written.not_events
    assert labels.read_text().startswith("Start Time\tEnd Time\tTransportation Mode\n")
    for line in _lines("geolife", written):
        *_, days, date, time = line.split(",")
        at = datetime(1899, 12, 30) + timedelta(days=float(days))
        assert abs(at - datetime.fromisoformat(f"{date} {time}".strip())) < timedelta(seconds=0.5)


def test_porto_expands_every_fifteen_seconds(tmp_path: Path) -> None:
    written = _write("porto", tmp_path)
    with written.path.open(newline="") as file:
        trips = list(csv.DictReader(file))
    points = [
        Event(trip["TAXI_ID"], int(trip["TIMESTAMP"]) + 15 * i, lat, lon)
        for trip in trips
        if trip["MISSING_DATA"] == "False"
        for i, (lon, lat) in enumerate(ast.literal_eval(trip["POLYLINE"]))
    ]
    assert sorted(points) == sorted(written.expected)
    assert sum(trip["POLYLINE"] == "[]" for trip in trips) == written.dropped["empty polyline"]
    assert sum(trip["MISSING_DATA"] == "True" for trip in trips) == written.dropped["missing data"]
    assert len({trip["TRIP_ID"] for trip in trips}) == len(trips)


def test_brightkite_has_nowhere_and_blanks_and_gowalla_has_none(tmp_path: Path) -> None:
    rows = [line.split("\t") for line in _lines("", _write("snap-brightkite", tmp_path))]
    assert sum(len(row) == 5 and row[2].strip("0.") == "" and row[2] != "" for row in rows) == 2
    assert sum(len(row) == 5 and row[2] == "" for row in rows) == 2
    assert sum(row == [""] for row in rows) == 1
    assert _write("snap-gowalla", tmp_path).dropped == {}


def test_foursquare_is_not_utf_8(tmp_path: Path) -> None:
    written = _write("foursquare-tsmc2014", tmp_path)
    content = written.path.read_bytes()
    with pytest.raises(UnicodeDecodeError):
        content.decode()
    assert content.count(b"\xe9") == written.interpreted["byte beyond ASCII"]


def test_cabs_run_newest_first_and_oldest_first(tmp_path: Path) -> None:
    written = _write("cabspotting", tmp_path)
    files = _event_files(written)
    assert all(re.fullmatch(r"new_[a-z]{6}\.txt", file.name) for file in files)
    assert {file.stem.removeprefix("new_") for file in files} == {event[0] for event in written.expected}
    seconds = [[int(line.split()[3]) for line in _text(file).splitlines()] for file in files]
    newest_first = [times == sorted(times, reverse=True) for times in seconds]
    assert newest_first == [True, False, True, False]
    assert [times == sorted(times) for times in seconds] == [False, True, False, True]


def _minutes(clock: str) -> int:
    """H.MM, or the number a spreadsheet makes of it."""
    hour, _, minute = clock.partition(".")
    return int(hour) * 60 + int(minute.ljust(2, "0"))


@pytest.mark.parametrize("name", ["shanghai-telecom", "shanghai-telecom-spreadsheet"])
def test_shanghai_clocks_say_the_same_with_and_without_trailing_zeros(name: str, tmp_path: Path) -> None:
    written = _write(name, tmp_path)
    seen = []
    for path in _event_files(written):
        midnight = int(datetime.fromisoformat(f"{path.stem}T00:00:00+08:00").timestamp())
        for line in _text(path).splitlines():
            start, end, lat, lon, user = line.split("\t")
            if (lat, lon) != ("0", "0"):
                event = Event(user, midnight + _minutes(start) * 60, float(lat), float(lon))
                seen.append((event, midnight + _minutes(end) * 60))
    assert written.ends is not None
    assert sorted(seen) == sorted(zip(written.expected, written.ends, strict=True))
    assert {user for user, *_ in written.expected} == {hashlib.md5(n.encode()).hexdigest() for n in "1234"}
    starts = {line.split("\t")[0] for line in _lines(name, written)}
    assert any(re.fullmatch(r"\d+\.3", start) for start in starts) == name.endswith("spreadsheet")
    assert any(re.fullmatch(r"\d+\.\d0", start) for start in starts) != name.endswith("spreadsheet")
    assert any(re.fullmatch(r"\d+\.0[1-9]", start) for start in starts)  # padded, so that .3 can only be 30


def test_shenzhen_puts_longitude_first_and_keeps_zeros(tmp_path: Path) -> None:
    for name in ("mpat-shenzhen", "mpat-shenzhen-labelled"):
        written = _write(name, tmp_path / name)
        rows = [line.split(",") for line in _lines(name, written)]
        assert all(float(lon) > 90 > float(lat) for *_, lon, lat in rows)
        assert {row[0] for row in rows} == {event[0] for event in written.expected}
        assert all(row[0].startswith("00") for row in rows)
    assert _text(written.path).splitlines()[0].endswith("Latitude,Longitude")


def test_gpx_is_well_formed_and_has_the_stated_traps(tmp_path: Path) -> None:
    written = _write("gpx", tmp_path)
    space = {"g": "http://www.topografix.com/GPX/1/1"}
    seen, untimed = [], 0
    for path in _event_files(written):
        root = ElementTree.parse(path).getroot()
        user = root.findtext("g:trk/g:name", path.stem, space)
        assert len(root.findall("g:trk/g:trkseg", space)) == 2
        assert len(root.findall("g:wpt", space)) == len(root.findall("g:rte/g:rtept", space)) == 1
        for point in root.findall("g:trk/g:trkseg/g:trkpt", space):
            time = point.findtext("g:time", None, space)
            untimed += time is None
            if time is not None:
                second = int(datetime.fromisoformat(time).timestamp())
                seen.append(Event(user, second, float(point.attrib["lat"]), float(point.attrib["lon"])))
    assert sorted(seen) == sorted(written.expected)
    assert untimed == written.dropped["no time"]
    assert {user.split()[0] for user, *_ in seen} == {"rider", "track-2", "track-4"}


def test_sessions_have_ends(tmp_path: Path) -> None:
    written = _write("sessions", tmp_path)
    with written.path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    ends = [int(datetime.fromisoformat(row["end"]).timestamp()) for row in rows]
    assert ends == written.ends
    assert sum(row["start"] == row["end"] for row in rows) == written.interpreted["no length"]


# The events themselves


@pytest.mark.parametrize("like", HOMES)
def test_canonical_events_suit_every_format(like: str) -> None:
    events, home = canonical_events(seed=5, n_users=5, n=43, like=like), HOMES[like]
    assert len(events) == 43
    assert {event.user for event in events} == {"1", "2", "3", "4", "5"}
    assert len({(event.user, event.second) for event in events}) == 43
    for _, second, lat, lon in events:
        assert second % 1800 == 0
        assert home.first_second <= second < home.first_second + 14 * 86400
        assert home.south <= lat <= home.north
        assert home.west <= lon <= home.east
        assert (lat, lon) == (round(lat, 5), round(lon, 5))
    assert events == canonical_events(seed=5, n_users=5, n=43, like=like)
    assert events != canonical_events(seed=6, n_users=5, n=43, like=like)


def test_trajectories_forget_names_and_order_but_not_who_is_who() -> None:
    one, two, three = Event("a", 1, 2.0, 3.0), Event("a", 2, 2.0, 3.0), Event("b", 1, 2.0, 3.0)
    renamed = [three._replace(user="x"), two._replace(user="y"), one._replace(user="y")]
    assert trajectories([one, two, three]) == trajectories(renamed)
    assert trajectories([one, two, three]) != trajectories([one, two, three._replace(user="a")])
