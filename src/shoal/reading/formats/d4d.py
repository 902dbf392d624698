"""D4D challenges of Orange: who was at which antenna; where antennas are stands in a table beside the data.

An unknown antenna is -1 and stays unknown. Each file of the fine-grained sets has users of its own: the same number
in two files is not the same person. Tables of antennas are found near the data and read as plain tables of sites.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from shoal.core.schema import ALIASES, LAT, LON, SITE, TIME, USER
from shoal.errors import InputError
from shoal.reading.columns import plain
from shoal.reading.formats.format import Files, Format, files_in, head_lines, matching, mostly, stem
from shoal.reading.formats.text_rows import Columns, RowFiles, RowLayout
from shoal.reading.source import Source, as_input_error, open_source
from shoal.reading.summary import DroppedRows
from shoal.reading.values import as_text, read_numbers

_STAMP = r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d"
_IVORY_FILES = r"(SUBPREF_)?POS_SAMPLE_\w+\.TSV(\.gz|\.zst)?"
_IVORY_COARSE = r"SUBPREF_.*"
_ANTENNAS, _SUBPREFECTURES = "ANT_POS.TSV", "SUBPREF_POS_LONLAT.TSV"
_SENEGAL_FILES = r"SET[23]_[PM]\d+\.CSV(\.gz|\.zst)?"
_SENEGAL_COARSE = r"SET3_.*"
_SITES = "SITE_ARR_LONLAT.CSV"
_CONTEXT = "ContextData"  # of D4D Senegal
_ANTENNA_ROW = r"-?\d+\t-?\d+(\.\d+)?\t-?\d+(\.\d+)?"  # number, longitude, latitude
_UNKNOWN = "-1"
_REGION = "arr_id"
_SITES_SCHEMA = pa.schema([(SITE, pa.large_string()), (LON, pa.float64()), (LAT, pa.float64())])
_FOLDERS_UP = 3  # the folder of the data, the one above, and the one above that: SET2/raw/SET2_P01.CSV


def _reader(kind: str, separator: str, coarse: str) -> Callable[[Files], Source]:
    """Opens the files of a set; users of different files of a fine-grained set are told apart."""

    def by_file(columns: Columns, path: Path) -> Iterator[Columns]:
        known = pc.not_equal(pc.utf8_trim_whitespace(columns[USER]), "")
        apart = pc.binary_join_element_wise(pa.scalar(stem(path)), columns[USER], "/")
        yield {**columns, USER: pc.if_else(known, apart, pa.scalar("", pa.string()))}

    def open_files(files: Files) -> Source:
        n_coarse = len(matching(files.paths, coarse))
        if 0 < n_coarse < len(files.paths):
            raise InputError(
                f"{files.title} holds sets of different detail ({n_coarse} of {len(files.paths)} files are coarse):"
                " give the folder of one set."
            )
        if not n_coarse and len(set(map(stem, files.paths))) < len(files.paths):
            raise InputError(
                f"{files.title} holds several files of one name, whose users could not be told apart: give the folder"
                " of one copy."
            )
        to_roles = by_file if len(files.paths) > 1 and not n_coarse else None
        return RowFiles(
            files,
            RowLayout(
                kind, (USER, TIME, SITE), separator=separator, roles=(USER, TIME, SITE), to_roles=to_roles
            ),
        )

    return open_files


def _ivory_coast_sites(files: Files, given: object) -> object:
    coarse = matching(files.paths, _IVORY_COARSE)
    return _antennas(files, given, _SUBPREFECTURES if coarse else _ANTENNAS)


def _recognises_ivory_coast(path: Path, lines: list[str]) -> bool:
    return mostly(rf"-?\d+\t{_STAMP}\t-?\d+", lines) and bool(matching([path], _IVORY_FILES))


IVORY_COAST = Format(
    name="d4d-ivory-coast",
    what="D4D Ivory Coast, individual trajectories (sets 2 and 3)",
    files=_IVORY_FILES,
    example="POS_SAMPLE_0.TSV to POS_SAMPLE_9.TSV",
    recognises=_recognises_ivory_coast,
    open=_reader("D4D Ivory Coast", "\t", _IVORY_COARSE),
    beside=r"(ANT_POS|SUBPREF_POS_LONLAT)\.TSV(\.gz|\.zst)?",
    sites=_ivory_coast_sites,
)


def _senegal_sites(files: Files, given: object) -> object:
    """Sites; for the coarse set arrondissements, each at the mean of its sites."""
    table = _antennas(files, given, _SITES)
    return _regions(table) if matching(files.paths, _SENEGAL_COARSE) else table


def _recognises_senegal(path: Path, lines: list[str]) -> bool:
    return mostly(rf"-?\d+,{_STAMP},-?\d+", lines) and bool(matching([path], _SENEGAL_FILES))


SENEGAL = Format(
    name="d4d-senegal",
    what="D4D Senegal, individual trajectories (sets 2 and 3)",
    files=_SENEGAL_FILES,
    example="SET2_P01.CSV to SET2_P25.CSV",
    recognises=_recognises_senegal,
    open=_reader("D4D Senegal", ",", _SENEGAL_COARSE),
    beside=r"SITE_ARR_LONLAT\.CSV(\.gz|\.zst)?",
    sites=_senegal_sites,
)


def _antennas(files: Files, given: object, name: str) -> object:
    """The table of antennas: given, or found under its name; with names of columns if it has none."""
    if given is None:
        given = _near(files, rf"{re.escape(name)}(\.gz|\.zst)?")
        if given is None:
            raise InputError(
                f"{files.title} gives positions by number, and there is no {name} near it:"
                " name the table (columns site and lat, lon) with --sites."
            )
    if not (isinstance(given, str | os.PathLike) and mostly(_ANTENNA_ROW, head_lines(Path(given)))):
        return given
    with as_input_error("The table of sites", "a table of antennas"):
        table = pa.csv.read_csv(
            given,
            pa.csv.ReadOptions(column_names=[SITE, LON, LAT]),
            pa.csv.ParseOptions(delimiter="\t"),
            pa.csv.ConvertOptions(column_types={SITE: pa.string(), LON: pa.float64(), LAT: pa.float64()}),
        )
    return table.filter(pc.not_equal(table[SITE], _UNKNOWN))  # whatever place is written beside it


def _near(files: Files, pattern: str) -> Path | None:
    """A file beside the data, above them (also among the context data there), or anywhere in the folder given."""
    folders = [files.paths[0].absolute().parent]
    folders += list(folders[0].parents)[: _FOLDERS_UP - 1]
    for folder in folders:
        if found := _first([*folder.glob("*"), *folder.glob(f"{_CONTEXT}/*")], pattern):
            return found
    return _first(files_in(files.root), pattern) if files.in_folder else None


def _first(paths: Iterable[Path], pattern: str) -> Path | None:
    return min(matching([path for path in paths if path.is_file()], pattern), default=None)


def _regions(table: object) -> object:
    """Arrondissements, each at the mean of its sites; a table without them is taken as it is."""
    source = open_source(table, "Sites")
    named = {plain(name): name for name in source.names}
    places = {
        role: next((named[name] for name in ALIASES[role] if name in named), None) for role in (LON, LAT)
    }
    if _REGION not in named or None in places.values():
        return table
    rejected = DroppedRows()
    columns = {SITE: named[_REGION]} | {role: name for role, name in places.items() if name is not None}
    batches = list(source.batches(columns, rejected, threads=1))
    if rejected.rows:
        raise InputError(f"The table of sites has {rejected.rows:,} malformed rows: mend them.")
    with as_input_error("The table of sites", "sites"):
        sites = pa.concat_tables([_SITES_SCHEMA.empty_table(), *map(_typed, batches)])
        means = sites.group_by(SITE).aggregate([(LON, "mean"), (LAT, "mean")])
        return means.select([SITE, f"{LON}_mean", f"{LAT}_mean"]).rename_columns([SITE, LON, LAT])


def _typed(batch: Any) -> Any:
    columns = dict(zip(batch.schema.names, batch.columns, strict=True))
    degrees = {role: pa.array(read_numbers(columns[role], role).value) for role in (LON, LAT)}
    return pa.table({SITE: as_text(columns[SITE], SITE), **degrees}, _SITES_SCHEMA)
