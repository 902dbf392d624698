"""What attackers achieve, as sentences that somebody who has to sign can act on, each rated (docs/audit.md)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from shoal.auditing.attacks.attackers import LEARNT, TRANSFER
from shoal.auditing.attacks.chain import CHAIN
from shoal.auditing.attacks.everybody import EVERYBODY
from shoal.auditing.attacks.place_in_box import PLACE
from shoal.auditing.attacks.rankings import RANKINGS
from shoal.auditing.attacks.times import ALL_EPOCHS, ALL_SLOTS, TIMES
from shoal.auditing.guarantees.judgement import State
from shoal.auditing.rating import Rating, worst_of
from shoal.core.formatting import duration, percent, renaming_in_words, unnumbered
from shoal.core.period_text import parse_period
from shoal.core.proportions import Proportion
from shoal.utility.read_share import recommend_period

if TYPE_CHECKING:
    from shoal.auditing.measures import Measure
    from shoal.auditing.result import Audit


REVEALED, RELINKING = "revealed", "relinking"


class Exposure(NamedTuple):
    """What one attacker, who knows something, achieves; ``share`` says why where it was not measured."""

    name: str
    attacker: str
    achieves: str
    share: Proportion | str
    raw: Proportion | str
    guessing: float | None
    rating: Rating

    @property
    def sentence(self) -> str:
        """The whole in one sentence, with raw data and guessing beside it."""
        if isinstance(self.share, str):
            return f"Somebody who {self.attacker.rstrip(',')}: {self.share}"
        beside = [] if isinstance(self.raw, str) else [f"raw data {self.raw.in_words()}"]
        beside += [] if self.guessing is None else [f"guessing {percent(self.guessing)}"]
        told = f" ({', '.join(beside)})" if beside else ""
        return f"Somebody who {self.attacker} {self.achieves.format(self.share.in_words())}{told}"


LOOKS_ELSEWHERE = (
    "not checked: in most boxes, the cell in which the person was is none of the attack's candidates"
)
_AS_GOOD_AS = 0.01  # more than another share: not worth a sentence of its own
_PICKS = "picks the right record in {} of attacks"
_ALONE = "is left with that person's record alone in {} of attacks"


def exposures_of(audit: Audit) -> list[Exposure]:
    """The sentences that matter, in the order in which they are told; those that do not apply are left out.

    Of other events than those of the release there are none: what attacks achieve there says nothing of the file.
    """
    if audit.events_checked.is_other:
        return []
    tau = None if audit.promise.tau is None else unnumbered(duration(audit.promise.tau * audit.grid.step_s))
    watched = "knows everything that somebody did" if tau is None else f"watched somebody for any {tau}"
    times, within = "at any times", ""
    if audit.renaming is not None:
        times, within = "of one period", " in a period"
        watched += within if tau is None else ""
    wanted = (
        ("watched", watched, _PICKS, _best_pick(audit)),
        (
            "revealed",
            "knows four moments of somebody, at any times, and ties parts together by habits, with half of the people"
            " as allies,",
            "reads {} of the person's boxes",
            audit.figure(REVEALED, "revealed", "4"),
        ),
        (
            "relinking",
            "has a part of somebody, and half of the people as allies,",
            "finds the next part of {} of the people",
            audit.figure(RELINKING, "pick", "next"),
        ),
        ("four_moments", f"knows four moments of somebody, {times},", None, four_moments(audit)),
        (
            "alike",
            f"knows four moments of somebody, {times},",
            "reads what the person did, in the person's own record or one that is the same, in {} of attacks",
            _read_by_twins(audit),
        ),
        ("hours", f"knows when somebody was active{within}, and no place,", None, active_times(audit)),
        (
            "home_and_work",
            f"knows the two places where somebody is most{within}, home and work say, and no times,",
            _PICKS,
            audit.figure("top_locations", "pick", "2"),
        ),
        ("method", f"{watched} and knows how shoal works", _PICKS, audit.figure(CHAIN, "pick")),
        (
            "everybody",
            f"knows what everybody did in the same {tau}, and how shoal works,",
            "finds the own record of {} of them",
            audit.figure(EVERYBODY, "success"),
        ),
        (
            "file_alone",
            who_finds_places(audit),
            "finds the exact cell in which the person was in {} of the boxes",
            place_in_box(audit),
        ),
    )  # fmt: skip
    return [
        Exposure(
            name,
            attacker,
            achieves or (_PICKS if found.measure == "pick" else _ALONE),
            found.published,
            found.raw,
            found.guessing,
            audit.thresholds.rate(found.published),
        )
        for name, attacker, achieves, found in wanted
        if found is not None
    ]


def _best_pick(audit: Audit) -> Measure | None:
    """Picking among the records that fit: blindly, by the best of the rankings, or by places."""
    blind = audit.figure("linkage", "success")
    weighed = audit.figure("linkage", "pick")
    found = _best_of([blind, weighed, *(audit.figure("rankings", name) for name in RANKINGS)])
    if found is None or blind is None:
        return found
    return found._replace(
        guessing=blind.guessing
    )  # what a ranking is compared with, picking blindly, is no guess


def four_moments(audit: Audit) -> Measure | None:
    """What four of somebody's samples give away."""
    return _pick_or_single(audit, "points", "4")


