"""Everybody at once: people who are known over one common interval are matched to records (docs/audit.md)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.auditing.attacks.attackers import Cases
from shoal.auditing.attacks.chain import SurvivorCases, surviving_records, try_survivors, weighed_survivors
from shoal.auditing.box_index import AttackedRecords
from shoal.auditing.context import AuditContext
from shoal.auditing.kernels.fits import Fits, Knowledge, find_rows
from shoal.auditing.measures import Measure, attack_of, measures_of
from shoal.auditing.victims import intervals, knowledge_of
from shoal.core.arrays import Bools, Floats, Int64s

EVERYBODY = "everybody"
_MOST_INTERVALS = 10
_MOST_PEOPLE = 5000  # of one interval: more are cut down to those nearest to one of them
_ALONE = 1e7  # the cost of no record, above that of records for everybody


def attack_everybody(context: AuditContext) -> list[Measure]:
    """Match everybody who has samples in a common interval to the records that fit, all at once."""
    if context.promise.tau is None:
        return []
    crowds = _crowds(context, context.promise.tau)
    published = _matched(context, context.published, crowds) if context.published.has_key else None
    raw = _matched(context, context.raw, crowds)
    victims = np.concatenate([np.empty(0, np.int64), *(crowd.victim for crowd in crowds)])
    return measures_of(
        EVERYBODY,
        "",
        {} if published is None else {"success": published},
        {"success": raw},
        context.guessing,
        context.victims_of(victims),
    )


def _crowds(context: AuditContext, tau: int) -> list[Knowledge]:
    """What is known of everybody in some intervals, until these hold enough people."""
    drawn = intervals(context, context.randomness(16), tau)
    crowds: list[Knowledge] = []
    n = 0
    for seed, begin in zip(drawn.victim[:_MOST_INTERVALS], drawn.begin[:_MOST_INTERVALS], strict=True):
        if n >= context.n_attacks:
            break
        people = _people(context, int(seed), int(begin), tau)
        crowds.append(knowledge_of(context, people, np.full((len(people), 1), begin), tau))
        n += len(people)
    return crowds


def _people(context: AuditContext, seed: int, begin: int, tau: int) -> Int64s:
    """Victims with samples in an interval; of too many those whose first sample there is nearest to one of them."""
    victims, trajectories = context.victims, context.trajectories
    first, last = np.empty((2, len(victims)), np.int64)
    find_rows(
        trajectories, victims, np.full(len(victims), begin), np.full(len(victims), begin + tau), first, last
    )
    present = first < last
    people, row = victims[present], trajectories.sample[first[present]]
    if len(people) <= _MOST_PEOPLE:
        return people
    centre = row[people == seed]
    distance = np.hypot(row["x"] - float(centre["x"][0]), row["y"] - float(centre["y"][0]))
    return np.sort(people[np.argsort(distance, kind="stable")[:_MOST_PEOPLE]])


def _matched(context: AuditContext, target: AttackedRecords, crowds: list[Knowledge]) -> Floats:
    """Whether people are matched with their own records, by the better of transfer and learnt."""
    found = [_crowd_fits(context, target, crowd) for crowd in crowds]
    cases = _together([each.weighed.cases for each in found])
    scores = try_survivors(cases).score
    ends = np.cumsum([len(each.weighed.line) for each in found])[:-1]
    right = []
    for score in scores.values():
        parts = np.split(score, ends)
        right.append(
            np.concatenate([
                np.empty(0), *(_match_crowd(target, each, part) for each, part in zip(found, parts, strict=True))
            ])
        )  # fmt: skip
    return max(right, key=lambda outcomes: float(outcomes.sum()))


class _CrowdFits(NamedTuple):
    """What is known of a crowd, the records that fit, which of them survive, and the features of those."""

    crowd: Knowledge
    fits: Fits
    surviving: Bools
    weighed: SurvivorCases


def _crowd_fits(context: AuditContext, target: AttackedRecords, crowd: Knowledge) -> _CrowdFits:
    fits = context.fits(target, crowd)
    survivors = surviving_records(context, target, crowd, fits)
    weighed = weighed_survivors(context, target, crowd, fits, survivors)
    return _CrowdFits(crowd, fits, survivors.surviving, weighed)


def _together(parts: list[Cases]) -> Cases:
    """The cases of several crowds, numbered through."""
    begins = np.cumsum([0, *(len(part.half) for part in parts)])
    case = np.concatenate([part.case + begin for part, begin in zip(parts, begins, strict=False)])
    right, features, half = (
        np.concatenate([part[at] for part in parts])
        for at in map(Cases._fields.index, ("right", "features", "half"))
    )
    more = [part.learnt_features for part in parts if part.learnt_features is not None]
    return Cases(case, right, features, half, np.concatenate(more) if more else None)


def _match_crowd(target: AttackedRecords, found: _CrowdFits, score: Floats) -> Floats:
    """Whether the people of a crowd are matched with their own records (1) or not (0)."""
    scores = np.zeros(len(found.fits.record))
    scores[found.weighed.line] = score
    left, victim = found.surviving, found.crowd.victim
    pairs = FittingPairs(attack_of(found.fits)[left], found.fits.record[left], scores[left])
    matched = match_people(pairs, len(victim), target.records.n_records)
    right: Floats = (matched == target.own[victim]).astype(np.float64)
    return right


class FittingPairs(NamedTuple):
    """A person, a record that fits, and how well it does."""

    person: Int64s
    record: Int64s
    score: Floats


def match_people(edges: FittingPairs, n_people: int, n_records: int) -> Int64s:
    """The record of each person, none twice, -1 for no record: as many people as possible, then the best scores."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import min_weight_full_bipartite_matching

    cost = 1 + edges.score.max(initial=0.0) - edges.score
    alone = np.arange(n_people)
    weights = np.concatenate([cost, np.full(n_people, _ALONE)])
    columns = np.concatenate([edges.record, n_records + alone])
    graph = csr_array(
        (weights, (np.concatenate([edges.person, alone]), columns)), shape=(n_people, n_records + n_people)
    )
    matched = np.empty(n_people, np.int64)
    rows, found = min_weight_full_bipartite_matching(graph)
    matched[rows] = found
    return np.where(matched < n_records, matched, -1)
