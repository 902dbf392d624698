"""Published files hold what docs/formats.md says, in every format."""

from __future__ import annotations

import gzip
import json
import re
import struct
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from shoal.core.projection import Projection
from shoal.errors import InputError
from shoal.publishing.tables import is_map, suffix_of
from support.run_command import HALF_HOURS, anonymize, city, in_metres, read_table, refused, seconds, write

METRIC = ["record", "t_start", "t_end", "x_min", "x_max", "y_min", "y_max"]
DEGREES = ["lon_min", "lon_max", "lat_min", "lat_max"]
MAPS = [".geojson", ".geojson.gz"]
FORMATS = [".parquet", ".geoparquet", ".csv", ".csv.gz", *MAPS]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A release of a city (out) and one in metres (plane), each in every format."""
    folder = tmp_path_factory.mktemp("formats")
    for name, table in (("out", city()), ("plane", in_metres())):
        events = write(table, folder / f"{name}-events.parquet")
        for suffix in FORMATS if name == "out" else set(FORMATS) - set(MAPS):
            assert anonymize(events, folder / f"{name}{suffix}").code == 0
    return folder


@pytest.mark.parametrize("name", ["out", "plane"])
@pytest.mark.parametrize("suffix", [".parquet", ".geoparquet"])
def test_columns_and_types_of_parquet(name: str, suffix: str, folder: Path) -> None:
    schema = pa.parquet.read_schema(folder / f"{name}{suffix}")
    columns = METRIC + (DEGREES if name == "out" else []) + (["geometry"] if suffix == ".geoparquet" else [])
    assert schema.names == columns
    time = pa.timestamp("ms", "UTC")
    types = {"record": pa.string(), "t_start": time, "t_end": time, "geometry": pa.binary()}
    for field in schema:
        assert field.type == types.get(field.name, pa.float64())
        assert not field.nullable


@pytest.mark.parametrize("name", ["out", "plane"])
def test_csv_holds_the_same_columns_as_text(name: str, folder: Path) -> None:
    text = (folder / f"{name}.csv").read_text()
    header, first, *_ = text.splitlines()
    assert header.replace('"', "").split(",") == METRIC + (DEGREES if name == "out" else [])
    record, start, end, *numbers = first.split(",")
    assert re.fullmatch(r"r[0-9a-f]{16}", record)
    for time in (start, end):
        assert re.fullmatch(r"20\d\d-\d\d-\d\dT\d\d:\d\d:00Z", time)
    assert all(re.fullmatch(r"-?\d+(\.\d+)?(e-?\d+)?", number) for number in numbers)
    packed = gzip.decompress((folder / f"{name}.csv.gz").read_bytes()).decode()
    assert packed.splitlines()[0] == header
    assert len(packed.splitlines()) == len(text.splitlines())


@pytest.mark.parametrize(
    ("name", "suffix"),
    [
        (name, suffix)
        for name in ("out", "plane")
        for suffix in FORMATS
        if name == "out" or suffix not in MAPS
    ],
)
def test_records_stand_in_random_order_with_boxes_by_time(name: str, suffix: str, folder: Path) -> None:
    table = read_table(folder / f"{name}{suffix}")
    records, starts, ends = table["record"].to_pylist(), seconds(table["t_start"]), seconds(table["t_end"])
    first_rows = [row for row, record in enumerate(records) if row == 0 or records[row - 1] != record]
    names = [records[row] for row in first_rows]
    assert len(names) == len(set(names)) == (60 if name == "out" else 12)
    assert names == sorted(names)  # by their names, which are random
    for row in set(range(len(records))) - set(first_rows):
        assert starts[row - 1] < ends[row - 1] <= starts[row] < ends[row]


def test_boxes_are_whole_cells_and_whole_steps(folder: Path) -> None:
    table = read_table(folder / "out.parquet")
    for name in ("x_min", "x_max", "y_min", "y_max"):
        assert all(edge % 100 == 0 for edge in table[name].to_pylist())
    for low, high in (("x_min", "x_max"), ("y_min", "y_max"), ("t_start", "t_end")):
        assert all(a < b for a, b in zip(table[low].to_pylist(), table[high].to_pylist(), strict=True))
    assert all(time % 60 == 0 for name in ("t_start", "t_end") for time in seconds(table[name]))


def test_every_sample_of_a_small_world_lies_in_half_open_boxes(folder: Path) -> None:
    """Nothing was suppressed there, so each sample must lie in a box, with ends that do not belong to it."""
    events, table = in_metres(), read_table(folder / "plane.parquet")
    manifest = json.loads((folder / "plane.parquet.manifest.json").read_text())
    assert manifest["suppression"]["share_of_samples"] == 0
    starts, ends = seconds(table["t_start"]), seconds(table["t_end"])
    edges = [table[name].to_pylist() for name in ("x_min", "x_max", "y_min", "y_max")]
    boxes = list(zip(starts, ends, *edges, strict=True))
    for t, x, y in zip(*(events[name].to_pylist() for name in ("time", "x", "y")), strict=True):
        assert any(t0 <= t < t1 and x0 <= x < x1 and y0 <= y < y1 for t0, t1, x0, x1, y0, y1 in boxes)


def test_degrees_enclose_the_boxes(folder: Path) -> None:
    table = read_table(folder / "out.parquet")
    notes = json.loads(table.schema.metadata[b"shoal"])
    lat_0, lon_0 = (int(value) for value in re.findall(r"_0=(-?\d+)", notes["grid"]["crs"]))
    projection = Projection(lon_0=lon_0, lat_0=lat_0)
    column = {name: table[name].to_numpy() for name in table.column_names}
    for across, up in np.random.default_rng(0).random((50, 2)):
        x = column["x_min"] + across * (column["x_max"] - column["x_min"])
        y = column["y_min"] + up * (column["y_max"] - column["y_min"])
        lon, lat = projection.to_degrees(x, y)
        assert ((column["lon_min"] <= lon) & (lon <= column["lon_max"])).all()
        assert ((column["lat_min"] <= lat) & (lat <= column["lat_max"])).all()


@pytest.mark.parametrize("suffix", [".parquet", ".geoparquet"])
def test_metadata_tells_crs_cell_and_step(suffix: str, folder: Path) -> None:
    notes = json.loads(pa.parquet.read_schema(folder / f"out{suffix}").metadata[b"shoal"])
    assert notes["grid"]["cell_m"] == 100
    assert notes["grid"]["step_s"] == 60
    assert re.fullmatch(r"\+proj=laea \+lat_0=-?\d+ \+lon_0=-?\d+ \+datum=WGS84 .*", notes["grid"]["crs"])
    assert notes["promise"] == {"k": 2, "whole": False, "tau_s": 1800, "epsilon_s": 1800}
    plane = json.loads(pa.parquet.read_schema(folder / f"plane{suffix}").metadata[b"shoal"])
    assert plane["grid"]["crs"] is None


@pytest.mark.parametrize("name", ["out", "plane"])
def test_geoparquet_metadata_follows_the_specification(name: str, folder: Path) -> None:
    """https://geoparquet.org/releases/v1.1.0: required keys, allowed values."""
    metadata = pa.parquet.read_schema(folder / f"{name}.geoparquet").metadata
    geo = json.loads(metadata[b"geo"])
    assert set(geo) == {"version", "primary_column", "columns"}
    assert geo["version"] == "1.1.0"
    assert geo["primary_column"] == "geometry"
    assert set(geo["columns"]) == {"geometry"}
    column = geo["columns"]["geometry"]
    assert column["encoding"] == "WKB"
    assert column["geometry_types"] == ["Polygon"]
    assert column["orientation"] == "counterclockwise"
    # Without a crs it is longitude and latitude in WGS84 (OGC:CRS84); null means unknown.
    assert ("crs" in column, column.get("crs")) == ((name == "plane"), None)
    assert b"geo" not in pa.parquet.read_schema(folder / f"{name}.parquet").metadata


