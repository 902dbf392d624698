"""A claim that says nearly nothing of the samples is called weak, and is never kept."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from auditing.audit_contexts import context_of
from shoal.auditing import auditor
from shoal.auditing.claims import WEAK, is_weak
from shoal.core.promise import Promise
from support.run_command import HALF_HOURS, anonymize, audit, city, in_metres, run, write


@pytest.mark.parametrize(
    ("tau", "weak"), [(1, True), (3, True), (4, False), (5, False), (None, False)]
)  # two of three people have a sample every 3 slots
def test_tau_against_the_times_between_samples(tau: int | None, weak: bool) -> None:
    world = {
        "a": {(t, x, 0) for t in (0, 3, 6, 30) for x in (0, 1)},
        "b": {(t, 0, 0) for t in (1, 4, 7)},
        "c": {(t, 0, 0) for t in (0, 90)},
    }
    context = context_of(world, {user: [(0, 90, 0, 1, 0, 0)] for user in world}, 2, 4, 4)
    assert is_weak(Promise(2, tau, tau), context.trajectories) == weak


def test_people_who_are_seen_once() -> None:
    world = {user: {(0, 0, 0), (0, 1, 0)} for user in "ab"}
    context = context_of(world, {user: [(0, 0, 0, 1, 0, 0)] for user in world}, 2, 4, 4)
    assert is_weak(Promise(2, 9, 9), context.trajectories)


def test_a_weak_claim_is_told_everywhere_and_a_requirement_is_not_called_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    events, output, key = (
        write(in_metres(users=24), tmp_path / "events.csv"),
        tmp_path / "out.csv",
        tmp_path / "key.csv",
    )
    assert anonymize(events, output, "--tau", "1min", "--epsilon", "1min", "--key-out", key).code == 0
    page, given = tmp_path / "page.html", ("--key", key, "--tolerance", 1)
    assert run("report", events, output, "-o", page, "--attacks", 20, *given).code == 4
    assert WEAK in page.read_text().replace("\N{NO-BREAK SPACE}", " ")
    done = audit(events, output, *given)
    assert done.code == 4
    assert done.out.startswith("Verdict       WEAK CLAIM: guarantee 1 kept")
    assert "KEPT" not in done.out
    assert "say with --k, --tau and --epsilon what you require" in " ".join(done.out.split())
    assert WEAK in " ".join(done.out.split())
    assert (
        "A weak claim, which says nearly nothing: at least 2 records fit what anybody did in any"
        in page.read_text()
    )
    assert json.loads(audit(events, output, *given, "--json", "-").out)["verdict"]["warning"] == WEAK
    required = ("--k", 2, "--tau", "1min", "--epsilon", "1min")
    assert audit(events, output, *given, *required).code == 0
    assert (
        json.loads(audit(events, output, *given, *required, "--json", "-").out)["verdict"]["warning"] is None
    )
    strong = tmp_path / "strong.csv"
    assert anonymize(events, strong, *HALF_HOURS).code == 0
    assert json.loads(audit(events, strong, "--json", "-").out)["verdict"]["warning"] is None
    monkeypatch.setattr(auditor, "is_weak", lambda *_: False)  # with the check taken out nobody is told
    done = audit(events, output, *given)
    assert (done.code, WEAK in " ".join(done.out.split())) == (0, False)


def test_an_ordinary_claim_is_not_weak(tmp_path: Path) -> None:
    """A city, in which people are seen every few minutes."""
    events, output = write(city(300), tmp_path / "events.parquet"), tmp_path / "out.parquet"
    assert anonymize(events, output, *HALF_HOURS).code == 0
    assert json.loads(audit(events, output, "--tolerance", 1, "--json", "-").out)["exit_code"] == 0
