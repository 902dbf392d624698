"""Boxes for other libraries, and the code of docs/ecosystem.md, as far as these libraries are installed."""

from __future__ import annotations

import re
import shlex
import sys
import warnings
from pathlib import Path
from typing import Any

import pytest

import shoal
from shoal.core.schema import POINTS
from shoal.errors import InputError
from support.paths import PROJECT
from support.run_command import boxes_in, city, in_metres, records_of, run, write

PAGE = (PROJECT / "docs/ecosystem.md").read_text(encoding="utf-8")
HALF_HOURS: dict[str, Any] = {"k": 2, "tau": "30min", "epsilon": "30min"}
METRIC = ["record", "t_start", "t_end", "x_min", "x_max", "y_min", "y_max"]


# ---- geopandas ---------------------------------------------------------------------------------------------------


def test_polygons_are_the_hulls() -> None:
    pytest.importorskip("geopandas")
    shapely = pytest.importorskip("shapely")
    published = shoal.anonymize(city(), **HALF_HOURS)
    boxes, table = published.to_geopandas(), published.to_pandas()
    assert boxes.crs == "EPSG:4326"
    assert boxes.drop(columns="geometry").equals(table)
    west, south, east, north = boxes.geometry.bounds.to_numpy().T
    for edge, name in ((west, "lon_min"), (south, "lat_min"), (east, "lon_max"), (north, "lat_max")):
        assert (edge == table[name]).all()
    assert boxes.geometry.is_valid.all()
    assert shapely.is_ccw(boxes.geometry.exterior.to_numpy()).all()


def test_polygons_in_metres_have_no_crs() -> None:
    pytest.importorskip("geopandas")
    boxes = shoal.anonymize(in_metres(), **HALF_HOURS).to_geopandas()
    assert boxes.crs is None
    assert (boxes.geometry.bounds["minx"] == boxes["x_min"]).all()
    assert (boxes.geometry.bounds["maxy"] == boxes["y_max"]).all()


@pytest.mark.parametrize("suffix", [".geojson", ".geojson.gz", ".geoparquet"])
def test_files_that_geopandas_reads(suffix: str, tmp_path: Path) -> None:
    geopandas = pytest.importorskip("geopandas")
    path = tmp_path / f"out{suffix}"
    expected = shoal.anonymize(city(), **HALF_HOURS, output=path).to_geopandas()
    prefix = "/vsigzip/" if suffix.endswith(".gz") else ""
    found = geopandas.read_parquet(path) if "parquet" in suffix else geopandas.read_file(f"{prefix}{path}")
    assert (found.geometry.to_wkb() == expected.geometry.to_wkb()).all()
    assert found.crs.equals(expected.crs, ignore_axis_order=True)
    for name in METRIC:
        assert (found[name] == expected[name]).all(), name
    assert str(found["t_start"].dt.tz) == "UTC"  # GDAL took it for a time, and so does QGIS


def test_without_geopandas(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "geopandas", None)
    published = shoal.anonymize(in_metres(), **HALF_HOURS)
    with pytest.raises(InputError, match="needs geopandas, which is not installed: pip install geopandas"):
        published.to_geopandas()


# ---- the page ----------------------------------------------------------------------------------------------------


def test_code_of_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for library in ("geopandas", "movingpandas"):
        pytest.importorskip(library)
    known: dict[str, Any] = {"table": city().to_pandas()}
    blocks = re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    assert len(blocks) == 4
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for block in blocks:
            exec(block, known)
    assert known["audit"].kept
    several = known["boxes"].groupby("record").size() > 1
    assert len(known["ways"].trajectories) == several.sum() > 0
    assert records_of(known["published"].to_arrow())


def test_command_of_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(city(), tmp_path / "events.csv")
    (line,) = re.findall(r"^shoal (.*)$", PAGE, re.MULTILINE)
    done = run(*shlex.split(line))
    assert done.code == 0, done.err
    assert boxes_in(tmp_path / "published.geojson")


def test_formats_lists_every_name_of_a_column_of_points() -> None:
    text = (PROJECT / "docs/formats.md").read_text(encoding="utf-8")
    (row,) = re.findall(r"^\| `geometry` \|.*$", text, re.MULTILINE)
    assert set(re.findall(r"`(\w+)`", row)) == set(POINTS)
