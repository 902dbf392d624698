"""Frames of geopandas, trackintel, MovingPandas and scikit-mobility are events as they are."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import pandas as pd
import pyarrow as pa
import pyproj
import pytest

import shoal
from reading.refusals import refusal
from shoal.core.samples import Samples
from support import fake_frames
from support.fake_frames import Geometry
from support.reading import read_with
from support.run_command import city, records_of

HALF_HOURS: dict[str, Any] = {"k": 2, "tau": "30min", "epsilon": "30min"}
CANARIES = ("canary", "48.123456", "7.654321", "2024-05-17")
EVENTS = city(users=30)

Make = Callable[..., Any]


def events() -> pd.DataFrame:
    return EVENTS.to_pandas()


def points(frame: pd.DataFrame, lon: str = "lon", lat: str = "lat") -> list[Geometry]:
    return [Geometry("Point", x, y) for x, y in zip(frame[lon], frame[lat], strict=True)]


def stand_in(
    frame: pd.DataFrame, geometries: list[Any], crs: Any = "EPSG:4326", name: str = "geometry"
) -> Any:
    return fake_frames.geoframe(frame, geometries, crs, name)


def real(frame: pd.DataFrame, geometries: list[Any], crs: Any = "EPSG:4326", name: str = "geometry") -> Any:
    geopandas = pytest.importorskip("geopandas")
    shapely = pytest.importorskip("shapely")
    made = {
        "Point": lambda at: shapely.Point() if at.x != at.x else shapely.Point(at.x, at.y),
        "LineString": lambda _: shapely.LineString([(7.654321, 48.123456), (8, 49)]),
        "Polygon": lambda _: shapely.box(7.654321, 48.123456, 8, 49),
        "MultiPoint": lambda _: shapely.MultiPoint([(7.654321, 48.123456)]),
    }
    shapes = [None if one is None else made[one.geom_type](one) for one in geometries]
    series = geopandas.GeoSeries(shapes, index=frame.index, crs=crs)
    return geopandas.GeoDataFrame(frame.assign(**{name: series}), geometry=name)


@pytest.fixture(params=["stand-in", "geopandas"])
def geoframe(request: pytest.FixtureRequest) -> Make:
    if request.param == "geopandas":
        pytest.importorskip("geopandas")
        return real
    return stand_in


def read(source: Any, **options: Any) -> Any:
    return read_with(source, **options)


def assert_same(one: Samples, other: Samples) -> None:
    assert one.users.tolist() == other.users.tolist()
    for name in ("user", "t", "x", "y"):
        assert (getattr(one, name) == getattr(other, name)).all()


# ---- geopandas and trackintel ------------------------------------------------------------------------------------


def test_points_are_positions(geoframe: Make) -> None:
    frame = geoframe(events().drop(columns=["lat", "lon"]), points(events()))
    found = read(frame)
    assert_same(found.samples, read(EVENTS).samples)
    assert found.read_summary.columns_dropped == []
    assert found.projection == read(EVENTS).projection


def test_points_count_before_other_columns(geoframe: Make) -> None:
    frame = events().assign(lat=1.0, lon=2.0, x=3.0, y=4.0, site="a")
    found = read(geoframe(frame, points(events())))
    assert_same(found.samples, read(EVENTS).samples)
    assert sorted(found.read_summary.columns_dropped) == ["lat", "lon", "site", "x", "y"]


@pytest.mark.parametrize("crs", [None, "EPSG:4326"])
def test_columns_that_are_named_count_before_points(geoframe: Make, crs: str | None) -> None:
    """Whatever the geometry is: so frames without a CRS, or of lines, can be used."""
    lines = [Geometry("LineString")] * len(events())
    frame = geoframe(events().assign(e=5.0, n=7.0), lines, crs)
    assert_same(read(frame, columns={"lat": "lat", "lon": "lon"}).samples, read(EVENTS).samples)
    assert read(frame, columns={"x": "e", "y": "n"}).projection is None
    sites = pa.table({"site": ["a"], "lat": [5.0], "lon": [5.0]})
    frame = geoframe(events().assign(site="a").drop(columns=["lat", "lon"]), lines, crs)
    assert read(frame, sites=sites).read_summary.columns_used["site"] == "site"


def test_positionfixes(geoframe: Make) -> None:
    """trackintel's columns, with its index and its name for the geometry."""
    frame = events().rename(columns={"user": "user_id", "time": "tracked_at"}).rename_axis(index="id")
    fixes = geoframe(frame[["user_id", "tracked_at"]], points(frame), name="geom")
    if geoframe is real:
        trackintel = pytest.importorskip("trackintel")
        fixes = trackintel.Positionfixes(fixes)
    assert_same(read(fixes).samples, read(EVENTS).samples)


