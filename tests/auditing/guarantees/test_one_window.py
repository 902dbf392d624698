"""Guarantee 2: the evidence against the slow way and against what hiding counts, and a file's own account."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest

from auditing.audit_contexts import context_of, damaged
from auditing.guarantees.evidence_lines import evidence_of, lines_of
from oracles.casual_worlds import random_case
from oracles.one_window import in_line, served_again, too_long_lines, unexplained_boxes, untrue_lines
from shoal.auditing.guarantees.judgement import Asked, Basis, Judgement, State
from shoal.auditing.guarantees.one_window import (
    OneWindow,
    Serving,
    check_serving,
    judge_one_window,
    measure_held_apart,
)
from shoal.core.promise import Promise
from shoal.errors import InputError, NothingLeftError
from support.release_worlds import release


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
    return judge_one_window(with_evidence, belongs=True).judgement


def both(*times: tuple[int, int]) -> list[Any]:
    return [(*time, *pair, False) for time in times for pair in ("ab", "ba")]


def test_one_window_each_is_kept() -> None:
    """Of four people a hides with b and c with d at first, and much later a with c and b with d."""
    beside = {"a": "bc", "b": "ad", "c": "da", "d": "cb"}
    x = {0: dict(zip("abcd", (0, 1, 8, 9), strict=True)), 40: dict(zip("acbd", (0, 1, 8, 9), strict=True))}
    world = {user: {(t, x[t][user], 0) for t in x} for user in beside}
    records = {
        user: [(t, t, *sorted((x[t][user], x[t][other])), 0, 0) for t, other in zip(x, others, strict=True)]
        for user, others in beside.items()
    }
    context = context_of(world, records, 2, 4, 4)
    lines = [(t, t + 4, user, others[t > 0], False) for t in x for user, others in beside.items()]
    evidence = evidence_of(lines, sorted(world), context)
    found = judge_one_window(replace(context, evidence=evidence), belongs=True).judgement
    assert (found.state, found.basis, found.part, found.whole) == (State.KEPT, Basis.EVIDENCE, 0, 8)
    # Without the key nobody knows whose samples explain a box, and the evidence is of no use.
    unknown = context_of(world, records, 2, 4, 4, key=False)
    assert (
        judge_one_window(replace(unknown, evidence=evidence), belongs=True).judgement.state
        is State.NOT_CHECKED
    )


def test_who_serves_again_weakens_it_by_their_share() -> None:
    found = judged(both((0, 8), (4, 12), (8, 16)))
    assert (found.state, found.part, found.whole) == (State.WEAKENED, 4, 6)
    assert found.detail == "66.7 % of members had to serve again"


def test_lines_without_samples_do_not_water_it_down() -> None:
    """Nobody has a sample beyond slot 13: such lines are true of any record."""
    padding = both(*((t, t + 8) for t in range(100, 900, 8)))
    found = judged([*both((0, 8), (4, 12), (8, 16)), *padding])
    assert (found.state, found.part, found.whole) == (State.WEAKENED, 4, 6)


def test_evidence_that_was_not_written_with_the_key_is_none() -> None:
    found = told(None, evidence_differs=True)
    words = "the evidence is not the one written with the key"
    assert (found.state, found.basis, found.detail) == (State.NOT_CHECKED, Basis.EVIDENCE, words)
    weakened = told(WEAKENED, evidence_differs=True)
    assert (weakened.state, weakened.share) == (State.WEAKENED, 0.91)
    assert weakened.detail.endswith(words)
    little = told(WEAKENED, evidence_differs=True, tolerance=0.91, required=True)
    assert (little.state, little.is_open) == (State.NOT_CHECKED, True)
    assert little.detail.startswith(f"{words}; the file admits that up to 91 %")


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
    lacking = judged(both((0, 8), (8, 16)))
    assert (lacking.state, lacking.detail) == (State.NOT_CHECKED, "the evidence leaves 1 window out")
    world, records = pair_world()
    records = {**records, "b": [(t + 1, t + 1, 1, 1, 0, 0) for t in (0, 4, 8, 12)]}
    context = context_of(world, records, 2, 4, 4)
    evidence = evidence_of(both((0, 8)), ["a", "b"], context)
    other = judge_one_window(replace(context, evidence=evidence), belongs=True).judgement
    assert (other.state, other.detail) == (
        State.NOT_CHECKED,
        "1 of 2 lines of the evidence are not so in this file",
    )


WEAKENED = "weakened: k kept; epsilon not: up to 91 of 100 members had to serve again"


def manifest(words: str) -> dict[str, Any]:
    return {"guarantees": {"one_window": words}}


def told(words: str | None, *, belongs: bool = True, **more: Any) -> Judgement:
    world, records = pair_world()
    context = context_of(world, records, 2, 4, 4)
    context = replace(context, manifest=None if words is None else manifest(words), **more)
    return judge_one_window(context, belongs=belongs).judgement


def test_a_files_own_account_can_admit_but_not_prove() -> None:
    found = told(WEAKENED)
    assert (found.state, found.basis, found.share) == (State.WEAKENED, Basis.MANIFEST, 0.91)
    assert found.detail == "up to 91 % of members had to serve again"
    assert told(WEAKENED, belongs=False).state is State.NOT_CHECKED
    assert told("given").state is told(None).state is told("nonsense").state is State.NOT_CHECKED
    assert told("given", required=True).asked is Asked.REQUIRED


def test_a_little_that_a_file_admits_may_be_more() -> None:
    words = "weakened: k kept; epsilon not: up to 1 of 10,000 members had to serve again"
    little = told(words, tolerance=0.01, required=True)
    assert (little.state, little.basis, little.fails(0.01), little.is_open) == (
        State.NOT_CHECKED,
        Basis.MANIFEST,
        False,
        True,
    )
    assert little.detail.startswith(
        "the file admits that up to 0.1 % of members had to serve again, and only the"
    )
    assert told(words, required=True).fails(0)


def with_account(
    n_again: int, n_members: int, *, reuse: str = "once", certain: bool = True, **more: Any
) -> OneWindow:
    """Evidence of 6 members, 4 of whom serve again, beside a manifest that tells of others."""
    world, records = pair_world()
    context = context_of(world, records, 2, 4, 4, certain=certain)
    account = {
        **manifest(f"weakened: {n_again} of {n_members} members" if n_again else "given"),
        "relaxations": n_again,
        "members": n_members,
        "parameters": {"reuse": reuse},
    }
    evidence = evidence_of(both((0, 8), (4, 12), (8, 16)), ["a", "b"], context)
    more = {"evidence": evidence, "manifest": account, "noted": context.promise, **more}
    return judge_one_window(replace(context, **more), belongs=True)


def test_an_account_never_beats_the_evidence() -> None:
    agreed = with_account(4, 6)
    assert (agreed.judgement.part, agreed.judgement.whole, agreed.disagreements) == (4, 6, ())
    found = with_account(1, 150)
    assert found.judgement.basis is Basis.EVIDENCE
    assert (found.judgement.part, found.judgement.whole) == (4, 6)
    assert found.disagreements == (
        "the number of members is 141 to 150 by the manifest, 6 by the evidence",
        "the number of members that had to serve again is 1 by the manifest, 4 by the evidence",
    )
    assert with_account(0, 6).disagreements == (
        "the number of members that had to serve again is 0 by the manifest, 4 by the evidence",
    )


def test_of_an_account_and_evidence_that_disagree_the_worse_counts() -> None:
    found = with_account(6, 6)
    assert (found.judgement.basis, found.judgement.share) == (Basis.MANIFEST, 1)
    assert len(found.disagreements) == 1


def test_counts_are_compared_only_where_they_count_the_same() -> None:
    assert with_account(5, 6, reuse="pair").disagreements == ()  # a pair may serve the other way round
    assert with_account(3, 6, reuse="pair").disagreements
    assert with_account(0, 6, reuse="spaced").disagreements == ()
    assert with_account(1, 150, certain=False).disagreements == ()  # who hides whom was suppressed afterwards
    other = with_account(3, 6, promise=Promise(2, 3, 4), noted=Promise(2, 4, 4))  # as long, as it happens
    assert other.disagreements
    assert with_account(3, 6, promise=Promise(2, 8, 4), noted=Promise(2, 8, 8)).disagreements == ()


def test_words_and_numbers_of_a_manifest_that_disagree() -> None:
    world, records = pair_world()
    context = context_of(world, records, 2, 4, 4)
    told = {
        **manifest("weakened: up to 5 of about 150,000 members"),
        "relaxations": 140_000,
        "members": 150_000,
    }
    found = judge_one_window(replace(context, manifest=told), belongs=True)
    assert found.judgement.share == 140_000 / 140_001
    assert found.disagreements == (
        "the manifest says of guarantee 2 in words what it does not say in numbers",
    )


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


@pytest.mark.parametrize("seed", range(3))
def test_what_must_have_served_again_is_no_more_than_did(seed: int) -> None:
    rng = random.Random(seed)
    must = n_measured = 0
    for _ in range(60):
        world, k, tau, epsilon = random_case(rng)
        try:
            made = release(world, k, tau, epsilon, harden=rng.choice([0, 3]))
        except (InputError, NothingLeftError):
            continue
        found = measure_held_apart(context_of(world, made.records, k, tau, epsilon))
        if found is not None:
            n_measured += 1
            n_again = round(found.again.value * found.again.n)
            assert n_again <= made.outcome.relaxations
            must += n_again > 0
    assert 0 < must < n_measured


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
    assert (found.again.value, found.again.n) == (22 / 23, 4 * 23)  # of 23 windows each is hidden in one anew
    assert judge_one_window(context, belongs=True).judgement.state is State.NOT_CHECKED
    same_place = {name: {(t, 0, 0) for t in range(24)} for name in "abcd"}
    boxes = {name: [(t, t, 0, 0, 0, 0) for t in range(24)] for name in "abcd"}
    everywhere = measure_held_apart(context_of(same_place, boxes, 2, 1, 1))
    assert everywhere is not None
    assert (everywhere.published.value, everywhere.accident.value) == (1, 1)
    assert measure_held_apart(context_of(world, records, 2, 1, 1, key=False)) is None
    assert measure_held_apart(context_of(world, records, 2, None, None)) is None
