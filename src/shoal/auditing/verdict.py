"""A verdict that a non-expert reads: the promise kept or broken, then what an attacker can and cannot do.

Singling out, linkability and inference are the three risks of the EU's Article 29 Working Party, opinion 05/2014.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from shoal.auditing.attacks.borders import ACROSS, watched_slots
from shoal.auditing.attacks.chain import CHAIN
from shoal.auditing.attacks.everybody import EVERYBODY
from shoal.auditing.attacks.rankings import RANKINGS
from shoal.auditing.attacks.times import PRESENCE
from shoal.auditing.claims import WEAK
from shoal.auditing.exposures import (
    RELINKING,
    REVEALED,
    Exposure,
    active_times,
    exposures_of,
    four_moments,
    next_steps,
    overall,
    place_in_box,
    who_finds_places,
)
from shoal.auditing.faults import faults_of, guarantees_in_words
from shoal.auditing.measures import NO_KEY, NO_VICTIM
from shoal.auditing.rating import Rating
from shoal.core.formatting import duration, percent, promise_in_short, unnumbered
from shoal.core.proportions import Proportion
from shoal.errors import for_caller

if TYPE_CHECKING:
    from shoal.auditing.measures import Measure
    from shoal.auditing.result import Audit

_LIKELIER = (
    "some of the records that fit are likelier than others. What is promised is how many fit, not that they are"
    " equally likely."
)

_NOTICEABLE = 0.01  # more of the attacks


class Risk(NamedTuple):
    """One of the three risks: how large, against which attacker, and what it means."""

    name: str
    share: Proportion | None
    attacker: str
    meaning: str


class Limit(NamedTuple):
    """Something that is not promised, and what was measured of it."""

    what: str
    measured: str


class Verdict(NamedTuple):
    """What holds of each guarantee, in one sentence, what attackers achieve, what to do, and then the three risks and
    what is not promised.

    kept: whether the exit code is 0. rating: the worst of the exposures'. warning: that what is kept says nearly
    nothing, if that is so.
    """

    kept: bool
    headline: str
    rating: Rating
    exposures: list[Exposure]
    next_steps: list[str]
    risks: list[Risk]
    limits: list[Limit]
    warning: str | None = None


def judge(audit: Audit) -> Verdict:
    """Put an audit into words."""
    exposures = exposures_of(audit)
    rating = overall(exposures)
    return Verdict(
        audit.kept,
        for_caller(_headline(audit) + _unchecked(audit)),
        rating,
        exposures,
        list(map(for_caller, next_steps(audit, rating))),
        [_singling_out(audit), _linkability(audit), _inference(audit)],
        _limits(audit),
        for_caller(WEAK) if audit.weak_claim else None,
    )


def _headline(audit: Audit) -> str:
    """What is wrong, or may be; else what is kept, by whom it is asked for, and what that means."""
    faults, check = faults_of(audit), audit.events_checked
    if check.is_other:
        return f"NOT THE EVENTS OF THIS RELEASE: {faults[0].clause}"
    if faults:
        return f"{_failure(audit)}: {faults[0].clause}"
    words = f"{guarantees_in_words(audit)}, as {_asked(audit)}"
    if check.doubtful:
        return f"EVENTS READ OTHERWISE THAN FOR THE RELEASE, perhaps: {_first_small(words)}, but of these events only"
    if audit.weak_claim:
        return f"WEAK CLAIM: {_first_small(words)}, which says nearly nothing of these events"
    truth = audit.truthfulness
    known = "" if audit.promise.tau is None else f" in any {unnumbered(_tau(audit))}"
    if audit.renaming is not None:
        known += " in a period" if audit.promise.tau is None else ", in every period on its own,"
    gaps = "" if truth is not None and not truth.suppressed.n_suppressed else ", gaps forgiven"
    return (
        f"{words}: whoever knows everything that anybody did{known} finds at least {audit.promise.k:,} records that"
        f" fit{gaps}"
    )


def _first_small(words: str) -> str:
    return words[0].lower() + words[1:]


def _asked(audit: Audit) -> str:
    """Whose promise that is: a claim is not more than a claim."""
    promised = promise_in_short(audit.promise, audit.grid, renamed=audit.renaming is not None)
    promise = ", ".join(filter(None, (promised, audit.renamed)))
    return f"required ({promise})" if audit.required else f"the file claims ({promise})"


def _unchecked(audit: Audit) -> str:
    """What a failure is followed by where the events may have been read otherwise than for the release."""
    check = audit.events_checked
    return "" if not audit.failed or check.hint is None or check.doubtful else "; events not checked"


def _failure(audit: Audit) -> str:
    """The first words of a failure: a file that fails a promise that it does not make has broken nothing.

    Nor is it known to be broken where the events were hardly read as for the release.
    """
    failure = "WEAKENED" if audit.only_weakened else "BROKEN"
    if audit.only_fails_other and audit.noted is not None:
        held, made = (
            promise_in_short(promise, audit.grid, renamed=audit.renaming is not None)
            for promise in (audit.promise, audit.noted)
        )
        failure = f"FAILS a promise that is not its own (held to {held}, made for {made})"
    if audit.events_checked.doubtful:
        return f"{failure}, or the events were read otherwise than for the release"
    return failure


def _singling_out(audit: Audit) -> Risk:
    linkage, method = _share(audit, "linkage", "success"), _share(audit, CHAIN, "pick")
    weighed = _share(audit, "linkage", "pick")
    best = max(
        (share for name in RANKINGS if (share := _share(audit, "rankings", name)) is not None),
        key=lambda share: share.value,
        default=None,
    )
    bound, picked = percent(1 / audit.promise.k), _in_words(_found(audit, "linkage", "success"))
    meaning = (
        f"Picking blindly among the records that fit is right in {picked} of attacks: at most {bound} wherever"
        f" {audit.promise.k:,} fit."
    )
    if best is not None:
        meaning += f" The best of {len(RANKINGS)} ways to rank them is right in {_in_words(best)}"
        meaning += f", weighing them by places in {_in_words(weighed)}."
    if method is not None:
        meaning += f" Somebody who knows the method besides picks the right one in {_in_words(method)}."
    elif not audit.has_key:
        meaning += " Whether some of them are likelier than others was not checked: no key."
    found = [share for share in (linkage, best, weighed, method) if share is not None]
    worst = max(found, key=lambda share: share.value, default=None)
    if worst is not None and worst.low > 1 / audit.promise.k:
        meaning += f" The largest of these is more than {bound}, and not by chance: {_LIKELIER}"
    elif worst is not None and linkage is not None and worst.low > linkage.high:
        meaning += f" The largest of these is more than picking blindly: {_LIKELIER}"
    return Risk("Singling out", worst, _knowing(audit), meaning)


def _linkability(audit: Audit) -> Risk:
    found, four = four_moments(audit), _in_words(_found(audit, "points", "single", "4"))
    when = "at any times" if audit.renaming is None else "of one period"
    meaning = f"With 4 samples exactly one record fits in {four} of attacks"
    if audit.has_key:
        meaning += f", and the likeliest that fits is the right one in {_published(found)}"
    if audit.promise.tau is None:
        which = "whichever samples" if audit.renaming is None else "whichever samples of a period"
        meaning += f"; the promise allows none, {which} are known."
    else:
        two = _found(audit, "intervals", "single", "2")
        meaning += (
            f"; with two intervals of {_tau(audit)} one fits in {_in_words(two)}. This is not promised."
        )
    times, top = active_times(audit), _found(audit, "top_locations", "pick", "2")
    meaning += f" Knowing only when somebody was active {_leads(times)} in {_published(times)}"
    meaning += f"; the two commonest places, without times, pick the right one in {_in_words(top)}."
    meaning += " A second dataset about the same people can be linked to this one."
    return Risk(
        "Linkability",
        None if found is None else _measured(found.published),
        f"knows 4 samples of the victim, {when}, from other data",
        meaning,
    )


def _inference(audit: Audit) -> Risk:
    """Where in its boxes somebody was, what follows beyond epsilon, and what all that fit have in common."""
    inside = _share_or_why(place_in_box(audit))
    meaning = f"Where in a box the person was, to the cell, is found for {_in_words(inside)} of the boxes."
    leak, cell = _found(audit, "leakage", "above_epsilon"), _found(audit, "homogeneity", "one_cell")
    if leak is not None and leak != NO_VICTIM and audit.promise.epsilon is not None:
        epsilon = duration(audit.promise.epsilon * audit.grid.step_s)
        meaning += f" More than a further {epsilon} follows from the records that fit in {_in_words(leak)} of attacks."
    meaning += f" All records that fit are in one cell at some {_other(audit)}time in {_in_words(cell)}."
    found = [share for each in (inside, leak, cell) if (share := _measured(each)) is not None]
    worst = max(found, key=lambda share: share.value, default=None)
    asks = f"{who_finds_places(audit).rstrip(',')}, and asks where in its boxes somebody was"
    if worst is not None and worst != inside:
        asks = f"{_knowing(audit)}, and asks where else they were"
    return Risk("Inference", worst, asks, meaning)


def _limits(audit: Audit) -> list[Limit]:
    """What is not promised, and what attacks measured of it.

    Over whole trajectories single samples and top locations are protected, too: a record that fits all samples of a
    person fits some of them.
    """
    limits = []
    if audit.promise.tau is not None:
        tau_s = audit.promise.tau * audit.grid.step_s
        longer = {f"{factor}_tau": duration(factor * tau_s) for factor in (2, 4, 8)}
        points = {str(n): str(n) for n in (1, 2, 4, 8)}
        when = "at any times" if audit.renaming is None else "of one period"
        limits = [
            Limit("Knowing longer than tau", _picks(audit, "longer", longer)),
            Limit(
                f"Knowing several separate intervals of {_tau(audit)}",
                _picks(audit, "intervals", {str(n): str(n) for n in (2, 3, 4)}),
            ),
            Limit("An attacker who knows the method and links windows (chain attack)", _chain(audit)),
            Limit(f"Knowing samples {when}", _picks(audit, "points", points)),
            Limit(
                f"Knowing top locations{'' if audit.renaming is None else ' of one period'}, but not when",
                _picks(audit, "top_locations", {str(n): str(n) for n in (1, 2, 3)}),
            ),
        ]
    home, work = (
        _in_words(_found(audit, "home_and_work", "within_500m", place)) for place in ("home", "work")
    )
    near = _in_words(_found(audit, "homogeneity", "within_1km"))
    active, inside = active_times(audit), place_in_box(audit)
    return [
        *limits,
        *_limits_of_twins(audit),
        *limits_of_parts(audit),
        Limit(
            "When somebody is active",
            f"a record has boxes just where its person has samples; knowing these times alone {_leads(active)} in"
            f" {_published(active)} of attacks{_presence(audit)}",
        ),
        Limit(
            "Where in a box somebody was",
            f"somebody who {who_finds_places(audit)} finds the exact cell for {_published(inside)} of the boxes"
            if audit.has_key
            else NO_KEY,
        ),
        Limit(
            "Home and work, once a record is known to be somebody's",
            f"home is found within 500 m in {home} of attacks, work in {work}" if audit.has_key else NO_KEY,
        ),
        Limit(
            "What the records that fit have in common (homogeneity)",
            f"all are within 1 km of each other at some {_other(audit)}time in {near} of attacks",
        ),
        Limit("People who collude", "each of them takes one off k; not measured"),
        Limit("That somebody is in the data at all", "not hidden"),
        Limit(
            "Other releases of the same people, of these days or others",
            "their records can be linked to these; not measured",
        ),
    ]


def _limits_of_twins(audit: Audit) -> list[Limit]:
    """What groups of records that are the same do not protect from."""
    found = [_found(audit, "points", "same", n) for n in ("1", "2", "4")]
    if found[0] is None or not any(_more_than_one_left(audit, n) for n in ("1", "2", "4")):
        return []
    one, two, four = (_in_words(share) for share in found)
    alike = (
        f"all records that fit one sample are the same, or one, in {one} of attacks, two samples in {two}, four in"
        f" {four}: then what the person did is read whichever record it is. From k 5 up that is rarer"
    )
    if (read := _found(audit, "points", "read", "4")) is not None:
        alike += f". Whoever picks the likeliest that fits four samples reads what the person did in {_in_words(read)}"
    return [Limit("What records that are the same tell", alike)]


def _more_than_one_left(audit: Audit, n: str) -> bool:
    """Whether all records that fit n samples are the same noticeably more often than there is only one."""
    same, single = (_found(audit, "points", measure, n) for measure in ("same", "single"))
    if not isinstance(same, Proportion) or not isinstance(single, Proportion):
        return True
    return same.value > single.value + _NOTICEABLE


def limits_of_parts(audit: Audit) -> list[Limit]:
    """What new names do not protect from, where records get them."""
    if audit.renaming is None:
        return []
    next_part, ten = (_in_words(_found(audit, RELINKING, measure, "next")) for measure in ("pick", "rank_10"))
    reads, alone = (_in_words(_found(audit, REVEALED, each, "4")) for each in ("revealed", "revealed_alone"))
    relinked = (
        f"the next part of a person is found in {next_part} of cases, and is among the ten likeliest in {ten}; whoever"
        f" knows four moments of a person reads {reads} of the person's boxes, and {alone} without tying parts together"
    )
    limits = [
        Limit("Tying parts of a person together by habits (relinking)", relinked if audit.has_key else NO_KEY)
    ]
    return [*limits, Limit("Watching somebody across a border", _across(audit) if audit.has_key else NO_KEY)]


def _across(audit: Audit) -> str:
    """What whoever watched somebody across a border finds, and what they read where parts are the same."""
    both = _in_words(_found(audit, ACROSS, "pick"))
    seen = f"both parts beside it are picked in {both} of attacks"
    if audit.promise.tau is None:
        watched = unnumbered(duration(watched_slots(audit.promise, audit.grid) * audit.grid.step_s))
        seen = f"nothing is promised: whoever watched for any {watched} picks both parts beside it in {both} of attacks"
    read = _found(audit, ACROSS, "read")
    return seen if read is None else f"{seen}, and what both say is read in {_in_words(read)}"


def _chain(audit: Audit) -> str:
    """How often the chain attack leaves few records, and how likely the right one looks."""
    single, below = (_in_words(_found(audit, CHAIN, measure)) for measure in ("single", "below_k"))
    left = f"exactly one record is left in {single} of attacks, fewer than k in {below}"
    if not audit.has_key:
        return f"{left}; how likely the right one looks was {NO_KEY}"
    picked = _in_words(_found(audit, CHAIN, "pick"))
    everybody = _in_words(_found(audit, EVERYBODY, "success"))
    return f"{left}; the right one is picked in {picked}; knowing everybody at once, {everybody} get their own record"


def _presence(audit: Audit) -> str:
    found = _found(audit, PRESENCE, "single")
    if found is None:
        return ""
    picked = f", and pick it in {_in_words(_found(audit, PRESENCE, 'pick'))}" if audit.has_key else ""
    return (
        f"; {_tau(audit)} and the activity shortly before and after leave one in {_in_words(found)}{picked}"
    )


def _leads(found: Measure | None) -> str:
    """What knowing something leads to."""
    return "picks the right record" if found is not None and found.measure == "pick" else "leaves one record"


def _picks(audit: Audit, attack: str, variants: dict[str, str]) -> str:
    """How often the right record is picked, and without a key how often one is left, for variants by their names."""
    if not audit.has_key:
        return _single(audit, attack, variants)
    first, *others = (
        (_in_words(_found(audit, attack, "pick", variant)), name) for variant, name in variants.items()
    )
    rest = "".join(f", {share} with {name}" for share, name in others)
    return f"the right record is picked in {first[0]} of attacks with {first[1]}{rest}"


def _single(audit: Audit, attack: str, variants: dict[str, str]) -> str:
    """How often an attack leaves one record, for each of its variants (keys) by their names in words."""
    first, *others = (
        (_in_words(_found(audit, attack, "single", variant)), name) for variant, name in variants.items()
    )
    rest = "".join(f", {share} with {name}" for share, name in others)
    return f"exactly one record fits in {first[0]} of attacks with {first[1]}{rest}"


def _share(audit: Audit, attack: str, measure: str, variant: str = "") -> Proportion | None:
    return _measured(_found(audit, attack, measure, variant))


def _found(audit: Audit, attack: str, measure: str, variant: str = "") -> Proportion | str | None:
    """A proportion, or why there is none; None where the attack does not apply."""
    return _share_or_why(audit.figure(attack, measure, variant))


def _share_or_why(found: Measure | None) -> Proportion | str | None:
    return None if found is None else found.published


def _measured(found: Proportion | str | None) -> Proportion | None:
    return found if isinstance(found, Proportion) else None


def _in_words(found: Proportion | str | None) -> str:
    if isinstance(found, Proportion):
        return found.in_words()
    why = "nobody to attack" if found is None or found == NO_VICTIM else found
    return f"an unknown share ({why})"


def _published(found: Measure | None) -> str:
    return _in_words(_share_or_why(found))


def _tau(audit: Audit) -> str:
    return duration((audit.promise.tau or 0) * audit.grid.step_s)


def _knowing(audit: Audit) -> str:
    if audit.promise.tau is not None:
        return f"knows everything that the victim did in some {unnumbered(_tau(audit))}"
    return "knows everything that the victim did" + ("" if audit.renaming is None else " in a period")


def _other(audit: Audit) -> str:
    return "" if audit.promise.tau is None else "other "
