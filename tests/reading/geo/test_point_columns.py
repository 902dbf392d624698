"""Files with a column of points: WKT in CSV, WKB in GeoParquet; and the columns of other libraries' CSV files."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pyproj
import pytest

from reading.geo.test_frames import CANARIES, EVENTS, assert_same, events, points, read, real
from reading.refusals import refusal


def csv(frame: pd.DataFrame, path: Path) -> Path:
    frame.to_csv(path, index=False)
    return path


def as_wkt(frame: pd.DataFrame, form: str = "POINT ({} {})") -> list[str]:
    return [form.format(x, y) for x, y in zip(frame["lon"], frame["lat"], strict=True)]


def as_wkb(frame: pd.DataFrame, kind: int = 1, order: str = "<", rest: bytes = b"") -> list[bytes]:
    mark = b"\1" if order == "<" else b"\0"
    pairs = zip(frame["lon"], frame["lat"], strict=True)
    return [mark + struct.pack(f"{order}Idd", kind, x, y) + rest for x, y in pairs]


def geoparquet(path: Path, geometry: list[Any], name: str = "geometry", **about: Any) -> Path:
    columns = {"encoding": "WKB", "geometry_types": ["Point"], **about}
    geo = {"version": "1.1.0", "primary_column": name, "columns": {name: columns}}
    table = EVENTS.select(["user", "time"]).append_column(name, pa.array(geometry, pa.binary()))
    pq.write_table(table.replace_schema_metadata({"geo": json.dumps(geo)}), path)
    return path


# ---- text --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["geometry", "geom", "the_geom", "WKT"])
@pytest.mark.parametrize("form", ["POINT ({} {})", "Point({} {})", " POINT Z ( {}  {} 3 ) "])
def test_wkt(name: str, form: str, tmp_path: Path) -> None:
    frame = events()
    path = csv(frame[["user", "time"]].assign(**{name: as_wkt(frame, form)}), tmp_path / "events.csv")
    found = read(path)
    assert_same(found.samples, read(EVENTS).samples)
    assert found.read_summary.columns_dropped == []


def test_wkt_in_tables_and_parquet(tmp_path: Path) -> None:
    frame = events()
    frame = frame[["user", "time"]].assign(geometry=as_wkt(frame))
    table = pa.Table.from_pandas(frame)
    pq.write_table(table, tmp_path / "events.parquet")
    encoded = table.set_column(2, "geometry", table["geometry"].dictionary_encode())
    for source in (frame, table, encoded, tmp_path / "events.parquet"):
        assert_same(read(source).samples, read(EVENTS).samples)


def test_rows_without_a_usable_point_are_counted(tmp_path: Path) -> None:
    frame = events()
    wkt: list[Any] = as_wkt(frame)
    wkt[:7] = ["", "POINT EMPTY", None, "here", "POINT (1,2)", "POINT (a b)", "POINT (200 1)"]
    found = read(csv(frame[["user", "time"]].assign(geometry=wkt), tmp_path / "events.csv"))
    assert found.read_summary.dropped == {
        "missing position": 3,
        "unparsable position": 3,
        "position out of range": 1,
    }


def test_positions_in_columns_count_before_wkt(tmp_path: Path) -> None:
    frame = events().assign(geometry="LINESTRING (0 0, 1 1)")
    found = read(csv(frame, tmp_path / "events.csv"))
    assert_same(found.samples, read(EVENTS).samples)
    assert found.read_summary.columns_dropped == ["geometry"]


@pytest.mark.parametrize(
    "wkt", ["LINESTRING (7.654321 48.123456, 1 1)", "polygon ((7.654321 48.123456, 1 1))"]
)
def test_text_that_is_no_points(wkt: str, tmp_path: Path) -> None:
    frame = events()[["user", "time"]].assign(geometry=wkt)
    path = csv(frame, tmp_path / "events.csv")
    kind = {"l": "LineString", "p": "Polygon"}[wkt[0].lower()]
    message = refusal(lambda: read(path), CANARIES)
    assert message.startswith(f"The geometry of 'events.csv' holds {kind}: expected points")


def test_text_that_is_nothing(tmp_path: Path) -> None:
    path = csv(events()[["user", "time"]].assign(geometry="canary"), tmp_path / "events.csv")
    message = refusal(lambda: read(path), CANARIES)
    assert "unparsable position): positions must be numbers such as 48.85 or 48,85" in message
    assert "or POINT (lon lat)" in message


def test_two_columns_of_points_are_no_position(tmp_path: Path) -> None:
    frame = events()
    path = csv(
        frame[["user", "time"]].assign(geometry=as_wkt(frame), geom=as_wkt(frame)), tmp_path / "events.csv"
    )
    assert "No position among user, time, geometry, geom" in refusal(lambda: read(path), CANARIES)


# ---- columns of other libraries' CSV files -----------------------------------------------------------------------


def test_csv_of_a_traj_data_frame(tmp_path: Path) -> None:
    frame = events().rename(columns={"user": "uid", "time": "datetime", "lon": "lng"})
    frame["datetime"] = frame["datetime"].dt.tz_localize(None)
    assert_same(read(csv(frame, tmp_path / "tdf.csv")).samples, read(EVENTS).samples)


def test_csv_of_positionfixes(tmp_path: Path) -> None:
    """With two columns, as trackintel writes them, or with WKT, as geopandas does."""
    frame = (
        events()
        .rename(columns={"user": "user_id", "time": "tracked_at"})
        .rename_axis(index="id")
        .reset_index()
    )
    two = frame.rename(columns={"lon": "longitude", "lat": "latitude"})
    one = frame[["id", "user_id", "tracked_at"]].assign(geom=as_wkt(frame))
    for table in (two, one):
        assert_same(read(csv(table, tmp_path / "fixes.csv")).samples, read(EVENTS).samples)


def test_csv_of_staypoints_is_known_for_sessions(tmp_path: Path) -> None:
    frame = events().rename(columns={"user": "user_id", "time": "started_at"})
    frame = frame[["user_id", "started_at"]].assign(finished_at=frame["started_at"], geom=as_wkt(frame))
    found = read(csv(frame, tmp_path / "stays.csv"))
    assert found.read_summary.format == "sessions"
    assert_same(found.samples, read(EVENTS).samples)


# ---- binary ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("order", "<>")
@pytest.mark.parametrize(("kind", "rest"), [(1, b""), (1001, bytes(8)), (3001, bytes(16))])
def test_geoparquet(order: str, kind: int, rest: bytes, tmp_path: Path) -> None:
    path = geoparquet(tmp_path / "events.parquet", as_wkb(events(), kind, order, rest))
    assert_same(read(path).samples, read(EVENTS).samples)
    assert_same(read(pq.read_table(path)).samples, read(EVENTS).samples)


def test_geoparquet_in_another_coordinate_system(tmp_path: Path) -> None:
    frame = events()
    road = pyproj.Transformer.from_crs("OGC:CRS84", "EPSG:32633", always_xy=True)
    east, north = road.transform(frame["lon"], frame["lat"])
    lon, lat = road.transform(east, north, direction="INVERSE")
    crs = pyproj.CRS("EPSG:32633").to_json_dict()
    path = geoparquet(tmp_path / "events.parquet", as_wkb(frame.assign(lon=east, lat=north)), "geom", crs=crs)
    assert_same(read(path).samples, read(frame.assign(lon=lon, lat=lat)).samples)


def test_binary_rows_without_a_point_are_counted(tmp_path: Path) -> None:
    wkb: list[Any] = as_wkb(events())
    wkb[:2] = [None, struct.pack("<BIdd", 1, 1, float("nan"), float("nan"))]
    found = read(geoparquet(tmp_path / "events.parquet", wkb))
    assert found.read_summary.dropped == {"missing position": 2}


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: as_wkb(events(), 2), "holds LineString: expected points"),
        (lambda: as_wkb(events(), 1006, ">"), "holds MultiPolygon: expected points"),
        (lambda: as_wkb(events(), 99), "cannot be read: expected points as well-known binary"),
        (lambda: [b"canary"] * len(EVENTS), "cannot be read: expected points as well-known binary"),
        (lambda: [b"canary" * 4] * len(EVENTS), "cannot be read: expected points as well-known binary"),
    ],
)
def test_binary_that_is_no_points(make: Any, words: str, tmp_path: Path) -> None:
    path = geoparquet(tmp_path / "events.parquet", make())
    assert words in refusal(lambda: read(path), CANARIES)


def test_geoparquet_without_a_coordinate_system(tmp_path: Path) -> None:
    path = geoparquet(tmp_path / "events.parquet", as_wkb(events()), crs=None)
    words = "'events.parquet' does not tell the coordinate system (CRS) of its points: set it"
    assert words in refusal(lambda: read(path), CANARIES)
    pq.write_table(pq.read_table(path).replace_schema_metadata({"geo": "canary"}), path)
    assert words in refusal(lambda: read(path), CANARIES)


def test_what_geopandas_writes(tmp_path: Path) -> None:
    frame = real(events()[["user", "time"]], points(events()))
    frame.to_csv(tmp_path / "events.csv")
    frame.to_parquet(tmp_path / "events.parquet")
    frame.to_crs(32633).to_parquet(tmp_path / "plane.parquet")
    for name in ("events.csv", "events.parquet"):
        assert_same(read(tmp_path / name).samples, read(EVENTS).samples)
    assert_same(read(tmp_path / "plane.parquet").samples, read(frame.to_crs(32633)).samples)
