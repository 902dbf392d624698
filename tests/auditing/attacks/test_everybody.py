"""People matched to records all at once: as many as possible, then the best scores, as the oracle does it."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from auditing.audit_contexts import tiny_context, tiny_releases
from oracles import strong_attackers
from shoal.auditing.attacks import everybody
from shoal.auditing.attacks.everybody import FittingPairs, match_people


def matched(scores: dict[tuple[int, int], float], n_people: int, n_records: int) -> tuple[int, float]:
    """How many people match_people() matches, none with a record that does not fit, and the sum of their scores."""
    lines = list(scores)
    edges = FittingPairs(
        np.array([person for person, _ in lines], np.int64),
        np.array([record for _, record in lines], np.int64),
        np.array(list(scores.values()), np.float64),
    )
    found = match_people(edges, n_people, n_records).tolist()
    pairs = [(person, record) for person, record in enumerate(found) if record >= 0]
    assert len(found) == n_people
    assert len({record for _, record in pairs}) == len(pairs)
    return len(pairs), sum(scores[pair] for pair in pairs)


def test_matchings() -> None:
    rng = Random(1)
    for _ in range(1500):
        n, m = rng.randint(1, 5), rng.randint(1, 5)
        scale, share = rng.choice([0, 1, 1, 30, 1000]), rng.choice([0.2, 0.6, 1.0])
        scores = {
            (i, j): scale * rng.choice([rng.uniform(-1, 1), float(rng.randint(-1, 1))])
            for i in range(n)
            for j in range(m)
            if rng.random() < share
        }
        expected = strong_attackers.everybody(scores, range(n))
        assert matched(scores, n, m) == pytest.approx(expected, abs=1e-5)


def test_people_come_before_scores() -> None:
    assert matched({(0, 0): 900.0, (1, 0): 0.0, (0, 1): -900.0}, 2, 2) == (2, -900.0)


def test_crowds_hold_everybody_with_samples_in_the_interval() -> None:
    for release, _ in tiny_releases(100, 200):
        context = tiny_context(release, n_attacks=5)
        crowds = everybody._crowds(context, release.tau)
        sizes = [len(crowd.victim) for crowd in crowds]
        assert sum(sizes[:-1]) < 5
        assert sum(sizes) >= 5 or len(crowds) == 5
        for crowd in crowds:
            begin = int(crowd.begin[0])
            assert (crowd.begin == begin).all()
            assert crowd.victim.tolist() == [
                user
                for user in sorted(release.owners)
                if any(begin <= t < begin + release.tau for t, _, _ in release.samples[user])
            ]
