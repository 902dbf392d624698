"""The sentences that matter: each with its figure, its rating, and what to do in the end."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from auditing.audits import OUTLOOKS, TIMED, WHOLE, broken, share, some_audit
from shoal.auditing.attack_names import named_figures
from shoal.auditing.belonging import Belonging
from shoal.auditing.events_check import OTHER, UNCHECKED, EventsCheck
from shoal.auditing.exposures import LOOKS_ELSEWHERE, active_times, exposures_of, four_moments
from shoal.auditing.guarantees.judgement import Basis, Judgement, State
from shoal.auditing.measures import NO_KEY, NO_VICTIM
from shoal.auditing.rating import Rating, Thresholds
from shoal.auditing.result import Audit
from shoal.core.period_text import NEVER
from shoal.core.periods import Renaming
from shoal.core.promise import Promise

pytestmark = pytest.mark.usefixtures("by_command")

TIMED_NAMES = [
    "watched",
    "four_moments",
    "hours",
    "home_and_work",
    "method",
    "everybody",
    "file_alone",
]


def sentence(audit: Audit, name: str) -> str:
    (found,) = [exposure for exposure in exposures_of(audit) if exposure.name == name]
    return found.sentence


def with_figure(audit: Audit, value: float, attack: str, measure: str, variant: str = "") -> Audit:
    """An audit in which one figure is another share."""
    figures = [
        figure._replace(published=share(value)) if figure[:3] == (attack, variant, measure) else figure
        for figure in audit.figures
    ]
    return replace(audit, figures=figures)


@pytest.mark.parametrize(("read", "told"), [(0.25, False), (0.26, False), (0.27, True), (0.9, True)])
def test_what_twins_tell_has_a_sentence_where_it_is_more_than_is_picked(read: float, told: bool) -> None:
    audit = some_audit(TIMED, value=0.25)
    picked = audit.figure("points", "pick", "4")
    assert picked is not None
    audit = replace(audit, figures=[*audit.figures, picked._replace(measure="read", published=share(read))])
    assert ("alike" in [exposure.name for exposure in exposures_of(audit)]) == told


def test_what_somebody_who_signs_has_to_know() -> None:
    audit = some_audit(TIMED, value=0.25)
    told = " of attacks (raw data 25 %, guessing 25 %)"
    assert [exposure.sentence for exposure in exposures_of(audit)] == [
        f"Somebody who watched somebody for any 30 min picks the right record in 25 %{told}",
        f"Somebody who knows four moments of somebody, at any times, picks the right record in 25 %{told}",
        f"Somebody who knows when somebody was active, and no place, picks the right record in 25 %{told}",
        "Somebody who knows the two places where somebody is most, home and work say, and no times, picks the right"
        f" record in 25 %{told}",
        "Somebody who watched somebody for any 30 min and knows how shoal works picks the right record in"
        f" 25 %{told}",
        "Somebody who knows what everybody did in the same 30 min, and how shoal works, finds the own record of"
        " 25 % of them (raw data 25 %, guessing 25 %)",
        "Somebody who has nothing but the file finds the exact cell in which the person was in 25 % of the boxes"
        " (raw data 25 %, guessing 25 %)",
    ]
    assert [exposure.name for exposure in exposures_of(audit)] == TIMED_NAMES
    assert "watched somebody for any hour picks" in sentence(some_audit(Promise(2, 60, 30)), "watched")


def test_over_whole_trajectories_everything_is_known() -> None:
    audit = some_audit(WHOLE)
    names = [exposure.name for exposure in exposures_of(audit)]
    assert names == ["watched", "four_moments", "hours", "home_and_work", "file_alone"]
    assert sentence(audit, "watched").startswith(
        "Somebody who knows everything that somebody did picks the right"
    )
    assert "None" not in " ".join(exposure.sentence for exposure in exposures_of(audit))


@pytest.mark.parametrize(
    ("name", "figure"),
    [
        ("watched", ("linkage", "success", "")),
        ("watched", ("rankings", "faces", "")),
        ("watched", ("linkage", "pick", "")),
        ("four_moments", ("points", "pick", "4")),
        ("hours", ("times", "pick", "all")),
        ("hours", ("times", "pick", "all_slots")),
        ("home_and_work", ("top_locations", "pick", "2")),
        ("method", ("method", "pick", "")),
        ("everybody", ("everybody", "success", "")),
        ("file_alone", ("place", "exact", "all")),
    ],
)
def test_each_sentence_has_its_own_figure_and_the_larger_one_counts(
    name: str, figure: tuple[str, str, str]
) -> None:
    audit = with_figure(some_audit(value=0.05), 0.2, *figure)
    assert {exposure.name: exposure.rating for exposure in exposures_of(audit)} == {
        **dict.fromkeys(TIMED_NAMES, Rating.LOW), name: Rating.MODERATE,
    }  # fmt: skip
    assert " 20 % of " in sentence(audit, name)
    assert audit.verdict.rating is Rating.MODERATE


def test_what_was_not_checked_says_so() -> None:
    audit = some_audit(value=0.01, with_key=False)
    ratings = {exposure.name: exposure.rating for exposure in exposures_of(audit)}
    unknown = {name for name, rating in ratings.items() if rating is Rating.UNKNOWN}
    assert unknown == {"home_and_work", "method", "everybody", "file_alone"}
    assert audit.verdict.rating is Rating.UNKNOWN
    assert not any("open publication can be defended" in step for step in audit.verdict.next_steps)
    assert sentence(audit, "everybody") == (
        f"Somebody who knows what everybody did in the same 30 min, and how shoal works: {NO_KEY}"
    )
    assert audit.verdict.next_steps[-1] == "Audit again with --key, so that nothing above is unchecked."
    nobody = [figure._replace(published=NO_VICTIM) for figure in audit.figures]
    empty = some_audit(figures=nobody)
    assert empty.verdict.rating is Rating.UNKNOWN
    assert empty.verdict.next_steps == [
        "Not all attackers were tried, so do not publish it on the strength of this audit."
    ]


def test_an_attack_on_places_that_looks_elsewhere_shows_no_low_risk() -> None:
    audit = with_figure(some_audit(value=0.01), 0.3, "place", "candidate", "all")
    assert {e.name: e.rating for e in exposures_of(audit)}["file_alone"] is Rating.UNKNOWN
    assert sentence(audit, "file_alone") == (
        "Somebody who has nothing but the file: not checked: in most boxes, the cell in which the person was is none of"
        " the attack's candidates"
    )
    inference = next(risk for risk in audit.verdict.risks if risk.name == "Inference")
    assert f"is found for an unknown share ({LOOKS_ELSEWHERE}) of the boxes." in inference.meaning
    (inside,) = [limit for limit in audit.verdict.limits if limit.what == "Where in a box somebody was"]
    assert "%" not in inside.measured
    told = {name.words: figure.published for name, figure in named_figures(audit)}
    assert told["finds the cell inside a box"] == LOOKS_ELSEWHERE
    audit = with_figure(some_audit(value=0.2), 0.3, "place", "candidate", "all")
    assert {e.name: e.rating for e in exposures_of(audit)}["file_alone"] is Rating.MODERATE


def test_who_needs_allies_to_find_places_is_told() -> None:
    audit = with_figure(some_audit(value=0.2), 0.3, "place", "exact", "all")
    assert "has nothing but the file finds" in sentence(audit, "file_alone")
    audit = with_figure(audit, 0.3, "place", "learnt", "all")
    assert "has the file, and half of its people as allies, finds" in sentence(audit, "file_alone")
    audit = with_figure(audit, 0.3, "place", "feature", "all")
    assert "has nothing but the file finds" in sentence(audit, "file_alone")


def test_without_a_key_it_is_told_how_often_one_record_is_left() -> None:
    audit = some_audit(with_key=False)
    for figure in (four_moments(audit), active_times(audit)):
        assert figure is not None
        assert figure.measure == "single"
    assert "at any times, is left with that person's record alone in" in sentence(audit, "four_moments")


def test_thresholds_that_are_set_are_used() -> None:
    audit = some_audit(value=0.2, thresholds=Thresholds(0.5, 0.9))
    assert audit.verdict.rating is Rating.LOW
    assert audit.to_dict()["verdict"]["thresholds"] == {"moderate": 0.5, "high": 0.9}


def test_attacks_with_other_events_say_nothing_of_the_file() -> None:
    audit = some_audit(value=0.0, events_checked=EventsCheck(OTHER))
    assert exposures_of(audit) == []
    assert audit.verdict.rating is Rating.UNKNOWN
    assert audit.verdict.next_steps == ["Give the events from which it was made."]


@pytest.mark.parametrize(
    ("value", "first"),
    [
        (0.01, "As far as these attacks go, open publication can be defended."),
        (
            0.2,
            "For recipients whom you know and who sign that they single out nobody; not for open publication.",
        ),
        (0.9, "Not for open publication: somebody who knows little about a person finds the record."),
    ],
)
def test_what_to_do_by_rating(value: float, first: str) -> None:
    steps = some_audit(value=value).verdict.next_steps
    assert steps[0] == first
    assert any("a longer tau, --whole" in step for step in steps) == (value == 0.9)
    assert "tau" not in " ".join(some_audit(WHOLE, value=value).verdict.next_steps)


DO_NOT = "Do not hand it on. Make it again from the events with shoal anonymize"


def test_what_to_do_with_a_file_that_fails() -> None:
    """However small the attacks' figures are: nobody is told that it can be published."""
    for audit in (
        some_audit(value=0.0, coverage=broken(1)),
        some_audit(value=0.0, belonging=Belonging(disagreements=("k is 2 here, 5 there",))),
    ):
        (step,) = audit.verdict.next_steps
        assert step.startswith(DO_NOT)
    hint = EventsCheck(**{**UNCHECKED._asdict(), "hint": "half of the samples lie in no box"})
    first, second = some_audit(coverage=broken(1), events_checked=hint).verdict.next_steps
    assert first == (
        "Were the events read as for the release? Look there first: half of the samples lie in no box."
    )
    assert second.startswith(DO_NOT)


