"""Guarantee 2: the evidence against the slow way and against what hiding counts, and a file's own account."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from auditing.audit_contexts import context_of, damaged
from oracles.casual_worlds import random_case
from oracles.one_window import in_line, served_again, too_long_lines, unexplained_boxes, untrue_lines
from shoal.auditing.context import AuditContext
from shoal.auditing.guarantees.judgement import Asked, Basis, Judgement, State
from shoal.auditing.guarantees.one_window import (
    OwnAccount,
    Serving,
    check_serving,
    judge_one_window,
    measure_held_apart,
    own_account,
)
from shoal.core.promise import Promise
from shoal.errors import InputError, NothingLeftError
from shoal.reading import HidingEvidence
from support.release_worlds import Release, release

Line = tuple[int, int, Any, Any]


def lines_of(made: Release, users: list[Any]) -> list[tuple[int, int, Any, Any, bool]]:
    """The lines of evidence of a release: begin, end, user, owner, and whether it is a witness's."""
    return [
        (part.begin, part.end, users[member], users[owner], part.in_epoch)
        for part in made.outcome.hidden()
        for owner, member in zip(part.owners.tolist(), part.members.tolist(), strict=True)
    ]


def evidence_of(lines: list[Any], users: list[Any], context: AuditContext) -> HidingEvidence:
    own = context.published.own
    columns = list(zip(*lines, strict=True)) or [()] * 5
    return HidingEvidence(
        np.array(columns[0], np.int64),
        np.array(columns[1], np.int64),
        np.array([users.index(user) for user in columns[2]], np.int32),
        np.array([own[users.index(owner)] for owner in columns[3]], np.int32),
        np.array(columns[4], np.bool_),
    )


@pytest.mark.parametrize("seed", [0, 1, 2, 4, 5])  # each has witnesses
def test_releases_are_explained_and_reuse_is_counted_as_hiding_counts_it(seed: int) -> None:
    rng = random.Random(seed)
    relaxed = hardened = 0
    for _ in range(60):
        world, k, tau, epsilon = random_case(rng)
        try:
            made = release(world, k, tau, epsilon, harden=rng.choice([0, 3]))
        except (InputError, NothingLeftError):
            continue
        users = sorted(world)
        context = context_of(world, made.records, k, tau, epsilon)
        lines = lines_of(made, users)
        found = check_serving(context, evidence_of(lines, users, context))
        assert found == Serving(made.outcome.n_members, made.outcome.relaxations, 0, 0, 0)
        relaxed += made.outcome.relaxations > 0
        hardened += any(line[4] for line in lines)
    assert relaxed
    assert hardened


@pytest.mark.parametrize("seed", range(4))
def test_evidence_agrees_with_the_slow_way_where_file_or_evidence_are_damaged(seed: int) -> None:
    rng = random.Random(seed)
    seen = dict.fromkeys(Serving._fields, 0)
    for _ in range(40):
        world, k, tau, epsilon = random_case(rng)
        try:
            made = release(world, k, tau, epsilon)
        except (InputError, NothingLeftError):
            continue
        records = damaged(rng, made.records) if rng.random() < 0.5 else made.records
        users = sorted(world)
        context = context_of(world, records, k, tau, epsilon)
        held_to = context if rng.random() < 0.5 else replace(context, promise=Promise(k, 1, 1))
        lines = [line for line in lines_of(made, users) if line[3] in records and line[2] in records]
        lines = [line for line in lines if rng.random() < 0.9]
        for _ in range(rng.randint(0, 2) if lines else 0):
            begin, end, user, owner, in_epoch = rng.choice(lines)
            lines.append((begin + rng.randint(-epsilon, epsilon), end + 2 * epsilon, user, owner, in_epoch))
        if lines and rng.random() < 0.3:
            lines.append(rng.choice(lines))
        plain = [line[:4] for line in lines]
        telling = [line for line in lines if in_line(world, records, line[:4])]
        window = int(held_to.promise.window)
        found = check_serving(held_to, evidence_of(lines, users, context))
        assert found == Serving(
            sum(not line[4] for line in telling),
            served_again([line[:4] for line in telling], window),
            len(too_long_lines(world, records, plain, window)),
            len(untrue_lines(world, records, plain)),
            len(unexplained_boxes(world, records, plain)),
            len(lines) - len({(begin, user, owner, in_epoch) for begin, _, user, owner, in_epoch in lines}),
        )
        for name, number in found._asdict().items():
            seen[name] += number > 0
    assert min(seen.values()) >= 3, seen