def test_staypoints_are_sessions(geoframe: Make) -> None:
    frame = events().rename(columns={"user": "user_id", "time": "started_at"})
    frame["finished_at"] = frame["started_at"] + pd.Timedelta("20min")
    stays = geoframe(frame[["user_id", "started_at", "finished_at"]], points(frame), name="geom")
    plain = events().rename(columns={"time": "start"}).assign(end=frame["finished_at"])
    assert_same(read(stays, format="sessions").samples, read(plain, format="sessions").samples)


@pytest.mark.parametrize("crs", ["EPSG:32633", "EPSG:3857", "EPSG:4269", "OGC:CRS84"])
def test_other_coordinate_systems(geoframe: Make, crs: str) -> None:
    frame = events()
    road = pyproj.Transformer.from_crs("OGC:CRS84", crs, always_xy=True)
    back = pyproj.Transformer.from_crs(crs, "OGC:CRS84", always_xy=True)
    frame["e"], frame["n"] = road.transform(frame["lon"], frame["lat"])
    frame["lon"], frame["lat"] = back.transform(frame["e"], frame["n"])
    expected = read(frame[["user", "time", "lat", "lon"]])
    found = read(geoframe(frame[["user", "time"]], points(frame, "e", "n"), crs))
    assert_same(found.samples, expected.samples)


def test_rows_without_a_point_are_counted(geoframe: Make) -> None:
    shapes: list[Any] = points(events())
    shapes[0], shapes[1], shapes[2] = None, Geometry("Point"), Geometry("Point", 200.0, 10.0)
    found = read(geoframe(events()[["user", "time"]], shapes))
    assert found.read_summary.dropped == {"missing position": 2, "position out of range": 1}
    in_metres = [Geometry("Point", 1e5, 1e5) for _ in shapes]
    in_metres[0], in_metres[1] = None, Geometry("Point", 1e30, 1e30)
    found = read(geoframe(events()[["user", "time"]], in_metres, "EPSG:32633"))
    assert found.read_summary.dropped == {"missing position": 1, "position out of range": 1}


def test_an_index_of_times_is_the_time_where_no_column_is(geoframe: Make) -> None:
    frame = events()
    indexed = geoframe(frame[["user", "time"]], points(frame)).set_index("time")
    if geoframe is stand_in:
        indexed.crs, indexed.geometry_name = "EPSG:4326", "geometry"
    assert_same(read(indexed).samples, read(EVENTS).samples)


@pytest.mark.parametrize("zone", [None, "Asia/Tokyo"])
def test_times_without_a_zone(geoframe: Make, zone: str | None) -> None:
    frame = events()
    local = frame["time"].dt.tz_convert(zone or "UTC").dt.tz_localize(None)
    found = read(geoframe(frame[["user"]].assign(time=local), points(frame)), timezone=zone)
    assert_same(found.samples, read(EVENTS).samples)


def test_a_release_and_its_audit(geoframe: Make) -> None:
    frame = geoframe(events()[["user", "time"]], points(events()))
    before = frame.copy()
    published = shoal.anonymize(frame, **HALF_HOURS)
    assert records_of(published.to_arrow()) == records_of(shoal.anonymize(EVENTS, **HALF_HOURS).to_arrow())
    assert shoal.audit(frame, published, key=published.key(), attacks=20, tolerance=1).kept
    assert list(frame.columns) == list(before.columns)


