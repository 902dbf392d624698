"""The evidence beside a key: which record was made to hold whose samples, and when. Secret, read for audits only."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet

from shoal.core.arrays import Bools, Int32s, Int64s
from shoal.core.reprs import sizes_only
from shoal.core.schema import (
    BEGIN,
    END,
    EPOCH,
    EVIDENCE_FORMAT,
    EVIDENCE_SCHEMA,
    EVIDENCE_SUFFIX,
    NOTES,
    RECORD,
    SPAN,
    USER,
    WINDOW,
)
from shoal.errors import InputError

_REMEDY = "give the one that was written with this release, or remove it"


class HidingEvidence(NamedTuple):
    """Records that were made to hold somebody's samples in slots begin .. end - 1; users and records by number.

    A line tells of a window, or of the single epoch in which the record became a witness (in_epoch).
    """

    begin: Int64s
    end: Int64s
    user: Int32s
    record: Int32s
    in_epoch: Bools

    def __repr__(self) -> str:
        return sizes_only(self)

    def only(self, lines: Int64s | Bools) -> HidingEvidence:
        """Some lines of the evidence."""
        begin, end, user, record, in_epoch = self
        return HidingEvidence(begin[lines], end[lines], user[lines], record[lines], in_epoch[lines])


def evidence_beside(key: object) -> Path | None:
    """The evidence beside a key; None where there is none, as beside a key in memory."""
    if not isinstance(key, str | os.PathLike):
        return None
    path = Path(key).with_name(Path(key).name + EVIDENCE_SUFFIX)
    return path if path.exists() else None


def read_evidence(
    path: Path, users: npt.NDArray[np.object_], names: npt.NDArray[np.object_], step_s: int
) -> HidingEvidence:
    """Who was made to be held where; ``users`` of the events and ``names`` of the records give the numbers.

    Evidence that is damaged, or that tells of other users, records or steps, is refused: it belongs to another release.
    """
    title = f"The evidence {path.name!r}"
    numbers_of = {
        USER: _Numbers(users, f"{title} names users who do not occur in the events"),
        RECORD: _Numbers(names, f"{title} names records that the published table does not have"),
        SPAN: _Numbers(
            np.array([WINDOW, EPOCH], object), f"{title} tells of other spans than window and epoch"
        ),
    }
    parts: list[HidingEvidence] = [_no_evidence()]
    try:
        with pyarrow.parquet.ParquetFile(path) as file:
            _check_form(file.schema_arrow, title)
            for batch in file.iter_batches(batch_size=1 << 20):
                parts.append(_read(batch, numbers_of, step_s, title))
    except (OSError, pa.ArrowException):
        raise InputError(f"{title} cannot be read as Parquet: {_REMEDY}.") from None
    return HidingEvidence(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def _no_evidence() -> HidingEvidence:
    times, numbers = np.empty(0, np.int64), np.empty(0, np.int32)
    return HidingEvidence(times, times, numbers, numbers, np.empty(0, np.bool_))


def _check_form(schema: pa.Schema, title: str) -> None:
    """Refuse another format number, and other columns or types than are written."""
    try:
        found = json.loads((schema.metadata or {})[NOTES])["format"]
    except (KeyError, TypeError, ValueError):
        found = None
    if found != EVIDENCE_FORMAT:
        raise InputError(f"{title} must be of format {EVIDENCE_FORMAT}, found {found!r}: {_REMEDY}.")
    if not schema.remove_metadata().equals(EVIDENCE_SCHEMA):
        columns = ", ".join(EVIDENCE_SCHEMA.names)
        raise InputError(f"{title} must have the columns {columns} as they are written: {_REMEDY}.")


class _Numbers:
    """Turns names into their places among all; the same dictionary of names is looked up once."""

    def __init__(self, among: npt.NDArray[np.object_], fault: str) -> None:
        self._among, self._fault = pa.array(among, pa.string()), fault
        self._dictionary: Any = None
        self._places = np.empty(0, np.int32)

    def of(self, column: Any) -> Int32s:
        if self._dictionary is None or not column.dictionary.equals(self._dictionary):
            self._dictionary = column.dictionary
            found = pc.fill_null(pc.index_in(column.dictionary, value_set=self._among), -1)
            self._places = found.to_numpy().astype(np.int32)
        places: Int32s = self._places[column.indices.to_numpy()]
        unknown = int(np.count_nonzero(places < 0))
        if unknown:
            raise InputError(f"{self._fault}, in {unknown:,} of {len(places):,} rows: {_REMEDY}.")
        return places


def _read(batch: Any, numbers_of: dict[str, _Numbers], step_s: int, title: str) -> HidingEvidence:
    if any(column.null_count for column in batch.columns):
        raise InputError(f"{title} has rows with missing values: {_REMEDY}.")
    begin, end = (batch.column(name).to_numpy() for name in (BEGIN, END))
    if np.any((begin % step_s != 0) | (end % step_s != 0)):
        raise InputError(f"{title} has times that are not whole steps of {step_s} s: {_REMEDY}.")
    if np.any(end <= begin):
        raise InputError(f"{title} has windows that end before they begin: {_REMEDY}.")
    user, record, span = (numbers.of(batch.column(name)) for name, numbers in numbers_of.items())
    return HidingEvidence(begin // step_s, end // step_s, user, record, span == 1)