def pair_world() -> tuple[dict, dict]:
    """Two people, one sample in each of four epochs of 4 slots, each in the other's boxes all the time."""
    world = {"a": {(t, 0, 0) for t in (0, 4, 8, 12)}, "b": {(t + 1, 1, 0) for t in (0, 4, 8, 12)}}
    return world, {user: [(t, t + 1, 0, 1, 0, 0) for t in (0, 4, 8, 12)] for user in world}


def judged(lines: list[Any], *, promise: Promise | None = None, key: bool = True, **more: Any) -> Judgement:
    world, records = pair_world()
    context = context_of(world, records, 2, 4, 4, key=key)
    with_evidence = replace(
        context, evidence=evidence_of(lines, ["a", "b"], context), promise=promise or context.promise, **more
    )
    return judge_one_window(with_evidence, belongs=True)


def both(*times: tuple[int, int]) -> list[Any]:
    return [(*time, *pair, False) for time in times for pair in ("ab", "ba")]


def test_one_window_each_is_kept() -> None:
    world = {"a": {(0, 0, 0), (9, 0, 0)}, "b": {(1, 1, 0), (9, 5, 0)}}
    records = {
        "a": [(0, 1, 0, 1, 0, 0), (9, 9, 0, 0, 0, 0)],
        "b": [(0, 1, 0, 1, 0, 0), (9, 9, 5, 5, 0, 0)],
    }
    context = context_of(world, records, 2, 4, 4)
    evidence = evidence_of(both((0, 8)), ["a", "b"], context)
    found = judge_one_window(replace(context, evidence=evidence), belongs=True)
    assert (found.state, found.basis, found.part, found.whole) == (State.KEPT, Basis.EVIDENCE, 0, 2)
    # Without the key nobody knows whose samples explain a box, and the evidence is of no use.
    unknown = context_of(world, records, 2, 4, 4, key=False)
    assert judge_one_window(replace(unknown, evidence=evidence), belongs=True).state is State.NOT_CHECKED


def test_who_serves_again_weakens_it_by_their_share() -> None:
    found = judged(both((0, 8), (4, 12), (8, 16)))
    assert (found.state, found.part, found.whole) == (State.WEAKENED, 4, 6)
    assert found.detail == "66.7 % of members had to serve again"


def test_lines_without_samples_do_not_water_it_down() -> None:
    """Nobody has a sample beyond slot 13, nor in slots 2 and 3: such lines are true of any record."""
    padding = both(*((t, t + 8) for t in range(100, 900, 8)), (2, 4))
    found = judged([*both((0, 8), (4, 12), (8, 16)), *padding])
    assert (found.state, found.part, found.whole) == (State.WEAKENED, 4, 6)


def test_evidence_that_was_not_written_with_the_key_is_none() -> None:
    found = told(None, evidence_differs=True)
    words = "the evidence is not the one written with the key"
    assert (found.state, found.basis, found.detail) == (State.NOT_CHECKED, Basis.EVIDENCE, words)
    weakened = told(
        "weakened: k kept; epsilon not: up to 91 of 100 members had to serve again", evidence_differs=True
    )
    assert (weakened.state, weakened.share) == (State.WEAKENED, 0.91)
    assert weakened.detail.endswith(words)


def test_members_who_stay_longer_than_a_window_break_it() -> None:
    found = judged(both((0, 16)))
    assert found.state is State.BROKEN
    assert found.detail == "100 % of members stay longer than 8 h"
    assert judged(both((0, 16)), promise=Promise(2, 8, 8)).state is State.KEPT
    assert judged(both((0, 16)), promise=Promise(2, None, None)).state is State.KEPT


