"""What stands in a file or its manifest beside columns is counted where it stands, and never repeated."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from shoal.core.boxes import Boxes
from shoal.core.promise import Grid
from shoal.publishing.record_names import named_boxes
from shoal.publishing.tables import write_published
from shoal.reading import Projection, read_published
from support.paths import PROJECT

SECRET = "u000123 is r0123456789abcdef"
PLANE = Projection(lon_0=10, lat_0=50)
NOTES = {
    "format": 1,
    "promise": {"k": 2, "whole": False, "tau_s": 60, "epsilon_s": 60},
    "grid": {"cell_m": 100.0, "step_s": 60, "crs": PLANE.crs},
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A published file of each kind."""
    folder, cells = tmp_path_factory.mktemp("entries"), np.arange(20, dtype=np.int32)
    slots = cells.astype(np.int64)
    named = named_boxes(Boxes(cells // 2, slots, slots, cells, cells + 1, cells, cells))
    for suffix in (".parquet", ".geoparquet", ".geojson"):
        with (folder / f"out{suffix}").open("wb") as file:
            write_published(file, suffix, named, Grid(), PLANE, NOTES)
    return folder


def entries(source: object, **more: Any) -> dict[str, int]:
    """What was not checked in a table or file, by where it stands."""
    found = read_published(source, look_beside=True, **more).carried
    assert SECRET not in repr(found)
    assert found.n_other_places == 0
    return dict(found.entries)


def test_a_release_has_none(folder: Path) -> None:
    assert entries(folder / "out.parquet") == entries(folder / "out.geoparquet") == {}
    assert entries(folder / "out.geojson", grid=Grid(), crs=PLANE.crs) == {}
    assert entries(PROJECT / "tests" / "data" / "release-0.1" / "published.csv") == {}


def rewritten(table: pa.Table, path: Path, **how: Any) -> Path:
    pq.write_table(table, path, **how)
    return path


def metadata_of(table: pa.Table, **more: bytes) -> pa.Table:
    return table.replace_schema_metadata(
        {**table.schema.metadata, **{k.encode(): v for k, v in more.items()}}
    )


@pytest.mark.parametrize("in_file", [True, False])
def test_metadata_of_the_file_and_of_columns(folder: Path, in_file: bool, tmp_path: Path) -> None:
    table = pq.read_table(folder / "out.parquet")
    more = metadata_of(table, who=SECRET.encode())
    field = table.schema.field("record").with_metadata({"who": SECRET})
    fields = pa.schema([field, *list(table.schema)[1:]], metadata=table.schema.metadata)
    twice = pa.KeyValueMetadata([*table.schema.metadata.items(), (b"shoal", SECRET.encode())])
    cases = [
        (more, "in the file's metadata"),
        (
            table.replace_schema_metadata(None).cast(table.schema.with_metadata(twice)),
            "in the file's metadata",
        ),
        (table.cast(fields), "in the metadata of columns"),
    ]
    for number, (changed, place) in enumerate(cases):
        source = rewritten(changed, tmp_path / f"{number}.parquet") if in_file else changed
        assert entries(source).keys() == {place}


@pytest.mark.parametrize(
    "change",
    [
        {"who": SECRET},
        {"promise": {**NOTES["promise"], "who": SECRET}},  # type: ignore[dict-item]
        {"grid": {**NOTES["grid"], "who": SECRET}},  # type: ignore[dict-item]
        {"promise": {**NOTES["promise"], "k": SECRET}},  # type: ignore[dict-item]
    ],
)
def test_members_of_the_notes(folder: Path, change: dict[str, Any]) -> None:
    table = pq.read_table(folder / "out.parquet")
    noted = json.dumps({**NOTES, **change}).encode()
    assert entries(metadata_of(table, shoal=noted)) == {"in the file's metadata": 1}


def test_members_that_are_repeated(folder: Path) -> None:
    table = pq.read_table(folder / "out.parquet")
    noted = json.dumps(NOTES).replace("{", '{"format": "' + SECRET + '", ', 1).encode()
    assert entries(metadata_of(table, shoal=noted)) == {"in the file's metadata": 1}


def test_what_parquet_and_arrow_note_once_more(folder: Path, tmp_path: Path) -> None:
    table = pq.read_table(folder / "out.parquet")
    shown = table.schema.metadata
    hidden = json.dumps({**NOTES, "who": SECRET}).encode()
    cases = [
        (shown, shown, 0),
        ({**shown, b"who": SECRET.encode()}, shown, 1),
        ({b"shoal": hidden}, shown, 1),
    ]
    for metadata, copied, expected in cases:
        copy = base64.b64encode(table.schema.with_metadata(copied).serialize().to_pybytes())
        path = tmp_path / "copy.parquet"
        with pq.ParquetWriter(path, table.schema, store_schema=False) as writer:
            writer.write_table(table)
            writer.add_key_value_metadata({**metadata, b"ARROW:schema": copy})
        assert entries(path) == ({"in the file's metadata": expected} if expected else {})
    raw = (folder / "out.parquet").read_bytes()
    by = pq.ParquetFile(folder / "out.parquet").metadata.created_by.encode()
    named = tmp_path / "writer.parquet"
    named.write_bytes(raw.replace(by, (SECRET.encode() + b"!" * 99)[: len(by)]))
    assert entries(named) == {"in the file's metadata": 1}


def test_only_what_pandas_writes_is_expected_of_pandas(folder: Path, tmp_path: Path) -> None:
    frame = pq.read_table(folder / "out.parquet").to_pandas()
    table = pa.Table.from_pandas(frame)
    noted = json.loads(table.schema.metadata[b"pandas"])
    own = {"grid": Grid(), "crs": PLANE.crs}
    assert entries(rewritten(table, tmp_path / "out.parquet"), **own) == {}
    for change in (
        {"attributes": {"who": SECRET}},
        {"who": SECRET},
        {"index_columns": [SECRET]},
        {"index_columns": [*noted["index_columns"], {"kind": "range", "start": 123}]},  # a list of numbers
        {"columns": [{**noted["columns"][0], "metadata": {"who": SECRET}}]},
    ):
        changed = metadata_of(table, pandas=json.dumps({**noted, **change}).encode())
        assert entries(rewritten(changed, tmp_path / "out.parquet"), **own) == {"in the file's metadata": 1}


def test_only_what_shoal_writes_is_expected_of_geoparquet(folder: Path, tmp_path: Path) -> None:
    table = pq.read_table(folder / "out.geoparquet")
    geo = json.loads(table.schema.metadata[b"geo"])
    geo["columns"]["geometry"]["who"] = SECRET
    path = rewritten(metadata_of(table, geo=json.dumps(geo).encode()), tmp_path / "out.geoparquet")
    assert entries(path) == {"in the file's metadata": 1}


@pytest.mark.parametrize("kept", [True, False])
def test_dictionaries_with_entries_of_no_row(folder: Path, kept: bool, tmp_path: Path) -> None:
    """Whether the file says that the column has a dictionary or not."""
    table = pq.read_table(folder / "out.parquet")
    codes = table["record"].combine_chunks().dictionary_encode()
    longer = pa.concat_arrays([codes.dictionary, pa.array([SECRET, "b"])])
    changed = table.set_column(0, "record", pa.DictionaryArray.from_arrays(codes.indices, longer))
    path = rewritten(changed, tmp_path / "out.parquet", store_schema=kept)
    own = {"grid": Grid(), "crs": PLANE.crs}  # whoever does not keep the schema does not keep metadata either
    assert entries(path, **own) == {"in dictionaries, used by no row": 2}
    assert entries(changed) == {"in dictionaries, used by no row": 2}
    assert len(read_published(path, **own).names) == 10
    used = table.set_column(0, "record", codes)
    assert entries(rewritten(used, path, row_group_size=7)) == entries(used) == {}


def test_unused_categories_of_pandas(folder: Path) -> None:
    frame = pq.read_table(folder / "out.parquet").to_pandas()
    frame["record"] = pd.Categorical(frame["record"], [*sorted(set(frame["record"])), SECRET])
    assert entries(frame, grid=Grid(), crs=PLANE.crs) == {"in dictionaries, used by no row": 1}


MANIFEST = json.loads((PROJECT / "tests/data/release-0.1/published.csv.manifest.json").read_text())
SECTIONS = [name for name, part in MANIFEST.items() if isinstance(part, dict)]


@pytest.mark.parametrize("section", ["", *SECTIONS, "counts/rows_dropped", "granularity/time_minutes"])
def test_members_of_the_manifest(section: str, folder: Path, tmp_path: Path) -> None:
    told = json.loads(json.dumps({**MANIFEST, "grid": NOTES["grid"]}))
    part = told
    for name in filter(None, section.split("/")):
        part = part[name]
    part["who"] = {SECRET: SECRET}
    path = tmp_path / "out.parquet"
    path.write_bytes((folder / "out.parquet").read_bytes())
    Path(f"{path}.manifest.json").write_text(json.dumps(told))
    assert entries(path) == {"in the manifest": 1}


@pytest.mark.parametrize(
    ("section", "name"),
    [(section, name) for section in SECTIONS for name in MANIFEST[section] if section != "grid"],
)
def test_values_of_the_manifest(section: str, name: str, folder: Path, tmp_path: Path) -> None:
    told = {**MANIFEST, "grid": NOTES["grid"]}
    told[section] = {**told[section], name: SECRET}
    path = tmp_path / "out.parquet"
    path.write_bytes((folder / "out.parquet").read_bytes())
    Path(f"{path}.manifest.json").write_text(json.dumps(told))
    assert entries(path) == {"in the manifest": 1}


@pytest.mark.parametrize(
    "text", [SECRET, "[" * 10**5, '{"grid": 1, "grid": 2, "format": 1}', '{"format": 7}']
)
def test_a_manifest_that_cannot_be_used(text: str, folder: Path, tmp_path: Path) -> None:
    """The file names its grid itself, so that it can be read without."""
    path = tmp_path / "out.parquet"
    path.write_bytes((folder / "out.parquet").read_bytes())
    Path(f"{path}.manifest.json").write_text(text)
    assert entries(path)["in the manifest"] >= 1


STANDARD = {"type": "name", "properties": {"name": "urn:ogc:def:crs:OGC:1.3:CRS84"}}


@pytest.mark.parametrize(
    ("member", "n"),
    [
        ({"crs": STANDARD, "name": "changed"}, 0),
        ({"crs": {"type": "name", "properties": {"name": SECRET + "CRS84"}}}, 1),
        ({"crs": {**STANDARD, "who": SECRET}}, 1),
        ({"name": SECRET}, 1),
        ({"type": SECRET}, 1),
    ],
)
def test_members_beside_the_features(member: dict[str, Any], n: int, folder: Path, tmp_path: Path) -> None:
    content = json.loads((folder / "out.geojson").read_text())
    path = tmp_path / "changed.geojson"
    path.write_text(json.dumps({**content, **member}))
    found = entries(path, grid=Grid(), crs=PLANE.crs)
    assert found == ({"among the members of the GeoJSON": n} if n else {})


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"properties":{', '"properties":{"record":"' + SECRET + '",'),
        ('"type":"Feature",', '"type":"' + SECRET + '","type":"Feature",'),
        ('{"type":"FeatureCollection",', '{"type":"' + SECRET + '","type":"FeatureCollection",'),
    ],
)
def test_members_of_features_that_are_repeated(old: str, new: str, folder: Path, tmp_path: Path) -> None:
    text = (folder / "out.geojson").read_text()
    path = tmp_path / "changed.geojson"
    path.write_text(text.replace(old, new, 1))
    found = entries(path, grid=Grid(), crs=PLANE.crs)
    assert found == {"among the members of the GeoJSON": 1}
