"""Across a border: whoever watched somebody when names changed looks for the part before it and the part after it.

The parts that fit on either side make pairs. A pair is weighed by what speaks for each of its parts, as whoever knows
the method weighs records (chain.py), and by how alike the two are, as a linker sees it (part_links.py).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.auditing.attacks.attackers import picked
from shoal.auditing.attacks.chain import known_masses, known_places, known_traits, surviving_records
from shoal.auditing.attacks.conditional_logit import centred, learn_weights
from shoal.auditing.attacks.linkage import outcomes_of
from shoal.auditing.attacks.part_links import describe_some
from shoal.auditing.attacks.place_in_box import place_weights
from shoal.auditing.audited_parts import AuditedParts
from shoal.auditing.box_index import AttackedRecords
from shoal.auditing.context import AuditContext
from shoal.auditing.kernels.fits import Fits, Knowledge
from shoal.auditing.kernels.relinking import PAIR_FEATURES
from shoal.auditing.measures import Measure, attack_of, measures_of
from shoal.auditing.victims import knowledge_of
from shoal.core.arrays import Bools, Floats, Int64s
from shoal.core.boxes import NONE
from shoal.core.promise import Grid, Promise

ACROSS = "across_border"
WATCHED_S = 3600  # with --whole, where no tau says how long somebody was watched
_MOST_COMPARED = 100  # different parts left on a side; of more, none stands out by much
_MOST_PAIRED = 25  # parts of a side that make pairs
_WRONG = 20  # pairs of a case from which weights are learnt, about
_N_ALIKENESS = PAIR_FEATURES.index("pause") + 1  # products and squares would need more cases to learn from


def attack_across_borders(context: AuditContext) -> list[Measure]:
    """Find both parts of somebody who was seen on both sides of a border, in one interval of tau."""
    parts = context.parts
    if parts is None:
        return []
    watched = watched_slots(context.promise, context.grid)
    before, after, begin = _drawn(context, parts, watched)
    known = [knowledge_of(context, users, begin[:, None], watched) for users in (before, after)]
    published, raw = (_outcomes(context, target, known) for target in (context.published, context.raw))
    guess = float(context.guessing["success"]) ** 2
    guessing = {"success": guess, "pick": guess, "single": 0.0}
    return measures_of(ACROSS, "", published, raw, guessing, context.victims_of(before))


def watched_slots(promise: Promise, grid: Grid) -> int:
    """For how many slots victims are watched: for tau; with --whole for an hour, or for the two slots that it takes to
    see both sides of a border."""
    return promise.tau or max(2, WATCHED_S // grid.step_s)


def _drawn(context: AuditContext, parts: AuditedParts, watched: int) -> tuple[Int64s, Int64s, Int64s]:
    """Parts before and after borders of people who can be seen on both sides; begins of intervals that hold both."""
    before, after = neighbouring_parts(parts)
    known = (context.published.own[before] != NONE) & (context.published.own[after] != NONE)
    before, after = before[known], after[known]
    ptr, t = context.trajectories.ptr, context.samples.t
    last, first = t[ptr[before + 1] - 1], t[ptr[after]]
    near = np.flatnonzero(first - last < watched)
    rng = context.randomness(41)
    chosen = rng.choice(near, context.n_attacks) if len(near) else near
    begin = rng.integers(first[chosen] - watched + 1, last[chosen] + 1)
    return before[chosen], after[chosen], begin


def neighbouring_parts(parts: AuditedParts) -> tuple[Int64s, Int64s]:
    """All pairs of users that are one person in a period and in the next."""
    users = np.arange(len(parts.person))
    following = parts.find_users(parts.person, parts.period + 1)
    return users[following >= 0], following[following >= 0]


def _outcomes(
    context: AuditContext, target: AttackedRecords, known: list[Knowledge]
) -> dict[str, Floats | Bools]:
    """Whether both parts are found: each side by itself, or both at once, whichever succeeds more often."""
    one, other = outcomes_of(context, target, known)
    found: dict[str, Floats | Bools] = {
        name: np.asarray(one[name], np.float64) * np.asarray(other[name], np.float64)
        for name in ("success", "single", "same", "pick")
        if name in one
    }
    if "pick" in found:
        apart = np.asarray(found["pick"], np.float64)
        together = pick_pairs(context, target, known, apart)
        found["pick"] = _better(apart, together.pick)
        if "same" in found:
            found["read"] = _better(found["pick"], together.read)
    return found


def _better(one: Floats | Bools, other: Floats | Bools) -> Floats | Bools:
    """The outcomes of the attacker who succeeds more often."""
    return max((one, other), key=lambda each: float(each.sum()))


class PickedPair(NamedTuple):
    """How likely the pair that looks best is the victim's, and that both of its parts say what the victim's say."""

    pick: Floats
    read: Floats


def pick_pairs(
    context: AuditContext, target: AttackedRecords, known: list[Knowledge], apart: Floats
) -> PickedPair:
    """Weigh pairs of parts, and pick the likeliest; ``apart``: what is achieved where too many parts are left to
    compare."""
    pairs = candidate_pairs(context, target, known)
    score = learnt_scores(context, pairs, context.half[known[0].victim])
    pick = picked(pairs.attack, score, pairs.right, len(apart), pairs.n_alike)
    n_right = np.ones(len(apart))
    n_right[pairs.attack[pairs.right]] = pairs.n_alike[pairs.right]
    return PickedPair(np.where(pairs.too_many, apart, pick), np.where(pairs.too_many, apart, pick * n_right))


class Pairs(NamedTuple):
    """Pairs of a part before and a part after the border, in order of attacks.

    n_alike: for how many pairs of parts that are the same, box for box, each stands. right: whether the victim's own
    is one of these. too_many: attacks that leave too many parts to compare, and have no pairs.
    """

    attack: Int64s
    one: Int64s
    other: Int64s
    n_alike: Int64s
    right: Bools
    features: Floats
    too_many: Bools


def candidate_pairs(context: AuditContext, target: AttackedRecords, known: list[Knowledge]) -> Pairs:
    """All pairs of parts that may be the victims', with their features."""
    before, after = (_candidates(context, target, each) for each in known)
    too_many = before.too_many | after.too_many
    n_attacks = len(too_many)
    n_before, n_after = (np.bincount(side.attack, minlength=n_attacks) for side in (before, after))
    n = np.where(too_many, 0, n_before * n_after)
    attack = np.repeat(np.arange(n_attacks), n)
    place = np.arange(len(attack)) - (np.cumsum(n) - n)[attack]
    which, whither = np.divmod(place, n_after[attack])
    i = (np.cumsum(n_before) - n_before)[attack] + which
    j = (np.cumsum(n_after) - n_after)[attack] + whither
    one, other = before.record[i], after.record[j]
    alikeness = describe_some(context, target, one, other)[:, :_N_ALIKENESS]
    return Pairs(
        attack,
        one,
        other,
        before.n_alike[i] * after.n_alike[j],
        before.right[i] & after.right[j],
        np.concatenate([before.features[i], after.features[j], alikeness], axis=1),
        too_many,
    )


