"""Tables of antennas that belong to the D4D challenges: found near the data, and told as plain tables of sites."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from shoal.core.schema import ALIASES, LAT, LON, SITE
from shoal.errors import InputError
from shoal.reading.columns import plain
from shoal.reading.formats.files import Files, files_in, head_lines, matching
from shoal.reading.formats.format import mostly
from shoal.reading.opening import open_source
from shoal.reading.source import as_input_error
from shoal.reading.summary import DroppedRows
from shoal.reading.values import as_text, read_numbers

_CONTEXT = "ContextData"  # of D4D Senegal
_ROW = r"-?\d+\t-?\d+(\.\d+)?\t-?\d+(\.\d+)?"  # number, longitude, latitude
_UNKNOWN = "-1"
_REGION = "arr_id"
_SITES = pa.schema([(SITE, pa.large_string()), (LON, pa.float64()), (LAT, pa.float64())])
_FOLDERS_UP = 3  # the folder of the data, the one above, and the one above that: SET2/raw/SET2_P01.CSV


def antennas(files: Files, given: object, name: str) -> object:
    """The table of antennas: given, or found under its name; with names of columns if it has none."""
    if given is None:
        given = _near(files, rf"{re.escape(name)}(\.gz)?")
        if given is None:
            raise InputError(
                f"{files.title} gives positions by number, and there is no {name} near it:"
                " name the table (columns site and lat, lon) with --sites."
            )
    if not (isinstance(given, str | os.PathLike) and mostly(_ROW, head_lines(Path(given)))):
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


def regions(table: object) -> object:
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
        sites = pa.concat_tables([_SITES.empty_table(), *map(_typed, batches)])
        means = sites.group_by(SITE).aggregate([(LON, "mean"), (LAT, "mean")])
        return means.select([SITE, f"{LON}_mean", f"{LAT}_mean"]).rename_columns([SITE, LON, LAT])


def _typed(batch: Any) -> Any:
    columns = dict(zip(batch.schema.names, batch.columns, strict=True))
    degrees = {role: pa.array(read_numbers(columns[role], role).value) for role in (LON, LAT)}
    return pa.table({SITE: as_text(columns[SITE], SITE), **degrees}, _SITES)
