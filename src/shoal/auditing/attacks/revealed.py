"""What of a person's record is revealed where names change: the attacker claims one part a period (docs/audit.md)."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from shoal.auditing.attacks.linked_people import MOST_PARTS, linked_context
from shoal.auditing.attacks.part_claims import PeriodEvidence, claim_alone, claim_linked, looked_up
from shoal.auditing.attacks.part_links import PartRecords, heaviest, no_links
from shoal.auditing.attacks.relinking import Linker, linker_of
from shoal.auditing.audited_parts import AuditedParts
from shoal.auditing.box_index import AttackedRecords
from shoal.auditing.context import AuditContext
from shoal.auditing.kernels.fits import Knowledge
from shoal.auditing.kernels.known_cells import TOP_FEATURES, describe_records
from shoal.auditing.measures import Measure, Victims, attack_of, measures_of
from shoal.core.arrays import Bools, Floats, Int64s, Integers

REVEALED = "revealed"
SAMPLES_KNOWN = (1, 2, 4, 8)
EPOCHS, HOME_AND_WORK = "epochs", "home_and_work"
_SMALL_MASS = 0.01  # as in places.py
_MOST_ATTACKS = 1000  # of one kind: all periods of a victim are looked at
_BY_BOXES = 3  # of the features of top locations; the fourth is the mass
_KEPT = 60  # parts of a period that are looked at for what is known of other periods
_FOREIGN = 1000.0  # what an epoch weighs in which the victim was not active, against one in which they were


class Drawn(NamedTuple):
    """People to attack, and rows of the samples that the attacker knows: row[i] is one of victim[i]'s."""

    person: Int64s
    victim: Int64s
    row: Int64s


def attack_revealed(context: AuditContext, most_parts: int = MOST_PARTS) -> list[Measure]:
    """The share of a person's boxes that whoever knows something of the person finds, with relinking and without; of
    more than so many parts some are looked at."""
    if context.parts is None or context.parts.periods.n_periods < 2:
        return []
    context = linked_context(context, context.parts, most_parts)
    parts = context.parts
    assert parts is not None
    ways: list[tuple[str, Callable[[np.random.Generator], Drawn], _Known]] = [
        (str(n), functools.partial(_samples_at_random, context, parts, n), _known_samples)
        for n in SAMPLES_KNOWN
    ]
    ways.append((EPOCHS, functools.partial(_all_samples, context, parts), _known_epochs))
    ways.append((HOME_AND_WORK, functools.partial(_top_cells, context, parts), _known_cells))
    found: list[Measure] = []
    for number, (variant, draw, known) in enumerate(ways):
        drawn = draw(context.randomness(23, number))
        targets = [context.published, context.raw] if context.published.has_key else [context.raw]
        outcomes = [_outcomes(context, parts, target, drawn, known) for target in targets]
        sizes = np.bincount(parts.period, minlength=parts.periods.n_periods)
        blind = float((1 / np.maximum(sizes, 1)).mean())
        guessing = {"revealed": blind, "revealed_alone": blind}
        published = outcomes[0] if len(outcomes) > 1 else {}
        victims = Victims(drawn.person, drawn.person)
        found += measures_of(REVEALED, variant, published, outcomes[-1], guessing, victims)
    return found


_Known = Callable[[AuditContext, AuditedParts, AttackedRecords, PartRecords, Drawn], list[PeriodEvidence]]


def _outcomes(
    context: AuditContext, parts: AuditedParts, target: AttackedRecords, drawn: Drawn, known: _Known
) -> dict[str, Floats | Bools]:
    linker = linker_of(context, parts, target)
    evidence = known(context, parts, target, linker.records, drawn)
    return revealed_shares(linker, drawn.person, evidence, everywhere=known is not _known_samples)