def test_evidence_that_is_incomplete_or_not_so_proves_nothing() -> None:
    incomplete = judged(both((0, 8)))
    assert (incomplete.state, incomplete.detail) == (
        State.NOT_CHECKED,
        "the evidence leaves 4 of 8 boxes unexplained",
    )
    world, records = pair_world()
    records = {**records, "b": [(t + 1, t + 1, 1, 1, 0, 0) for t in (0, 4, 8, 12)]}
    context = context_of(world, records, 2, 4, 4)
    evidence = evidence_of(both((0, 8)), ["a", "b"], context)
    other = judge_one_window(replace(context, evidence=evidence), belongs=True)
    assert (other.state, other.detail) == (
        State.NOT_CHECKED,
        "1 of 2 lines of the evidence are not so in this file",
    )


def manifest(words: str) -> dict[str, Any]:
    return {"guarantees": {"one_window": words}}


@pytest.mark.parametrize(
    ("words", "account"),
    [
        ("given", OwnAccount("given")),
        ("weakened: up to 1,200 of 13,128 times a user had to hide with somebody again", (1200, 13_128)),
        ("weakened: k kept; epsilon not: up to 1,300 of 1,250 members had to serve again", (1250, 1250)),
        ("weakened: k kept; epsilon not: fewer than 10 of 400 members had to serve again", (10, 400)),
        ("not given: members may serve again after a while (reuse spaced)", (0, 0)),
    ],
)
def test_what_a_manifest_admits(words: str, account: Any) -> None:
    found = own_account(manifest(words))
    assert found == (account if isinstance(account, OwnAccount) else OwnAccount(words, *account))


def told(words: str | None, *, belongs: bool = True, **more: Any) -> Judgement:
    world, records = pair_world()
    context = context_of(world, records, 2, 4, 4)
    context = replace(context, manifest=None if words is None else manifest(words), **more)
    return judge_one_window(context, belongs=belongs)


def test_a_files_own_account_can_admit_but_not_prove() -> None:
    weakened = "weakened: k kept; epsilon not: up to 91 of 100 members had to serve again"
    found = told(weakened)
    assert (found.state, found.basis, found.share) == (State.WEAKENED, Basis.MANIFEST, 0.91)
    assert told(weakened, belongs=False).state is State.NOT_CHECKED
    assert told("given").state is told(None).state is told("nonsense").state is State.NOT_CHECKED
    assert told("given", required=True).asked is Asked.REQUIRED


def test_a_guarantee_that_the_file_disclaims_fails_only_if_it_is_required() -> None:
    spaced = "not given: members may serve again after a while (reuse spaced)"
    claimed, required = told(spaced), told(spaced, required=True)
    assert (claimed.state, claimed.asked, claimed.fails(0)) == (State.NOT_CHECKED, Asked.DISCLAIMED, False)
    assert (required.state, required.fails(0)) == (State.BROKEN, True)


@pytest.mark.parametrize("noted", [Promise(2, None, None), Promise(2, 8, 4)])
def test_a_file_made_for_longer_windows_breaks_shorter_ones_by_its_own_account(noted: Promise) -> None:
    found = told("given", required=True, noted=noted)
    assert (found.state, found.basis) == (State.BROKEN, Basis.MANIFEST)
    assert told("given", required=True, noted=Promise(2, 4, 4)).state is State.NOT_CHECKED


def test_file_and_key_alone_give_a_figure_beside_accident_and_no_judgement() -> None:
    """Two pairs who share boxes all day: held by another record always, and by nobody at other times."""
    world = {name: {(t, 10 * t + x, 0) for t in range(24)} for x, name in enumerate("abcd")}
    records = {
        name: [(t, t, 10 * t + x // 2 * 2, 10 * t + x // 2 * 2 + 1, 0, 0) for t in range(24)]
        for x, name in enumerate("abcd")
    }
    context = context_of(world, records, 2, 1, 1)
    found = measure_held_apart(context)
    assert found is not None
    assert (found.published.value, found.accident.value) == (1, 0)
    assert judge_one_window(context, belongs=True).state is State.NOT_CHECKED
    same_place = {name: {(t, 0, 0) for t in range(24)} for name in "abcd"}
    boxes = {name: [(t, t, 0, 0, 0, 0) for t in range(24)] for name in "abcd"}
    everywhere = measure_held_apart(context_of(same_place, boxes, 2, 1, 1))
    assert everywhere is not None
    assert (everywhere.published.value, everywhere.accident.value) == (1, 1)
    assert measure_held_apart(context_of(world, records, 2, 1, 1, key=False)) is None
    assert measure_held_apart(context_of(world, records, 2, None, None)) is None
