"""What a file carries beside its boxes: places that are no hulls, digits and columns that nobody needs."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from shoal.core.geographic_hulls import Bounds, as_polygons
from shoal.core.promise import Grid
from shoal.reading import Carried, read_published
from support.run_command import CANARY, anonymize, audit, city, write


def hashed(how: str, size: int = 64) -> Callable[[str], str]:
    return lambda user: hashlib.new(how, user.encode()).hexdigest()[:size]


class Release:
    """A release of a city in degrees: the events, the file with polygons, and its key."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.events, self.key = (
            folder,
            write(city(40), folder / "events.csv"),
            folder / "key.csv",
        )
        self.output, self.features = folder / "out.geoparquet", folder / "map.geojson"
        assert anonymize(self.events, self.output, "--key-out", self.key).code == 0
        assert anonymize(self.events, self.features).code == 0
        self.table = pq.read_table(self.output)

    def changed(self, table: pa.Table, name: str) -> Path:
        """Another table under the same manifest."""
        path = self.folder / name
        pq.write_table(table.replace_schema_metadata(self.table.schema.metadata), path)
        shutil.copy(f"{self.output}.manifest.json", f"{path}.manifest.json")
        return path

    def with_feature(self, change: Callable[[dict[str, Any]], None], place: int = -1) -> Carried:
        """What the map carries once a feature of it, or for None the collection, is changed."""
        content = json.loads(self.features.read_text())
        change(content["features"][place])
        path = self.folder / "changed.geojson"
        path.write_text(json.dumps(content))
        crs = json.loads(Path(f"{self.features}.manifest.json").read_text())["grid"]["crs"]
        return read_published(path, grid=Grid(), crs=crs, look_beside=True).carried


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Release:
    return Release(tmp_path_factory.mktemp("carried"))


def carried(source: object) -> Carried:
    return read_published(source, look_beside=True).carried


def test_a_release_carries_nothing_else(release: Release, tmp_path: Path) -> None:
    assert carried(release.output) == carried(release.features) == Carried()
    for name in ("out.csv", "out.parquet", "out.csv.gz", "out.geojson.gz"):
        assert anonymize(release.events, tmp_path / name).code == 0
        assert carried(tmp_path / name) == Carried()
    metric = write(pq.read_table(release.output).select(["record"]), tmp_path / "x.csv")
    metric.write_text(
        "user,time,x,y\n" + "".join(f"{u},{60 * t},{u * 9},{t}\n" for u in range(9) for t in range(9))
    )
    assert anonymize(metric, tmp_path / "metric.geoparquet").code == 0
    assert carried(tmp_path / "metric.geoparquet") == Carried()


def moved(table: pa.Table, name: str, by: float, rows: int) -> pa.Table:
    """A table of which one column is moved in the first rows, to six decimals."""
    add = pa.array([by] * rows + [0.0] * (len(table) - rows))
    there = np.rint(pc.add(table[name], add).to_numpy() * 1e6) / 1e6
    return table.set_column(table.schema.get_field_index(name), name, pa.array(there))


