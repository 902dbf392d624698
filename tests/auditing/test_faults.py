"""Everything that can be wrong is one list, which headline, title, page and terminal take their words from."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from auditing.audits import KEPT, broken, some_audit, truth
from shoal.auditing import faults
from shoal.auditing.belonging import ALL_BELONGS, Belonging
from shoal.auditing.events_check import OTHER, EventsCheck
from shoal.auditing.faults import belonging_faults, faults_of
from shoal.auditing.guarantees.judgement import Basis, Judgement, State
from shoal.auditing.guarantees.judging import judge_matchings
from shoal.auditing.guarantees.matchings import Matchings
from shoal.auditing.result import Audit
from shoal.cli.text.audit import audit_lines
from shoal.reporting.page.sentences import title

SOME: dict[type, Any] = {int: 3, bool: True, tuple: ("one thing", "another")}
FAULTS = [name for name in Belonging._fields if name != "hint"]  # which says what may be behind a fault
ENTRIES = (("in the manifest", 2), ("in the metadata of columns", 1))
LONGER = Judgement(2, State.BROKEN, Basis.MANIFEST, "members stay for windows of 1 d, longer than 1 h")
NO_MATCHING = judge_matchings(Matchings(48, 40, 2))


def belonging(field: str) -> Belonging:
    """A file of which one thing does not belong to the rest."""
    usual: Any = getattr(ALL_BELONGS, field)
    return ALL_BELONGS._replace(**{field: ENTRIES if field == "entries" else SOME[type(usual)]})


def judged(**judgements: Judgement) -> Audit:
    audit = some_audit()
    return replace(audit, guarantees=audit.guarantees._replace(**judgements))


WRONG: dict[str, Audit] = {
    **{field: some_audit(belonging=belonging(field)) for field in FAULTS},
    "other events": some_audit(events_checked=EventsCheck(OTHER)),
    "coverage": some_audit(coverage=broken(1)),
    "records of nobody": some_audit(coverage=KEPT._replace(n_untrue=3), with_key=False),
    "empty boxes": some_audit(truthfulness=truth(empty=2)),
    "overlaps found with the key": some_audit(truthfulness=truth(overlapping=2)),
    "guarantee 2": judged(one_window=LONGER),
    "guarantee 3": judged(matching=NO_MATCHING),
    "guarantees 2 and 3": judged(one_window=LONGER, matching=NO_MATCHING),
}


@pytest.mark.parametrize("name", WRONG)
def test_every_fault_is_told_as_what_it_is(name: str) -> None:
    audit = WRONG[name]
    first = faults_of(audit)[0]
    assert audit.failed
    assert audit.exit_code == 1
    assert first.clause in audit.verdict.headline
    assert title(audit).lower().startswith(first.title)
    assert first.meaning.endswith(".")
    assert "guarantee  " not in title(audit).lower()
    about_time = "stay with a person for longer" in first.meaning
    assert about_time == (name in ("guarantee 2", "guarantees 2 and 3"))


@pytest.mark.parametrize("field", FAULTS)
def test_what_does_not_belong_is_told_in_the_terminal(field: str) -> None:
    found = belonging(field)
    told = " ".join(" ".join(audit_lines(some_audit(belonging=found), Path("out"), show_users=False)).split())
    assert belonging_faults(found)
    for fault in belonging_faults(found):
        assert f"{fault.clause}" in told.split("Belongs ")[1]


def test_different_faults_have_different_titles() -> None:
    """Where what the file says is not true, and where boxes overlap, the title is the same however it was found."""
    titles = [title(audit) for audit in WRONG.values()]
    assert len(set(titles)) == len(titles) - 4
    assert title(WRONG["n_named"]) == "Records are named after their users: do not publish this file."
    assert title(WRONG["guarantees 2 and 3"]) == "Guarantees 2 and 3 are not kept: do not publish this file."


def test_nothing_is_wrong_with_a_good_file() -> None:
    assert faults_of(some_audit()) == []
    assert belonging_faults(ALL_BELONGS) == []


def test_a_field_without_words_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    assert {*faults.BELONGING, "disagreements"} == {*FAULTS}
    monkeypatch.delitem(faults.BELONGING, "n_named")
    assert faults_of(WRONG["n_named"]) == []


def test_the_worst_comes_first() -> None:
    everything = Belonging(**{field: getattr(belonging(field), field) for field in FAULTS})
    found = faults_of(
        some_audit(coverage=broken(1), belonging=everything, truthfulness=truth(empty=1, overlapping=9))
    )
    assert found[0].title == "the promise is broken"
    assert found[1].clause.endswith("boxes hold no sample of their own user")
    assert found[2].clause.startswith("there are 3 records more than users")
    assert found[3].clause.startswith("9 boxes overlap")
    assert found[-1].title == "guarantee 1 is not kept"
