"""What is particular to a format: odd rows, empty files, users of folders; and refusals that name nobody."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from reading.oracle import rows_of
from reading.refusals import refusal
from shoal.core.options import ReadingOptions
from shoal.core.promise import Grid
from shoal.reading import FORMAT_NAMES, Events, read_events
from support.reading import read_with

GRID = Grid(cell_m=100.0, step_s=1)
CANARIES = ("canary", "116.5", "39.92", "4711")
HOUR = 3600
DAY = 86_400


@pytest.fixture
def put(tmp_path: Path) -> Callable[..., Path]:
    def to_file(content: str, name: str) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
        return path

    return to_file


def refused(source: object, **options: object) -> str:
    return refusal(lambda: read_with(source, grid=GRID, **options), CANARIES)


def times(events: Events) -> list[int]:
    return sorted(set(events.samples.t.tolist()))


# ---- choosing a format -------------------------------------------------------------------------------------------


def test_unknown_formats_are_refused_with_the_names_of_all(put: Callable[..., Path]) -> None:
    message = refused(put("user,time,x,y\ncanary,5,1,1\n", "a.csv"), format="gowalla")
    assert all(name in message for name in FORMAT_NAMES)


def test_columns_of_a_format_are_known(put: Callable[..., Path]) -> None:
    path = put("1,2008-02-02 15:36:08,116.51172,39.92123\n", "1.txt")
    assert "are known" in refused(path, format="t-drive", columns={"user": "taxi"})


def test_a_table_of_sites_that_no_row_needs(put: Callable[..., Path]) -> None:
    path = put("1,2008-02-02 15:36:08,116.51172,39.92123\n", "1.txt")
    assert "positions of its own" in refused(path, sites=path)


def test_a_table_that_quotes_a_format_is_a_table(put: Callable[..., Path]) -> None:
    path = put("user,time,x,y,note\na,5,1,1,<gpx>\n", "a.csv")
    assert read_events(path, grid=GRID).read_summary.format is None


def test_whoever_names_columns_has_a_plain_table(put: Callable[..., Path]) -> None:
    path = put("uid,d,t,x,y\n1,0,3,5,5\n", "a.csv")
    assert read_events(path, grid=GRID).read_summary.format == "yjmob"
    for options in ({"columns": {"time": "t"}}, {"format": "table"}):
        events = read_with(path, grid=GRID, **options)
        assert (events.read_summary.format, times(events)) == (None, [3])


def test_numbers_that_are_no_half_hours_are_a_plain_table(put: Callable[..., Path]) -> None:
    path = put("uid,d,t,x,y\n1,0,1700000000,5,5\n1,0,1700000060,5,5\n", "a.csv")
    assert read_events(path, grid=GRID).read_summary.format is None


def test_tables_in_memory() -> None:
    stays = pd.DataFrame({"user": ["a"], "start": [10], "end": [70], "x": [1.0], "y": [1.0]})
    assert times(read_events(stays, grid=GRID, options=ReadingOptions(format="sessions"))) == [10, 70]
    cells = pd.DataFrame({"uid": [1, 1], "d": [0, 1], "t": [2, 0], "x": [3, 999], "y": [4, 999]})
    events = read_events(cells, grid=GRID, options=ReadingOptions(format="yjmob"))
    assert rows_of(events.samples) == [("1", HOUR, 15, 20)]
    assert "expected a path" in refused(stays, format="geolife")


def test_a_path_that_leads_nowhere(tmp_path: Path) -> None:
    assert "No file or folder" in refused(tmp_path / "nowhere", format="geolife")
    assert "holds no such files" in refused(tmp_path, format="geolife")


# ---- folders: numbered in messages, since names may be of people ---------------------------------------------------


def test_files_are_numbered_in_messages(put: Callable[..., Path], tmp_path: Path) -> None:
    put("0.00\t0.05\t31.1\t121.1\t" + "ab" * 16 + "\n", "days/2014-06-01.txt")
    put("0.00\t0.05\t31.1\t121.1\t" + "ab" * 16 + "\n", "days/canary.txt")
    assert refused(tmp_path / "days").startswith("File 2 of 2 in folder 'days' has no date in its name")
    put("<gpx><trk></trk></gpx>", "tracks/a.gpx")
    put("<gpx><trk>canary", "tracks/canary.gpx")
    assert refused(tmp_path / "tracks").startswith("File 2 of 2 in folder 'tracks' cannot be read as GPX")


def test_empty_files_and_others_in_a_folder(put: Callable[..., Path], tmp_path: Path) -> None:
    put("", "taxis/1.txt")
    put("\n", "taxis/2.txt")
    put("3,2008-02-02 08:00:00,116.5,39.92\n3,damaged\n", "taxis/3.txt")
    put("read me", "taxis/canary.md")
    events = read_events(tmp_path / "taxis", grid=GRID)
    assert (events.read_summary.format, events.read_summary.dropped) == ("t-drive", {"malformed row": 1})
    assert events.read_summary.warnings == ["1 other file in the folder was not read."]
    assert events.read_summary.blank_lines == 1
    assert times(events) == [1_201_910_400]  # midnight UTC


def test_rows_below_many_blank_lines_are_not_lost(put: Callable[..., Path], tmp_path: Path) -> None:
    for taxi in (1, 2):
        put("\n" * 70_000 * (taxi - 1) + f"{taxi},2008-02-02 08:00:00,116.5,39.92\n", f"taxis/{taxi}.txt")
    put("\n" * 70_000, "taxis/3.txt")
    events = read_events(tmp_path / "taxis", grid=GRID)
    assert (events.samples.users.tolist(), events.read_summary.rows_read) == (["1", "2"], 2)
    assert events.read_summary.blank_lines == 140_000


def test_what_is_no_text_is_said_to_be_none(put: Callable[..., Path]) -> None:
    path = put("canary\0\1\2\n", "1.txt")
    for format in ("cabspotting", "foursquare", "geolife", "mpat", "snap", "t-drive"):
        assert "'1.txt' is not a text file" in refused(path, format=format)


def test_sets_of_different_detail_do_not_mix(put: Callable[..., Path], tmp_path: Path) -> None:
    for name in ("POS_SAMPLE_0.TSV", "SUBPREF_POS_SAMPLE_A.TSV"):
        put("1\t2011-12-05 00:00:00\t1\n", f"d4d/{name}")
    put("1\t-4.1\t5.3\n", "d4d/ANT_POS.TSV")
    put("1\t-4.1\t5.3\n", "d4d/SUBPREF_POS_LONLAT.TSV")
    assert "sets of different detail" in refused(tmp_path / "d4d")


def test_users_of_files_of_one_name_would_be_mixed_up(put: Callable[..., Path], tmp_path: Path) -> None:
    put("1\t-4.1\t5.3\n", "d4d/ANT_POS.TSV")
    put("1\t2011-12-05 00:00:00\t1\n", "d4d/a/POS_SAMPLE_0.TSV")
    put("1\t2011-12-19 00:00:00\t1\n", "d4d/b/POS_SAMPLE_0.TSV")
    assert "several files of one name" in refused(tmp_path / "d4d")


def test_remedies_do_not_name_columns_of_formats(put: Callable[..., Path]) -> None:
    taxi = put("1,2008-02-02 15:36:08,116.51172,39.92123\n", "1.txt")
    for format in ("snap", "foursquare", "cabspotting"):
        message = refused(taxi, format=format)
        assert f"check that the events are of format {format}" in message
        assert "-column" not in message
    assert "expected rows of format t-drive" in refused(put("", "2.txt"), format="t-drive")


def test_files_of_damaged_rows_only(put: Callable[..., Path], tmp_path: Path) -> None:
    for taxi in (1, 2):
        put(f"{taxi},canary\n{taxi}\n", f"taxis/{taxi}.txt")
    assert "No usable row among 4 (4 malformed row)" in refused(tmp_path / "taxis", format="t-drive")
    put("3,2008-02-02 08:00:00,116.5,39.92\n", "taxis/3.txt")
    assert read_events(
        tmp_path / "taxis", grid=GRID, options=ReadingOptions(format="T-Drive")
    ).read_summary.dropped == {"malformed row": 4}


# ---- GPX ---------------------------------------------------------------------------------------------------------

POINT = '<trkpt lat="45.1" lon="5.6"><time>2021-03-20T00:00:{:02d}Z</time></trkpt>'


def test_folders_are_people_where_there_are_any(put: Callable[..., Path], tmp_path: Path) -> None:
    for second, name in enumerate(("anna/monday.gpx", "anna/tuesday.gpx", "ben/monday.gpx", "cleo.gpx")):
        put(f"<gpx><trk><trkseg>{POINT.format(second)}</trkseg></trk></gpx>", f"tracks/{name}")
    events = read_events(tmp_path / "tracks", grid=GRID)
    assert list(events.samples.users) == ["anna", "ben", "cleo"]


def test_files_without_content_are_of_nobody(put: Callable[..., Path], tmp_path: Path) -> None:
    put("", "tracks/anna.gpx")
    put("\n", "tracks/ben.gpx")
    put(f"<gpx><trk><trkseg>{POINT.format(1)}</trkseg></trk></gpx>", "tracks/cleo.gpx")
    assert read_events(tmp_path / "tracks", grid=GRID).samples.users.tolist() == ["cleo"]


def test_names_with_dots_are_of_different_people(put: Callable[..., Path], tmp_path: Path) -> None:
    for name in ("anna.smith.gpx", "anna.jones.gpx", "2021.03.20.GPX.gz"):
        text = f"<gpx><trk><trkseg>{POINT.format(1)}</trkseg></trk></gpx>"
        path = put(text, f"tracks/{name}")
        if name.endswith("gz"):
            path.write_bytes(gzip.compress(text.encode()))
    events = read_events(tmp_path / "tracks", grid=GRID)
    assert list(events.samples.users) == ["2021.03.20", "anna.jones", "anna.smith"]


def test_entities_are_never_resolved(put: Callable[..., Path], tmp_path: Path) -> None:
    secret = put("2021-03-20T00:00:00Z", "canary.txt")
    for entity in ('"2021-03-20T00:00:00Z"', f'SYSTEM "{secret.as_uri()}"'):
        point = '<trkpt lat="45.1" lon="5.6"><time>&time;</time></trkpt>'
        text = f"<!DOCTYPE gpx [<!ENTITY time {entity}>]><gpx><trk><trkseg>{point}</trkseg></trk></gpx>"
        assert "document type" in refused(put(text, "a.gpx"))
    assert "cannot be read as GPX" in refused(put("<gpx>&canary;</gpx>", "a.gpx"))
    assert tmp_path.exists()


def test_what_is_no_track_is_told(put: Callable[..., Path]) -> None:
    others = (
        POINT.replace("trkpt", "wpt").format(1) + f"<rte>{POINT.replace('trkpt', 'rtept').format(2)}</rte>"
    )
    text = f"<gpx>{others}<trk><trkseg>{POINT.format(3)}</trkseg></trk></gpx>"
    events = read_events(put(text, "a.gpx"), grid=GRID)
    assert times(events) == [1_616_198_403]
    assert events.read_summary.warnings == [
        "2 waypoints and points of routes were not read: they are no tracks."
    ]


def test_times_of_extensions_are_not_times_of_points(put: Callable[..., Path]) -> None:
    extension = "<extensions><x><time>1999-01-01T00:00:00Z</time></x></extensions>"
    text = POINT.format(7).replace("</trkpt>", f"{extension}</trkpt>")
    events = read_events(put(f"<gpx><trk><trkseg>{text}</trkseg></trk></gpx>", "a.gpx"), grid=GRID)
    assert times(events) == [1_616_198_407]


# ---- clocks and sessions -----------------------------------------------------------------------------------------


def test_clocks_of_shanghai(put: Callable[..., Path]) -> None:
    clocks = ["3.30\t3.5", "3\t3.05", "23.50\t0.10", "3.3\t24.00", "3.75\t25.00", "\t4.0"]
    rows = "".join(f"{clock}\t31.1\t121.1\tab{number}\n" for number, clock in enumerate(clocks))
    path = put(rows, "2014-06-02.txt")
    events = read_events(path, grid=GRID, options=ReadingOptions(format="shanghai-telecom", timezone="UTC"))
    day = 1_401_667_200
    found: dict[str, list[str]] = {}
    for user, t, _, _ in rows_of(events.samples):
        found.setdefault(user, []).append(f"{(t - day) // DAY}d {(t - day) % DAY / HOUR:.4g}")
    assert found == {
        "ab0": ["0d 3.5", "0d 3.833"],
        "ab1": ["0d 3", "0d 3.083"],
        "ab2": ["0d 23.83", "1d 0.1667"],  # past midnight
        "ab3": ["0d 3.5", "1d 0"],
        "ab5": ["0d 4"],
    }
    assert events.read_summary.dropped == {"missing time": 1, "unparsable time": 2}


def test_the_published_table_of_shanghai(put: Callable[..., Path]) -> None:
    text = (
        "Month,Date,Start Time,End Time,Latitude,Longitude,User ID\n"
        "6,2,2014-06-02 08:00,2014-06-02 09:00,31.1,121.1,ab\n"
    )
    events = read_events(put(text, "june.csv"), grid=GRID)
    assert (events.read_summary.format, events.timezone) == ("shanghai-telecom", "Asia/Shanghai")
    assert times(events) == [1_401_667_200, 1_401_670_800]
    assert events.read_summary.columns_dropped == ["Month", "Date"]


@pytest.mark.parametrize(
    ("start", "end", "kept"),
    [
        ("2014/6/2 8:05", "2014/06/02 08:35:30", [300, 2130]),
        ("2014-06-02 08:05:00", "2014-06-01T23:00:00-0130", [300, 1800]),
        ("8.05", "8.35", None),  # a clock time without its day
        ("6/2/2014 8:05", "6/2/2014 8:35", None),  # nobody knows which of them is the month
    ],
)
def test_times_of_the_published_table_of_shanghai(
    start: str, end: str, kept: list[int] | None, put: Callable[..., Path]
) -> None:
    header = "month,date,start time,end time,latitude,longitude,user id"
    path = put(f"\ufeff{header}\r\n6,2,{start},{end},31.1,121.1,ab\r\n", "data_6.1~6.15.csv")
    if kept is None:
        assert "unparsable time" in refused(path)
    else:
        assert [t - 1_401_667_200 for t in times(read_events(path, grid=GRID))] == kept


@pytest.mark.parametrize("format", [None, "shanghai-telecom", "table"])
def test_spreadsheets_are_to_be_saved_as_csv(
    format: str | None, put: Callable[..., Path], tmp_path: Path
) -> None:
    path = put("PK\3\4\0canary", "sheets/data_6.1~6.15.xlsx")
    for source in (path, tmp_path / "sheets"):
        assert "save every sheet as CSV" in refused(source, format=format)


@pytest.mark.parametrize(
    ("header", "format"),
    [
        ("user,start,end,lat,lon", "sessions"),
        ("User ID,Start Time,End Time,Latitude,Longitude", "sessions"),
        ("uid,started_at,finished_at,x,y", "sessions"),
        ("user,time,end,lat,lon", None),
        ("user,start_time,x,y,note", None),
        ("user,time,start,end,x,y", None),
    ],
)
def test_sessions_are_known_by_start_and_end(
    header: str, format: str | None, put: Callable[..., Path]
) -> None:
    row = ",".join("5" for _ in header.split(","))
    events = read_events(put(f"{header}\n{row}\n", "a.csv"), grid=GRID)
    assert events.read_summary.format == format


def test_sessions_with_faults(put: Callable[..., Path]) -> None:
    path = put("who,start,end,x,y\na,5,,1,1\na,6,9,,1\nlost\nb,7,8,1,1\n", "a.csv")
    events = read_events(path, grid=GRID, options=ReadingOptions(format="sessions", columns={"user": "who"}))
    assert times(events) == [5, 7, 8]
    assert events.read_summary.dropped == {"malformed row": 1, "missing time": 1, "missing position": 2}
    assert "start of sessions" in refused(put("user,end,x,y\na,1,1,1\n", "b.csv"), format="sessions")


@pytest.mark.parametrize("zone", ["UTC", "Asia/Tokyo"])
def test_sessions_that_end_before_they_start(zone: str, put: Callable[..., Path]) -> None:
    rows = [
        "a,2021-03-20 10:00,2021-03-20 09:59,1,1",
        "b,2021-03-20 23:50,2021-03-21 00:10,1,1",  # past midnight
        "c,2021-03-20T10:00+02:00,2021-03-20T09:00Z,1,1",  # an hour later, as it happens
        "d,2021-03-20 10:00,2021-03-20 10:00,1,1",
        "e,2021-03-20 10:00,never,1,1",
    ]
    path = put("\n".join(["user,start,end,x,y", *rows, ""]), "a.csv")
    events = read_events(path, grid=GRID, options=ReadingOptions(timezone=zone))
    assert events.samples.users.tolist() == ["b", "c", "d", "e"]
    assert events.read_summary.dropped == {"session that ends before it starts": 2, "unparsable time": 1}
    assert events.read_summary.rows_read == 10
    assert "ends before it starts" in refused(path, strict=True)


# ---- others ------------------------------------------------------------------------------------------------------


def test_odd_trips_of_porto(put: Callable[..., Path]) -> None:
    header = "TRIP_ID,CALL_TYPE,ORIGIN_CALL,ORIGIN_STAND,TAXI_ID,TIMESTAMP,DAY_TYPE,MISSING_DATA,POLYLINE"
    lines = ["[[-8.6, 41.1], [-8.6,41.2]]", "[]", "[[damaged]]", "[[-8.6,41.1],[,]]"]
    rows = [f'1,A,,,7,{1000 * number},A,False,"{line}"' for number, line in enumerate(lines)]
    rows += ['1,A,,,7,noon,A,False,"[[-8.6,41.1]]"', '1,A,,,7,9000,A,TRUE,"[[-8.6,41.1]]"']
    events = read_events(put("\n".join([header, *rows, ""]), "train.csv"), grid=GRID)
    assert times(events) == [0, 15, 3000]
    assert events.read_summary.dropped == {
        "missing time": 1,
        "unparsable time": 1,
        "missing position": 2,
        "unparsable position": 1,
    }


def test_trips_of_porto_in_memory() -> None:
    trips = pd.DataFrame(
        {
            "TAXI_ID": [7, 7],
            "TIMESTAMP": [1000, 2000],
            "MISSING_DATA": [False, True],
            "POLYLINE": ["[[-8.6,41.1],[-8.6,41.2]]"] * 2,
        }
    )
    events = read_events(trips, grid=GRID, options=ReadingOptions(format="porto"))
    assert (times(events), events.read_summary.dropped) == ([1000, 1015], {"missing time": 2})
    lost = pd.concat([trips, trips[:1].assign(POLYLINE=None)])
    assert (
        read_events(lost, grid=GRID, options=ReadingOptions(format="porto")).read_summary.dropped[
            "missing position"
        ]
        == 1
    )
    trips["POLYLINE"] = [[[-8.6, 39.92]]] * 2
    assert "cannot be read as events" in refused(trips, format="porto")


def test_odd_cells_of_yjmob(put: Callable[..., Path]) -> None:
    rows = ["1,0,1,2,3", "1,0,48,2,3", "1,,1,2,3", "1,0,1.5,2,3", "1,0,2,0,3", "1,0,3,999,999", "1,0,4,x,3"]
    path = put("\n".join(["uid,d,t,x,y", *rows, ""]), "cells.csv")
    events = read_events(path, grid=GRID, options=ReadingOptions(format="yjmob"))
    assert rows_of(events.samples) == [("1", 1800, 10, 15)]
    assert events.read_summary.dropped == {
        "missing time": 1,
        "unparsable time": 2,
        "missing position": 1,
        "position out of range": 2,
    }


def test_characters_that_break_lines_in_python_only(put: Callable[..., Path]) -> None:
    row = "7\tv\tc\tBar\x85\t40.7\t-74.0\t-240\tTue Apr 03 18:00:09 +0000 2012\n"
    path = put("", "a.txt")
    path.write_bytes(row.encode("latin-1") * 2)
    assert read_events(path, grid=GRID).read_summary.format == "foursquare"


def test_labels_of_mpat_below_blank_lines(put: Callable[..., Path]) -> None:
    row = "0055556100,2013-10-22 08:27:50,114.121305,22.57902\r\n"
    path = put(f"\ufeff\r\n\r\nSIM Card ID, Time, Latitude, Longitude\r\n{row}", "cdr.csv")
    for format in (None, "mpat"):
        read_summary = read_events(path, grid=GRID, options=ReadingOptions(format=format)).read_summary
        assert (read_summary.format, read_summary.rows_read, read_summary.dropped) == ("mpat", 1, {})


def test_odd_times_of_foursquare(put: Callable[..., Path]) -> None:
    written = ["Tue Apr 03 18:00:09 +0000 2012", "Tue Apr 03 18:00:09 +0200 2012", "Die Apr 03 2012", ""]
    rows = "".join(f'7\tv\tc\tJoe"s\t40.7\t-74.0\t-240\t{time}\n' for time in written)
    events = read_events(put(rows, "a.txt"), grid=GRID)
    assert times(events) == [1_333_476_009 - 7200, 1_333_476_009]
    assert events.read_summary.dropped == {"missing time": 1, "unparsable time": 1}


def test_batches_of_yjmob_are_large(put: Callable[..., Path]) -> None:
    """A million rows fit into one batch, and of that much NumPy text Arrow makes several pieces, which do not."""
    days = "".join(f"1,{day},3,5,6\n" for day in range(75))
    events = read_events(put("uid,d,t,x,y\n" + days * 14_000, "cells.csv"), grid=GRID)
    assert (events.read_summary.rows_read, len(events.samples)) == (75 * 14_000, 75)