@pytest.mark.parametrize("name", ["out", "plane"])
def test_geometry_is_the_hull(name: str, folder: Path) -> None:
    table = read_table(folder / f"{name}.geoparquet")
    names = DEGREES if name == "out" else METRIC[3:]
    west, east, south, north = (table[column].to_pylist() for column in names)
    for row, binary in enumerate(table["geometry"].to_pylist()):
        order, kind, rings, points, *ring = struct.unpack("<BIII10d", binary)
        assert (order, kind, rings, points) == (1, 3, 1, 5)
        w, e, s, n = west[row], east[row], south[row], north[row]
        assert ring == [w, s, e, s, e, n, w, n, w, s]


# ---- GeoJSON -----------------------------------------------------------------------------------------------------


def feature_collection(path: Path) -> dict[str, Any]:
    """Strict JSON, whole."""

    def refuse(constant: str) -> None:
        raise AssertionError(constant)

    raw = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    return json.loads(raw.decode("ascii"), parse_constant=refuse)


@pytest.mark.parametrize("suffix", MAPS)
def test_geojson_follows_the_specification(suffix: str, folder: Path) -> None:
    """RFC 7946: members, positions as longitude and latitude, rings closed and counter-clockwise, no crs."""
    collection = feature_collection(folder / f"out{suffix}")
    assert list(collection) == ["type", "features"]
    assert collection["type"] == "FeatureCollection"
    for feature in collection["features"]:
        assert sorted(feature) == ["geometry", "properties", "type"]
        assert feature["type"] == "Feature"
        assert feature["geometry"]["type"] == "Polygon"
        (ring,) = feature["geometry"]["coordinates"]
        assert len(ring) == 5
        assert ring[0] == ring[-1]
        assert all(-180 <= lon <= 180 and -90 <= lat <= 90 for lon, lat in ring)
        assert sum(x0 * y1 - x1 * y0 for (x0, y0), (x1, y1) in pairwise(ring)) > 0


