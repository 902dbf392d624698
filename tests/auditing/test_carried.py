"""What a file carries beside its boxes: names of records after users, places that are no hulls, other columns."""

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

from shoal.auditing.belonging import count_named
from shoal.core.boxes import UNKNOWN
from shoal.core.geographic_hulls import Bounds, as_polygons
from shoal.core.promise import Grid
from shoal.reading import Carried, read_published
from support.run_command import CANARY, anonymize, audit, city, write

USERS = np.array([f"person-{i}" for i in range(40)], object)
NUMBERED = np.array([str(i) for i in range(400)], object)


def hashed(how: str, size: int = 64) -> Callable[[str], str]:
    return lambda user: hashlib.new(how, user.encode()).hexdigest()[:size]


NAMINGS: list[Callable[[str], str]] = [
    str,
    str.upper,
    hashed("md5"),
    hashed("sha1"),
    lambda user: hashed("sha256")(user).upper(),
    hashed("sha256", 8),
    lambda user: "r" + hashed("md5", 16)(user),  # looks like a name of shoal
]


@pytest.mark.parametrize("naming", NAMINGS)
@pytest.mark.parametrize("key", [True, False])
def test_records_named_after_users(naming: Callable[[str], str], key: bool) -> None:
    names = sorted(map(naming, USERS))
    own = np.array([names.index(naming(user)) if key else UNKNOWN for user in USERS])
    assert count_named(names, USERS, own) == len(USERS)


@pytest.mark.parametrize("key", [True, False])
def test_random_names_are_nobodys(key: bool) -> None:
    rng = np.random.default_rng(1)
    for users in (USERS, NUMBERED):
        own = rng.permutation(len(users)) if key else np.full(len(users), UNKNOWN)
        assert count_named([f"r{rng.bytes(8).hex()}" for _ in users], users, own) == 0
        assert count_named([f"{rng.integers(10**6)}" for _ in users], users, own) == 0


def test_numbers_as_names_match_by_accident_where_they_are_given_at_random() -> None:
    for seed in range(50):
        assert count_named(NUMBERED, NUMBERED, np.random.default_rng(seed).permutation(len(NUMBERED))) == 0
    assert count_named(NUMBERED, NUMBERED, np.arange(len(NUMBERED))) == len(NUMBERED)
    assert count_named(NUMBERED, NUMBERED, np.full(len(NUMBERED), UNKNOWN)) == len(
        NUMBERED
    )  # cannot be told apart


def test_one_name_with_a_digest_is_enough_with_the_key() -> None:
    names = [f"r{i:016x}" for i in range(len(USERS))]
    names[7] = hashed("sha1")(USERS[7])
    assert count_named(names, USERS, np.arange(len(USERS))) == 1


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
    """A table of which one column is moved in the first rows."""
    add = pa.array([by] * rows + [0.0] * (len(table) - rows))
    return table.set_column(table.schema.get_field_index(name), name, pc.add(table[name], add))


def test_degrees_that_are_not_the_hull(release: Release) -> None:
    for name in ("lon_min", "lon_max", "lat_min", "lat_max"):
        assert carried(moved(release.table, name, 1e-5, 3)) == Carried(3)
        assert carried(moved(release.table, name, 1e-6, 3)) == Carried()  # rounding
    single = release.table.set_column(7, "lon_min", release.table["lon_min"].cast(pa.float32()))
    assert carried(single) == Carried()
    texts = release.table.set_column(7, "lon_min", pa.array([{"a": 1}] * len(release.table)))
    assert carried(texts) == Carried(len(release.table))


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
