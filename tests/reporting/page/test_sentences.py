"""The promise in words."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from auditing.audits import KEPT, OUTLOOKS, WHOLE, broken, some_audit, truth
from shoal.auditing.belonging import Belonging
from shoal.auditing.events_check import NOT_CHECKED, OTHER, EventsCheck
from shoal.auditing.guarantees.judgement import Asked, Basis, Judgement, State
from shoal.auditing.guarantees.judging import judge_matchings
from shoal.auditing.guarantees.matchings import Matchings
from shoal.auditing.result import Audit
from shoal.core.periods import Renaming
from shoal.core.promise import Grid, Promise
from shoal.reporting.page.sentences import (
    beyond_in_words,
    headline,
    is_clear,
    made_for_in_words,
    names_table,
    promise_in_words,
    renamed_in_words,
    title,
)


def test_the_promise_in_words() -> None:
    promise = Promise(k=3, tau=30, epsilon=30)
    assert headline(promise, Grid()) == "Watch anyone for 30 minutes: at least 3 records fit"
    assert "watched a person for any 30 minutes" in promise_in_words(promise, Grid())
    long = Promise(k=3, tau=3 * 1440, epsilon=1440)
    assert headline(long, Grid()).startswith("Watch anyone for 3 days")


def test_whole_trajectories_in_words() -> None:
    promise = Promise(k=3, tau=None, epsilon=None)
    assert headline(promise, Grid()) == "Know anyone's whole trajectory: at least 3 records fit"
    assert "knows every sample of a person" in promise_in_words(promise, Grid())
    assert beyond_in_words(some_audit(promise)) is None


def test_whole_parts_in_words() -> None:
    """Nothing is promised to whoever knows more than one period, so nothing reads as if it was."""
    audit = some_audit(WHOLE, renaming=Renaming(6 * 3600, "UTC"))
    assert title(audit) == (
        "Know all that anyone did in a period: at least 2 records fit, new names every 6 hours."
    )
    renamed = renamed_in_words(audit)
    assert renamed is not None
    assert "nothing is promised to whoever knows something of two periods" in renamed
    singling, linking, _ = audit.verdict.risks
    assert singling.attacker == "knows everything that the victim did in a period"
    assert "the promise allows none, whichever samples of a period are known." in linking.meaning
    assert "(k 2 over whole parts, new names every 6 hours)" in audit.verdict.headline
    assert "whoever knows everything that anybody did in a period finds" in audit.verdict.headline
    for word in ("trajectory", "trajectories"):
        assert word not in f"{title(audit)} {renamed} {audit.verdict}"


def test_what_new_names_leave_is_told_with_and_without_them() -> None:
    never = names_table(some_audit(outlooks=OUTLOOKS))
    assert never is not None
    assert never.lines == [
        ("never (as it is)", "everything"),
        ("every day", "48.1 %"),
        ("every 6 hours (recommended)", "17.3 %"),
        ("every 3 hours", "10 %"),
    ]
    assert never.words.endswith(
        "Habits tie some together: only an audit of a release with new names measures how many."
    )
    six_hours = some_audit(WHOLE, outlooks=OUTLOOKS[2:], renaming=Renaming(6 * 3600, "UTC"))
    told = names_table(six_hours)
    assert told is not None
    assert told.lines == [
        ("never", "everything"),
        ("every 6 hours (as it is)", "17.3 %"),
        ("every 3 hours", "10 %"),
    ]
    assert "measured under Privacy for this file" in told.words
    assert told.words.endswith("nothing is promised across the borders at which names change.")
    assert names_table(some_audit(outlooks=OUTLOOKS[:1])) is None
    assert names_table(some_audit()) is None


def test_any_hour_is_not_any_1_hour() -> None:
    for slots, words in (
        (60, "any hour, "),
        (1, "any minute, "),
        (1440, "any day, "),
        (90, "any 1 hour 30 "),
    ):
        assert f"watched a person for {words}" in promise_in_words(Promise(3, slots, 30), Grid())


HARDER = Promise(3, 60, 30)
BROKEN = "The promise is broken: do not publish this file."


def test_the_title_tells_whose_promise_is_not_kept() -> None:
    own = Promise(2, 30, 30)
    assert title(judged(KEPT_2)) == "Watch anyone for 30 minutes: at least 2 records fit."
    for noted in (own, None, HARDER, WHOLE):  # whoever fails less than was promised fails that as well
        failing = some_audit(own, noted=noted, coverage=broken(1))
        assert title(failing) == BROKEN
        assert failing.verdict.next_steps[0].startswith("Do not hand it on. Make it again")
    assert title(some_audit(HARDER, noted=own, coverage=broken(1))) == (
        "Held to k 3 and 1 hour, epsilon 30 minutes, this file fails; it was made for k 2 and 30 minutes."
    )
    assert title(some_audit(WHOLE, noted=own, coverage=broken(1))) == (
        "Held to k 2 over whole trajectories, this file fails; it was made for k 2 and 30 minutes."
    )
    for untrue in (truth(empty=1), truth(overlapping=1)):
        assert title(some_audit(HARDER, noted=own, coverage=broken(1), truthfulness=untrue)) == BROKEN


def test_a_page_names_the_promise_that_a_file_was_made_for() -> None:
    audit = some_audit(HARDER, noted=Promise(2, 30, 30), coverage=broken(1))
    assert made_for_in_words(audit) == "That is not what it was made for, which is k 2 and 30 minutes."
    for noted in (HARDER, None):
        assert made_for_in_words(some_audit(HARDER, noted=noted)) is None


KEEPS = "Watch anyone for 30 minutes: at least 2 records fit"


KEPT_2 = Judgement(2, State.KEPT, Basis.EVIDENCE, "none of 100 members serves again", 0, 100)
WEAKENED = Judgement(2, State.WEAKENED, Basis.EVIDENCE, "91 % of members had to serve again", 91, 100)


def judged(two: Judgement, **changes: Any) -> Audit:
    """An audit in which guarantee 2 is judged otherwise."""
    audit = some_audit(**changes)
    return replace(audit, guarantees=audit.guarantees._replace(one_window=two))


@pytest.mark.parametrize(("tolerance", "told"), [(0.01, "1 %"), (0.95, "95 %"), (1.0, "100 %")])
def test_the_title_of_a_weakened_file_says_so_whatever_is_tolerated(tolerance: float, told: str) -> None:
    found = judged(WEAKENED, tolerance=tolerance)
    assert title(found) == (
        f"{KEEPS}, but guarantee 2 is weakened: 91 % of members had to serve again (tolerance {told})."
    )
    assert not is_clear(found)
    assert is_clear(judged(KEPT_2))


@pytest.mark.parametrize("required", [False, True])
def test_the_title_says_what_was_not_checked(required: bool) -> None:
    assert title(some_audit(required=required)) == f"{KEEPS}, but guarantee 2 could not be checked."
    some = some_audit(required=required, with_key=False, coverage=KEPT._replace(n_unchecked=1))
    assert title(some) == (
        f"{KEEPS}, but guarantee 1 could not be checked for everybody; guarantee 2 could not be checked."
    )
    assert title(judged(UNCHECKED_2._replace(asked=Asked.DISCLAIMED))) == (
        f"{KEEPS}, but guarantee 2 is not given."
    )


UNCHECKED_2 = Judgement(
    2, State.NOT_CHECKED, Basis.MANIFEST, "not given: members may serve again (reuse spaced)"
)


def test_the_title_of_a_weak_claim_says_so() -> None:
    assert title(judged(KEPT_2, weak_claim=True)) == (
        "A weak claim, which says nearly nothing: at least 2 records fit what anybody did in any 30 minutes."
    )
    assert not is_clear(judged(KEPT_2, weak_claim=True))


def test_the_title_about_doubtful_events_says_so() -> None:
    doubtful = EventsCheck(NOT_CHECKED, hint="rows were left out", doubtful=True)
    assert title(judged(KEPT_2, events_checked=doubtful)) == (
        "Perhaps these events were read otherwise than for this release: audit it again with the same options."
    )
    assert title(some_audit(coverage=broken(1), events_checked=doubtful)) == (
        "The promise is broken, or these events were read otherwise than for the release: do not publish this file."
    )
    assert not is_clear(judged(KEPT_2, events_checked=doubtful))


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        (
            {"belonging": Belonging(disagreements=("k is 2 here",))},
            "The manifest is not true of this file",
        ),
        ({"belonging": Belonging(n_overlapping_boxes=1)}, "Boxes of a record overlap in time"),
        ({"belonging": Belonging(n_surplus_records=1)}, "What the file says is not true"),
        ({"truthfulness": truth(empty=1)}, "What the file says is not true"),
        ({"events_checked": EventsCheck(OTHER)}, None),
    ],
)
def test_the_title_says_what_is_wrong_where_k_records_fit(changes: dict[str, Any], fault: str | None) -> None:
    expected = "These are not the events of this release."
    assert title(some_audit(**changes)) == (
        expected if fault is None else f"{fault}: do not publish this file."
    )


def test_the_title_says_which_guarantee_is_broken() -> None:
    audit = some_audit()
    lost = audit.guarantees._replace(matching=judge_matchings(Matchings(48, 40, 2)))
    assert title(replace(audit, guarantees=lost)) == "Guarantee 3 is not kept: do not publish this file."


STRETCH = "stays with the person for one stretch of at most 1 hour, and then goes its own way"


def beyond(two: Judgement, **changes: Any) -> str:
    return beyond_in_words(judged(two, **changes)) or ""


def test_what_is_given_away_beyond_the_interval_is_told_as_guarantee_2_was_judged() -> None:
    assert beyond(KEPT_2).startswith(f"Each of the other records {STRETCH}")
    assert "That is known from the private evidence." in beyond(KEPT_2)
    own = Judgement(
        2, State.NOT_CHECKED, Basis.MANIFEST, "given by its own account, which only the evidence can show"
    )
    assert beyond(own).startswith(
        f"By the file's own account, which was not checked, each of the other records {STRETCH}"
    )
    assert beyond(WEAKENED, tolerance=1.0).endswith(
        "at most 1 hour. That does not hold: there were too few people, so that some had to hide the same person"
        " again. Whoever finds these can follow the person for longer (91 % of members had to serve again, from the"
        " private evidence; tolerance 100 %)."
    )


@pytest.mark.parametrize(
    ("two", "words"),
    [
        (
            Judgement(2, State.NOT_CHECKED, Basis.NOTHING, "the file does not show how it was made"),
            "How long the other records stay with the person beyond that time was not checked: the file does not show"
            " how it was made.",
        ),
        (
            Judgement(
                2, State.NOT_CHECKED, Basis.EVIDENCE, "9 of 90 lines of the evidence are not so in this file"
            ),
            "was not checked: 9 of 90 lines of the evidence are not so in this file.",
        ),
        (
            UNCHECKED_2._replace(asked=Asked.DISCLAIMED),
            "is not limited: members may serve again (reuse spaced).",
        ),
        (
            Judgement(2, State.BROKEN, Basis.EVIDENCE, "100 % of members stay longer than 1 h", 9, 9),
            "The other records stay with the person for longer than 1 hour: 100 % of members stay longer than 1 h (from"
            " the private evidence).",
        ),
    ],
)
def test_nothing_is_claimed_of_a_file_of_which_it_is_not_known(two: Judgement, words: str) -> None:
    assert beyond(two).endswith(words)
    assert STRETCH not in beyond(two)


def test_what_a_file_admits_is_told_though_it_was_not_checked() -> None:
    admits = "the file admits that up to 0.2 % of members had to serve again"
    found = judged(Judgement(2, State.NOT_CHECKED, Basis.MANIFEST, admits, 2, 1000))
    assert "could not be checked, and the file admits that it is weakened" in title(found)
    assert "2 not checked (the file admits that some members had to serve again)" in found.verdict.headline
    beyond = beyond_in_words(found)
    assert beyond is not None
    assert beyond.endswith(f"was not checked: {admits}.")
    assert "goes its own way" not in beyond
