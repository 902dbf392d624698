"""D4D challenges of Orange: who was at which antenna; where antennas are stands in a table beside the data.

An unknown antenna is -1 and stays unknown. Each file of the fine-grained sets has users of its own: the same number
in two files is not the same person.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from shoal.core.schema import SITE, TIME, USER
from shoal.errors import InputError
from shoal.reading.formats.antennas import antennas, regions
from shoal.reading.formats.files import Files, matching, stem
from shoal.reading.formats.format import Format, mostly
from shoal.reading.formats.text_rows import Columns, RowFiles, RowLayout
from shoal.reading.source import Source

_STAMP = r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d"


def _reader(kind: str, separator: str, coarse: str) -> Callable[[Files], Source]:
    """Opens the files of a set; users of different files of a fine-grained set are told apart."""

    def tell_apart(columns: Columns, path: Path) -> Iterator[Columns]:
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
        to_roles = tell_apart if len(files.paths) > 1 and not n_coarse else None
        return RowFiles(
            files,
            RowLayout(
                kind, (USER, TIME, SITE), separator=separator, roles=(USER, TIME, SITE), to_roles=to_roles
            ),
        )

    return open_files


_IVORY_FILES = r"(SUBPREF_)?POS_SAMPLE_\w+\.TSV(\.gz)?"
_IVORY_COARSE = r"SUBPREF_.*"
_ANTENNAS, _SUBPREFECTURES = "ANT_POS.TSV", "SUBPREF_POS_LONLAT.TSV"


def _ivory_coast_sites(files: Files, given: object) -> object:
    coarse = matching(files.paths, _IVORY_COARSE)
    return antennas(files, given, _SUBPREFECTURES if coarse else _ANTENNAS)


def _recognises_ivory_coast(path: Path, lines: list[str]) -> bool:
    return mostly(rf"-?\d+\t{_STAMP}\t-?\d+", lines) and bool(matching([path], _IVORY_FILES))


IVORY_COAST = Format(
    name="d4d-ivory-coast",
    what="D4D Ivory Coast, individual trajectories (sets 2 and 3)",
    files=_IVORY_FILES,
    example="POS_SAMPLE_0.TSV to POS_SAMPLE_9.TSV",
    recognises=_recognises_ivory_coast,
    open=_reader("D4D Ivory Coast", "\t", _IVORY_COARSE),
    beside=r"(ANT_POS|SUBPREF_POS_LONLAT)\.TSV(\.gz)?",
    sites=_ivory_coast_sites,
)

_SENEGAL_FILES = r"SET[23]_[PM]\d+\.CSV(\.gz)?"
_SENEGAL_COARSE = r"SET3_.*"
_SITES = "SITE_ARR_LONLAT.CSV"


def _senegal_sites(files: Files, given: object) -> object:
    """Sites; for the coarse set arrondissements, each at the mean of its sites."""
    table = antennas(files, given, _SITES)
    return regions(table) if matching(files.paths, _SENEGAL_COARSE) else table


def _recognises_senegal(path: Path, lines: list[str]) -> bool:
    return mostly(rf"-?\d+,{_STAMP},-?\d+", lines) and bool(matching([path], _SENEGAL_FILES))


SENEGAL = Format(
    name="d4d-senegal",
    what="D4D Senegal, individual trajectories (sets 2 and 3)",
    files=_SENEGAL_FILES,
    example="SET2_P01.CSV to SET2_P25.CSV",
    recognises=_recognises_senegal,
    open=_reader("D4D Senegal", ",", _SENEGAL_COARSE),
    beside=r"SITE_ARR_LONLAT\.CSV(\.gz)?",
    sites=_senegal_sites,
)
