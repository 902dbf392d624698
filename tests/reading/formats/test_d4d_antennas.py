"""Where antennas are: tables found wherever people keep them, and never taken for what they are not."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from reading.refusals import refusal
from shoal.core.options import ReadingOptions
from shoal.core.promise import Grid
from shoal.reading import Events, read_events

GRID = Grid(cell_m=100.0, step_s=1)
ROWS = "1\t2011-12-05 10:00:00\t1\n1\t2011-12-05 11:00:00\t-1\n"
TABLE = "1\t-4.143452\t5.342044\n2\t-4.1\t5.4\n"


def put(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    raw = text.encode()
    path.write_bytes(gzip.compress(raw) if path.suffix == ".gz" else raw)
    return path


@pytest.mark.parametrize(
    "place",
    [
        "SET2TSV/raw/ANT_POS.TSV",
        "SET2TSV/ant_pos.tsv",
        "ANT_POS.TSV",
        "ANT_POS.TSV.gz",
        "antennas/2011/ANT_POS.TSV",
    ],
)
def test_a_table_of_antennas_is_found(place: str, tmp_path: Path) -> None:
    put(tmp_path / "d4d/SET2TSV/raw/POS_SAMPLE_0.TSV", ROWS)
    put(tmp_path / "d4d" / place, TABLE)
    events = read_events(tmp_path / "d4d", grid=GRID)
    assert (len(events.samples), events.read_summary.dropped) == (1, {"unknown site": 1})
    assert events.read_summary.warnings == []  # the table belongs to the data


@pytest.mark.parametrize("place", ["0\t0", "-4.0\t5.0"])
def test_antenna_minus_one_is_unknown_whatever_the_table_says(place: str, tmp_path: Path) -> None:
    put(tmp_path / "POS_SAMPLE_0.TSV", ROWS)
    put(tmp_path / "ANT_POS.TSV", f"{TABLE}-1\t{place}\n")
    assert read_events(tmp_path, grid=GRID).read_summary.dropped == {"unknown site": 1}


def test_antennas_with_two_positions_are_refused(tmp_path: Path) -> None:
    put(tmp_path / "POS_SAMPLE_0.TSV", ROWS)
    put(tmp_path / "ANT_POS.TSV", TABLE + "1\t-4.2\t5.3\n")
    assert "several positions" in refusal(lambda: read_events(tmp_path, grid=GRID), ("4.2", "5.3"))


def test_a_table_of_sites_without_sites_has_its_column_renamed(tmp_path: Path) -> None:
    put(tmp_path / "POS_SAMPLE_0.TSV", ROWS)
    put(tmp_path / "ANT_POS.TSV", "ant_id\tlon\tlat\n" + TABLE)
    message = refusal(lambda: read_events(tmp_path, grid=GRID), ("4.1", "5.4"))
    assert message == "No column 'site' among ant_id, lon, lat: rename it."


def _as_frame(path: Path) -> pd.DataFrame:
    return pd.read_csv(path)


@pytest.mark.parametrize(
    "header", ["site_id,arr_id,lon,lat", "SITE_ID,ARR_ID,LON,LAT", "Site ID,Arr ID,Longitude,Latitude"]
)
@pytest.mark.parametrize("given", [None, str, _as_frame], ids=["found", "path", "frame"])
def test_arrondissements_are_never_looked_up_as_sites(
    header: str, given: Callable[[Path], object] | None, tmp_path: Path
) -> None:
    """Site 1 is far from arrondissement 1: a header in capitals once put people there."""
    put(tmp_path / "SET3/SET3_M01.CSV", "7,2013-01-07 13:10:00,1\n")
    rows = "\ufeff" + header + "\r\n461,1,-17.45,14.7\r\n462,1,-17.43,14.9\r\n1,2,-16.0,14.0\r\n"
    table = put(tmp_path / "ContextData/SITE_ARR_LONLAT.CSV", rows)
    events = read_events(
        tmp_path / "SET3", grid=GRID, options=ReadingOptions(sites=None if given is None else given(table))
    )
    assert np.allclose(_degrees(events), (-17.44, 14.8), atol=0.002)


def _degrees(events: Events) -> tuple[float, float]:
    assert events.projection is not None
    lon, lat = events.projection.to_degrees(events.samples.x * 100.0 + 50, events.samples.y * 100.0 + 50)
    return float(lon[0]), float(lat[0])
