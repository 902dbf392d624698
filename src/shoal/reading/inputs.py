"""Input that cannot be opened as it is: streams, pipes and zip files get a private copy, databases give their rows.

Readers look at a file several times: at its first lines, its header, its rows. What comes from a stream can be read
once, and what is packed in a zip file not in parts; so both are put into files that nobody else may read, and that are
gone as soon as the rows are read.
"""

from __future__ import annotations

import lzma
import os
import re
import shutil
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path, PurePosixPath
from typing import Any

import pyarrow as pa

from shoal.core.checks import check_path
from shoal.errors import InputError, ShoalError
from shoal.reading.databases import SUFFIXES as DATABASES
from shoal.reading.databases import database_kind, open_database
from shoal.reading.formats.format import files_in
from shoal.reading.source import COMPRESSIONS
from shoal.storage.files import as_unfinished_error, write_private

_PIECE = 1 << 20  # bytes
_HEAD_BYTES = 1 << 10
_PACKED = {rb"\x1f\x8b": ".gz", rb"\x28\xb5\x2f\xfd|[\x50-\x5f]\x2a\x4d\x18": ".zst"}  # or a frame to skip
_KINDS = {b"PAR1": ".parquet", b"PK\x03\x04": ".zip", b"PK\x05\x06": ".zip"}
_SPREADSHEET = "[Content_Types].xml"  # in every file of an office program
_ENCRYPTED = 0x1  # a flag of members of zip files


def is_stream(source: object) -> bool:
    """Whether somebody handed over an open file, such as standard input."""
    return callable(getattr(source, "read", None)) and not hasattr(source, "__arrow_c_stream__")


@contextmanager
def open_input(source: object, *, query: str | None, spill: Path | None) -> Iterator[object]:
    """What readers can open instead of ``source``, for as long as rows are read; most sources are left as they are.

    Copies are made in the folder ``spill``, or where the system keeps temporary files. ``query`` is for databases.
    """
    check_path(source, "Events", "a path or a table")
    with ExitStack() as stack:
        if is_stream(source) or _is_pipe(source):
            source = _copied(source, stack.enter_context(_private_folder(spill)))
        path = Path(source) if isinstance(source, str | os.PathLike) else None
        if path is not None and path.suffix.lower() == ".zip" and path.is_file():
            source = path = _unpacked(path, stack.enter_context(_private_folder(spill)))
        kind = None if path is None else database_kind(path)
        if path is not None and kind is not None:
            source = stack.enter_context(open_database(path, kind, query))
        elif path is not None and path.suffix.lower() in DATABASES and path.is_file():
            raise InputError(
                f"{path.name!r} is no SQLite or DuckDB file although its name says so: it is empty, encrypted, damaged"
                " or of another kind."
            )
        elif query is not None:
            raise InputError(
                "--query goes with an SQLite or DuckDB file, which the events are not: leave it out."
            )
        yield source


@contextmanager
def _private_folder(spill: Path | None) -> Iterator[Path]:
    """A folder for its owner only that goes away with what is in it."""
    if spill is None:
        with _explain_errors():
            folder = Path(tempfile.mkdtemp(prefix="shoal-input-"))
        made = None
    else:
        made = None if spill.exists() else spill
        with _explain_errors():
            spill.mkdir(mode=0o700, exist_ok=True)
            folder = Path(tempfile.mkdtemp(prefix="input-", dir=spill))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        if made is not None:
            with suppress(OSError):  # rows are kept there
                made.rmdir()


def _explain_errors() -> Any:
    return as_unfinished_error("a private copy of the input", "begin again")


# ---- streams and pipes --------------------------------------------------------------------------------------------


def _is_pipe(source: object) -> bool:
    if not isinstance(source, str | os.PathLike):
        return False
    try:
        return Path(source).is_fifo() or Path(source).is_char_device()
    except (OSError, ValueError):
        return False


def _copied(source: Any, folder: Path) -> Path:
    """A stream or a pipe as a file, whose suffix says what it holds."""
    if is_stream(source):
        name = "standard-input" if getattr(source, "name", None) == "<stdin>" else "input"
        _copy_stream(source, folder / name)
    else:
        name = "pipe"
        try:
            with Path(source).open("rb") as stream:
                _copy_stream(stream, folder / name)
        except OSError:
            raise InputError("The pipe cannot be opened: check its path and permissions.") from None
    copy = folder / name
    return copy.rename(copy.with_name(name + _suffix_by_content(copy)))


