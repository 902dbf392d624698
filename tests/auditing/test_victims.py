"""What attackers know is drawn from the samples that it is said to be drawn from."""

from __future__ import annotations

import numpy as np

from auditing.audit_contexts import context_of
from shoal.auditing.attacks.linkage import attack_points
from shoal.auditing.context import AuditContext
from shoal.auditing.published_part import attacked_part
from shoal.auditing.truthfulness import SuppressedPart, check_truthfulness
from shoal.auditing.victims import points
from shoal.core.proportions import Proportion

# Of A and B the last four hours are suppressed, of C all but one.
SAMPLES = {user: {(t, t, number) for t in range(8)} for number, user in enumerate("ABC")}
RECORDS = {
    user: [(t, t, t, t, number, number) for t in range(1 if user == "C" else 4)]
    for number, user in enumerate("ABC")
}


def world(*, key: bool = True) -> AuditContext:
    return context_of(SAMPLES, RECORDS, 2, 2, 2, key=key, n_attacks=200)


def test_points_are_drawn_from_all_samples() -> None:
    context = world()
    drawn = points(context, np.random.default_rng(0), 4)
    assert {0, 1, 2} == set(drawn.victim.tolist())
    assert set(context.samples.t[drawn.first].tolist()) == set(range(8))
    assert (context.samples.user[drawn.first] == np.repeat(drawn.victim, 4)).all()


def test_attackers_know_what_was_published_where_the_file_is_true() -> None:
    context = world()
    part = attacked_part(context, check_truthfulness(context))
    assert sorted(part.samples.t.tolist()) == [0, 0, 0, 1, 1, 2, 2, 3, 3]
    drawn = points(part, np.random.default_rng(0), 4)
    assert {0, 1} == set(drawn.victim.tolist())  # nobody knows four published samples of C
    single = {each.variant: each.published for each in attack_points(part) if each.measure == "single"}
    assert isinstance(single["4"], Proportion)
    assert (single["4"].value, single["4"].victims) == (1.0, 2)


def test_attackers_know_everything_where_nobody_knows_what_was_published() -> None:
    whole = world()
    assert attacked_part(world(key=False), None).samples.n_users == 3
    untrue = check_truthfulness(whole)._replace(n_empty_boxes=1)
    assert attacked_part(whole, untrue) is whole
    nothing_lost = check_truthfulness(whole)._replace(suppressed=SuppressedPart(24, 0))
    assert attacked_part(whole, nothing_lost) is whole
