"""Boxes as GeoJSON (RFC 7946): a collection of polygons in longitude and latitude, one on each line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from shoal.core.schema import (
    LAT_MAX,
    LAT_MIN,
    LON_MAX,
    LON_MIN,
    RECORD,
    T_END,
    T_START,
    X_MAX,
    X_MIN,
    Y_MAX,
    Y_MIN,
)

_ROWS_AT_A_TIME = 1 << 16
_CORNERS = (  # counter-clockwise and closed
    (LON_MIN, LAT_MIN), (LON_MAX, LAT_MIN), (LON_MAX, LAT_MAX), (LON_MIN, LAT_MAX), (LON_MIN, LAT_MIN),
)  # fmt: skip


def feature_collection(batches: Iterable[Any]) -> Iterator[bytes]:
    """The text of a collection, piece by piece, of published batches with a hull in degrees and times as text."""
    yield b'{"type":"FeatureCollection","features":[\n'
    between = ""
    for batch in batches:
        for begin in range(0, batch.num_rows, _ROWS_AT_A_TIME):
            lines = _features(batch.slice(begin, _ROWS_AT_A_TIME)).to_pylist()
            yield (between + ",\n".join(lines)).encode()
            between = ",\n"
    yield b"\n]}\n"


def _features(batch: Any) -> Any:
    """Each box as the text of a feature. Names of records are of letters and digits, so nothing needs escaping."""
    text = {
        name: column.cast(pa.string()) for name, column in zip(batch.schema.names, batch.columns, strict=True)
    }
    ring: list[Any] = []
    for lon, lat in _CORNERS:
        ring += [",[" if ring else "[", text[lon], ",", text[lat], "]"]
    quoted = [[f'"{name}":"', text[name], '",'] for name in (RECORD, T_START, T_END)]
    edges = [[f'"{name}":', text[name], ","] for name in (X_MIN, X_MAX, Y_MIN, Y_MAX)]
    properties = [part for member in (*quoted, *edges) for part in member][:-1]
    return pc.binary_join_element_wise(
        '{"type":"Feature","properties":{', *properties,
        '},"geometry":{"type":"Polygon","coordinates":[[', *ring, "]]}}", "",
    )  # fmt: skip