def test_degrees_that_are_not_the_hull(release: Release) -> None:
    for name in ("lon_min", "lon_max", "lat_min", "lat_max"):
        assert carried(moved(release.table, name, 1e-5, 3)) == Carried(3)
        assert carried(moved(release.table, name, 1e-6, 3)) == Carried()  # rounding
        n = max(11, len(release.table) // 20)
        assert carried(moved(release.table, name, 1e-6, n)) == Carried(n)  # too often for that
    single = release.table.set_column(7, "lon_min", release.table["lon_min"].cast(pa.float32()))
    assert carried(single) == Carried()
    texts = release.table.set_column(7, "lon_min", pa.array([{"a": 1}] * len(release.table)))
    assert carried(texts) == Carried(len(release.table))


def with_digits(table: pa.Table, name: str, more: float) -> pa.Table:
    """A table of which one column says more than it needs to."""
    return table.set_column(table.schema.get_field_index(name), name, pa.array(table[name].to_numpy() + more))


def test_degrees_with_more_decimals_than_are_written(release: Release) -> None:
    n = len(release.table)
    for name in ("lon_min", "lat_max"):
        assert carried(with_digits(release.table, name, 3e-9)) == Carried(n)
    feature = json.loads(release.features.read_text())["features"][0]
    ring = [[[lon + 3e-9, lat] for lon, lat in feature["geometry"]["coordinates"][0]]]
    assert release.with_feature(lambda last: last["geometry"].update(coordinates=ring), 0) == Carried(1)


def test_the_last_digits_of_edges(release: Release) -> None:
    """What arithmetic leaves is read, but three bits in each edge of a record are a user's number."""
    edges = np.nextafter(release.table["y_max"].to_numpy(), np.inf)
    other = release.table.set_column(release.table.schema.get_field_index("y_max"), "y_max", pa.array(edges))
    assert carried(other) == Carried(entries=(("in the last digits of x and y", len(edges)),))


@pytest.mark.parametrize("cell_m", [0.1, 33.3, 100.0])
def test_edges_as_others_write_them(cell_m: float) -> None:
    """Products of binary numbers (3 * 0.1 is not 0.3), decimals as people write them, and single precision."""
    number = np.arange(-500, 500)
    for edges in (
        number * cell_m,
        np.array([float(f"{n * cell_m:.1f}") for n in number]),
        (number * cell_m).astype(np.float32),
    ):
        columns = {"x_min": edges[:-1], "x_max": edges[1:], "y_min": edges[:-1], "y_max": edges[1:]}
        times = {
            "t_start": pa.array([0] * 999, "timestamp[s]"),
            "t_end": pa.array([60] * 999, "timestamp[s]"),
        }
        table = pa.table({"record": ["a"] * 999, **times, **columns})
        assert read_published(table, grid=Grid(cell_m), look_beside=True).carried == Carried()


def test_polygons_that_are_not_the_hull(release: Release) -> None:
    table = release.table
    hull = Bounds(*(table[name].to_numpy() for name in ("lon_min", "lon_max", "lat_min", "lat_max")))
    smaller = as_polygons(hull._replace(x_min=np.where(np.arange(len(table)) < 4, hull.x_max, hull.x_min)))
    place = table.schema.get_field_index("geometry")
    assert carried(table.set_column(place, "geometry", smaller)) == Carried(4)
    points = pa.array([b"\x01\x01\x00\x00\x00" + bytes(16)] * len(table))
    assert carried(table.set_column(place, "geometry", points)) == Carried(len(table))


def test_features_that_say_more(release: Release) -> None:
    assert release.with_feature(lambda _: None) == Carried()
    point = {"type": "Point", "coordinates": [2.3, 48.8]}
    assert release.with_feature(lambda feature: feature.update(geometry=point)) == Carried(1)
    assert release.with_feature(lambda feature: feature.update(geometry=None)) == Carried(1)
    assert release.with_feature(lambda feature: feature.update(id=CANARY)) == Carried(0, ("id",))
    last = release.with_feature(lambda feature: feature["properties"].update(geometry="here"))
    assert last == Carried(0, ("geometry",))  # though it is not among the first features


def test_columns_that_nobody_checked(release: Release) -> None:
    more = release.table.append_column("home", pa.array(["x"] * len(release.table)))
    more = more.append_column("2024-05-17", pa.array(["x"] * len(release.table)))
    assert carried(more) == Carried(0, ("home", "column 14"))
    plain = release.table.drop_columns("geometry").replace_schema_metadata(None)
    found = read_published(plain, grid=Grid(), look_beside=True).carried  # degrees of no known plane
    assert found == Carried(0, ("lon_min", "lon_max", "lat_min", "lat_max"))


def named_after(release: Release, naming: Callable[[str], str]) -> tuple[pa.Table, Path]:
    """The release with records named after users, and its key."""
    rows = [line.split(",") for line in release.key.read_text().replace('"', "").splitlines()[1:]]
    new = {record: naming(user) for user, record in rows}
    key = release.folder / "named.csv"
    key.write_text("user,record\n" + "".join(f"{user},{new[record]}\n" for user, record in rows))
    names = pa.array([new[name] for name in release.table["record"].to_pylist()])
    return release.table.set_column(0, "record", names), key


def test_the_audit_fails_a_file_that_says_more_than_its_boxes(release: Release) -> None:
    n, sha = len(release.table), hashed("sha256", 12)
    named, key = named_after(release, sha)
    cases = {
        "named": (named, "40 records are named after their users"),
        "places": (moved(release.table, "lat_min", 1e-4, n), f"{n:,} boxes have other places beside x and y"),
        "columns": (
            release.table.append_column("home", pa.array(["x"] * n)),
            "1 column was not checked (home)",
        ),
    }
    tolerant = ("--tolerance", 1)  # so small a city has members that serve again
    assert audit(release.events, release.output, *tolerant).code == 0
    for name, (table, words) in cases.items():
        path = release.changed(table, f"{name}.geoparquet")
        for options in ((), ("--key", key if name == "named" else release.key)):
            done = audit(release.events, path, *tolerant, *options)
            assert done.code == 1, name
            assert words in " ".join(done.out.split())
            assert not any(sha(f"{user}") in done.out + done.err for user in ("u00", "0"))
