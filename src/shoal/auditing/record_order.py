"""Whether records stand, or are named, in the order of their users: then a list of the users is a key."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from shoal.core.arrays import Int64s

_MOST_DEVIATIONS = (
    6  # of a rank correlation; beyond that is one in 500 million by chance, and needs 38 records
)
_FEWEST_EXACT = (
    12  # records that do not all stand in order, or in its reverse, by chance: 2 / 12! of the time
)
_NUMBERED = re.compile(r"(\D*)(\d{1,18})(\D*)")


def follow_users(
    names: npt.NDArray[np.object_], users: npt.NDArray[np.object_], own: Int64s, appearance: Int64s
) -> bool:
    """Whether the names of records, or the order in which records first appear, follow the users' identifiers.

    ``own`` has the record of every user, if that is known; ``appearance`` the place of every record in the file.
    """
    known = np.flatnonzero(own >= 0)
    record = own[known]
    told = [*_orders(names[record].tolist())]
    if len(appearance):
        told.append(_ranks(appearance[record]))
    return any(_is_order(rank, other) for rank in _orders(users[known].tolist()) for other in told)


def _orders(texts: Sequence[object]) -> Iterator[Int64s]:
    """The places of texts among all in order: as texts and, where they only differ in a number, by that."""
    words = [str(text) for text in texts]
    yield _ranks(np.array(words, object))
    numbered = [_NUMBERED.fullmatch(word) for word in words]
    around = {None if found is None else (found[1], found[3]) for found in numbered}
    if len(around) == 1 and None not in around:
        yield _ranks(np.array([int(found[2]) for found in numbered if found is not None]))


def _ranks(values: npt.NDArray[np.generic]) -> Int64s:
    """The place of each value among all in order."""
    ranks = np.empty(len(values), np.int64)
    ranks[np.argsort(values, kind="stable")] = np.arange(len(values))
    return ranks


def _is_order(one: Int64s, other: Int64s) -> bool:
    """Whether two orders of the same things are alike, or each other's reverse, beyond chance (Spearman)."""
    n = len(one)
    if n < _FEWEST_EXACT:
        return False
    away = float(((one - other).astype(np.float64) ** 2).sum())
    correlation = 1 - 6 * away / (n * (n * n - 1))
    return abs(correlation) == 1 or abs(correlation) * math.sqrt(n - 1) > _MOST_DEVIATIONS