def _copy_stream(stream: Any, target: Path) -> None:
    if hasattr(stream, "isatty") and stream.isatty():
        raise InputError(
            "Events are to come from standard input, but nothing is piped in: add e.g. < events.csv."
        )
    with _explain_errors():
        file = write_private(target)
    with file:
        while piece := _piece(stream):
            with _explain_errors():
                file.write(piece)
        with _explain_errors():
            file.flush()


def _piece(stream: Any) -> bytes:
    try:
        piece = stream.read(_PIECE)
    except (ShoalError, MemoryError):
        raise
    except Exception:  # each library has exceptions of its own, which may quote data
        piece = None
    if isinstance(piece, str):
        raise InputError(
            "Events must come from a file opened as bytes, got one of text: open it with mode 'rb'."
        )
    if piece is None:
        raise InputError("The stream of events cannot be read to its end: check where it comes from.")
    return bytes(piece)


def _suffix_by_content(path: Path) -> str:
    """The suffix that a file would have by its first bytes; text that is no GeoJSON is taken for CSV."""
    with path.open("rb") as file:
        head = file.read(_HEAD_BYTES)
    if database_kind(path):
        return ".db"
    packed = next((suffix for mark, suffix in _PACKED.items() if re.match(mark, head)), "")
    if packed:
        head = _unpacked_head(path, COMPRESSIONS[packed])
    known = next((suffix for mark, suffix in _KINDS.items() if head.startswith(mark) and not packed), None)
    text = ".geojson" if head.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"{") else ".csv"
    return known or text + packed


def _unpacked_head(path: Path, compression: str) -> bytes:
    with suppress(OSError, pa.ArrowException), pa.input_stream(str(path), compression=compression) as stream:
        return bytes(stream.read(_HEAD_BYTES))
    return b""  # whoever reads it will say what is wrong


# ---- zip files ----------------------------------------------------------------------------------------------------


def _unpacked(path: Path, folder: Path) -> Path:
    """The only file in a zip file, or a folder with all of them, named as the zip file is."""
    title = repr(path.name)
    root = folder / path.name
    with _explain_errors():
        root.mkdir()
    try:
        with zipfile.ZipFile(path) as archive:
            members = [member for member in archive.infolist() if not member.is_dir()]
            _check_members(members, title)
            for member in members:
                _unpack(archive, member, root, title)
    except NotImplementedError:
        raise InputError(
            f"{title} is packed in a way that is not read: make it again with a common zip program, or unpack it first."
        ) from None
    except (zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, ValueError, OSError, RuntimeError):
        raise InputError(
            f"{title} cannot be read as a zip file: it is damaged, cut off or of another kind; make it again."
        ) from None
    files = files_in(root)
    return files[0] if len(files) == len(members) == 1 else root


def _check_members(members: list[zipfile.ZipInfo], title: str) -> None:
    if not members:
        raise InputError(f"{title} holds no files: expected CSV or other tables of events in it.")
    if any(member.flag_bits & _ENCRYPTED for member in members):
        raise InputError(f"{title} is encrypted: unpack it with its password, and give what was in it.")
    if any(member.filename == _SPREADSHEET for member in members):
        raise InputError(f"{title} is a spreadsheet: save every sheet as CSV (UTF-8), and give that.")


def _unpack(archive: zipfile.ZipFile, member: zipfile.ZipInfo, root: Path, title: str) -> None:
    """A member as a file below ``root``, wherever else its name may point."""
    parts = [part for part in PurePosixPath(member.filename.replace("\\", "/")).parts if part.strip("/. ")]
    target = root.joinpath(*parts)
    if not parts or target.exists():
        raise InputError(
            f"{title} holds several files of one name, or one without: unpack it, and give the folder."
        )
    with _explain_errors():
        target.parent.mkdir(parents=True, exist_ok=True)
        file = write_private(target)
    with archive.open(member) as packed, file:
        while piece := packed.read(_PIECE):
            with _explain_errors():
                file.write(piece)
        with _explain_errors():
            file.flush()