def revealed_shares(
    linker: Linker, person: Int64s, evidence: list[PeriodEvidence], *, everywhere: bool
) -> dict[str, Floats | Bools]:
    """The shares of people's boxes in parts that are claimed rightly; *certain*: where no other part was possible.

    ``everywhere``: whether what is known says something of every period, and not of some only.

    Whoever may relink need not: the better of both attackers counts.
    """
    records = linker.records
    half = np.zeros(int(max(records.person.max(initial=0), person.max(initial=0))) + 1, np.int64)
    half[records.person[records.person >= 0]] = records.half[records.person >= 0]
    alone = claim_alone(records, person, evidence, everywhere=everywhere)
    told = [known.sure | everywhere for known in evidence]
    learnt = claim_linked(records, no_links(len(evidence)), person, half[person], evidence)
    joint = claim_linked(records, linker.linked, person, half[person], evidence)
    boxes = _boxes_by_period(records, person)
    by_itself = [alone.right, learnt.right * np.stack(told, axis=1)]
    shares = {
        "revealed_alone": max(
            (_share(boxes, each) for each in by_itself), key=lambda share: float(share.sum())
        ),
        "revealed": _share(boxes, joint.right),
    }
    if not everywhere:
        shares["certain"] = _share(boxes, alone.right * alone.single)
    shares["revealed"] = max(
        (shares["revealed"], shares["revealed_alone"]), key=lambda share: float(np.sum(share))
    )
    return {**shares}


def _share(boxes: Floats, right: Floats) -> Floats:
    share: Floats = (boxes * right).sum(axis=1) / np.maximum(boxes.sum(axis=1), 1)
    return share


def _boxes_by_period(records: PartRecords, person: Int64s) -> Floats:
    """How many boxes people have in every period."""
    known = np.flatnonzero(records.person >= 0)
    n_people = int(max(records.person.max(initial=0), person.max(initial=0))) + 1
    line = records.person[known] * records.n_periods + records.period[known]
    count = np.bincount(line, weights=records.n_boxes[known], minlength=n_people * records.n_periods)
    found: Floats = count.reshape(n_people, -1)[person].astype(np.float64)
    return found


def _people(context: AuditContext, parts: AuditedParts, n: int) -> tuple[Int64s, Int64s, Int64s]:
    """Who has a published part and at least n samples; and the rows of samples by person: of person p those from
    begin[p] on to begin[p + 1]."""
    whose = parts.person[context.samples.user]
    order = np.argsort(whose, kind="stable")
    begin = np.searchsorted(whose[order], np.arange(parts.n_people + 1))
    published = np.unique(parts.person[context.victims])
    return published[np.diff(begin)[published] >= n], order, begin


def _samples_at_random(context: AuditContext, parts: AuditedParts, n: int, rng: np.random.Generator) -> Drawn:
    people, order, begin = _people(context, parts, n)
    person = rng.choice(people, min(context.n_attacks, _MOST_ATTACKS) if len(people) else 0)
    rows = [
        order[begin[who] + rng.choice(begin[who + 1] - begin[who], n, replace=False)]
        for who in person.tolist()
    ]
    return Drawn(person, np.repeat(np.arange(len(person)), n), np.concatenate([np.empty(0, np.int64), *rows]))


def _all_samples(context: AuditContext, parts: AuditedParts, rng: np.random.Generator) -> Drawn:
    people, order, begin = _people(context, parts, 1)
    person = rng.choice(people, min(context.n_attacks, _MOST_ATTACKS) if len(people) else 0)
    n = begin[person + 1] - begin[person]
    victim = np.repeat(np.arange(len(person)), n)
    line = np.repeat(begin[person] - (np.cumsum(n) - n), n) + np.arange(n.sum())
    return Drawn(person, victim, order[line])


def _top_cells(context: AuditContext, parts: AuditedParts, rng: np.random.Generator) -> Drawn:
    """A row in each of the two cells in which people have most samples, of equals the smaller x, then y."""
    every = _all_samples(context, parts, rng)
    samples = context.samples
    cells = np.stack([every.victim, samples.x[every.row], samples.y[every.row]], axis=1).astype(np.int64)
    different, first, n = np.unique(cells, axis=0, return_index=True, return_counts=True)
    order = np.lexsort((different[:, 2], different[:, 1], -n, different[:, 0]))
    victim = different[order, 0]
    best = np.arange(len(order)) - np.searchsorted(victim, victim) < 2
    return Drawn(every.person, victim[best], every.row[first[order[best]]])