def _read_by_twins(audit: Audit) -> Measure | None:
    """How often four of somebody's samples lead to what the person did; None where that is as good as picking."""
    read, pick = (audit.figure("points", measure, "4") for measure in ("read", "pick"))
    if read is None or (pick is not None and 0 < _value(read) <= _value(pick) + _AS_GOOD_AS):
        return None
    return read


def active_times(audit: Audit) -> Measure | None:
    """What the epochs in which somebody was active give away, or the exact times, whichever say more."""
    return _pick_or_single(audit, TIMES, ALL_EPOCHS, ALL_SLOTS)


def _pick_or_single(audit: Audit, attack: str, *variants: str) -> Measure | None:
    """How often the right record is picked; where that is not known, how often one record is left."""
    pick = _best_of([audit.figure(attack, "pick", variant) for variant in variants])
    if pick is not None and isinstance(pick.published, Proportion):
        return pick
    return _best_of([audit.figure(attack, "single", variant) for variant in variants])


def who_finds_places(audit: Audit) -> str:
    """Who finds most cells inside of boxes: it may be the one who learnt from some of the people."""
    learnt, *alone = (audit.figure(PLACE, name, "all") for name in (LEARNT, TRANSFER, "feature"))
    best = _best_of([learnt, *alone])
    if (
        best is not None
        and best is learnt
        and all(found is None or _value(found) < _value(best) for found in alone)
    ):
        return "has the file, and half of its people as allies,"
    return "has nothing but the file"


def place_in_box(audit: Audit) -> Measure | None:
    """How often the cell inside a box is found, as it is told."""
    found = audit.figure(PLACE, "exact", "all")
    return None if found is None else as_told(audit, found)


def as_told(audit: Audit, figure: Measure) -> Measure:
    """A figure as it is told: an attack on places that mostly looks elsewhere cannot show that a risk is low."""
    if (figure.attack, figure.measure) != (PLACE, "exact"):
        return figure
    seen = audit.figure(PLACE, "candidate", figure.variant)
    looks_elsewhere = seen is not None and isinstance(seen.published, Proportion) and _value(seen) < 0.5
    if not looks_elsewhere or audit.thresholds.rate(figure.published) is not Rating.LOW:
        return figure
    return figure._replace(published=LOOKS_ELSEWHERE)


def _best_of(ways: list[Measure | None]) -> Measure | None:
    """The way that succeeds most often; the first where none was measured."""
    measured = [found for found in ways if found is not None and isinstance(found.published, Proportion)]
    return max(measured, key=_value, default=ways[0])


def _value(found: Measure) -> float:
    return found.published.value if isinstance(found.published, Proportion) else 0.0


def overall(exposures: list[Exposure]) -> Rating:
    """The worst of the ratings."""
    return worst_of([exposure.rating for exposure in exposures])


