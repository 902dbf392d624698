"""Everybody at once: people who are known over one common interval are matched to records (docs/audit.md)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import min_weight_full_bipartite_matching

from shoal.auditing.attacks.attackers import LEARNT, TRANSFER
from shoal.auditing.attacks.chain import surviving_records, try_survivors, weighed_survivors
from shoal.auditing.box_index import AttackedRecords
from shoal.auditing.context import AuditContext
from shoal.auditing.kernels.fits import Knowledge, find_rows
from shoal.auditing.measures import Measure, Victims, attack_of, measures_of
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
        {"success": 1 / context.published.records.n_records},
        Victims(victims, victims),
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
    found: dict[str, list[Bools]] = {TRANSFER: [], LEARNT: []}
    for crowd in crowds:
        for name, right in _match_crowd(context, target, crowd).items():
            found[name].append(right)
    outcomes = [
        np.concatenate([np.empty(0, np.bool_), *parts]).astype(np.float64) for parts in found.values()
    ]
    return max(outcomes, key=lambda right: float(right.sum()))


def _match_crowd(context: AuditContext, target: AttackedRecords, crowd: Knowledge) -> dict[str, Bools]:
    fits = context.fits(target, crowd)
    survivors = surviving_records(context, target, crowd, fits)
    weighed = weighed_survivors(context, target, crowd, fits, survivors)
    right = {}
    for name, score in try_survivors(weighed).score.items():
        scores = np.zeros(len(fits.record))
        scores[weighed.line] = score
        edges = FittingPairs(
            attack_of(fits)[survivors.surviving],
            fits.record[survivors.surviving],
            scores[survivors.surviving],
        )
        right[name] = (
            match_people(edges, len(crowd.victim), target.records.n_records) == target.own[crowd.victim]
        )
    return right


class FittingPairs(NamedTuple):
    """A person, a record that fits, and how well it does."""

    person: Int64s
    record: Int64s
    score: Floats


def match_people(edges: FittingPairs, n_people: int, n_records: int) -> Int64s:
    """The record of each person, none twice, -1 for no record: as many people as possible, then the best scores."""
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
