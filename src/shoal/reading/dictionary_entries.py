"""Dictionaries of columns, which may hold more than the rows use: whatever is in them is handed on with the file."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from shoal.reading.values import is_text


class DictionaryEntries:
    """Gathers, batch by batch, what the dictionaries of columns hold and what of it occurs in rows."""

    def __init__(self) -> None:
        self._held: dict[str, Any] = {}
        self._used: dict[str, Any] = {}

    def add(self, batch: Any) -> None:
        """Look at every column of a batch that has a dictionary."""
        for name, column in zip(batch.schema.names, batch.columns, strict=True):
            if pa.types.is_dictionary(column.type):
                _join(self._held, name, column.dictionary)
                _join(self._used, name, column.unique().dictionary_decode())

    @property
    def n_unused(self) -> int:
        """How many entries no row uses, in all columns together."""
        return sum(len(held) - len(self._used[name]) for name, held in self._held.items())


def _join(known: dict[str, Any], name: str, values: Any) -> None:
    """Add values to those known of a column, each once; missing ones are none."""
    values = values.drop_null()
    if name in known:
        values = pa.concat_arrays([known[name], values.cast(known[name].type)])
    known[name] = pc.unique(values)


def may_have_dictionary(kind: Any) -> bool:
    """Whether Parquet hands over the dictionary of a column of this type as it stands in the file."""
    return bool(is_text(kind) or pa.types.is_dictionary(kind))
