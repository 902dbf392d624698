"""The promise in words."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from auditing.audits import WHOLE, broken, some_audit, truth
from shoal.auditing.belonging import Belonging
from shoal.auditing.events_check import OTHER, EventsCheck
from shoal.auditing.guarantees.judgement import Basis, Judgement, State
from shoal.auditing.guarantees.judging import judge_matchings
from shoal.auditing.guarantees.matchings import Matchings
from shoal.core.promise import Grid, Promise
from shoal.reporting.page.sentences import (
    beyond_in_words,
    headline,
    made_for_in_words,
    promise_in_words,
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
    assert beyond_in_words(promise, Grid(), None) is None


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
    assert title(some_audit(own, noted=own)) == "Watch anyone for 30 minutes: at least 2 records fit."
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


def test_the_title_of_a_weakened_file_says_so() -> None:
    audit = some_audit()
    weakened = Judgement(2, State.WEAKENED, Basis.EVIDENCE, "91 % of members had to serve again", 91, 100)
    found = replace(audit, guarantees=audit.guarantees._replace(one_window=weakened))
    assert title(found) == f"{KEEPS}, but guarantee 2 is weakened: 91 % of members had to serve again."
    assert title(replace(found, tolerance=0.95)) == f"{KEEPS}."


def test_the_title_says_what_was_required_and_not_checked() -> None:
    assert title(some_audit(required=True)) == f"{KEEPS}, but guarantee 2 could not be checked."
    assert title(some_audit()) == f"{KEEPS}."


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        (
            {"belonging": Belonging(disagreements=("k is 2 here",))},
            "The manifest does not agree with the file",
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


STRETCH = "for one stretch of at most 1 hour, and then goes its own way"


def beyond(one_window: str | None, *, k: int = 3) -> str:
    """What is said of a file whose manifest tells of this guarantee 2."""
    promise = Promise(k=3, tau=30, epsilon=30)
    made_for = {"k": k, "whole": False, "tau_s": 1800, "epsilon_s": 1800}
    guarantees = {} if one_window is None else {"one_window": one_window}
    return beyond_in_words(promise, Grid(), {"promise": made_for, "guarantees": guarantees}) or ""


def test_what_is_given_away_beyond_the_interval_is_told_by_the_manifest() -> None:
    assert STRETCH in beyond("given")
    assert "weakened" not in beyond("given")
    weakened = beyond("weakened: up to 70 of 4,336 times a user had to hide with somebody again")
    assert STRETCH not in weakened
    assert weakened.endswith(
        "at most 1 hour. That does not hold: there were too few people, so that some had to hide the same person"
        " again. Whoever finds these can follow the person for longer (up to 70 of 4,336 times a user had to hide"
        " with somebody again)."
    )


def test_nothing_is_claimed_of_a_file_of_which_it_is_not_known() -> None:
    promise = Promise(k=3, tau=30, epsilon=30)
    spaced = "not given: members may serve again after a while (reuse spaced)"
    assert beyond(spaced).endswith("is not limited: members may serve again after a while (reuse spaced).")
    assert "its manifest tells of another promise" in beyond("given", k=2)
    assert "it has no manifest" in (beyond_in_words(promise, Grid(), None) or "")
    assert "does not say" in beyond(None)
    assert "another promise" in (beyond_in_words(promise, Grid(), {"promise": "mine", "guarantees": 3}) or "")
    for words in (beyond(spaced), beyond("given", k=2), beyond(None)):
        assert STRETCH not in words
