"""Attacks by when somebody is active: times alone, without any place, and presence around an interval."""

from __future__ import annotations

import numpy as np

from shoal.auditing.attacks.attackers import chosen_cases
from shoal.auditing.attacks.chain import WeighedAttacks, try_survivors, weighed_attacks
from shoal.auditing.box_index import AttackedRecords
from shoal.auditing.context import AuditContext
from shoal.auditing.kernels.fits import Fits, Knowledge, find_rows
from shoal.auditing.kernels.times import (
    KnownEpochs,
    TimeFits,
    add_slot_fits,
    add_time_fits,
    match_presence,
    no_time_fits,
)
from shoal.auditing.measures import (
    Measure,
    attack_of,
    linkage_outcomes,
    measures_of,
    own_lines,
)
from shoal.core.arrays import Bools, Floats, Int64s

TIMES, PRESENCE = "times", "presence"
SOME_EPOCHS = (1, 2, 4, 8, 16)
ALL_EPOCHS, ALL_SLOTS = "all", "all_slots"
_AROUND = 2  # epochs before, and as many after
_MANY = np.iinfo(np.int64).max


def attack_times(context: AuditContext) -> list[Measure]:
    """Find the victim's record by the epochs in which the victim was active, all or some, or by all its slots."""
    found, epochs = [], context.epoch_slots
    ways = (
        (ALL_EPOCHS, epochs, None), *((str(n), epochs, n) for n in SOME_EPOCHS), (ALL_SLOTS, 1, None)
    )  # fmt: skip
    for number, (variant, slots, n) in enumerate(ways):
        victim, known = _drawn(context, context.randomness(14, number), slots, n)
        published, raw = (
            _timed(context, target, victim, known) for target in (context.published, context.raw)
        )
        guessing = context.guessing
        found += measures_of(TIMES, variant, published, raw, guessing, context.victims_of(victim))
    return found


