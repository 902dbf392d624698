"""All batches of an input, of which whoever goes through them holds one at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from shoal.reading.batches import Batch
from shoal.reading.positions import Places
from shoal.storage.piles import Arrays, Pile, Piles


class _Entry(NamedTuple):
    """Where the columns of a batch are, and what is small enough to stay."""

    pile: Pile
    dropped: Counter[str]
    rows: int


class Shelf:
    """Batches in a row; what a loop changes about one, by other arrays in place of its own, stays changed."""

    def __init__(self, piles: Piles) -> None:
        self._piles = piles
        self._entries: list[_Entry] = []

    def append(self, batch: Batch) -> None:
        """Put one more batch there."""
        pile = self._piles.new(f"batch-{len(self._entries):06d}")
        pile.append(_columns(batch))
        self._entries.append(_Entry(pile, batch.dropped, batch.rows))

    def __iter__(self) -> Iterator[Batch]:
        for entry in self._entries:
            batch, before = _load(entry)
            yield batch
            after = _columns(batch)
            if len(before) != len(after) or any(
                old is not new for old, new in zip(before, after, strict=True)
            ):
                entry.pile.clear()
                entry.pile.append(after)

    def taken(self) -> Iterator[Batch]:
        """The batches for the last time: each is gone when the next one comes."""
        for entry in self._entries:
            batch, _ = _load(entry)
            entry.pile.clear()
            yield batch

    @property
    def dropped(self) -> Counter[str]:
        """Why rows of all batches were left out."""
        return sum((entry.dropped for entry in self._entries), Counter())

    @property
    def rows(self) -> int:
        """How many rows were read, used or not."""
        return sum(entry.rows for entry in self._entries)


def _columns(batch: Batch) -> Arrays:
    columns = (batch.user, batch.when, batch.place, *batch.places)
    return columns if batch.numeric is None else (*columns, batch.numeric)


def _load(entry: _Entry) -> tuple[Batch, Arrays]:
    (columns,) = entry.pile
    user, when, place, first, second, *numeric = columns
    batch = Batch(
        user=user,
        when=when,
        numeric=numeric[0] if numeric else None,
        place=place,
        places=Places(first, second),
        dropped=entry.dropped,
        rows=entry.rows,
    )
    return batch, columns
