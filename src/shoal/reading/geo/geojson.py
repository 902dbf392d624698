"""GeoJSON as events: a stream of features, read piece by piece."""

from __future__ import annotations

import codecs
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa

from shoal.errors import InputError
from shoal.reading.csv_files import text_stream
from shoal.reading.geo.encodings import check_points
from shoal.reading.geo.point_columns import POINT_LAT, POINT_LON
from shoal.reading.manifest_schema import RepeatedMembers
from shoal.reading.source import as_input_error
from shoal.reading.summary import DroppedRows

_DIGITS = "0123456789.eE+-"
_SPACE = " \t\n\r"
_PIECE = 1 << 20  # bytes
_ROWS_AT_A_TIME = 1 << 16
_MOST_LOOKED_AT = 100  # features, to learn what they have
FEATURE_GEOMETRY = "geometry of the feature"  # as a column: the five points of a polygon of one ring, or none
_RING = pa.list_(pa.float64(), 10)
_TYPES = {
    POINT_LON: pa.float64(),
    POINT_LAT: pa.float64(),
    FEATURE_GEOMETRY: _RING,
}  # properties have their own
_OF_FEATURES, _OF_COLLECTIONS = (
    {"type", "properties", "geometry"},
    {"type", "features", "crs", "name"},
)  # usual members
_STANDARD = {
    "type": "FeatureCollection",
    "crs": {"type": "name", "properties": {"name": "urn:ogc:def:crs:OGC:1.3:CRS84"}},
}  # what members beside the features hold, if they are there
_LON_LAT = ("CRS84", "4326")  # how names of coordinate systems end that are longitude and latitude


