"""Keys: which record is whose. Secret, and read only where an audit is given one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from shoal.core.arrays import Int64s
from shoal.core.boxes import NONE
from shoal.core.reprs import sizes_only
from shoal.core.schema import PARTS_KEY_SCHEMA, RECORD, USER
from shoal.errors import InputError
from shoal.reading.columns import need_columns
from shoal.reading.source import as_input_error, open_source
from shoal.reading.summary import DroppedRows
from shoal.reading.values import as_text


def read_key(
    source: object, users: npt.NDArray[np.object_], names: npt.NDArray[np.object_], *, complete: bool = True
) -> Int64s:
    """For every user the index of its record in ``names``, or NONE; from a table of users and records.

    Users and records are compared as texts, in the form in which events and published tables give them. A key that
    does not fit both is refused: it belongs to another release. Unless ``complete``, records may be missing from it.
    """
    title, (keyed_users, keyed_records), malformed = _read_columns(source, (USER, RECORD))
    _check_lines(title, keyed_users, keyed_records, malformed)
    _check_once(title, keyed_users, "users", ", or say --rename-every if records get new names")
    _check_once(title, keyed_records, "records")
    user, record = _places(keyed_users, users), _places(keyed_records, names)
    _check_fit(title, user, record, len(names) if complete else 0)
    own = np.full(len(users), NONE, np.int64)
    own[user] = record
    return own


class PartsKey(NamedTuple):
    """Lines of a key where records get new names: a user, the number of a period (from 1 on) and a record."""

    user: Int64s
    part: Int64s
    record: Int64s

    def __repr__(self) -> str:
        return sizes_only(self)


def read_parts_key(
    source: object,
    users: npt.NDArray[np.object_],
    names: npt.NDArray[np.object_],
    *,
    complete: bool = True,
) -> PartsKey:
    """Whose part every record is; as ``read_key``, for a key of users, parts and records.

    A user has one record in each part. A record may stand in several parts of one user: its name lives on, which an
    audit tells.
    """
    title, (keyed_users, parts, keyed_records), malformed = _read_columns(source, PARTS_KEY_SCHEMA.names)
    _check_lines(title, keyed_users, keyed_records, malformed)
    number = pc.match_substring_regex(parts, r"^[1-9][0-9]{0,8}$")
    if not pc.all(pc.fill_null(number, False)).as_py():
        raise InputError(f"{title} has parts that are no numbers from 1 on: give the key of this release.")
    user, record = _places(keyed_users, users), _places(keyed_records, names)
    part = np.array(parts.to_pylist()).astype(np.int64)
    once = np.concatenate([record[record < 0], np.unique(record[record >= 0])])
    _check_fit(title, user, once, len(names) if complete else 0)
    repeated = len(user) - len(np.unique(user * (int(part.max()) + 1) + part))
    if repeated:
        raise InputError(
            f"{title} names {repeated:,} parts of users again: expected every part of a user once; keep one row for"
            " each."
        )
    if len(np.unique(record * len(users) + user)) > len(np.unique(record)):
        raise InputError(f"{title} names records as parts of several users: give the key of this release.")
    return PartsKey(user, part, record)


def _read_columns(source: object, wanted: Sequence[str]) -> tuple[str, list[Any], int]:
    """What a key is called in messages, some of its columns as texts, and how many rows are malformed."""
    table = open_source(source, "A key")
    title = "The key" if table.title == "The table" else f"The key {table.title}"
    columns = need_columns(table.names, wanted, title)
    rejected = DroppedRows()
    with as_input_error(title, "a key"):
        batches = list(table.batches(columns, rejected, threads=1))
        texts = [
            pa.chunked_array([as_text(batch.column(name), name) for batch in batches], pa.large_string())
            for name in wanted
        ]
    return title, texts, rejected.rows


def _check_once(title: str, texts: Any, what: str, unless: str = "") -> None:
    repeated = len(texts) - pc.count_distinct(texts).as_py()
    if repeated:
        raise InputError(
            f"{title} names {repeated:,} of its {what} again: expected every user and every record once;"
            f" keep one row for each{unless}."
        )


def _check_lines(title: str, users: Any, records: Any, malformed: int) -> None:
    """Refuse a key with rows that say nothing, whatever it is the key to."""
    rows = len(users) + malformed
    if rows == 0:
        raise InputError(f"{title} has no rows: expected a user and a record in each.")
    empty = [pc.fill_null(pc.equal(pc.binary_length(texts), 0), True) for texts in (users, records)]
    unusable = malformed + (pc.sum(pc.or_(*empty)).as_py() or 0)
    if unusable:
        raise InputError(
            f"{title} has {unusable:,} of {rows:,} rows without a user and a record: mend or remove them."
        )


def _check_fit(title: str, user: Int64s, record: Int64s, n_records: int) -> None:
    """Refuse a key to other events or to another published table, or one that names fewer than n_records."""
    unknown = int(np.count_nonzero(record < 0))
    if unknown:
        raise InputError(
            f"{title} names {unknown:,} of {len(record):,} records that the published table does not have:"
            " give the key of this release."
        )
    if len(record) < n_records:
        raise InputError(
            f"{title} lacks {n_records - len(record):,} of the {n_records:,} records of the published table:"
            " give the whole key of this release."
        )
    unknown_users = int(np.count_nonzero(user < 0))
    if unknown_users:
        raise InputError(
            f"{title} names {unknown_users:,} of {len(user):,} users who do not occur in the events: give the key and"
            " the events of this release, with the same --from, --to and --exclude-users."
        )


def _places(texts: Any, among: npt.NDArray[np.object_]) -> Int64s:
    """The index of each text, or -1."""
    known = pa.array(among, pa.large_string())
    found: Int64s = pc.fill_null(pc.index_in(texts, value_set=known), -1).to_numpy().astype(np.int64)
    return found