def _drawn(
    context: AuditContext, rng: np.random.Generator, slots: int, n: int | None
) -> tuple[Int64s, KnownEpochs]:
    """Victims with at least n active epochs of some slots, and n of these; all of them without n."""
    samples = context.samples
    first = context.span[0] // slots
    n_epochs = (context.span[1] - 1) // slots - first + 1
    lines = np.unique(samples.user.astype(np.int64) * n_epochs + samples.t // slots - first)
    ptr = np.searchsorted(lines, np.arange(samples.n_users + 1) * n_epochs)
    numbers = np.diff(ptr)
    victims = context.victims[numbers[context.victims] >= (n or 1)]
    victim = rng.choice(victims, context.n_attacks if len(victims) else 0)
    some = [
        lines[ptr[user] : ptr[user + 1]] % n_epochs
        if n is None
        else np.sort(rng.choice(lines[ptr[user] : ptr[user + 1]] % n_epochs, n, replace=False))
        for user in victim.tolist()
    ]
    at = np.concatenate([[0], np.cumsum([len(epochs) for epochs in some])]).astype(np.int64)
    epoch = np.concatenate([np.empty(0, np.int64), *some])
    return victim, KnownEpochs(at, epoch, first, slots, n_epochs, n is None)


def _timed(
    context: AuditContext, target: AttackedRecords, victim: Int64s, known: KnownEpochs
) -> dict[str, Floats | Bools]:
    found = time_fits(context, target, victim, known)
    own = (found.own == found.most if target.has_key else found.n > 0) & (found.most >= 0)
    outcomes = linkage_outcomes(found.n, own, context.promise.k)
    if (
        target.has_key
    ):  # of two records that fit, the one that is active in fewer epochs leaves less to chance
        picked = own & (found.own_all == found.fewest)
        outcomes["pick"] = picked / np.maximum(found.n_fewest, 1)
    return outcomes


def time_fits(context: AuditContext, target: AttackedRecords, victim: Int64s, known: KnownEpochs) -> TimeFits:
    """The records that agree best with known epochs."""
    n, own, parts = len(victim), target.own[victim], []
    add_fits = add_slot_fits if known.slots == 1 else add_time_fits

    def look(begin: int, end: int) -> None:
        part = no_time_fits(n)
        add_fits(target.index, known, own, begin, end, part)
        parts.append(part)

    context.workers.for_blocks(target.records.n_records, look)
    most = np.max([part.most for part in parts], axis=0)
    fewest = np.min([np.where(part.most == most, part.fewest, _MANY) for part in parts], axis=0)
    number = sum(np.where(part.most == most, part.n, 0) for part in parts)
    n_fewest = sum(
        np.where((part.most == most) & (part.fewest == fewest), part.n_fewest, 0) for part in parts
    )
    own, own_all = (np.max([getattr(part, name) for part in parts], axis=0) for name in ("own", "own_all"))
    return TimeFits(most, np.asarray(number), own, fewest, np.asarray(n_fewest), own_all)


def attack_presence(context: AuditContext) -> list[Measure]:
    """The attacker of the promise, who knows besides whether the victim was active shortly before and after."""
    if context.promise.tau is None:
        return []
    published, raw = (weighed_attacks(context, target) for target in (context.published, context.raw))
    victim = published.knowledge.victim
    return measures_of(
        PRESENCE,
        "",
        _present(context, context.published, published),
        _present(context, context.raw, raw),
        context.guessing,
        context.victims_of(victim),
    )


def _present(
    context: AuditContext, target: AttackedRecords, attacks: WeighedAttacks
) -> dict[str, Floats | Bools]:
    knowledge, fits = attacks.knowledge, attacks.fits
    left, attack = present_records(context, target, knowledge, fits), attack_of(fits)
    n = np.bincount(attack[left], minlength=len(fits.n))
    own = n > 0
    if target.has_key:
        own = np.bincount(attack[left & own_lines(target, knowledge, fits)], minlength=len(fits.n)) > 0
    found = linkage_outcomes(n, own, context.promise.k)
    if attacks.weighed is not None:
        found["pick"] = _picks(target, attacks, left)
    return found


def present_records(
    context: AuditContext, target: AttackedRecords, knowledge: Knowledge, fits: Fits
) -> Bools:
    """Which of the records that fit agree best with when the victim was active around the interval."""
    low, high = pieces_around(knowledge, context.epoch_slots)
    touched = np.empty(len(fits.record), np.int64)
    active = _active(context, knowledge.victim, low, high)
    context.workers.for_blocks(
        len(fits.n),
        lambda begin, end: match_presence(
            context.trajectories, target.index, knowledge, low, high, active, fits, begin, end, touched
        ),
    )
    attack, most = attack_of(fits), np.full(len(fits.n), -1)
    np.maximum.at(most, attack, touched)
    left: Bools = (touched >= 0) & (touched == most[attack])
    return left


def _picks(target: AttackedRecords, attacks: WeighedAttacks, left: Bools) -> Floats:
    """How likely the likeliest of the records left is the victim's, by what the method attack weighs.

    Records that the chain attack rules out are left out as well, where that leaves any.
    """
    knowledge, fits, survivors, weighed = attacks
    attack, n_attacks = attack_of(fits), len(fits.n)
    both = left & survivors.surviving
    both |= left & (np.bincount(attack[both], minlength=n_attacks) == 0)[attack]
    n = np.bincount(attack[both], minlength=n_attacks)
    own = np.bincount(attack[both & own_lines(target, knowledge, fits)], minlength=n_attacks)
    pick: Floats = own / np.maximum(n, 1)
    if weighed is not None and both[weighed.line].any():
        cases = chosen_cases(weighed.cases, both[weighed.line])
        pick[weighed.attack[np.unique(weighed.cases.case[both[weighed.line]])]] = try_survivors(cases).best
    return pick


def pieces_around(knowledge: Knowledge, slots: int) -> tuple[Int64s, Int64s]:
    """First slots, and slots behind the end, of the two epochs before and after every interval, and of what intervals
    leave of the epochs that they cut: a line for each attack, empty pieces among them."""
    before, after = knowledge.begin // slots * slots, -(-knowledge.end // slots) * slots
    low = [before - step * slots for step in range(_AROUND, 0, -1)]
    high = [begin + slots for begin in low]
    low += [before, knowledge.end]
    high += [knowledge.begin, after]
    low += [after + step * slots for step in range(_AROUND)]
    high += [after + (step + 1) * slots for step in range(_AROUND)]
    return np.stack(low, axis=1), np.stack(high, axis=1)


def _active(context: AuditContext, user: Int64s, low: Int64s, high: Int64s) -> Bools:
    """Whether users have samples in slots low .. high - 1."""
    first, last = np.empty((2, low.size), np.int64)
    users = np.repeat(user, low.shape[1])
    find_rows(context.trajectories, users, low.ravel(), high.ravel(), first, last)
    found: Bools = (first < last).reshape(low.shape)
    return found