class JsonText:
    """A stream of UTF-8 of which no more is held than the value being read; ValueError where it is no JSON."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self._decode = codecs.getincrementaldecoder("utf-8-sig")().decode
        self._pairs = RepeatedMembers()
        self._scan = json.JSONDecoder(object_pairs_hook=self._pairs).raw_decode
        self.n_repeated = 0  # members of the values read so far whose names stood there already
        self._held, self._at, self._ended = "", 0, False

    def members(self) -> Iterator[str]:
        """The names in an object; whoever asks for the next has read the value of the last."""
        for _ in self._elements("{", "}"):
            name = self.value()
            if not isinstance(name, str):
                raise ValueError("a name must be a text")
            self._take(":")
            yield name

    def values(self) -> Iterator[Any]:
        """The values in a list."""
        for _ in self._elements("[", "]"):
            yield self.value()

    def value(self) -> Any:
        """The next value, whatever it is."""
        self._next()
        size = _PIECE
        while True:
            self._pairs.count = 0
            try:
                found, end = self._scan(self._held, self._at)
                if self._ended or not self._may_go_on(found, end):
                    self._at = end
                    self.n_repeated += self._pairs.count
                    return found
            except RecursionError:
                raise ValueError("nested too deeply") from None
            except ValueError:
                if self._ended:
                    raise
            self._read(size)
            size *= 2

    def _may_go_on(self, found: Any, end: int) -> bool:
        """Whether a number might be longer than what is held of it."""
        return (
            isinstance(found, int | float) and self._held[end : end + 1] in _DIGITS
        )  # empty at the end of it

    def end(self) -> None:
        """Make sure that nothing follows."""
        if self._next():
            raise ValueError("something follows")

    def _elements(self, opening: str, closing: str) -> Iterator[None]:
        self._take(opening)
        if self._next() != closing:
            yield
            while self._next() == ",":
                self._at += 1
                yield
        self._take(closing)

    def _take(self, mark: str) -> None:
        if self._next() != mark:
            raise ValueError(f"expected {mark}")
        self._at += 1

    def _next(self) -> str:
        """The next letter that is no space; empty at the end."""
        while True:
            while self._at < len(self._held):
                if self._held[self._at] not in _SPACE:
                    return self._held[self._at]
                self._at += 1
            if self._ended:
                return ""
            self._read(_PIECE)

    def _read(self, size: int) -> None:
        piece = self._stream.read(size)
        self._ended = not piece
        self._held = self._held[self._at :] + self._decode(piece, final=self._ended)
        self._at = 0


class FeatureFile:
    """A FeatureCollection; the properties of the first features are its columns."""

    def __init__(self, path: Path, title: str) -> None:
        self.title = title
        self.warnings: list[str] = []
        self.metadata: dict[bytes, bytes] = {}
        self._path = path
        self._others: dict[str, Any] = {}
        self._members: set[str] = set()
        self._n_repeated = 0
        first = [feature for feature in islice(self._features(), _MOST_LOOKED_AT) if _is_feature(feature)]
        if not first:
            raise InputError(f"{title} has no features: expected a FeatureCollection with at least one.")
        self.names = list(dict.fromkeys(name for feature in first for name in _properties(feature)))
        if any(_kind(feature) == "Point" for feature in first):
            self.names += [POINT_LON, POINT_LAT]

    def batches(self, columns: Mapping[str, str], reject: DroppedRows, *, threads: int) -> Iterator[Any]:  # noqa: ARG002
        """Batches of the wanted columns in their own types; what is no feature is rejected."""
        rows = self._rows(list(columns.values()))
        while some := list(islice(rows, _ROWS_AT_A_TIME)):
            usable = [row for row in some if row is not None]
            if len(usable) < len(some):
                reject(len(some) - len(usable))
            with self._as_input_error():
                arrays = [
                    pa.array([row[place] for row in usable], _TYPES.get(name))
                    for place, name in enumerate(columns.values())
                ]
            yield pa.RecordBatch.from_arrays(arrays, list(columns))
        if POINT_LON in columns.values():
            self._check_crs()

    @property
    def members_seen(self) -> set[str]:
        """All properties and other members of the features that have come by, and members beside the features."""
        return self._members | (self._others.keys() - _OF_COLLECTIONS)

    @property
    def n_members_unchecked(self) -> int:
        """How many members beside the features hold something unusual, or are repeated, anywhere in the file."""
        unusual = sum(self._others.get(name, value) != value for name, value in _STANDARD.items())
        stem = self._path.name.split(".")[0]  # as a title some programs write the file's own name
        return int(unusual + (self._others.get("name", stem) != stem) + self._n_repeated)

    def _rows(self, names: list[str]) -> Iterator[list[Any] | None]:
        """The wanted values of each feature and no more of it; None for what is no feature."""
        wants_points = POINT_LON in names
        for feature in self._features():
            if not _is_feature(feature):
                yield None
                continue
            values = _properties(feature)
            self._members.update(values, feature.keys() - _OF_FEATURES)
            if FEATURE_GEOMETRY in names:
                values = {**values, FEATURE_GEOMETRY: _ring(feature)}
            if wants_points:
                values = {**values, **self._point(feature)}
            yield [values.get(name) for name in names]

    def _point(self, feature: dict[str, Any]) -> dict[str, Any]:
        """Longitude and latitude of a point; nothing where there is none."""
        kind = _kind(feature)
        if kind is None:
            return {}
        check_points([kind], self.title)
        coordinates = feature["geometry"].get("coordinates")
        return (
            dict(zip((POINT_LON, POINT_LAT), coordinates, strict=False))
            if isinstance(coordinates, list)
            else {}
        )

    def _features(self) -> Iterator[Any]:
        """All features, one after the other."""
        seen: list[str] = []
        with self._as_input_error(), text_stream(self._path) as stream:
            text = JsonText(stream)
            for name in text.members():
                seen.append(name)
                if name == "features":
                    yield from text.values()
                else:
                    self._others[name] = text.value()
            text.end()
        self._n_repeated = text.n_repeated + len(seen) - len(set(seen))
        if "features" not in seen:
            raise InputError(f"{self.title} has no features: expected a FeatureCollection.")

    def _check_crs(self) -> None:
        """Refuse a system other than longitude and latitude, which files older than RFC 7946 may name."""
        crs = self._others.get("crs")
        about = crs.get("properties") if isinstance(crs, dict) else None
        named = about.get("name") if isinstance(about, dict) else None
        if crs is not None and not str(named).endswith(_LON_LAT):
            raise InputError(
                f"{self.title} names a coordinate system of its own: expected longitude and latitude (WGS84), which"
                " GeoJSON is in since RFC 7946; export it so."
            )

    @contextmanager
    def _as_input_error(self) -> Iterator[None]:
        with as_input_error(self.title, "GeoJSON"):
            try:
                yield
            except (ValueError, OverflowError):
                raise OSError from None  # in the words of whatever else cannot be read


def _is_feature(value: Any) -> bool:
    return isinstance(value, dict) and value.get("type") == "Feature"


def _properties(feature: dict[str, Any]) -> dict[str, Any]:
    properties = feature.get("properties")
    return properties if isinstance(properties, dict) else {}


def _kind(feature: dict[str, Any]) -> str | None:
    geometry = feature.get("geometry")
    return str(geometry.get("type")) if isinstance(geometry, dict) else None


def _ring(feature: dict[str, Any]) -> list[float] | None:
    """The five points of a polygon of one ring, in a row; None for any other geometry."""
    geometry = feature.get("geometry")
    if (
        not isinstance(geometry, dict)
        or geometry.keys() != {"type", "coordinates"}
        or _kind(feature) != "Polygon"
    ):
        return None
    rings = geometry["coordinates"]
    if not isinstance(rings, list) or len(rings) != 1 or not isinstance(rings[0], list) or len(rings[0]) != 5:
        return None
    if not all(isinstance(point, list) and len(point) == 2 for point in rings[0]):
        return None
    numbers = [number for point in rings[0] for number in point]
    return [float(number) for number in numbers] if all(type(n) in (int, float) for n in numbers) else None
