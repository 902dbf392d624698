"""Whoever knows the method: how a file says it was made, planted faults that must not pass, and what is reported."""

from __future__ import annotations

import re
from typing import Any

import pytest

from auditing.audit_contexts import context_of
from shoal.auditing.auditor import run_audit
from shoal.auditing.claims import MethodClaim, claimed_method
from shoal.auditing.result import Audit
from shoal.core.progress import SilentProgress
from shoal.core.promise import Promise
from shoal.core.proportions import Proportion

TOLD: dict[str, Any] = {"k": 2, "whole": False, "tau_s": 1800, "epsilon_s": 1800}
OWN = Promise(2, 30, 30)


def manifest(**changes: Any) -> dict[str, Any]:
    parameters = {"selector": "matching", "repair": False, "reuse": "once"}
    content = {"promise": TOLD, "parameters": parameters, "relaxations": 0}
    return {**content, **changes, "parameters": {**parameters, **changes.get("parameters", {})}}


@pytest.mark.parametrize(
    ("changes", "distinct", "certain"),
    [
        ({}, True, True),
        ({"parameters": {"reuse": "pair"}}, True, True),
        ({"parameters": {"reuse": "spaced"}}, True, True),
        ({"parameters": {"selector": "mutual"}}, True, True),
        ({"parameters": {"selector": "spectral", "repair": True}}, True, True),
        ({"parameters": {"selector": "spectral"}}, False, False),
        ({"parameters": {"selector": "somebody's"}}, False, False),
        ({"parameters": {"reuse": "always"}}, False, True),
        ({"parameters": {"harden": 3}}, True, True),
        ({"relaxations": "fewer than 10"}, False, True),
        ({"relaxations": 40}, False, True),
        ({"relaxations": None}, False, True),
        ({"relaxations": False}, False, True),
        ({"promise": {**TOLD, "k": 3}}, False, False),
    ],
)
def test_what_a_manifest_tells(changes: dict[str, Any], distinct: bool, certain: bool) -> None:
    assert claimed_method(manifest(**changes), OWN, TOLD, OWN) == MethodClaim(OWN, distinct, certain)


def test_what_others_files_tell() -> None:
    held_to = Promise(5, 60, 30)
    assert claimed_method(None, None, None, held_to) == MethodClaim(held_to, distinct=False, certain=False)
    assert claimed_method(None, OWN, TOLD, held_to) == MethodClaim(OWN, distinct=False, certain=False)
    assert claimed_method({"promise": TOLD, "parameters": []}, OWN, TOLD, OWN) == MethodClaim(
        OWN, distinct=False, certain=False
    )


def test_the_promise_is_the_files_own_and_spaced_reuse_holds_for_its_tau_only() -> None:
    longer, shorter = Promise(2, 60, 30), Promise(2, 20, 20)
    spaced = manifest(parameters={"reuse": "spaced"})
    assert claimed_method(spaced, OWN, TOLD, longer) == MethodClaim(OWN, distinct=False, certain=True)
    assert claimed_method(spaced, OWN, TOLD, shorter) == MethodClaim(OWN, distinct=True, certain=True)
    assert claimed_method(manifest(), OWN, TOLD, longer) == MethodClaim(OWN, distinct=True, certain=True)


EPSILON = TAU = 4


def walk(first: int, second: int) -> set[tuple[int, int, int]]:
    """One sample in each of two epochs, too far apart for one interval."""
    return {(0, first, 0), (7, second, 0)}


def shared(*places: tuple[int, int]) -> list[tuple[int, ...]]:
    """A box in each of the two epochs, from one column to another."""
    return [(t, t, x0, x1, 0, 0) for t, (x0, x1) in zip((0, 7), places, strict=True)]


def three_pairs() -> tuple[dict[str, Any], dict[str, Any]]:
    """A and a hide each other, and so on; B and b meet them in the first epoch, C and c in the second."""
    world = {
        "A": walk(0, 0), "a": walk(1, 1),
        "B": walk(2, 102), "b": walk(3, 103),
        "C": walk(102, 2), "c": walk(103, 3),
    }  # fmt: skip
    near, far = (0, 3), (102, 103)
    records = {
        **dict.fromkeys("Aa", shared(near, near)),
        **dict.fromkeys("Bb", shared(near, far)),
        **dict.fromkeys("Cc", shared(far, near)),
    }
    return world, records


def audited(world: dict[str, Any], records: dict[str, Any], **options: bool) -> Audit:
    return run_audit(context_of(world, records, 2, TAU, EPSILON, **options), [], SilentProgress())


def measured(audit: Audit, measure: str) -> float:
    figure = audit.figure("method", measure)
    assert figure is not None
    assert isinstance(figure.published, Proportion)
    return figure.published.value


@pytest.mark.parametrize("distinct", [False, True])
def test_a_good_release_passes(distinct: bool) -> None:
    audit = audited(*three_pairs(), certain=True, distinct=distinct)
    assert not audit.failed
    assert measured(audit, "ruled_out") == 0
    assert measured(audit, "single") == 0


@pytest.fixture
def without_matchings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Guarantee 3 is not checked, as where windows are too many: otherwise it finds what is planted here."""
    monkeypatch.setattr("shoal.auditing.guarantees.judging.check_matchings", lambda _: None)


def test_a_cover_that_does_not_cover_breaks_guarantee_3() -> None:
    world, records = three_pairs()
    records["a"] = shared((0, 3), (1, 1))
    audit = audited(world, records, certain=True)
    assert audit.coverage.kept
    assert [judgement.number for judgement in audit.guarantees.failing(0)] == [3]


@pytest.mark.usefixtures("without_matchings")
def test_a_cover_that_does_not_cover_is_found_though_guarantee_1_is_kept() -> None:
    """C and c fit A in the second epoch, B and b in the first, so k records fit; but nobody covers A in the window."""
    world, records = three_pairs()
    records["a"] = shared((0, 3), (1, 1))
    [unlike] = audited(world, records, certain=True).belonging.disagreements
    assert re.fullmatch(r".* true records do not look like it \(\d+ of 100 attacks rule them out\)", unlike)
    audit = audited(world, records)
    assert not audit.failed
    assert 0 < measured(audit, "ruled_out") < 1


@pytest.mark.usefixtures("without_matchings")
def test_a_file_made_epoch_by_epoch_is_not_made_by_the_method() -> None:
    world = {"A": walk(0, 0), "B": walk(1, 100), "C": walk(100, 1), "D": walk(101, 101)}
    near, far = (0, 1), (100, 101)
    records = {
        "A": shared(near, near), "B": shared(near, far), "C": shared(far, near), "D": shared(far, far),
    }  # fmt: skip
    [unlike] = audited(world, records, certain=True).belonging.disagreements
    assert "(100 of 100 attacks rule them out)" in unlike
    audit = audited(world, records)
    assert not audit.failed
    assert measured(audit, "ruled_out") == 1
    assert measured(audit, "single") == 0  # the attacker goes back to what fits


def test_a_broken_promise_is_told_as_such() -> None:
    world, records = three_pairs()
    records["a"] = shared((0, 3), (1, 1))
    records["C"] = records["c"] = shared((102, 103), (2, 3))
    audit = audited(world, records, certain=True)
    assert not audit.kept


def test_without_a_key_only_what_is_left_is_told() -> None:
    audit = audited(*three_pairs(), certain=True, key=False)
    assert measured(audit, "single") == 0
    for measure in ("success", "above", "ruled_out"):
        figure = audit.figure("method", measure)
        assert figure is not None
        assert figure.published == "not checked: no key"
