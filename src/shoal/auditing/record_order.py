"""Whether names or the order of records give something away.

Records that stand, or are named, in the order of their users: then a list of the users is a key. Parts of one person,
where records get new names, that have like names or stand at like places: then whoever finds one part finds all.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from shoal.auditing.audited_parts import AuditedParts
from shoal.core.arrays import Floats, Int64s

_MOST_DEVIATIONS = (
    6  # of a rank correlation; beyond that is one in 500 million by chance, and needs 38 records
)
_FEWEST_EXACT = (
    12  # records that do not all stand in order, or in its reverse, by chance: 2 / 12! of the time
)
_PIECE = 5  # characters that two names have in common
_MOST_PAIRS = 20_000  # of parts whose names are compared
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


def tie_parts(names: npt.NDArray[np.object_], own: Int64s, appearance: Int64s, parts: AuditedParts) -> bool:
    """Whether the names of parts, or the order in which they appear, tie a part of a person to the next one."""
    with_record = np.flatnonzero(own >= 0)
    order = with_record[np.lexsort((parts.period[with_record], parts.person[with_record]))]
    next_to = np.flatnonzero(np.diff(parts.person[order]) == 0)
    one, other = own[order[next_to]], own[order[next_to + 1]]
    if len(one) < _FEWEST_EXACT:
        return False
    texts = [str(name) for name in names]
    orders = [
        *_orders(texts),
        _ranks(np.array([text[::-1] for text in texts], object)),
        *([appearance] if len(appearance) else []),
    ]
    places = (_places_in_period(rank, parts.record_period) for rank in orders)
    return any(_are_alike(place[one], place[other]) for place in places) or _share_pieces(texts, one, other)


def _places_in_period(rank: Int64s, period: Int64s) -> Floats:
    """The place of each record among those of its period, from 0 to 1."""
    order = np.lexsort((rank, period))
    first = np.searchsorted(period[order], period[order])
    n = np.bincount(period)[period[order]]
    place = np.empty(len(rank))
    place[order] = (np.arange(len(order)) - first + 0.5) / n
    return place


def _are_alike(one: Floats, other: Floats) -> bool:
    """Whether places that should be independent are correlated beyond chance."""
    if np.ptp(one) == 0 or np.ptp(other) == 0:
        return False
    correlation = float(np.corrcoef(one, other)[0, 1])
    return abs(correlation) > 1 - 1e-12 or abs(correlation) * math.sqrt(len(one) - 1) > _MOST_DEVIATIONS


def _share_pieces(texts: list[str], one: Int64s, other: Int64s) -> bool:
    """Whether names of parts that follow each other have more pieces in common than other names have."""
    pieces = [{text[at : at + _PIECE] for at in range(len(text) - _PIECE + 1)} for text in texts]
    pairs = list(zip(one.tolist(), other.tolist(), strict=True))[:_MOST_PAIRS]
    strangers = [(pairs[place - len(pairs) // 2 - 1][0], pair[1]) for place, pair in enumerate(pairs)]
    tied, free = (
        np.array([len(pieces[a] & pieces[b]) for a, b in some], np.float64) for some in (pairs, strangers)
    )
    more, spread = float(tied.mean() - free.mean()), math.sqrt((tied.var() + free.var()) / len(pairs))
    return more > 0 and more > _MOST_DEVIATIONS * spread
