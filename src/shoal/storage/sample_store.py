"""Samples in the order of time, in memory or in files: to read a stretch of time, only its samples are loaded."""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from shoal.core.arrays import Int32s, Int64s
from shoal.core.formatting import counted
from shoal.core.pickling import NeverPickled
from shoal.core.reprs import sizes_only
from shoal.core.samples import Samples
from shoal.errors import UnfinishedError
from shoal.storage.files import CHECKPOINT_CHANGED

_AT_A_TIME = 1 << 20  # rows that are hashed together


_CANONICAL = np.dtype([("t", "<i8"), ("user", "<i4"), ("x", "<i4"), ("y", "<i4")])


class SampleRows(NamedTuple):
    """Some samples: users by number, slots of time and cells."""

    user: Int32s
    t: Int64s
    x: Int32s
    y: Int32s

    def __repr__(self) -> str:
        return sizes_only(self)


class Column(Protocol):
    """A column of 32-bit numbers of which parts can be read."""

    def part(self, begin: int, end: int) -> Int32s:
        """Lines begin .. end - 1."""


@dataclass(frozen=True)
class MemoryColumn(NeverPickled):
    """A column in memory."""

    values: Int32s

    def __repr__(self) -> str:
        return sizes_only(self)

    def part(self, begin: int, end: int) -> Int32s:
        """Lines begin .. end - 1."""
        return self.values[begin:end]


class FileColumn(NamedTuple):
    """A column in a file of nothing but its numbers; read, not mapped, so that memory holds what was asked for."""

    path: Path

    def part(self, begin: int, end: int) -> Int32s:
        """Lines begin .. end - 1."""
        try:
            values = np.fromfile(self.path, np.int32, end - begin, offset=4 * begin)
        except OSError:
            values = np.empty(0, np.int32)
        if len(values) < end - begin:
            raise UnfinishedError(CHECKPOINT_CHANGED)
        return values


class LaterPart(NamedTuple):
    """A column without its first lines."""

    column: Column
    skipped: int

    def part(self, begin: int, end: int) -> Int32s:
        """Lines begin .. end - 1."""
        return self.column.part(self.skipped + begin, self.skipped + end)


@dataclass(frozen=True)
class SampleStore(NeverPickled):
    """Who was where when, each sample once, sorted by (t, user, x, y); ``Samples`` holds the same sorted by user.

    ``users`` holds the names as text in increasing order; every one of them has a sample. ``slots`` are the slots of
    time that occur, in order; samples first[i] .. first[i + 1] - 1 are those of slots[i].
    """

    users: npt.NDArray[np.object_]
    slots: Int64s
    first: Int64s
    user: Column
    x: Column
    y: Column

    def __repr__(self) -> str:
        return f"<SampleStore: {counted(len(self), 'sample')} of {counted(self.n_users, 'user')}>"

    @property
    def n_users(self) -> int:
        """How many different users there are."""
        return len(self.users)

    def __len__(self) -> int:
        return int(self.first[-1])

    def during(self, begin: int, end: int) -> SampleStore:
        """A store of the samples with begin <= t < end, of the same users, some of whom may have none."""
        low, high = np.searchsorted(self.slots, (begin, end)).tolist()
        first = self.first[low : max(low, high) + 1]
        columns = (LaterPart(column, int(first[0])) for column in (self.user, self.x, self.y))
        return SampleStore(self.users, self.slots[low:high], first - first[0], *columns)

    def between(self, begin: int, end: int) -> SampleRows:
        """The samples with begin <= t < end."""
        low, high = np.searchsorted(self.slots, (begin, end)).tolist()
        return self._rows(low, max(low, high))

    def _rows(self, low: int, high: int) -> SampleRows:
        first, last = int(self.first[low]), int(self.first[high])
        t = np.repeat(self.slots[low:high], np.diff(self.first[low : high + 1]))
        user, x, y = (column.part(first, last) for column in (self.user, self.x, self.y))
        return SampleRows(user, t, x, y)

    def fingerprint(self) -> str:
        """A hash that tells this dataset from any other; secret like the data, never published."""
        digest = hashlib.blake2b(digest_size=16)
        for values in (self.slots, self.first):
            digest.update(np.ascontiguousarray(values).data)
        for begin in range(0, len(self), _AT_A_TIME):
            for column in (self.user, self.x, self.y):
                part = column.part(begin, min(begin + _AT_A_TIME, len(self)))
                digest.update(np.ascontiguousarray(part).data)
        for name in self.users:
            digest.update(str(name).encode() + b"\0")
        return digest.hexdigest()

    def authentication_code(self, key: bytes) -> str:
        """HMAC-SHA256 of the canonical samples: equal for equal samples, and nothing to whoever lacks the key.

        Canonical are the number of users and of samples, the users' names in increasing order, each behind its length
        in bytes, then every sample in the order of (t, user, x, y) as t (8 bytes), number of the user, x and y (4 bytes
        each); all numbers are little-endian.
        """
        code = hmac.new(key, _numbers(self.n_users, len(self)), hashlib.sha256)
        for name in self.users:
            text = str(name).encode()
            code.update(_numbers(len(text)) + text)
        for begin in range(0, len(self), _AT_A_TIME):
            end = min(begin + _AT_A_TIME, len(self))
            rows = np.empty(end - begin, _CANONICAL)
            rows["t"] = self.slots[np.searchsorted(self.first, np.arange(begin, end), side="right") - 1]
            for name in ("user", "x", "y"):
                rows[name] = getattr(self, name).part(begin, end)
            code.update(rows.data)
        return code.hexdigest()

    def load(self) -> Samples:
        """All samples in memory, user by user."""
        rows = self._rows(0, len(self.slots))
        order = np.argsort(rows.user, kind="stable")
        return Samples(self.users, rows.user[order], rows.t[order], rows.x[order], rows.y[order])


def store_of(samples: Samples) -> SampleStore:
    """Samples that are in memory, by time."""
    order = np.argsort(samples.t, kind="stable")
    slots, first = np.unique(samples.t[order], return_index=True)
    columns = (MemoryColumn(column[order]) for column in (samples.user, samples.x, samples.y))
    return SampleStore(samples.users, slots, np.append(first, len(samples)), *columns)


def _numbers(*numbers: int) -> bytes:
    return np.array(numbers, "<i8").tobytes()
