"""Which part of every period is the victim's? Attackers claim one part a period, by what they know and by links.

What is believed of one period is passed on to others along the links between parts (part_links.py). What arrives, and
what is known anyway, are features of the parts of a period; a conditional logit, learnt from half of the people, turns
them into the next beliefs. After some rounds the likeliest part of each period is claimed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from shoal.auditing.attacks.attackers import picked
from shoal.auditing.attacks.conditional_logit import centred, highest_of, learn_weights, softmax
from shoal.auditing.attacks.part_links import LinkedPeriods, PartRecords, heaviest
from shoal.core.arrays import Bools, Floats, Int64s

_KEPT = 30  # parts of a period that are thought possible for a victim, by what other periods say
_MOST_TOLD = 100  # and by what is known
_TAUGHT = 1500  # victims and periods of each half from which weights are learnt
_SMALL = 1e-3
_CRUMB = 1e-4
_ROUNDS = 3


class PeriodEvidence(NamedTuple):
    """What an attacker knows of a period. Line i: part[i], by its place among the parts of the period, may be that of
    victim[i], for what features[i] say; lines are in order of victims. sure: for which victims no other part can be."""

    victim: Int64s
    part: Int64s
    features: Floats
    sure: Bools


class Claims(NamedTuple):
    """chance[v, q]: how likely the part claimed for victim v in period q is right, where several look alike; 0 where
    none is claimed or the victim has no part. single: whether no other part was possible."""

    right: Floats
    single: Bools


class _Lines(NamedTuple):
    """Victims and the parts of one period that are thought possible for each, in order of victims."""

    period: int
    victim: Int64s
    part: Int64s
    features: Floats


def no_evidence(n_victims: int, n_features: int) -> PeriodEvidence:
    """An attacker knows nothing of a period."""
    nothing = np.empty(0, np.int64)
    return PeriodEvidence(nothing, nothing, np.empty((0, n_features)), np.zeros(n_victims, np.bool_))


def _reads_own(records: PartRecords, period: int, part: Int64s, person: Int64s) -> Bools:
    """Whether whoever reads some parts of a period, by their places in it, reads what some people's own parts say.

    A part that is the same, box for box, tells as much as the person's own.
    """
    there = records.of(period)
    owner = np.full(int(max(records.person.max(initial=0), person.max(initial=0))) + 1, -1)
    known = there[records.person[there] >= 0]
    owner[records.person[known]] = known
    own = owner[person]
    reads: Bools = (own >= 0) & (records.content[there[part]] == records.content[own])
    return reads


def claim_alone(
    records: PartRecords, person: Int64s, evidence: Sequence[PeriodEvidence], *, everywhere: bool
) -> Claims:
    """Claims by what is known of each period alone: the part with the largest first feature.

    Unless ``everywhere``, nothing is claimed in periods of which nothing is known.
    """
    right = np.zeros((len(person), len(evidence)))
    single = np.zeros(right.shape, np.bool_)
    for period, known in enumerate(evidence):
        if len(known.victim):
            true = _reads_own(records, period, known.part, person[known.victim])
            right[:, period] = picked(known.victim, known.features[:, 0], true, len(person))
            if not everywhere:
                right[:, period] *= known.sure
            single[:, period] = known.sure & (np.bincount(known.victim, minlength=len(person)) == 1)
    return Claims(right, single)


def claim_linked(
    records: PartRecords,
    linked: LinkedPeriods,
    person: Int64s,
    half: Int64s,
    evidence: Sequence[PeriodEvidence],
) -> Claims:
    """Claims by what is known of all periods and the links between their parts; without links, of each by itself."""
    shapes = [(len(person), len(records.of(period))) for period in range(len(evidence))]
    beliefs = [
        _beliefs(known, known.features[:, 0], shape) for known, shape in zip(evidence, shapes, strict=True)
    ]
    right = np.zeros((len(person), len(evidence)))
    for _ in range(_ROUNDS if linked.ways else 1):
        lines = [_gathered(records, linked, beliefs, known, p) for p, known in enumerate(evidence)]
        scores = _weighed(records, person, half, lines)
        for found, score in zip(lines, scores, strict=True):
            true = _reads_own(records, found.period, found.part, person[found.victim])
            right[:, found.period] = picked(found.victim, score, true, len(person))
            beliefs[found.period] = _beliefs(found, score, shapes[found.period])
    return Claims(right, np.zeros(right.shape, np.bool_))


def _beliefs(lines: PeriodEvidence | _Lines, score: Floats, shape: tuple[int, int]) -> Any:
    """The chances of parts by their scores, a row for every victim."""
    from scipy.sparse import csr_array

    return csr_array((softmax(lines.victim, score), (lines.victim, lines.part)), shape=shape)


def _gathered(
    records: PartRecords, linked: LinkedPeriods, beliefs: list[Any], known: PeriodEvidence, period: int
) -> _Lines:
    """The parts that are possible for victims in a period, by what is known and by what other periods say."""
    from scipy.sparse import csr_array

    n_victims, n_parts = len(known.sure), len(records.of(period))
    messages: dict[str, Any] = {}
    into = {(way, other): chance for way, other, chance in linked.around[period]}
    for (way, other), chance in into.items():
        if beliefs[other].nnz:
            messages[way] = _without_crumbs(beliefs[other] @ chance.T)
    shape = (n_victims, n_parts)
    likely = known.features[:, :2].sum(axis=1)
    told = csr_array((likely - likely.min(initial=0.0) + 1, (known.victim, known.part)), shape=shape)
    heard = sum(messages.values(), csr_array(shape))
    unsure = csr_array((~known.sure).astype(np.float64)[:, None])
    possible = [heaviest(told, _MOST_TOLD), heaviest(csr_array(heard.multiply(unsure)), _KEPT)]
    place = np.unique(np.concatenate([each.row.astype(np.int64) * n_parts + each.col for each in possible]))
    victim, part = np.divmod(place, max(n_parts, 1))
    columns = [
        looked_up(victim, part, known.victim, known.part, column, n_parts) for column in known.features.T
    ]
    columns.append(looked_up(victim, part, known.victim, known.part, np.ones(len(known.victim)), n_parts))
    for way in linked.ways:
        value = np.zeros(len(victim))
        if way in messages:
            message = messages[way].tocoo()
            value = looked_up(victim, part, message.row, message.col, message.data, n_parts)
        columns.append(np.log(_SMALL + value))
    heard_of = [np.exp(column) for column in columns[known.features.shape[1] + 1 :]]
    columns.append(np.log(_SMALL + sum(heard_of, np.zeros(len(victim)))))
    return _Lines(period, victim, part, np.stack(columns, axis=1))


def _without_crumbs(found: Any) -> Any:
    """A sparse array without entries that are next to nothing."""
    found = found.tocsr()
    found.data[found.data < _CRUMB] = 0.0
    found.eliminate_zeros()
    return found


def looked_up(
    victim: Int64s, part: Int64s, row: Int64s, column: Int64s, value: Floats, n_parts: int
) -> Floats:
    """The values at some places of a sparse array, 0 where it has none."""
    key = row.astype(np.int64) * n_parts + column
    order = np.argsort(key, kind="stable")
    wanted = victim * n_parts + part
    if not len(key):
        return np.zeros(len(wanted))
    place = np.minimum(np.searchsorted(key[order], wanted), len(key) - 1)
    return np.where(key[order][place] == wanted, value[order][place], 0.0)


def _weighed(records: PartRecords, person: Int64s, half: Int64s, lines: list[_Lines]) -> list[Floats]:
    """Scores of all lines by weights that are learnt from the other half of the people."""
    n_victims, size = len(person), [len(found.victim) for found in lines]
    case = np.concatenate([found.victim + found.period * n_victims for found in lines])
    different, number = np.unique(case, return_inverse=True)
    features = centred(number, np.concatenate([found.features for found in lines]))
    true = np.concatenate(
        [records.person[records.of(found.period)][found.part] == person[found.victim] for found in lines]
    )
    whose = half[different % n_victims][number]
    score = np.zeros(len(case))
    for own in (0, 1):
        taught = np.unique(number[true & (whose != own)])
        taught = taught[:: max(1, -(-len(taught) // _TAUGHT))]
        chosen, asked = np.isin(number, taught), whose == own
        score[asked] = features[asked] @ learn_weights(number[chosen], features[chosen], true[chosen])
    highest = highest_of(number, score, len(different))
    return np.split(score - highest[number], np.cumsum(size)[:-1])