def next_steps(audit: Audit, rating: Rating) -> list[str]:
    """What to do with a file, in sentences; first of all to read the events as for the release, if that is in doubt."""
    check = audit.events_checked
    if check.is_other:
        return ["Give the events from which it was made."]
    doubt = [] if check.hint is None else [
        f"Were the events read as for the release? Look there first: {check.hint}.",
    ]  # fmt: skip
    if audit.belonging.hint is not None:
        doubt.append(f"Do records get new names? Look there first: {audit.belonging.hint}.")
    if audit.failed and not audit.only_weakened and not audit.only_fails_other:
        return [*doubt, _MAKE_IT_AGAIN]
    if check.doubtful:
        return [*doubt, "Then audit again: as it stands, do not publish it on the strength of this audit."]
    return [*doubt, *_steps_by_guarantees(audit), *_steps_by_rating(audit, rating)]


_MAKE_IT_AGAIN = (
    "Do not hand it on. Make it again from the events with shoal anonymize, which checks a release before it"
    " appears."
)


def _steps_by_guarantees(audit: Audit) -> list[str]:
    """What to do about guarantees that fail, are weakened, could not be checked, or say nearly nothing."""
    steps = []
    if audit.only_fails_other:
        steps.append(
            "Whether it keeps its own promise was not checked here: leave --k, --tau, --epsilon and --whole out to see."
            " Only if it does, the following is about it; for the promise above, make a file with shoal anonymize."
        )
    if audit.guarantees.one_window.state is State.WEAKENED:
        steps.append(
            "Guarantee 2 is weakened: make it again with a smaller k, a longer epsilon, fewer days or more people, or"
            " tell whoever gets it for how many members it does not hold."
        )
    if any(judgement.is_open for judgement in audit.guarantees):
        steps.append("Not all that was required could be checked: give --key, with the evidence beside it.")
    if audit.weak_claim:
        steps.append(
            "The claim is weak: audit again, and say with --k, --tau and --epsilon what you require."
        )
    return steps


def _steps_by_rating(audit: Audit, rating: Rating) -> list[str]:
    """What to do about attacks; towards a weak claim, those who watch for longer were not tried."""
    steps = list(_BY_RATING[Rating.UNKNOWN if audit.weak_claim and rating is Rating.LOW else rating])
    if rating is not Rating.LOW:
        steps += names_step(audit)
    if rating is Rating.HIGH:
        longer = "" if audit.promise.whole else " a longer tau, --whole (with k 5 or more),"
        steps.append(
            f"To expose less: a larger k, fewer days (--from, --to), coarser cells (--cell),{longer} or counts over"
            " many people instead of records."
        )
    return steps if audit.has_key else [*steps, "Audit again with --key, so that nothing above is unchecked."]


def names_step(audit: Audit) -> list[str]:
    """How often names should change, with what that leaves to be read and what is left as it is; nothing where little
    is left already."""
    chosen = recommend_period(audit.outlooks)
    if chosen is None:
        return []
    now = "everything" if audit.outlooks[0].read_share == 1 else audit.outlooks[0].as_ceiling()
    across = " Across borders --whole promises nothing." if audit.promise.whole else ""
    return [
        f"Give records {renaming_in_words(parse_period(chosen.rename_every))} (--rename-every {chosen.rename_every}):"
        " whoever knows four moments of somebody, at any times, and finds every record of these, then reads"
        f" {chosen.as_ceiling()} of the person's samples on average; as it is, {now}. How many are found, and how many"
        f" habits tie together, only an audit of such a release measures.{across}"
    ]


_BY_RATING = {
    Rating.HIGH: [
        "Not for open publication: somebody who knows little about a person finds the record.",
        "Hand it only to recipients whom you know, who have nothing else about these people, and who sign that they"
        " single out nobody.",
    ],
    Rating.MODERATE: [
        "For recipients whom you know and who sign that they single out nobody; not for open publication.",
    ],
    Rating.LOW: ["As far as these attacks go, open publication can be defended."],
    Rating.UNKNOWN: ["Not all attackers were tried, so do not publish it on the strength of this audit."],
}  # fmt: skip