def test_what_to_do_with_a_file_made_for_something_else() -> None:
    for value in (0.01, 0.9):
        audit = some_audit(Promise(3, 60, 30), noted=TIMED, coverage=broken(1), value=value)
        step, *others = audit.verdict.next_steps
        assert "was not checked here: leave --k, --tau, --epsilon and --whole out" in step
        assert "Only if it does, the following is about it; for the promise above, make a file" in step
        assert others == some_audit(Promise(3, 60, 30), value=value).verdict.next_steps
        assert "publish it" not in " ".join(audit.verdict.next_steps).replace("publish it on the", "")
    assert others[0].startswith("Not for open publication")


def test_what_to_do_with_a_file_that_is_weakened_or_not_wholly_checked() -> None:
    audit = some_audit(value=0.9)
    weakened = Judgement(2, State.WEAKENED, Basis.EVIDENCE, "91 % of members had to serve again", 91, 100)
    steps = replace(audit, guarantees=audit.guarantees._replace(one_window=weakened)).verdict.next_steps
    assert steps[0].startswith("Guarantee 2 is weakened: make it again with a smaller k")
    assert steps[1].startswith("Not for open publication")
    tolerated = replace(audit, guarantees=audit.guarantees._replace(one_window=weakened), tolerance=1.0)
    assert not tolerated.failed
    assert tolerated.verdict.next_steps == steps
    steps = some_audit(value=0.01, required=True).verdict.next_steps
    assert steps[0] == "Not all that was required could be checked: give --key, with the evidence beside it."