@pytest.mark.parametrize("suffix", MAPS)
def test_geojson_holds_what_parquet_holds(
    suffix: str, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where it is written in several pieces."""
    monkeypatch.setattr(
        "shoal.publishing.record_names._fresh_names", lambda n: np.array([f"r{row:03d}" for row in range(n)])
    )
    monkeypatch.setattr("shoal.publishing.geojson._ROWS_AT_A_TIME", 7)
    monkeypatch.setattr("shoal.publishing.tables._ROWS_AT_A_TIME", 100)
    files = [tmp_path / f"out{ending}" for ending in (suffix, ".parquet")]
    for path in files:
        assert anonymize(folder / "out-events.parquet", path).code == 0
    one, other = (read_table(path) for path in files)
    assert one.column_names == other.column_names == METRIC + DEGREES
    for name in ("t_start", "t_end"):
        assert seconds(one[name]) == seconds(other[name])
    for name in ["record", *METRIC[3:], *DEGREES]:
        assert one[name].to_pylist() == other[name].to_pylist(), name


def test_geojson_properties_are_what_maps_can_play(folder: Path) -> None:
    """kepler.gl and GDAL (hence QGIS) take ISO 8601 for times, and numbers for numbers."""
    for feature in feature_collection(folder / "out.geojson")["features"]:
        properties = feature["properties"]
        assert list(properties) == METRIC
        for name in ("t_start", "t_end"):
            assert re.fullmatch(r"20\d\d-\d\d-\d\dT\d\d:\d\d:00Z", properties[name])
        assert all(isinstance(properties[name], int | float) for name in METRIC[3:])


def test_geojson_around_the_whole_earth(tmp_path: Path) -> None:
    """Boxes across the date line and around a pole are written as the hulls they are."""
    table = in_metres()
    lon = [(-1) ** row * 179.9 for row in range(len(table))]
    lat = [89.0 + row % 10 / 10 for row in range(len(table))]
    events = table.select(["user", "time"]).append_column("lon", [lon]).append_column("lat", [lat])
    assert anonymize(write(events, tmp_path / "events.parquet"), tmp_path / "out.geojson").code == 0
    found = read_table(tmp_path / "out.geojson")
    assert -180 in found["lon_min"].to_pylist()
    assert max(found["lat_max"].to_pylist()) <= 90


def test_metres_cannot_be_placed_on_a_map(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Found out before anything is read or made; other formats take metres."""
    monkeypatch.setattr("shoal.reading.events._parsed", None)
    words = "in metres without a coordinate system, which GeoJSON cannot place on the map: give lat and lon, or publish"
    for suffix in MAPS:
        arguments = ("-o", tmp_path / f"out{suffix}", "--k", 2, *HALF_HOURS)
        refused(tmp_path, "anonymize", folder / "plane-events.parquet", *arguments, words=words)


def test_nothing_of_the_users_is_in_the_files(folder: Path) -> None:
    for path in folder.glob("out*"):
        if "events" in path.name:
            continue
        content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        assert b"u0000" not in content


def test_suffixes() -> None:
    assert suffix_of(Path("A.CSV.GZ")) == ".csv.gz"
    assert suffix_of(Path("a.geoparquet")) == ".geoparquet"
    assert suffix_of(Path("a.GeoJSON.gz")) == ".geojson.gz"
    assert [is_map(Path(f"a{suffix}")) for suffix in FORMATS] == [False] * 4 + [True] * 2
    with pytest.raises(InputError, match="found none"):
        suffix_of(Path("parquet"))
