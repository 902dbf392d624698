"""Rows of all batches dealt out by time, so that each stretch of it can be sorted by itself."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from shoal.core.arrays import Int32s, Int64s
from shoal.storage.piles import Pile, Piles


class Sightings(NamedTuple):
    """Users by number, Unix seconds and cells of rows."""

    user: Int32s
    when: Int64s
    x: Int32s
    y: Int32s


class Bucket(NamedTuple):
    """The rows before a second and not before that of the bucket before; None ends the last."""

    end: int | None
    pile: Pile

    def pieces(self) -> Iterator[Sightings]:
        """The rows in as many pieces as they came."""
        return (Sightings(*piece) for piece in self.pile)


class Buckets:
    """Rows by time: bucket i begins at cuts[i - 1], the first with time itself."""

    def __init__(self, cuts: Int64s, piles: Piles) -> None:
        self._cuts = cuts
        self._piles = [piles.new(f"bucket-{number:06d}") for number in range(len(cuts) + 1)]

    def add(self, rows: Sightings) -> None:
        """Deal out some rows."""
        if len(rows.when) == 0:
            return
        bucket = np.searchsorted(self._cuts, rows.when, side="right").astype(np.uint32)
        low = int(bucket.min())
        bucket -= np.uint32(low)
        sizes = np.bincount(bucket)
        if len(sizes) > 1:
            order = np.argsort(bucket.astype(np.min_scalar_type(len(sizes))), kind="stable")
            rows = Sightings._make(column[order] for column in rows)
        edges = np.concatenate([[0], np.cumsum(sizes)])
        for number in np.flatnonzero(sizes).tolist():
            piece = slice(edges[number], edges[number + 1])
            self._piles[low + number].append([column[piece].copy() for column in rows])

    def __iter__(self) -> Iterator[Bucket]:
        """The buckets by time; the rows of one are gone when the next comes."""
        for end, pile in zip([*self._cuts.tolist(), None], self._piles, strict=True):
            yield Bucket(end, pile)
            pile.clear()


def joined(pieces: Iterable[Sightings]) -> Sightings:
    """Several pieces as one."""
    return Sightings._make(np.concatenate(columns) for columns in zip(*pieces, strict=True))
