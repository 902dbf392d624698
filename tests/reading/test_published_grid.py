"""The audit finds grid and plane of a release, and brings events to exactly the cells it was made from."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pyproj
import pytest

import shoal
from reading.refusals import refusal
from shoal.api import Published
from shoal.core.boxes import NONE
from shoal.core.promise import Grid
from shoal.core.samples import Samples
from shoal.reading import Projection, check_coordinates, parse_crs, read_events, read_key, read_published
from support.run_command import city, in_metres

CANARIES = ("canary",)
LAEA = "+proj=laea +lat_0=-33 +lon_0=151 +datum=WGS84 +units=m +no_defs"
SUFFIXES = (".parquet", ".geoparquet", ".csv", ".csv.gz", ".geojson", ".geojson.gz")


def release(events: Any, folder: Path, suffix: str, **options: Any) -> tuple[Published, Path]:
    """Publish a city, with its key."""
    path = folder / f"out{suffix}"
    options = {"k": 2, "tau": "30min", "epsilon": "30min", "workers": 1} | options
    return shoal.anonymize(events, output=path, key_out=folder / "key.csv", **options), path


def assert_same(one: Samples, other: Samples) -> None:
    assert one.users.tolist() == other.users.tolist()
    for name in ("user", "t", "x", "y"):
        assert (getattr(one, name) == getattr(other, name)).all()


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_an_audit_sees_the_samples_that_were_published(tmp_path: Path, suffix: str) -> None:
    events = city(users=40)
    published, path = release(events, tmp_path, suffix, cell="33.3m", step="5min")
    for source in (path, published):
        table = read_published(source)
        assert table.grid == Grid(33.3, 300)
        assert table.crs == published.events.projection.crs
        assert table.manifest == published.manifest
        again = read_events(events, grid=table.grid, projection=parse_crs(table.crs))
        assert again.projection == published.events.projection
        assert_same(again.samples, read_events(events, grid=table.grid).samples)
        assert len(again.samples) == published.outcome.n_samples
        assert table.names.tolist() == published.named.name.tolist()
        (boxes,) = published.named.pieces(10**6)
        for column, expected in zip(table.boxes[1:], boxes[1:], strict=True):
            assert (column == expected).all()
    own = read_key(tmp_path / "key.csv", published.events.store.users, table.names)
    expected = np.full(40, NONE)
    expected[published.named.owner] = np.arange(len(published.named.owner))
    assert (own == expected).all()
    assert (read_key(published.key(), published.events.store.users, table.names) == expected).all()


def test_a_release_in_metres(tmp_path: Path) -> None:
    published, path = release(in_metres(), tmp_path, ".csv")
    table = read_published(path)
    assert table.crs is None
    check_coordinates(table.crs, geographic=False)
    assert len(read_events(in_metres(), grid=table.grid).samples) == published.outcome.n_samples


def test_a_given_projection_is_used_whatever_the_centre_of_the_events() -> None:
    events = city(users=40)
    everything = read_events(events, grid=Grid())
    far = (
        events.append_column("far", pc.add(events["lat"], 5.0))
        .drop_columns("lat")
        .rename_columns({"far": "lat"})
    )
    moved = read_events(pa.concat_tables([far.select(events.column_names)] * 3 + [events]), grid=Grid())
    assert moved.projection != everything.projection
    one = events.filter(pc.equal(events["user"], events["user"][0]))
    samples = read_events(one, grid=Grid(), projection=moved.projection).samples
    same = moved.samples.user == moved.samples.users.tolist().index(samples.users[0])
    places = zip(moved.samples.t[same], moved.samples.x[same], moved.samples.y[same], strict=True)
    assert set(zip(samples.t, samples.x, samples.y, strict=True)) < set(places)


@pytest.mark.parametrize(
    "crs", [LAEA, Projection(-180, 90).crs, Projection(180, -90).crs, Projection(0, 0).crs]
)
def test_planes_of_our_own(crs: str) -> None:
    plane = parse_crs(crs)
    assert isinstance(plane, Projection)
    assert plane.crs == crs


@pytest.mark.parametrize(
    "crs",
    [
        "EPSG:3857",
        "epsg:2154",
        "EPSG:3035",
        "+proj=utm +zone=33",
        LAEA.replace("=151", "=151.5"),
        LAEA + " +type=crs",
    ],
)
def test_planes_of_others(crs: str) -> None:
    plane = parse_crs(crs)
    assert plane.crs == crs
    lon, lat = np.array([2.35, 13.4]), np.array([48.85, 52.5])
    expected = pyproj.Transformer.from_crs(4326, crs, always_xy=True).transform(lon, lat)
    assert np.allclose(plane.to_metres(lon, lat), expected, atol=1e-6)
    assert np.allclose(plane.to_degrees(*plane.to_metres(lon, lat)), [lon, lat], atol=1e-7)


def test_events_in_the_plane_of_others() -> None:
    events = pa.table({"user": ["a"], "time": [0], "lat": [0.0], "lon": [180.0]})
    samples = read_events(events, grid=Grid(1000.0), projection=parse_crs("EPSG:3857")).samples
    assert (samples.x[0], samples.y[0]) in {(20037, 0), (20037, -1)}  # half the equator, in km


@pytest.mark.parametrize(
    ("crs", "expected"),
    [
        ("nonsense", "No coordinate system 'nonsense': the CRS must name a plane in metres"),
        ("", "No coordinate system ''"),
        ("EPSG:999999", "No coordinate system 'EPSG:999999'"),
        ("+proj=laea +lat_0=95 +lon_0=0 +datum=WGS84 +units=m +no_defs", "No coordinate system"),
        ("EPSG:4326", "'EPSG:4326' is no plane in metres"),
        ("EPSG:2263", "'EPSG:2263' is no plane in metres"),  # feet
        ("GEOGCRS[" * 99, "No coordinate system 'GEOGCRS.*GEOG...'"),
    ],
)
def test_no_planes(crs: str, expected: str) -> None:
    assert re.search(expected, refusal(lambda: parse_crs(crs), CANARIES))


def test_degrees_and_metres_do_not_mix() -> None:
    check_coordinates(LAEA, geographic=True)
    check_coordinates(None, geographic=False)
    assert "give --crs" in refusal(lambda: check_coordinates(None, geographic=True), CANARIES)
    message = refusal(lambda: read_events(in_metres(), grid=Grid(), projection=parse_crs(LAEA)), CANARIES)
    assert message.startswith("The events are in metres, but the published table was made from degrees")


ROW = {
    "record": ["canary"], "t_start": ["2024-05-17T12:00Z"], "t_end": ["2024-05-17T13:00Z"],
    "x_min": [0], "x_max": [3000], "y_min": [0], "y_max": [3000],
}  # fmt: skip


def noted(cell_m: Any = 100.0, step_s: Any = 60, crs: Any = None, **more: Any) -> bytes:
    return json.dumps({"format": 1, "grid": {"cell_m": cell_m, "step_s": step_s, "crs": crs}} | more).encode()


def published(folder: Path, metadata: bytes | None, manifest: bytes | None) -> Path:
    """A Parquet file that tells what it is told to tell."""
    path = folder / "out.parquet"
    table = pa.table(ROW)
    pq.write_table(table if metadata is None else table.replace_schema_metadata({"shoal": metadata}), path)
    if manifest is not None:
        (folder / "out.parquet.manifest.json").write_bytes(manifest)
    return path


DAMAGED = [
    b"", b"canary", b"\xff\xfe", b"[1]", b"{}", b'{"grid": 5}', b'{"grid": {"cell_m": 100}}', b"[" * 100_000,
    noted(cell_m=0), noted(cell_m="100"), noted(cell_m=None), noted(cell_m=float("nan")), noted(cell_m=10**400),
    noted(step_s=0), noted(step_s=1.5), noted(step_s="60"), noted(step_s=float("inf")), noted(crs=3857),
]  # fmt: skip


@pytest.mark.parametrize("raw", DAMAGED, ids=lambda raw: raw[:20])
def test_damage_matters_only_where_it_is_needed(tmp_path: Path, raw: bytes) -> None:
    broken = published(tmp_path, raw, None)
    expected = (
        "The metadata of 'out.parquet' cannot be used: expected JSON with a grid of cell_m, step_s and crs"
    )
    assert refusal(lambda: read_published(broken), CANARIES).startswith(expected)
    assert read_published(broken, grid=Grid()).manifest is None
    assert read_published(published(tmp_path, raw, noted())).grid == Grid()
    table = read_published(published(tmp_path, noted(), raw))
    assert (table.grid, table.manifest) == (Grid(), None)
    expected = "The manifest 'out.parquet.manifest.json' cannot be used"
    assert refusal(lambda: read_published(published(tmp_path, None, raw)), CANARIES).startswith(expected)


def test_notes_of_another_format(tmp_path: Path) -> None:
    path = published(tmp_path, noted(format=2), None)
    assert "of another format than this version of shoal reads (1)" in refusal(
        lambda: read_published(path), ()
    )
    assert read_published(published(tmp_path, noted()[:-1] + b', "more": 1}', None)).grid == Grid()


def test_manifest_that_cannot_be_opened(tmp_path: Path) -> None:
    path = published(tmp_path, None, None)
    (tmp_path / "out.parquet.manifest.json").mkdir()
    assert "manifest.json' cannot be used" in refusal(lambda: read_published(path), CANARIES)


def test_what_is_given_comes_first_and_must_agree(tmp_path: Path) -> None:
    path = published(tmp_path, noted(crs=LAEA), None)
    assert read_published(path, grid=Grid(), crs=LAEA).crs == LAEA
    assert read_published(path, crs=LAEA.replace(" +no_defs", "")).grid == Grid()  # the same in other words
    for grid in (Grid(50.0), Grid(100.0, 30)):
        message = refusal(lambda grid=grid: read_published(path, grid=grid), CANARIES)
        assert message.startswith(
            "The metadata of 'out.parquet' tells of cells of 100 m and steps of 60 s, where"
        )
    for crs in ("EPSG:3857", "nonsense"):
        message = refusal(lambda crs=crs: read_published(path, crs=crs), CANARIES)
        assert message.startswith("The metadata of 'out.parquet' names another coordinate system")
    plain = published(tmp_path, noted(), None)
    assert read_published(plain, crs="EPSG:3857").crs == "EPSG:3857"  # plain metres may get a name


def test_metadata_and_manifest_must_agree(tmp_path: Path) -> None:
    stale = published(tmp_path, noted(), noted(cell_m=50.0))
    message = refusal(lambda: read_published(stale), CANARIES)
    assert message == (
        "The manifest 'out.parquet.manifest.json' tells of cells of 50 m and steps of 60 s, where cells of 100 m"
        " and steps of 60 s were given or noted before: correct one of them."
    )
    other = published(tmp_path, noted(crs=LAEA), noted(crs="EPSG:3857"))
    assert "names another coordinate system" in refusal(lambda: read_published(other), CANARIES)
