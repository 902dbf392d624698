"""GPX tracks: a file or a folder per person. Files are parsed piece by piece, and entities never resolved."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import ParseError, XMLParser

import pyarrow as pa

from shoal.core.schema import LAT, LON, TIME, USER
from shoal.errors import InputError
from shoal.reading.formats.format import Files, Format, stem
from shoal.reading.source import as_input_error, compression_of, in_batches
from shoal.reading.summary import DroppedRows

_PIECE_BYTES = 1 << 18
_ROLES = (TIME, LAT, LON)
_ROOT = re.compile(r"<([\w.-]+:)?gpx\b")


class GpxFiles:
    """Track points of files; planned routes and waypoints are no samples."""

    def __init__(self, files: Files) -> None:
        self.title = files.title
        self.names = [USER, TIME, LAT, LON]
        self.warnings = files.warnings
        self.metadata: dict[bytes, bytes] = {}
        self._files = files

    def batches(self, columns: Mapping[str, str], reject: DroppedRows, *, threads: int) -> Iterator[Any]:  # noqa: ARG002
        """Batches of the roles asked for."""
        yield from in_batches(self._small_batches(list(columns)))

    def _small_batches(self, roles: list[str]) -> Iterator[Any]:
        others = 0
        for number, path in enumerate(self._files.paths):
            track = _Track(self._files.title_of(number))
            user = _person(path, self._files.root)
            for points in _points(path, track):
                values = dict(zip(_ROLES, zip(*points, strict=True), strict=True))
                values[USER] = (user,) * len(points)
                yield pa.RecordBatch.from_arrays(
                    [pa.array(values[role], pa.string()) for role in roles], roles
                )
            others += track.others
        if others:
            self.warnings.append(
                f"{others:,} waypoints and points of routes were not read: they are no tracks."
            )


class _Track:
    """Listens to a parser and keeps the track points of the piece it has read."""

    def __init__(self, title: str) -> None:
        self.title = title
        self.points: list[tuple[str | None, str | None, str | None]] = []
        self.others = 0
        self._place: tuple[str | None, str | None] | None = None
        self._depth = 0  # below the track point
        self._time: list[str] | None = None
        self._clock: str | None = None

    def doctype(self, name: str, public: str | None, system: str | None) -> None:  # noqa: ARG002
        """Refuse what could define entities."""
        raise InputError(
            f"{self.title} has a document type, which GPX has not: remove the line <!DOCTYPE ...>."
        )

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        """An element begins."""
        name = tag.rpartition("}")[2]
        if self._place is not None:
            self._depth += 1
            if name == "time" and self._depth == 1:
                self._time = []
        elif name == "trkpt":
            self._place, self._depth, self._clock = (attributes.get("lat"), attributes.get("lon")), 0, None
        elif name in ("wpt", "rtept"):
            self.others += 1

    def data(self, text: str) -> None:
        """Text of an element, or a part of it."""
        if self._time is not None:
            self._time.append(text)

    def end(self, tag: str) -> None:  # noqa: ARG002
        """An element ends."""
        if self._place is None:
            return
        if self._time is not None and self._depth == 1:
            self._clock, self._time = "".join(self._time), None
        if self._depth == 0:
            self.points.append((self._clock, *self._place))
            self._place = None
        self._depth -= 1

    def close(self) -> None:
        """Nothing is left to do."""


def _points(path: Path, track: _Track) -> Iterator[list[tuple[str | None, str | None, str | None]]]:
    """The points of a file, as many at a time as a piece of it holds."""
    parser = XMLParser(target=track)
    try:
        with (
            as_input_error(track.title, "GPX"),
            pa.input_stream(str(path), compression=compression_of(path)) as stream,
        ):
            blank = True
            while piece := stream.read(_PIECE_BYTES):
                blank = blank and not piece.strip()
                parser.feed(piece)
                if track.points:
                    yield track.points
                    track.points = []
            if not blank:
                parser.close()
    except (ParseError, ValueError, LookupError):
        raise InputError(
            f"{track.title} cannot be read as GPX: it is damaged or of another kind; mend it or make it again."
        ) from None
    if track.points:
        yield track.points


def _person(path: Path, root: Path) -> str:
    """The folder of a person, where there are such, else the file: ``anna/monday.gpx`` is of anna."""
    parts = path.relative_to(root).parts
    return parts[0] if len(parts) > 1 else stem(path)


def _recognises(path: Path, lines: list[str]) -> bool:  # noqa: ARG001
    """XML that says so near its start; a table may quote anything, but does not begin with a bracket."""
    first = next((line.lstrip() for line in lines if line.strip()), "")
    return first.startswith("<") and any(map(_ROOT.search, lines[:50]))


GPX = Format(
    name="gpx",
    what="GPX tracks",
    files=r".*\.gpx(\.gz|\.zst)?",
    example="anna.gpx, or anna/monday.gpx and the like",
    recognises=_recognises,
    open=GpxFiles,
)
