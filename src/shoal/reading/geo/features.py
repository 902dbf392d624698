"""GeoJSON files: features whose properties are columns, and whose points, if they are points, are positions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa

from shoal.errors import InputError
from shoal.reading.csv_files import text_stream
from shoal.reading.geo.implied import POINT_LAT, POINT_LON
from shoal.reading.geo.json_text import JsonText
from shoal.reading.geo.kinds import check_points
from shoal.reading.source import guarded
from shoal.reading.summary import Rejected

_ROWS_AT_A_TIME = 1 << 16
_MOST_LOOKED_AT = 100  # features, to learn what they have
_TYPES = {POINT_LON: pa.float64(), POINT_LAT: pa.float64()}  # properties have whichever they have
_LON_LAT = ("CRS84", "4326")  # how names of coordinate systems end that are longitude and latitude


class FeatureFile:
    """A FeatureCollection; the first features tell which properties there are."""

    def __init__(self, path: Path, title: str) -> None:
        self.title = title
        self.warnings: list[str] = []
        self.metadata: dict[bytes, bytes] = {}
        self._path = path
        self._others: dict[str, Any] = {}
        first = [feature for feature in islice(self._features(), _MOST_LOOKED_AT) if _is_feature(feature)]
        if not first:
            raise InputError(f"{title} has no features: expected a FeatureCollection with at least one.")
        self.names = list(dict.fromkeys(name for feature in first for name in _properties(feature)))
        if any(_kind(feature) == "Point" for feature in first):
            self.names += [POINT_LON, POINT_LAT]

    def batches(self, columns: Mapping[str, str], reject: Rejected, *, threads: int) -> Iterator[Any]:  # noqa: ARG002
        """Batches of the wanted columns in their own types; what is no feature is rejected."""
        rows = self._rows(list(columns.values()))
        while some := list(islice(rows, _ROWS_AT_A_TIME)):
            usable = [row for row in some if row is not None]
            if len(usable) < len(some):
                reject(len(some) - len(usable))
            with self._guarded():
                arrays = [
                    pa.array([row[place] for row in usable], _TYPES.get(name))
                    for place, name in enumerate(columns.values())
                ]
            yield pa.RecordBatch.from_arrays(arrays, list(columns))
        if POINT_LON in columns.values():
            self._check_crs()

    def _rows(self, names: list[str]) -> Iterator[list[Any] | None]:
        """The wanted values of each feature and no more of it; None for what is no feature."""
        wants_points = POINT_LON in names
        for feature in self._features():
            if not _is_feature(feature):
                yield None
                continue
            values = _properties(feature)
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
        return dict(zip(_TYPES, coordinates, strict=False)) if isinstance(coordinates, list) else {}

    def _features(self) -> Iterator[Any]:
        """All features, one after the other."""
        found = False
        with self._guarded(), text_stream(self._path) as stream:
            text = JsonText(stream)
            for name in text.members():
                if name == "features":
                    found = True
                    yield from text.values()
                else:
                    self._others[name] = text.value()
            text.end()
        if not found:
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
    def _guarded(self) -> Iterator[None]:
        with guarded(self.title, "GeoJSON"):
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
