"""GeoJSON in: published boxes for an audit, points as events; whatever the layout of the text."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from reading.geo.test_frames import CANARIES, EVENTS, HALF_HOURS, assert_same, events, points, read, real
from reading.refusals import refusal
from shoal.core.promise import Grid
from shoal.reading import read_published
from shoal.reading.geo.geojson import JsonText

BOX = {
    "record": "canary",
    "t_start": "2024-05-17T12:00:00Z",
    "t_end": "2024-05-17T12:30:00Z",
    "x_min": 100,
    "x_max": 200.0,
    "y_min": -300,
    "y_max": -100,
}


def feature(properties: Any, geometry: Any = None) -> dict[str, Any]:
    return {"type": "Feature", "properties": properties, "geometry": geometry}


def collection(features: list[Any], **others: Any) -> dict[str, Any]:
    return {"type": "FeatureCollection", **others, "features": features}


def write(content: Any, path: Path, **layout: Any) -> Path:
    raw = content if isinstance(content, bytes) else json.dumps(content, **layout).encode()
    path.write_bytes(gzip.compress(raw) if path.suffix == ".gz" else raw)
    return path


def sightings(**others: Any) -> dict[str, Any]:
    """Events as features."""
    rows = zip(*(events()[name] for name in ("user", "time", "lon", "lat")), strict=True)
    return collection(
        [
            feature(
                {"user": user, "time": time.isoformat(), "mood": None},
                {"type": "Point", "coordinates": [lon, lat]},
            )
            for user, time, lon, lat in rows
        ],
        **others,
    )


# ---- events ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["events.geojson", "EVENTS.GEOJSON", "events.geojson.gz"])
@pytest.mark.parametrize("layout", [{}, {"indent": 2}, {"separators": (",", ":")}])
def test_points_are_events(name: str, layout: dict[str, Any], tmp_path: Path) -> None:
    found = read(write(sightings(), tmp_path / name, **layout))
    assert_same(found.samples, read(EVENTS).samples)
    assert found.read_summary.columns_dropped == ["mood"]


def test_pieces_change_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shoal.reading.geo.geojson._PIECE", 5)
    monkeypatch.setattr("shoal.reading.geo.geojson._ROWS_AT_A_TIME", 7)
    assert_same(read(write(sightings(), tmp_path / "events.geojson")).samples, read(EVENTS).samples)


def test_other_members_do_not_matter(tmp_path: Path) -> None:
    crs = {"type": "name", "properties": {"name": "urn:ogc:def:crs:OGC:1.3:CRS84"}}
    content = sightings(name="\u00e9v\u00e9nements", crs=crs, bbox=[1, 2, 3, 4], nothing={}) | {
        "later": [[], {}, 1e3]
    }
    raw = b"\xef\xbb\xbf" + json.dumps(content, ensure_ascii=False).encode()
    assert_same(read(write(raw, tmp_path / "events.geojson")).samples, read(EVENTS).samples)


def test_features_that_cannot_be_used_are_counted(tmp_path: Path) -> None:
    content = sightings()
    rows = content["features"]
    rows[0]["geometry"] = None
    rows[1]["geometry"]["coordinates"] = []
    rows[2]["geometry"]["coordinates"] = [200.0, 0.0]
    rows[3]["properties"]["user"] = None
    rows[4]["properties"] = None
    rows[5] = {"type": "Point", "coordinates": [1, 2]}
    rows[6] = 7
    found = read(write(content, tmp_path / "events.geojson"))
    assert found.read_summary.dropped == {
        "malformed row": 2,
        "missing user": 2,
        "missing position": 2,
        "position out of range": 1,
    }


def test_columns_that_are_named_count_before_points(tmp_path: Path) -> None:
    content = sightings()
    for row in content["features"]:
        row["properties"] |= {"e": 5, "n": 7.5}
    found = read(write(content, tmp_path / "events.geojson"), columns={"x": "e", "y": "n"})
    assert found.projection is None


def test_a_release_of_a_file(tmp_path: Path) -> None:
    path = write(sightings(), tmp_path / "events.geojson")
    published = shoal.anonymize(path, **HALF_HOURS, output=tmp_path / "out.geojson")
    assert shoal.audit(path, tmp_path / "out.geojson", attacks=20, key=published.key(), tolerance=1).kept


@pytest.mark.parametrize(
    "crs", [{"type": "name", "properties": {"name": "urn:ogc:def:crs:EPSG::32633"}}, {}, "canary"]
)
def test_points_of_another_coordinate_system(crs: Any, tmp_path: Path) -> None:
    """Older files may name one, above or below their features."""
    for content in (sightings(crs=crs), sightings() | {"crs": crs}):
        path = write(content, tmp_path / "events.geojson")
        message = refusal(lambda path=path: read(path), CANARIES)
        assert "names a coordinate system of its own: expected longitude and latitude (WGS84)" in message


def test_what_geopandas_writes(tmp_path: Path) -> None:
    frame = real(events()[["user", "time"]], points(events()))
    frame.to_file(tmp_path / "events.geojson", driver="GeoJSON")
    assert_same(read(tmp_path / "events.geojson").samples, read(EVENTS).samples)
    frame.to_crs(32633).to_file(tmp_path / "plane.geojson", driver="GeoJSON")
    message = refusal(lambda: read(tmp_path / "plane.geojson"), CANARIES)
    assert "names a coordinate system of its own" in message


# ---- boxes -------------------------------------------------------------------------------------------------------


def test_boxes_whatever_their_geometry(tmp_path: Path) -> None:
    """The properties are authoritative, as the metric columns of other files are."""
    shapes = [None, {"type": "Polygon", "coordinates": []}, {"type": "Point", "coordinates": [1, 2]}]
    path = write(
        collection([feature(BOX, shape) for shape in shapes], crs={"properties": {"name": "EPSG:3857"}}),
        tmp_path / "out.geojson",
    )
    found = read_published(path, grid=Grid())
    assert found.boxes.n_boxes == 3
    assert found.names.tolist() == ["canary"]
    assert (found.boxes.x0[0], found.boxes.x1[0], found.boxes.y0[0], found.boxes.y1[0]) == (1, 1, -3, -2)


def test_what_geopandas_writes_again(tmp_path: Path) -> None:
    geopandas = pytest.importorskip("geopandas")
    path, again = tmp_path / "out.geojson", tmp_path / "again.geojson"
    shoal.anonymize(EVENTS, **HALF_HOURS, output=path)
    geopandas.read_file(path).to_file(again, driver="GeoJSON")
    one, other = (read_published(file, grid=Grid()) for file in (path, again))
    for column, expected in zip(one.boxes, other.boxes, strict=True):
        assert (column == expected).all()
    assert one.names.tolist() == other.names.tolist()


# ---- what is refused ---------------------------------------------------------------------------------------------

WHOLE = json.dumps(collection([feature(BOX)])).encode()
DAMAGED = "cannot be read as GeoJSON: it is damaged or of another kind"
REFUSED: dict[str, tuple[Any, str]] = {
    "nothing": (b"", "is empty: expected CSV, TSV or GeoJSON"),
    "space": (b"  \n", DAMAGED),
    "cut short": (WHOLE[:-2], DAMAGED),
    "cut shorter": (WHOLE[: len(WHOLE) // 2], DAMAGED),
    "something after": (WHOLE + b"{}", DAMAGED),
    "lines of JSON": (json.dumps(feature(BOX)).encode() + b"\n" + json.dumps(feature(BOX)).encode(), DAMAGED),
    "a list": (b"[]", DAMAGED),
    "text": (b"canary,2024-05-17", DAMAGED),
    "binary": (bytes(range(256)), DAMAGED),
    "utf-16": (WHOLE.decode().encode("utf-16"), DAMAGED),
    "too deep": (b'{"features":' + b"[" * 100_000, DAMAGED),
    "no comma": (WHOLE.replace(b'"features"', b'3 "features"'), DAMAGED),
    "types that mix": (collection([feature(BOX), feature(BOX | {"x_min": "canary"})]), DAMAGED),
    "numbers too large": (collection([feature(BOX | {"x_min": 10**40})]), DAMAGED),
    "no features": ({"type": "FeatureCollection"}, "has no features: expected a FeatureCollection"),
    "one feature": (feature(BOX), "has no features: expected a FeatureCollection"),
    "empty": (collection([]), "has no features: expected a FeatureCollection with at least one"),
    "features of no kind": (
        collection([1, None, BOX]),
        "has no features: expected a FeatureCollection with at least",
    ),
    "no properties": (collection([feature(None)]), "lacks record, t_start"),
    "a property short": (collection([feature({**BOX, "y_max": None})]), "has 1 missing values in 1 rows"),
    "not on the grid": (collection([feature({**BOX, "y_max": 12.5})]), "1 edges that are not whole cells"),
    "malformed": (collection([feature(BOX), "canary"]), "has 1 malformed rows in 2 rows"),
}


@pytest.mark.parametrize("case", REFUSED)
@pytest.mark.parametrize("name", ["out.geojson", "out.geojson.gz"])
def test_boxes_that_are_refused(case: str, name: str, tmp_path: Path) -> None:
    content, words = REFUSED[case]
    path = write(content, tmp_path / name)
    if case == "nothing" and path.suffix == ".gz":
        words = DAMAGED
    message = refusal(lambda: read_published(path, grid=Grid()), CANARIES)
    assert words in message
    assert name in message


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            lambda row: row["geometry"].update(type="LineString"),
            "The geometry of 'events.geojson' holds LineString",
        ),
        (lambda row: row["geometry"].update(type="canary"), "holds something else: expected points"),
        (lambda row: row["geometry"].update(coordinates=["canary", "canary"]), DAMAGED),
        (lambda row: row.pop("properties"), "missing user"),
    ],
)
def test_events_that_are_refused(change: Callable[[Any], object], words: str, tmp_path: Path) -> None:
    content = sightings()
    change(content["features"][3])
    path = write(content, tmp_path / "events.geojson")
    assert words in refusal(lambda: read(path, strict=True), CANARIES)


def test_boxes_are_no_events(tmp_path: Path) -> None:
    path = write(collection([feature(BOX, {"type": "Polygon", "coordinates": []})]), tmp_path / "out.geojson")
    assert "No column 'user'" in refusal(lambda: read(path), CANARIES)


def test_gzip_that_is_cut_short(tmp_path: Path) -> None:
    path = write(sightings(), tmp_path / "events.geojson.gz")
    path.write_bytes(path.read_bytes()[:-100])
    assert "cannot be read as GeoJSON: it ends too early" in refusal(lambda: read(path), CANARIES)


# ---- JSON piece by piece -----------------------------------------------------------------------------------------

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(
    content=st.dictionaries(st.text(), st.lists(JSON), max_size=4),
    indent=st.sampled_from([None, 1]),
    escaped=st.booleans(),
)
def test_json_text_reads_what_json_reads(content: dict[str, Any], indent: int | None, escaped: bool) -> None:
    raw = json.dumps(content, indent=indent, ensure_ascii=escaped).encode("utf-8", "surrogatepass")
    try:
        raw.decode()
    except UnicodeDecodeError:
        return
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("shoal.reading.geo.geojson._PIECE", 3)
        text = JsonText(BytesIO(raw))
        assert {name: list(text.values()) for name in text.members()} == content
        text.end()


def test_frames_are_compared_with_something() -> None:
    assert isinstance(events(), pd.DataFrame)
    assert len(events()) > 100
