"""What a published file and its manifest hold beside columns: metadata, members of JSON, dictionaries.

None of it is shown by a program that shows the rows, and all of it is handed on. What is no part of the format is
counted by where it stands; what it says is not repeated, since it may be data.
"""

from __future__ import annotations

import base64
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import pyarrow as pa

from shoal.core.schema import NOTES
from shoal.reading.geo.geojson import FeatureFile
from shoal.reading.manifest_schema import (
    GEO_SCHEMA,
    MANIFEST_SCHEMA,
    NOTES_SCHEMA,
    count_unknown,
    count_unknown_in_text,
    pandas_schema,
)
from shoal.reading.source import Source
from shoal.reading.tables import ParquetFile, Table

IN_METADATA = "in the file's metadata"
IN_FIELDS = "in the metadata of columns"
IN_MANIFEST = "in the manifest"
AMONG_MEMBERS = "among the members of the GeoJSON"
IN_DICTIONARIES = "in dictionaries, used by no row"
IN_EDGES = "in the last digits of x and y"
_ARROW, _FIELD_ID = b"ARROW:schema", b"PARQUET:field_id"
_WRITER = re.compile(
    r"-|(parquet-cpp-arrow|parquet-cpp|parquet-mr|parquet-rs|fastparquet|fastparquet-python|Polars|DuckDB|impala)"
    r"( version v?\d{1,4}(\.\d{1,4}){0,3}(-SNAPSHOT)?)?( \(build [0-9a-f]{0,40}\))?",
    re.ASCII,
)
_MOST_DIGITS = 4  # of the number of a column


def count_entries(table: Source, manifest: bytes | dict[str, Any] | None) -> Counter[str]:
    """How many entries of a table and of the manifest beside it nobody checks, by where they stand."""
    found = Counter[str]()
    found[IN_METADATA] += _in_metadata(table.metadata, table.names)
    if isinstance(table, ParquetFile | Table) and table.schema is not None:
        found[IN_METADATA] += _repeated(table.schema)
        found[IN_FIELDS] += sum(map(_in_field, _fields(table.schema)))
    if isinstance(table, ParquetFile):
        found[IN_METADATA] += _in_footer(table)
    if isinstance(table, FeatureFile):
        found[AMONG_MEMBERS] += table.n_members_unchecked
    if isinstance(manifest, dict):
        found[IN_MANIFEST] += count_unknown(manifest, MANIFEST_SCHEMA)
    elif manifest is not None:
        found[IN_MANIFEST] += count_unknown_in_text(manifest, MANIFEST_SCHEMA)
    return found


def _in_metadata(metadata: Mapping[bytes, bytes], names: list[str]) -> int:
    """Entries beside those of shoal, GeoParquet and pandas, and members of these that are none of theirs."""
    known = {NOTES: NOTES_SCHEMA, b"geo": GEO_SCHEMA, b"pandas": pandas_schema(names)}
    return sum(
        count_unknown_in_text(value, known[name]) if name in known else 1 for name, value in metadata.items()
    )


def _repeated(part: Any) -> int:
    """1 if metadata of a schema or a field hold several values under one name, of which Python sees one."""
    if part.metadata is None:
        return 0
    return int(not part.equals(part.with_metadata(dict(part.metadata)), check_metadata=True))


def _fields(parent: Any) -> Iterator[Any]:
    """All fields of a schema or of a type, those inside of others as well."""
    n_fields = len(parent) if isinstance(parent, pa.Schema) else parent.num_fields
    for place in range(n_fields):
        yield parent.field(place)
        yield from _fields(parent.field(place).type)


def _in_field(field: Any) -> int:
    """Entries of a field's metadata; Parquet's number of the field is none."""
    entries = field.metadata or {}
    number = entries.get(_FIELD_ID, b"0")
    others = len(entries.keys() - {_FIELD_ID})
    return others + _repeated(field) + (not re.fullmatch(rb"-?\d{1,%d}" % _MOST_DIGITS, number))


def _in_footer(table: ParquetFile) -> int:
    """What Parquet's footer says beside the metadata: who wrote it, notes of parts, and the schema once more."""
    footer = table.footer
    groups = (footer.row_group(number) for number in range(footer.num_row_groups))
    parts = (group.column(place) for group in groups for place in range(group.num_columns))
    of_parts = sum(len(part.metadata or {}) for part in parts)
    other_writer = _WRITER.fullmatch(footer.created_by or "-") is None
    return of_parts + int(other_writer) + _hidden(footer.metadata or {}, table.schema)


def _hidden(metadata: Mapping[bytes, bytes], schema: Any) -> int:
    """Entries of the footer that the schema does not show: where there is Arrow's copy of it, only that is shown."""
    seen: Mapping[bytes, bytes] = schema.metadata or {}
    others = [name for name, value in metadata.items() if name != _ARROW and seen.get(name) != value]
    return len(others) + _in_copy(metadata.get(_ARROW), schema)


def _in_copy(written: bytes | None, schema: Any) -> int:
    """What Arrow's own copy of a schema says otherwise than the schema."""
    if written is None:
        return 0
    try:
        copy = pa.ipc.read_schema(pa.py_buffer(base64.b64decode(written, validate=True)))
    except (ValueError, OSError, pa.ArrowException):
        return 1
    return _differ(copy, schema)


def _differ(copy: Iterable[Any], schema: Iterable[Any]) -> int:
    """1 if fields have other names or metadata in the copy of a schema."""
    told, seen = (
        [(field.name, {**(field.metadata or {}), _FIELD_ID: b""}) for field in fields]
        for fields in (copy, schema)
    )
    return int(told != seen)