HINT = "rows were left out by --bbox, which is not so now"
DOUBTFUL = EventsCheck(**{**UNCHECKED._asdict(), "hint": HINT, "doubtful": True})


@pytest.mark.parametrize("value", [0.01, 0.9])
def test_what_to_do_with_doubtful_events(value: float) -> None:
    """Whatever the attacks found: they were perhaps on other events."""
    audit = some_audit(value=value, events_checked=DOUBTFUL)
    assert audit.verdict.next_steps == [
        f"Were the events read as for the release? Look there first: {HINT}.",
        "Then audit again: as it stands, do not publish it on the strength of this audit.",
    ]


def test_what_to_do_with_a_weak_claim() -> None:
    first, second = some_audit(value=0.01, weak_claim=True).verdict.next_steps
    assert first == "The claim is weak: audit again, and say with --k, --tau and --epsilon what you require."
    assert second.endswith("do not publish it on the strength of this audit.")
    steps = some_audit(value=0.9, weak_claim=True).verdict.next_steps
    assert steps[1].startswith("Not for open publication")


# ---- new names ----------------------------------------------------------------------------------------------------


def steps_on_names(**changes: Any) -> list[str]:
    return [step for step in some_audit(**changes).verdict.next_steps if "new names" in step]


@pytest.mark.parametrize("value", [0.2, 0.9])
def test_a_period_is_recommended_with_what_it_leaves_and_what_is_left_as_it_is(value: float) -> None:
    (step,) = steps_on_names(value=value, outlooks=OUTLOOKS)
    assert step == (
        "Give records new names every 6 hours (--rename-every 6h): whoever knows four moments of somebody, at any"
        " times, and finds every record of these, then reads at most 17.3 % of the person's samples on average; as it"
        " is, everything. How many are found, and how many habits tie together, only an audit of such a release"
        " measures."
    )
    (again,) = steps_on_names(value=value, outlooks=OUTLOOKS[1:], renaming=Renaming(86_400, "UTC"))
    assert "then reads at most 17.3 % of the person's samples on average; as it is, at most 48.1 %." in again
    (whole,) = steps_on_names(promise=WHOLE, value=value, outlooks=OUTLOOKS)
    assert whole == f"{step} Across borders --whole promises nothing."


def test_none_is_where_little_is_left_or_risks_are_low() -> None:
    assert steps_on_names(value=0.9, outlooks=OUTLOOKS[2:], renaming=Renaming(6 * 3600, "UTC")) == []
    assert steps_on_names(value=0.9, outlooks=OUTLOOKS[:1]) == []
    assert steps_on_names(value=0.01, outlooks=OUTLOOKS) == []
    assert some_audit(value=0.9).to_dict()["new_names"] == {"outlooks": [], "recommended": None}
    assert some_audit(value=0.9, outlooks=OUTLOOKS).to_dict()["new_names"] == {
        "outlooks": [
            {"rename_every": NEVER, "read_share": 1.0},
            {"rename_every": "1d", "read_share": 0.4812},
            {"rename_every": "6h", "read_share": 0.1734},
            {"rename_every": "3h", "read_share": 0.1},
        ],
        "recommended": "6h",
    }


def test_what_to_do_where_records_seem_to_get_new_names() -> None:
    hint = "no record goes on beyond borders every 6 hours"
    audit = some_audit(belonging=Belonging(n_surplus_records=7, hint=hint))
    first, second = audit.verdict.next_steps
    assert first == f"Do records get new names? Look there first: {hint}."
    assert second.startswith(DO_NOT)
