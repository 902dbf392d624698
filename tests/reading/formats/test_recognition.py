"""What events are taken for: the same table in every form, and folders with other things in them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from reading.oracle import rows_of
from reading.refusals import refusal
from shoal.core.options import ReadingOptions
from shoal.core.promise import Grid
from shoal.reading import read_events
from shoal.reading.formats.registry import recognise

GRID = Grid(cell_m=100.0, step_s=1)
TABLES: dict[str, dict[str, list[Any]]] = {
    "sessions": {
        "user": ["a", "b"],
        "start_time": ["2021-03-20T10:00:00Z", "2021-03-20T11:00:00Z"],
        "end_time": ["2021-03-20T10:30:00Z", "2021-03-20T11:00:00Z"],
        "lat": [45.0, 45.1],
        "lon": [5.0, 5.1],
    },
    "yjmob": {"uid": [1, 1, 2], "d": [0, 1, 2], "t": [3, 47, 0], "x": [5.0, 200.0, 999.0], "y": [6, 7, 999]},
    "porto": {
        "TAXI_ID": [7, 8],
        "TIMESTAMP": [1_372_636_858, 1_372_636_900],
        "MISSING_DATA": [False, False],
        "POLYLINE": ["[[-8.6,41.1],[-8.6,41.2]]", "[[-8.6,41.1]]"],
    },
    "table": {"user": ["a"], "time": [5], "x": [1.0], "y": [1.0], "start": [1], "end": [2]},
}


def as_csv(table: dict[str, list[Any]], folder: Path) -> Path:
    pd.DataFrame(table).to_csv(folder / "train.csv", index=False)
    return folder / "train.csv"


def as_parquet(table: dict[str, list[Any]], folder: Path) -> Path:
    pq.write_table(pa.table(table), folder / "train.parquet")
    return folder / "train.parquet"


FORMS: dict[str, Callable[[dict[str, list[Any]], Path], object]] = {
    "csv": as_csv,
    "parquet": as_parquet,
    "folder of parquet": lambda table, folder: as_parquet(table, folder).parent,
    "pandas": lambda table, _: pd.DataFrame(table),
    "polars": lambda table, _: pl.DataFrame(table),
    "pyarrow": lambda table, _: pa.table(table),
}


@pytest.mark.parametrize("form", sorted(FORMS))
@pytest.mark.parametrize("name", sorted(TABLES))
def test_a_table_is_the_same_in_every_form(name: str, form: str, tmp_path: Path) -> None:
    """A Parquet file of sessions once lost its ends, and one of YJMob100K its days."""
    table = TABLES[name]
    wanted = read_events(pa.table(table), grid=GRID, options=ReadingOptions(format=name))
    found = read_events(FORMS[form](table, tmp_path), grid=GRID)
    assert found.read_summary.format == (None if name == "table" else name)
    assert rows_of(found.samples) == rows_of(wanted.samples)
    assert found.read_summary.dropped == wanted.read_summary.dropped


def test_a_table_that_can_be_read_once_is_read() -> None:
    reader = pa.table(TABLES["table"]).to_reader()
    assert len(read_events(reader, grid=GRID).samples) == 1


def put(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_folders_with_other_things_in_them(tmp_path: Path) -> None:
    header = "Geolife trajectory\nWGS 84\nAltitude is in Feet\nReserved 3\n0,2,255,My Track\n0\n"
    row = "39.9,116.3,0,492,39744.12,2008-10-23,02:53:04\n"
    put(tmp_path / "geolife/Data/000/Trajectory/1.plt", header)  # a trip without a position comes first
    put(tmp_path / "geolife/Data/001/Trajectory/1.plt", header + row)
    put(tmp_path / "mpat/README.txt", "about these data")
    put(tmp_path / "mpat/cdr.csv", "0055556100,2013-10-22 08:27:50,114.121305,22.57902\n")
    put(tmp_path / "cabs/_cabs.txt", '<cab id="a" updates="3"/>')
    put(tmp_path / "cabs/new_a.txt", "0 0 0 1213084600\n37.7 -122.3 1 1213084687\n")
    put(tmp_path / "tracks/a.gpx", '<?xml version="1.0"?>\n<g:gpx xmlns:g="x"><g:trk/></g:gpx>')
    for folder, name in {
        "geolife": "geolife",
        "mpat": "mpat",
        "cabs": "cabspotting",
        "tracks": "gpx",
    }.items():
        recognised = recognise(tmp_path / folder)
        assert recognised is not None
        assert recognised.name == name


def test_tables_with_one_odd_file_among_them_stay_tables(tmp_path: Path) -> None:
    for name in "abc":
        put(tmp_path / f"{name}.csv", "user,time,lat,lon\n1,2013-10-22 08:27:50,22.5,114.1\n")
    put(tmp_path / "d.csv", "0055556100,2013-10-22 08:27:50,114.121305,22.57902\n")
    assert recognise(tmp_path) is None


def test_each_file_of_yjmob_has_users_of_its_own(tmp_path: Path) -> None:
    put(tmp_path / "POI_datacategories.csv", "Food\nShopping\n")
    put(tmp_path / "cell_POIcat.csv", "x,y,POIcategory,POI_count\n1,13,74,1\n")
    put(tmp_path / "yjmob100k-dataset1.csv", "uid,d,t,x,y\n1,0,3,5,5\n")
    assert read_events(tmp_path, grid=GRID).read_summary.warnings == []
    put(tmp_path / "yjmob100k-dataset2.csv", "uid,d,t,x,y\n1,0,3,9,9\n")
    assert "numbers its users anew" in refusal(lambda: read_events(tmp_path, grid=GRID), ())
