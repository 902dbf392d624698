"""A ranking that tells people apart is a finding; one that does not is none, and ties are broken by lot."""

from __future__ import annotations

import numpy as np
import pytest

from auditing.audit_contexts import context_of
from shoal.auditing.attacks.rankings import RANKINGS, attack_rankings, findings
from shoal.auditing.measures import Measure
from shoal.auditing.proportions import Proportion, proportion_of


def figure(name: str, successes: int, n: int = 2000) -> Measure:
    share = proportion_of([1.0] * successes + [0.0] * (n - successes))
    assert share is not None
    return Measure("rankings", "", name, share, share, 0.5)


def test_only_what_beats_the_bound_beyond_chance_is_a_finding() -> None:
    # 2,000 attacks at 1/2: a standard deviation is 22.4; corrected for three rankings, 2.13 of them are needed.
    found = findings([figure("smallest", 1040), figure("faces", 1060), figure("central", 900)], k=2)
    assert [finding.ranking for finding in found] == ["faces"]
    assert found[0].bound == 0.5
    assert found[0].p_value < 0.05 / 3
    assert findings([figure("faces", 1060)._replace(published="not checked: no key")], k=2) == []
    assert [finding.ranking for finding in findings([figure("faces", 750)], k=3)] == ["faces"]


def crowd(*, telling: bool) -> tuple[dict, dict]:
    """Pairs of people who are seen together all day; if it is telling, the other's box is wider than one's own."""
    world, records = {}, {}
    for pair in range(20):
        for member in (0, 1):
            times = range(member, 20, 2)
            world[2 * pair + member] = {(t, 10 * pair, 0) for t in times}
            width = (lambda t, member=member: t % 2 != member) if telling else (lambda _: False)
            records[2 * pair + member] = [(t, t, 10 * pair, 10 * pair + width(t), 0, 0) for t in range(20)]
    return world, records


@pytest.mark.parametrize("telling", [False, True])
def test_boxes_that_give_away_whose_they_are_become_a_finding(telling: bool) -> None:
    world, records = crowd(telling=telling)
    found = attack_rankings(context_of(world, records, 2, 1, 1, n_attacks=1000))
    shares = {figure.measure: figure.published for figure in found}
    assert set(shares) == set(RANKINGS)
    smallest = shares["smallest"]
    assert isinstance(smallest, Proportion)
    if telling:
        assert smallest.value == 1
        assert "smallest" in {finding.ranking for finding in findings(found, 2)}
    else:
        assert all(
            isinstance(share, Proportion) and share.low < 0.5 < share.high for share in shares.values()
        )
        assert findings(found, 2) == []
    assert np.isclose(found[0].guessing, 0.5)
