"""The evidence of guarantee 2, beside the key: which record was made to hold whose samples, and when. Secret."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import IO, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet

from shoal.core.arrays import Int32s
from shoal.core.parts import Parts
from shoal.core.schema import EPOCH, EVIDENCE_FORMAT, EVIDENCE_SCHEMA, NOTES, WINDOW
from shoal.hiding.evidence import HiddenMembers
from shoal.publishing.release import Draft

_ROWS_AT_A_TIME = 1 << 20
_ROWS_PER_NAME = 4  # at least, since every group of rows repeats all names
_MOST_NAMES = 1 << 28  # bytes: beyond that every row repeats its names


def write_evidence(file: IO[bytes], draft: Draft) -> None:
    """Write a row for every window, user and record that was made to hold the user there, some rows at a time."""
    names = _Names.of(draft)
    most = max(_ROWS_AT_A_TIME, _ROWS_PER_NAME * len(names.users))
    schema = EVIDENCE_SCHEMA.with_metadata({NOTES: json.dumps({"format": EVIDENCE_FORMAT})})
    with pa.parquet.ParquetWriter(
        file, schema, compression="zstd", dictionary_pagesize_limit=_MOST_NAMES
    ) as writer:
        parts = draft.outcome.parts
        hidden = (_in_parts(held, parts) for held in draft.outcome.hidden())
        for group in _grouped(hidden, most):
            writer.write_table(_table(group, names, draft.events.grid.step_s, schema), row_group_size=None)


class _Names(NamedTuple):
    """Names of users and of records; ``record`` is the number of the record of each part."""

    users: pa.Array
    records: pa.Array
    record: Int32s

    @classmethod
    def of(cls, draft: Draft) -> _Names:
        users, named = draft.events.store.users, draft.named
        record = np.empty(len(named.owner), np.int32)
        record[named.owner] = np.arange(len(named.owner), dtype=np.int32)
        return cls(pa.array(users, pa.string()), pa.array(named.name.tolist(), pa.string()), record)


def _in_parts(held: HiddenMembers, parts: Parts) -> HiddenMembers:
    """What was held, with parts as owners.

    Left out is who has no part there: suppressed afterwards by the paper's selector, unrepaired.
    """
    period = np.broadcast_to(np.int64(held.period), held.owners.shape)
    owners, members = (parts.find(users, period) for users in (held.owners, held.members))
    there = (owners >= 0) & (members >= 0)
    return held._replace(owners=owners[there], members=held.members[there])


def _grouped(parts: Iterable[HiddenMembers], most: int) -> Iterator[list[HiddenMembers]]:
    """Pieces together until they have about ``most`` rows."""
    group: list[HiddenMembers] = []
    n_rows = 0
    for part in parts:
        group.append(part)
        n_rows += len(part.owners)
        if n_rows >= most:
            yield group
            group, n_rows = [], 0
    if group:
        yield group


def _table(group: list[HiddenMembers], names: _Names, step_s: int, schema: pa.Schema) -> pa.Table:
    sizes = [len(part.owners) for part in group]
    owners, members = (np.concatenate([getattr(part, of) for part in group]) for of in ("owners", "members"))
    columns = [
        pa.array(np.repeat([part.begin * step_s for part in group], sizes)),
        pa.array(np.repeat([part.end * step_s for part in group], sizes)),
        pa.DictionaryArray.from_arrays(pa.array(members), names.users),
        pa.DictionaryArray.from_arrays(pa.array(names.record[owners]), names.records),
        pa.DictionaryArray.from_arrays(
            pa.array(np.repeat([part.in_epoch for part in group], sizes).astype(np.int8)), [WINDOW, EPOCH]
        ),
    ]
    return pa.Table.from_arrays(columns, schema=schema)
