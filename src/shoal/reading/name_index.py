"""Users numbered while batches come in, so that each name is kept once."""

from __future__ import annotations

from collections.abc import Collection
from threading import Lock
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from shoal.core.arrays import Int32s
from shoal.core.schema import USER
from shoal.reading.kernels.name_index import FREE, NameTable, number_names, refill
from shoal.reading.values import as_text

_FIRST_ROOM = 1 << 12


class NameIndex:
    """Numbers for users in the order in which they are first seen; threads may share it.

    ``role`` says in messages what it is that is numbered: records are, too. ``nobody``: texts in lower case that stand
    for no user.
    """

    def __init__(self, role: str = USER, nobody: Collection[str] = ()) -> None:
        self._role = role
        self._nobody = pa.array(sorted(nobody), pa.large_string())
        self._numbers_of_nobody: list[int] = []
        self._lock = Lock()
        self._count = 0
        self._known = NameTable(
            slots=np.full(4 * _FIRST_ROOM, FREE),
            ends=np.zeros(_FIRST_ROOM, np.int64),
            letters=np.empty(16 * _FIRST_ROOM, np.uint8),
        )

    def numbers(self, column: Any) -> Int32s:
        """Number the users of a column; -1 where missing."""
        if not pa.types.is_dictionary(column.type) or len(column.dictionary) > len(column):
            return self._numbers(as_text(column, self._role))
        codes: Int32s = pc.fill_null(column.indices.cast(pa.int32()), -1).to_numpy(zero_copy_only=False)
        numbers: Int32s = np.append(self._numbers(as_text(column.dictionary, self._role)), np.int32(-1))
        return numbers[codes]  # code -1, no user, picks the last

    @property
    def names(self) -> Any:
        """The users by their numbers, as an Arrow array of text."""
        ends = self._known.ends[: self._count + 1]
        buffers = [None, pa.py_buffer(ends), pa.py_buffer(self._known.letters[: ends[-1]])]
        return pa.Array.from_buffers(pa.large_string(), self._count, buffers)

    def _numbers(self, names: Any) -> Int32s:
        names = pc.fill_null(names, "")
        numbers = np.empty(len(names), np.int32)
        _, ends, letters = names.buffers()
        if len(names):
            ends = _view(ends, np.int64)[names.offset : names.offset + len(names) + 1]
            letters = _view(letters or b"\0", np.uint8)  # no buffer at all where every name is empty
        row = 0
        with self._lock:
            before = self._count
            while row < len(names):
                row, self._count = number_names(self._known, self._count, letters, ends, numbers, row)
                if row < len(names):
                    self._known = _roomier(self._known, self._count)
            if len(self._nobody) and self._count > before:
                self._find_nobody(before)
        if self._numbers_of_nobody:
            numbers[np.isin(numbers, self._numbers_of_nobody)] = -1
        return numbers

    def _find_nobody(self, before: int) -> None:
        """Look for texts that stand for no user among those that are new since there were so many."""
        fresh = self.names.slice(before)
        short = pc.less_equal(pc.binary_length(fresh), pc.max(pc.binary_length(self._nobody)))
        found = pc.and_(short, pc.is_in(pc.ascii_lower(fresh), value_set=self._nobody))
        self._numbers_of_nobody += [before + int(place) for place in np.flatnonzero(found)]


def _view(buffer: Any, kind: type[np.generic]) -> npt.NDArray[Any]:
    values = np.frombuffer(buffer, kind)
    values.flags.writeable = False  # always, since kernels are compiled for one or the other
    return values


def _roomier(known: NameTable, count: int) -> NameTable:
    """Twice the room for names, or for their letters: for what is short."""
    if count + 1 < len(known.ends):
        return known._replace(letters=_doubled(known.letters))
    slots = np.full(2 * len(known.slots), FREE)
    refill(slots, known.slots)
    return NameTable(slots, _doubled(known.ends), known.letters)


def _doubled(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    room = np.empty(2 * len(values), values.dtype)
    room[: len(values)] = values
    return room