ROWS = pd.DataFrame({"user": ["canary"] * 2, "time": pd.to_datetime(["2024-05-17", "2024-05-18"])})
HERE = Geometry("Point", 7.654321, 48.123456)
REFUSED: dict[str, tuple[Any, ...]] = {
    "lines": (
        [Geometry("LineString")] * 2,
        "EPSG:4326",
        "holds LineString: expected points, one for each row",
    ),
    "areas": ([HERE, Geometry("Polygon")], "EPSG:4326", "holds Polygon: expected points"),
    "several points": ([HERE, Geometry("MultiPoint")], "EPSG:4326", "holds MultiPoint: expected points"),
    "no crs": ([HERE] * 2, None, "does not tell the coordinate system .CRS. of its points: set it"),
    "no points": ([None] * 2, "EPSG:4326", "No usable row among 2 .2 missing position"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_frames_that_are_refused(case: str, geoframe: Make) -> None:
    shapes, crs, words = REFUSED[case]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        message = refusal(lambda: read(geoframe(ROWS, shapes, crs)), CANARIES)
    assert pd.Series([message]).str.contains(words).all(), message


def test_frames_without_a_time_or_a_user(geoframe: Make) -> None:
    assert "No column 'time'" in refusal(lambda: read(geoframe(ROWS[["user"]], [HERE] * 2)), CANARIES)
    assert "No column 'user'" in refusal(lambda: read(geoframe(ROWS[["time"]], [HERE] * 2)), CANARIES)


@pytest.mark.parametrize("crs", ['LOCAL_CS["canary",UNIT["metre",1]]', "EPSG:4978", "canary"])
def test_a_crs_that_leads_nowhere(crs: str) -> None:
    message = refusal(lambda: read(stand_in(ROWS, [HERE] * 2, crs)), CANARIES)
    assert "leads to no place on Earth: expected one with longitude and latitude" in message


def test_a_frame_whose_geometry_is_not_set() -> None:
    frame = stand_in(ROWS.assign(geom=0), [HERE] * 2)
    frame.geometry_name = "gone"
    assert "No position" in refusal(lambda: read(frame), CANARIES)


# ---- scikit-mobility ---------------------------------------------------------------------------------------------


def test_traj_data_frame() -> None:
    frame = events().rename(columns={"user": "uid", "time": "datetime", "lon": "lng"})
    frame["datetime"] = frame["datetime"].dt.tz_localize(None)
    tdf = fake_frames.TrajDataFrame(frame.assign(tid=1))
    found = read(tdf)
    assert_same(found.samples, read(EVENTS).samples)
    assert found.read_summary.columns_dropped == ["tid"]


def test_a_traj_data_frame_of_one_user_cannot_hide_anybody() -> None:
    frame = ROWS.rename(columns={"time": "datetime"}).assign(lat=48.123456, lng=7.654321).drop(columns="user")
    tdf = fake_frames.TrajDataFrame(frame)
    assert "No column 'user' among datetime, lat, lng" in refusal(lambda: read(tdf), CANARIES)


# ---- an index of pandas -----------------------------------------------------------------------------------------


def test_an_index_of_times_is_the_time() -> None:
    plain = read_with(EVENTS)
    frame = events()
    for name in (None, "when", "time"):
        indexed = frame.set_index(pd.DatetimeIndex(frame["time"], name=name)).drop(columns="time")
        found = read_with(indexed)
        assert found.samples.t.tolist() == plain.samples.t.tolist()
        assert found.read_summary.columns_dropped == []
        assert indexed.columns.tolist() == ["user", "lat", "lon"]  # left as it was
    assert read_with(indexed.tz_localize(None)).samples.t.tolist() == plain.samples.t.tolist()


def test_a_column_of_times_comes_before_the_index() -> None:
    frame = events()
    moved = frame.set_index(pd.DatetimeIndex(frame["time"]) + pd.Timedelta("1D"))
    assert read_with(moved).samples.t.tolist() == read_with(EVENTS).samples.t.tolist()


def test_named_levels_of_an_index_are_columns() -> None:
    found = read_with(events().set_index(["user", "time"]))
    assert found.samples.t.tolist() == read_with(EVENTS).samples.t.tolist()
    assert found.store.users.tolist() == read_with(EVENTS).store.users.tolist()


def test_an_index_that_numbers_rows_is_nobody() -> None:
    numbered = events().drop(columns="user").rename_axis("id")
    assert "No column 'user' among time, lat, lon" in refusal(lambda: read_with(numbered), CANARIES)