def _known_samples(
    context: AuditContext, parts: AuditedParts, target: AttackedRecords, records: PartRecords, drawn: Drawn
) -> list[PeriodEvidence]:
    """A part of a period in which samples are known holds all of them; in other periods people come back to places."""
    period = parts.period[context.samples.user[drawn.row]]
    group, number = np.unique(drawn.victim * records.n_periods + period, return_inverse=True)
    order = np.argsort(number, kind="stable")
    row = drawn.row[order]
    t = context.samples.t[row]
    users = context.samples.user[row[np.searchsorted(number[order], np.arange(len(group)))]].astype(np.int64)
    ptr = np.searchsorted(number[order], np.arange(len(group) + 1))
    fits = context.fits(target, Knowledge(users, ptr, row, row + 1, t, t))
    fitting, record = group[attack_of(fits)], fits.record
    found = []
    for each in range(records.n_periods):
        here = fitting % records.n_periods == each
        told = np.zeros(len(drawn.person), np.bool_)
        told[group[group % records.n_periods == each] // records.n_periods] = True
        inside = period == each
        likely = _likely_parts(context, target, records, each, drawn, ~inside)
        by_fit = _masses_at(context, target, records, each, drawn, inside)
        victim, part = fitting[here] // records.n_periods, np.searchsorted(records.of(each), record[here])
        others = ~told[likely.row]
        found.append(
            _evidence(
                np.concatenate([victim, likely.row[others]]),
                np.concatenate([part, likely.col[others]]),
                told,
                by_fit,
                _dense(likely, len(drawn.person), len(records.of(each))),
            )
        )
    return found


def _evidence(victim: Int64s, part: Int64s, sure: Bools, first: Any, second: Any) -> PeriodEvidence:
    """Lines in order of victims, with features that are looked up in two sparse arrays; the second counts where nothing
    is known of the period."""
    order = np.lexsort((part, victim))
    victim, part = victim[order].astype(np.int64), part[order].astype(np.int64)
    columns = []
    for each in (first.tocoo(), second.tocoo()):
        columns.append(looked_up(victim, part, each.row, each.col, each.data, each.shape[1]))
    return PeriodEvidence(victim, part, np.stack(columns, axis=1), sure)


def _dense(found: Any, n_rows: int, n_columns: int) -> Any:
    from scipy.sparse import csr_array

    return csr_array((found.data, (found.row, found.col)), shape=(n_rows, n_columns))


def _masses_at(
    context: AuditContext,
    target: AttackedRecords,
    records: PartRecords,
    period: int,
    drawn: Drawn,
    some: Bools,
) -> Any:
    """How much of their time the people of a period's parts spend in cells that are known (some of the lines of drawn):
    a sparse array of victims and parts, sums of log(1 + share / 0.01)."""
    from scipy.sparse import csr_array

    sites = context.sites_of(target)
    site = sites_at(sites.x, sites.y, context.samples.x[drawn.row], context.samples.y[drawn.row])
    some = some & (site >= 0)
    known = csr_array(
        (np.ones(int(some.sum())), (drawn.victim[some], site[some])), shape=(len(drawn.person), len(sites.x))
    )
    parts = records.of(period)
    shares = csr_array(records.masses[parts])
    shares.data = np.log1p(
        shares.data / np.repeat(records.n_boxes[parts], np.diff(shares.indptr)) / _SMALL_MASS
    )
    return csr_array(known @ shares.T)


def sites_at(site_x: Int64s, site_y: Int64s, x: Integers, y: Integers) -> Int64s:
    """The numbers of the sites at cells; -1 for cells that are none. Sites go by x, then y."""
    left, low, rows = int(site_x.min()), int(site_y.min()), int(np.ptp(site_y)) + 1
    number = (site_x - left) * rows + site_y - low
    wanted = np.where((y >= low) & (y < low + rows), (x.astype(np.int64) - left) * rows + y - low, -1)
    place = np.minimum(np.searchsorted(number, wanted), len(number) - 1)
    return np.where(number[place] == wanted, place, -1)


def _likely_parts(
    context: AuditContext,
    target: AttackedRecords,
    records: PartRecords,
    period: int,
    drawn: Drawn,
    some: Bools,
) -> Any:
    """The parts of a period that have most mass in known cells, for every victim."""
    return heaviest(_masses_at(context, target, records, period, drawn, some), _KEPT)


def _known_cells(
    context: AuditContext, _parts: AuditedParts, target: AttackedRecords, records: PartRecords, drawn: Drawn
) -> list[PeriodEvidence]:
    """Cells are known, not when: in every period the parts with most mass there are possible."""
    every, nobody = np.ones(len(drawn.row), np.bool_), np.zeros(len(drawn.person), np.bool_)
    first = np.searchsorted(drawn.victim, np.arange(len(drawn.person)))
    last = np.searchsorted(drawn.victim, np.arange(len(drawn.person)), side="right") - 1
    row = drawn.row[np.stack([first, last], axis=1)]
    x, y = (column[row].astype(np.int64) for column in (context.samples.x, context.samples.y))
    found = []
    for each in range(records.n_periods):
        likely = _likely_parts(context, target, records, each, drawn, every)
        mass = _dense(likely, len(drawn.person), len(records.of(each)))
        known = _evidence(likely.row, likely.col, nobody, mass, mass)
        more = np.empty((len(known.victim), len(TOP_FEATURES)))
        record, index = records.of(each)[known.part], context.tight_of(target).index
        describe_records(index, known.victim, record, x, y, 0, len(record), more)
        features = np.concatenate([known.features, more[:, :_BY_BOXES]], axis=1)
        found.append(known._replace(features=features))
    return found


def _known_epochs(
    context: AuditContext, parts: AuditedParts, _target: AttackedRecords, records: PartRecords, drawn: Drawn
) -> list[PeriodEvidence]:
    """All active epochs are known: the parts with the fewest other epochs, and of these with most of the known ones."""
    from scipy.sparse import csr_array

    slots, (first, end) = context.epoch_slots, context.span
    n_epochs = (end - 1) // slots - first // slots + 1
    epoch = context.samples.t[drawn.row] // slots - first // slots
    active = _binary(drawn.victim, epoch, len(drawn.person), n_epochs)
    begin, last = (each // slots - first // slots for each in (records.boxes.t0, records.boxes.t1))
    n = last - begin + 1
    owner = np.repeat(np.arange(len(records.person)), records.n_boxes)
    every = np.repeat(begin - (np.cumsum(n) - n), n) + np.arange(n.sum())
    touched = _binary(np.repeat(owner, n), every, len(records.person), n_epochs)
    period = parts.period[context.samples.user[drawn.row]]
    found = []
    for each in range(records.n_periods):
        there = np.zeros(len(drawn.person), np.bool_)
        there[drawn.victim[period == each]] = True
        of_parts = touched[records.of(each)]
        common = csr_array(active @ of_parts.T).tocoo()
        foreign = of_parts.sum(axis=1)[common.col] - common.data
        score = 1 + common.data - _FOREIGN * foreign
        score = score - score.min(initial=0.0) + 1  # above 0, so that sparse arrays keep it
        likely = heaviest(csr_array((score, (common.row, common.col)), shape=common.shape), _KEPT)
        fits = _dense(likely, *common.shape)
        hits = csr_array((common.data, (common.row, common.col)), shape=common.shape)
        known = _evidence(likely.row, likely.col, there, fits, hits)
        more = np.log1p(known.features[:, 0].max(initial=0.0) - known.features[:, 0])
        found.append(known._replace(features=np.column_stack([known.features, more])))
    return found


def _binary(row: Int64s, column: Int64s, n_rows: int, n_columns: int) -> Any:
    from scipy.sparse import csr_array

    place = np.unique(row * n_columns + column)
    return csr_array((np.ones(len(place)), np.divmod(place, n_columns)), shape=(n_rows, n_columns))
