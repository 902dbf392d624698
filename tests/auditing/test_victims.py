"""What attackers know is drawn from the samples that it is said to be drawn from."""

from __future__ import annotations

import numpy as np

from auditing.audit_contexts import context_of
from shoal.auditing.attacks.linkage import PUBLISHED_POINTS, attack_points
from shoal.auditing.context import AuditContext
from shoal.auditing.measures import NO_KEY
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


def test_points_are_drawn_from_all_samples_or_from_some() -> None:
    context = world()
    drawn = points(context, np.random.default_rng(0), 4)
    assert {0, 1, 2} == set(drawn.victim.tolist())
    assert set(context.samples.t[drawn.first].tolist()) == set(range(8))
    some = points(context, np.random.default_rng(0), 4, context.held.samples)
    assert {0, 1} == set(some.victim.tolist())  # nobody knows four published samples of C
    times = context.samples.t[some.first].reshape(-1, 4)
    assert (np.sort(times, axis=1) == np.arange(4)).all()
    assert (context.samples.user[some.first] == np.repeat(some.victim, 4)).all()


def test_four_published_samples_are_told_with_a_key_only() -> None:
    def single(context: AuditContext) -> dict[str, Proportion | str]:
        return {each.variant: each.published for each in attack_points(context) if each.measure == "single"}

    known = single(world())
    share = known[PUBLISHED_POINTS]
    assert isinstance(share, Proportion)
    assert (share.value, share.victims) == (1.0, 2)
    assert single(world(key=False))[PUBLISHED_POINTS] == NO_KEY
