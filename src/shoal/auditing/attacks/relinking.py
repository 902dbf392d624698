"""Relinking: parts of one person, published under different names, tied together again (docs/audit.md)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.auditing.attacks.linked_people import MOST_PARTS, linked_context
from shoal.auditing.attacks.part_claims import PeriodEvidence, claim_linked, no_evidence
from shoal.auditing.attacks.part_links import (
    NEXT,
    LinkedPeriods,
    PairLines,
    PartRecords,
    described,
    learn,
    link_periods,
    pairs_of_periods,
    part_records,
    profile_features,
    right_lines,
    scaled,
    shortlisted,
    slots_of_day,
    teaching,
)
from shoal.auditing.audited_parts import AuditedParts
from shoal.auditing.box_index import AttackedRecords
from shoal.auditing.context import AuditContext
from shoal.auditing.measures import Measure, Victims, measures_of
from shoal.core.arrays import Bools, Floats, Int64s

RELINKING = "relinking"
SAME_HOURS, ALL = "same_hours", "all"
_DAY_LATER = "day_1"
_TEN = 10
_LEAST_PAIRS = 3  # of periods: borders differ, a weekend's from others
_MOST_CHAINS = 1000  # people of whom all parts are looked for


class Linker(NamedTuple):
    """Parts under attack, the pairs of periods whose parts are compared, and the links that were found."""

    records: PartRecords
    kinds: dict[str, list[tuple[int, int]]]
    linked: LinkedPeriods


def linker_of(context: AuditContext, parts: AuditedParts, target: AttackedRecords) -> Linker:
    """The linker of published or raw parts, made once an audit."""
    name = f"{RELINKING} {'published' if target is context.published else 'raw'}"
    if name not in context.memo:
        records = part_records(context, parts, target)
        kinds = pairs_of_periods(parts.periods, slots_of_day(context.grid.step_s))
        context.memo[name] = Linker(records, kinds, link_periods(records, kinds))
    found: Linker = context.memo[name]
    return found


def attack_relinking(context: AuditContext, most_parts: int = MOST_PARTS) -> list[Measure]:
    """Find the next part of a person, the part at the same hours of the next day, and all parts; of more than so many
    parts some are looked at."""
    if context.parts is None or context.parts.periods.n_periods < 2:
        return []
    context = linked_context(context, context.parts, most_parts)
    parts = context.parts
    assert parts is not None
    targets = [context.published, context.raw] if context.published.has_key else [context.raw]
    linkers = [linker_of(context, parts, target) for target in targets]
    found: list[Measure] = []
    for number, (variant, kind) in enumerate(((NEXT, NEXT), (SAME_HOURS, _DAY_LATER))):
        if kind in linkers[-1].kinds:
            rng = context.randomness(20, number)
            pairs = rng.permutation(np.array(linkers[-1].kinds[kind])).tolist()
            found += _measured(
                variant,
                [find_parts(linker, [tuple(p) for p in pairs], context.n_attacks) for linker in linkers],
            )
    return found + _measured(ALL, [find_all_parts(linker, context) for linker in linkers])


class Found(NamedTuple):
    """Whether the right part is the best guess (or its share, of guesses that look alike), whether it is among the best
    ten, and whose parts they are; guess and guess_10: what guessing achieves."""

    person: Int64s
    pick: Floats
    rank_10: Floats
    guess: float
    guess_10: float


def _measured(variant: str, found: list[Found]) -> list[Measure]:
    published, raw = ({"pick": each.pick, "rank_10": each.rank_10} for each in (found[0], found[-1]))
    if len(found) == 1:
        published = {}
    guess = {"pick": found[0].guess, "rank_10": found[0].guess_10}
    if variant == ALL:
        published, raw = ({name: each[name] for name in each if name == "pick"} for each in (published, raw))
    return measures_of(RELINKING, variant, published, raw, guess, Victims(found[0].person, found[-1].person))


def find_parts(linker: Linker, pairs: list[tuple[int, int]], enough: int) -> Found:
    """Look for the parts of people in later periods, pair of periods by pair, until there are enough people with a part
    in both. The best of several attackers counts."""
    records = linker.records
    listed = [(pair, shortlisted(records, pair)) for pair in pairs]
    lessons = teaching(records, listed)
    if not lessons:
        return Found(np.empty(0, np.int64), np.empty(0), np.empty(0), 0.0, 0.0)
    taught = learn(records, [(lines, _features(linker, pair, lines)) for pair, lines in lessons])
    ways: list[list[tuple[Floats, Floats]]] = []
    chosen: list[tuple[tuple[int, int], Bools]] = []
    for pair, lines in listed:
        if len(chosen) >= _LEAST_PAIRS and sum(int(both.sum()) for _, both in chosen) >= enough:
            break
        both = np.isin(records.person[records.of(pair[0])], _people(records, pair[1]))
        chosen.append((pair, both))
        found = _features(linker, pair, lines)
        score = taught.score(records, lines, found)
        chance = scaled(lines, score, records.of(pair[1]))
        ways.append(
            [_ranked(records, lines, each, both) for each in (score, chance, found[:, 0], found[:, 2])]
        )
    outcomes = [
        tuple(np.concatenate([each[way][measure] for each in ways]) for measure in (0, 1))
        for way in range(len(ways[0]))
    ]
    pick, rank = (max((each[at] for each in outcomes), key=lambda found: float(found.sum())) for at in (0, 1))
    person = np.concatenate([records.person[records.of(pair[0])][both] for pair, both in chosen])
    sizes = np.repeat([len(records.of(pair[1])) for pair, _ in chosen], [both.sum() for _, both in chosen])
    blind = (
        (float((1 / sizes).mean()), float(np.minimum(_TEN / sizes, 1).mean())) if len(sizes) else (0.0, 0.0)
    )
    return Found(person, pick, rank, *blind)


def _features(linker: Linker, pair: tuple[int, int], lines: PairLines) -> Floats:
    """The features of pairs of parts, with those by expanded profiles."""
    alone = described(linker.records, lines)
    return np.concatenate([alone, profile_features(linker.records, linker.linked, pair, lines)], axis=1)


def _people(records: PartRecords, period: int) -> Int64s:
    """Who is known to have a part in a period."""
    person = records.person[records.of(period)]
    return person[person >= 0]


def _ranked(records: PartRecords, lines: PairLines, score: Floats, asked: Bools) -> tuple[Floats, Floats]:
    """For the cases asked for, the chance that the right part comes first and that it is among the first ten."""
    right, n = right_lines(records, lines), len(lines.begin) - 1
    own = np.full(n, np.inf)  # of a part that was not shortlisted
    own[lines.case[right]] = score[right]
    close = 1e-9 * np.maximum(np.abs(own[lines.case]), 1e-3)
    above = np.bincount(lines.case, weights=score > own[lines.case] + close, minlength=n)
    alike = np.bincount(lines.case, weights=np.abs(score - own[lines.case]) <= close, minlength=n)
    there = np.isfinite(own)
    first = there * (above == 0) / np.maximum(alike, 1)
    ten = there * np.clip((_TEN - above) / np.maximum(alike, 1), 0, 1)
    return first[asked], ten[asked]


def find_all_parts(linker: Linker, context: AuditContext) -> Found:
    """Beginning with one part of a person, claim one part in every other period: the share of the person's other parts
    that are claimed rightly."""
    records = linker.records
    known = records.person >= 0
    n_parts = np.bincount(records.person[known], minlength=int(records.person.max(initial=0)) + 1)
    several = np.flatnonzero(known & (n_parts[records.person] > 1))
    rng = context.randomness(21)
    start = rng.permutation(several)[: min(context.n_attacks, _MOST_CHAINS)]
    start = start[np.argsort(start)]
    person, period = records.person[start], records.period[start]
    evidence = [_begun(records, start, period, each) for each in range(records.n_periods)]
    claims = claim_linked(records, linker.linked, person, records.half[start], evidence)
    right = claims.right.sum(axis=1) - claims.right[np.arange(len(start)), period]
    share = right / np.maximum(n_parts[person] - 1, 1)
    sizes = np.bincount(records.period, minlength=records.n_periods)
    return Found(person, share, share, float((1 / np.maximum(sizes, 1)).mean()), 0.0)


def _begun(records: PartRecords, start: Int64s, period: Int64s, each: int) -> PeriodEvidence:
    """Knowledge of a period: which part is that of the victims whose part in it is known."""
    nothing = no_evidence(len(start), 1)
    victim = np.flatnonzero(period == each)
    part = np.searchsorted(records.of(each), start[victim])
    return PeriodEvidence(victim, part, np.zeros((len(victim), 1)), nothing.sure | (period == each))