class _Candidates(NamedTuple):
    """Parts of one side of the border that may be the victims', in order of attacks; as in Pairs."""

    attack: Int64s
    record: Int64s
    n_alike: Int64s
    right: Bools
    features: Floats
    too_many: Bools


def _candidates(context: AuditContext, target: AttackedRecords, known: Knowledge) -> _Candidates:
    """The different parts that fit and survive the chain attack, those with the largest mass in known places first."""
    fits = context.fits(target, known)
    surviving = surviving_records(context, target, known, fits).surviving
    line, n_alike = _different(target, fits, np.flatnonzero(surviving))
    too_many = np.bincount(attack_of(fits)[line], minlength=len(fits.n)) > _MOST_COMPARED
    few = ~too_many[attack_of(fits)[line]]
    line, n_alike = line[few], n_alike[few]
    mass = known_masses(context, target, known, fits, line)
    # Lots decide among equals: numbers of raw parts go by person, and the victim's own part is listed first.
    lots = context.randomness(42).random(target.records.n_records)[fits.record[line]]
    kept = _largest(attack_of(fits)[line], mass, lots, _MOST_PAIRED)
    line, n_alike, mass = line[kept], n_alike[kept], mass[kept]
    attack, record = attack_of(fits)[line], fits.record[line]
    chosen = np.zeros(len(fits.record), np.bool_)
    chosen[line] = True
    traits = known_traits(context, target, known, fits, chosen, ~too_many)[line]
    places = known_places(context, target, known, fits, line, place_weights()[None])
    right = target.content[record] == target.content[target.own[known.victim[attack]]]
    features = np.concatenate([mass[:, None], traits, places], axis=1)
    return _Candidates(attack, record, n_alike, right, features, too_many)


def _different(target: AttackedRecords, fits: Fits, line: Int64s) -> tuple[Int64s, Int64s]:
    """One of those lines of each attack whose records are the same, box for box; and how many there are of each."""
    attack, content = attack_of(fits)[line], target.content[fits.record[line]]
    order = np.lexsort((content, attack))
    new = np.ones(len(line), np.bool_)
    new[1:] = (np.diff(attack[order]) != 0) | (content[order][1:] != content[order][:-1])
    first = np.flatnonzero(new)
    return line[order[first]], np.diff(first, append=len(line))


def _largest(attack: Int64s, value: Floats, lots: Floats, most: int) -> Int64s:
    """The lines of every attack with the largest values, of equals those with the smallest lots; in order."""
    order = np.lexsort((lots, -value, attack))
    rank = np.arange(len(order)) - np.searchsorted(attack[order], attack[order])
    return np.sort(order[rank < most])


def learnt_scores(context: AuditContext, pairs: Pairs, half: Int64s) -> Floats:
    """Scores of pairs with weights learnt from the other half of the people: from the right pair and some wrong ones of
    each attack, drawn alike, which gives the weights of all (McFadden 1978)."""
    features, score = centred(pairs.attack, pairs.features), np.zeros(len(pairs.attack))
    n = np.bincount(pairs.attack, minlength=len(half))
    lots = context.randomness(43).random(len(score))
    told = pairs.right | (lots < (_WRONG / np.maximum(n, 1))[pairs.attack])
    for own in (0, 1):
        taught = np.flatnonzero(told & (half != own)[pairs.attack])
        asked = (half == own)[pairs.attack]
        weights = learn_weights(pairs.attack[taught], features[taught], pairs.right[taught])
        score[asked] = features[asked] @ weights
    return score
