"""All formats, which of them events have, and opening events of any of them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from shoal.core.checks import told
from shoal.core.schema import TIME
from shoal.core.time_format import TimeFormat
from shoal.errors import InputError
from shoal.reading.databases import DatabaseRows
from shoal.reading.formats.cabspotting import CABSPOTTING
from shoal.reading.formats.d4d import IVORY_COAST, SENEGAL
from shoal.reading.formats.format import Format, files_in, find_files, head_lines, matching, table_lines
from shoal.reading.formats.foursquare import FOURSQUARE
from shoal.reading.formats.geolife import GEOLIFE
from shoal.reading.formats.gpx import GPX
from shoal.reading.formats.mpat import MPAT
from shoal.reading.formats.porto import PORTO
from shoal.reading.formats.sessions import SESSIONS, Sessions
from shoal.reading.formats.shanghai import SHANGHAI
from shoal.reading.formats.snap import SNAP
from shoal.reading.formats.t_drive import T_DRIVE
from shoal.reading.formats.yjmob import YJMOB
from shoal.reading.geo import names_position, open_frame
from shoal.reading.source import Source, no_such_file, open_source

FORMATS = (
    CABSPOTTING, IVORY_COAST, SENEGAL, FOURSQUARE, GEOLIFE, GPX, MPAT, PORTO, SESSIONS, SHANGHAI, SNAP, T_DRIVE,
    YJMOB,
)  # fmt: skip
TABLE = "table"  # a plain table with a header, whatever it looks like
FORMAT_NAMES = (*(known.name for known in FORMATS), TABLE)
_MOST_HEADS = 20


class Opened(NamedTuple):
    """Events ready to be read; ``format`` is None for a plain table, ``timezone`` where times do not imply one."""

    source: Source
    sites: object
    timezone: str | None
    format: str | None


def open_events(
    source: object,
    *,
    name: str | None,
    sites: object,
    columns: Mapping[str, str] | None,
    pattern: TimeFormat | None = None,
) -> Opened:
    """Open events of a named format, or of the one they are recognised to have.

    Whoever names columns says that the events are a plain table. ``pattern``: how times are written, if somebody says
    it, which sessions need to know.
    """
    chosen = _named(name)
    if name is None and not columns:
        chosen = _recognised(source)
    if chosen is None:
        return Opened(_open_table(source, sites, columns), sites, None, None)
    if columns and (chosen is not SESSIONS or TIME in columns):
        raise InputError(
            f"The columns of format {chosen.name} are known: leave out --user-column and the like, or --format."
        )
    if sites is not None and chosen.sites is None and chosen is not SESSIONS:
        raise InputError(f"Format {chosen.name} has positions of its own: leave out --sites.")
    if pattern is not None and chosen is not SESSIONS:
        raise InputError(
            f"Format {chosen.name} knows how its times are written: leave out --time-format, or choose --format table."
        )
    if not isinstance(source, str | os.PathLike):
        if chosen.wraps is None:
            raise InputError(f"Format {chosen.name} is one of files: expected a path, got a table.")
        table = _open_table(source, sites, columns)
        return Opened(_written_like(pattern, chosen.wraps(table)), sites, chosen.timezone, chosen.name)
    path = Path(source)
    if not path.exists():
        raise no_such_file(path, f"expected {chosen.example}")
    files = find_files(path, chosen.files, chosen.beside, chosen.example)
    found = sites if chosen.sites is None else chosen.sites(files, sites)
    return Opened(_written_like(pattern, chosen.open(files)), found, chosen.timezone, chosen.name)


def _written_like(pattern: TimeFormat | None, source: Source) -> Source:
    """A source that knows how its times are written, if it must: sessions compare them."""
    if isinstance(source, Sessions):
        source.pattern = pattern
    return source


def _open_table(source: object, sites: object, columns: Mapping[str, str] | None) -> Source:
    """A plain table, the rows of a database, or what another library made of one."""
    if isinstance(source, DatabaseRows):
        return source
    placed = not names_position(columns, has_sites=sites is not None)
    return open_frame(source, placed=placed) or open_source(source)


def _recognised(source: object) -> Format | None:
    """The format that a file, a folder, the rows of a database or a table in memory are sure to have."""
    if isinstance(source, str | os.PathLike):
        return recognise(Path(source))
    if isinstance(source, DatabaseRows):
        return _recognise_table(source.head, source.title)
    return _recognise_table(source, "The table")


def recognise(path: Path) -> Format | None:
    """The format that a file's content, or a folder's files, are sure to have; None if there is none."""
    try:
        paths = files_in(path) if path.is_dir() else [path] if path.is_file() else []
        heads = _Heads()
        found = [known for known in FORMATS if _fits(known, paths, heads, in_folder=path.is_dir())]
    except OSError:  # whoever opens it will say what is wrong
        return None
    return _only(found, repr(path.name))


def _recognise_table(table: object, title: str) -> Format | None:
    """The format that a table in memory is sure to have."""
    lines = table_lines(table)
    found = [known for known in FORMATS if known.wraps is not None and known.recognises(Path(), lines)]
    return _only(found, title)


def _only(found: list[Format], title: str) -> Format | None:
    if len(found) > 1:
        raise InputError(
            f"{title} could be {' or '.join(known.name for known in found)}: choose one with --format."
        )
    return found[0] if found else None


class _Heads(dict[Path, list[str]]):
    """The first lines of files, each read once."""

    def __missing__(self, path: Path) -> list[str]:
        self[path] = head_lines(path)
        return self[path]


def _fits(known: Format, paths: list[Path], heads: _Heads, *, in_folder: bool) -> bool:
    """Whether at least half of the first files are of a format: some are empty, and some describe the others."""
    if in_folder:
        paths = matching(paths, known.files)[:_MOST_HEADS]
    written = [path for path in paths if any(map(str.strip, heads[path]))]
    fitting = sum(known.recognises(path, heads[path]) for path in written)
    return fitting > 0 and 2 * fitting >= len(written)


def _named(name: str | None) -> Format | None:
    wanted = TABLE if name is None else str(name).lower()
    if wanted == TABLE:
        return None
    for known in FORMATS:
        if known.name == wanted:
            return known
    raise InputError(f"Unknown format {told(name)} for --format: expected one of {', '.join(FORMAT_NAMES)}.")
