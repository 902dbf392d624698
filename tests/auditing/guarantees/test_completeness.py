"""Evidence must tell of every window and of everybody in it: all of shoal's does, and none that lacks something."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import pytest

from auditing.audit_contexts import context_of
from auditing.guarantees.evidence_lines import Line, evidence_of, lines_of
from oracles.casual_worlds import random_case
from oracles.one_window import published_samples
from shoal.auditing.context import AuditContext
from shoal.auditing.guarantees.completeness import missing_from, promise_of_evidence
from shoal.core.promise import Promise
from shoal.errors import InputError, NothingLeftError
from support.release_worlds import release


class Made(NamedTuple):
    """A release with the lines of its evidence."""

    context: AuditContext
    users: list[Any]
    lines: list[Line]
    has_suppressed: bool
    times: dict[Any, set[int]]

    def missing(self, lines: list[Line] | None = None, **more: Any) -> str | None:
        context = replace(self.context, **more)
        told = self.lines if lines is None else lines
        return missing_from(context, evidence_of(told, self.users, context))


def releases(seed: int, n: int, selector: str = "matching", **fixed: Any) -> Iterator[Made]:
    """Releases of small worlds with gaps, for promises of all kinds, some of them longer than the data."""
    rng = random.Random(seed)
    for _ in range(n):
        world, k, tau, epsilon = random_case(rng)
        k = rng.choice([k, k, 5])
        tau = rng.choice([tau, tau, tau, 50 * tau])
        if rng.random() < 0.4:
            cut, gap = min(s[0] for own in world.values() for s in own) + epsilon, rng.randint(1, 5) * epsilon
            world = {
                user: {(t + gap if t >= cut else t, x, y) for t, x, y in own} for user, own in world.items()
            }
        options = {"harden": rng.randint(0, 3), "reuse": rng.choice(["once", "pair", "spaced"]), **fixed}
        promise = Promise(k, tau, epsilon) if rng.random() < 0.9 else Promise(k, None, None)
        try:
            made = release(world, k, promise.tau, promise.epsilon, selector=selector, **options)
        except (InputError, NothingLeftError):
            continue
        users = sorted(world)
        context = replace(context_of(world, made.records, k, promise.tau, promise.epsilon), noted=promise)
        times = {user: {s[0] for s in published_samples(world, made.records, user)} for user in users}
        yield Made(context, users, lines_of(made, users), bool(made.suppressed), times)


@pytest.mark.parametrize(
    ("selector", "options"),
    [("matching", {}), ("mutual", {}), ("spectral", {"harden": 0, "reuse": "once", "repair": True})],
)
@pytest.mark.parametrize("seed", [0, 1])
def test_evidence_of_releases_is_complete(selector: str, options: dict[str, Any], seed: int) -> None:
    if selector == "spectral":
        pytest.importorskip("sklearn")
    made = list(releases(seed, 40 if selector == "spectral" else 120, selector, **options))
    assert [found for each in made if (found := each.missing()) is not None] == []
    assert sum(each.has_suppressed for each in made) >= 3
    assert sum(each.context.promise.whole for each in made) >= 2
    assert all(each.missing(noted=None) is None for each in made)


def without_a_window(made: Made, rng: random.Random) -> list[Line]:
    window = rng.choice([line[:2] for line in made.lines if not line[4]])
    return [line for line in made.lines if line[4] or line[:2] != window]


def without_a_user(made: Made, rng: random.Random) -> list[Line]:
    """One user less in one window; the others tell that the window was there."""
    begin, end, user, *_ = rng.choice([line for line in made.lines if not line[4]])
    return [line for line in made.lines if line[4] or line[:3] != (begin, end, user)]


def without_a_line(made: Made, rng: random.Random) -> list[Line]:
    place = rng.choice([place for place, line in enumerate(made.lines) if not line[4]])
    return made.lines[:place] + made.lines[place + 1 :]


def with_another_record(made: Made, rng: random.Random) -> list[Line]:
    """A line more than the promise asks for, which would water down a share of lines; none serves again with whole."""
    if made.context.promise.whole:
        return made.lines
    begin, end, user, _, _ = rng.choice([line for line in made.lines if not line[4]])
    owners = {line[3] for line in made.lines if line[:3] == (begin, end, user)} | {user}
    more = [other for other in made.users if other not in owners and made.times[other]]
    return [*made.lines, *((begin, end, user, other, False) for other in more[:1])]


def of_a_single_slot(made: Made, _: random.Random) -> list[Line]:
    return [(begin, begin + 1, *rest) for begin, _, *rest in made.lines]


def as_witnesses(made: Made, _: random.Random) -> list[Line]:
    return [(*line[:4], True) for line in made.lines]


@pytest.mark.parametrize(
    "forged",
    [without_a_window, without_a_user, without_a_line, with_another_record, of_a_single_slot, as_witnesses],
)
def test_evidence_that_lacks_something_is_none(forged: Any) -> None:
    rng, n_tried = random.Random(5), 0
    for made in releases(11, 60):
        lines = forged(made, rng)
        if sorted(lines) != sorted(made.lines) and made.context.promise.epsilon != 1:
            n_tried += 1
            assert made.missing(lines) is not None, made.context.promise
    assert n_tried >= 15


def four_epochs(*epochs: int, k: int = 2, tau: int = 8) -> Made:
    """Two people with a sample in some of the epochs of 4 slots each; windows of three epochs."""
    world = {user: {(4 * epoch, 0, 0) for epoch in epochs} for user in "ab"}
    records = {user: [(4 * epoch, 4 * epoch, 0, 0, 0, 0) for epoch in epochs] for user in "ab"}
    context = context_of(world, records, k, tau, 4)
    times = {user: {4 * epoch for epoch in epochs} for user in "ab"}
    return Made(replace(context, noted=context.promise), ["a", "b"], [], False, times)


def windows(*epochs: tuple[int, int]) -> list[Line]:
    """Both people hide each other in windows from one epoch to another, both included."""
    return [(4 * first, 4 * last + 4, *pair, False) for first, last in epochs for pair in ("ab", "ba")]


def test_windows_that_nobody_can_leave_out() -> None:
    made = four_epochs(0, 1, 2, 3)
    assert made.missing(windows((0, 2), (1, 3))) is None
    assert made.missing(windows((0, 2))) == "the evidence leaves 1 window out"
    assert made.missing(windows((0, 1), (2, 3))) == "the evidence leaves 2 windows out"
    beside = "1 of 3 windows of the evidence are too short beside others"
    assert made.missing(windows((0, 2), (1, 3), (3, 3))) == beside


def test_windows_between_others_are_there_unless_nobody_is_in_them() -> None:
    """Epochs 0 and 5 are published; who was in between was suppressed, so that recipients cannot tell windows there."""
    made = four_epochs(0, 5)
    assert made.missing(windows((0, 0), (5, 5))) is None
    assert made.missing(windows((0, 2), (3, 5))) is None  # nobody is in window 1 to 3, nor in 2 to 4
    assert made.missing(windows((-2, 0), (-1, 1), (0, 2), (3, 5), (4, 6), (5, 7))) is None
    assert made.missing(windows((0, 2), (5, 7))) is None  # two stretches
    assert made.missing(windows((-2, 0), (0, 2), (3, 5))) == "the evidence leaves 1 window out"
    assert made.missing(windows((0, 2), (3, 5), (5, 7))) == "the evidence leaves 1 window out"


def test_a_stretch_shorter_than_a_window_is_one_window() -> None:
    made = four_epochs(0, 1)
    assert made.missing(windows((0, 1))) is None
    assert made.missing(windows((0, 0), (1, 1))) is not None
    assert made.missing(windows((0, 0), (0, 1))) is not None


def test_everybody_is_held_by_others_in_every_window() -> None:
    made = four_epochs(0, 1)
    own = [(0, 8, "a", "a", False), (0, 8, "b", "a", False)]
    assert (
        made.missing(own)
        == "by the evidence, in 1 case somebody in a window is not held there by 1 other record"
    )
    assert four_epochs(0, 1, k=3).missing(windows((0, 1))) is not None


def test_lines_of_no_window_or_epoch() -> None:
    made = four_epochs(0, 1)
    for line in (
        (0, 16, "a", "b", False),
        (1, 8, "a", "b", False),
        (0, 8, "a", "b", True),
        (0, 2, "a", "b", True),
    ):
        told = made.missing([*windows((0, 1)), line])
        assert told == "1 of 3 lines of the evidence tell of no epoch or window"
    assert made.missing([*windows((0, 1)), (4, 8, "a", "b", True)]) is None


def test_a_file_is_held_to_the_windows_it_was_made_for_if_they_are_long_enough() -> None:
    context = four_epochs(0, 1).context
    for noted, required, expected in (
        (Promise(2, 8, 4), Promise(2, 8, 8), Promise(2, 8, 4)),
        (Promise(2, 4, 4), Promise(2, 8, 8), Promise(2, 8, 8)),
        (Promise(2, 8, 4), Promise(3, 8, 4), Promise(3, 8, 4)),
        (None, Promise(2, 8, 8), Promise(2, 8, 8)),
    ):
        assert promise_of_evidence(replace(context, noted=noted, promise=required)) == expected
