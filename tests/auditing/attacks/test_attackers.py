"""The attackers who weigh candidates: ties, the best of several, and the weights that come with shoal."""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from oracles.strong_attackers import best_share
from shoal.auditing.attacks import attackers
from shoal.auditing.attacks.attackers import Cases, Outcomes, picked, transferred_weights, try_attackers
from shoal.auditing.attacks.chain import CHAIN, METHOD_FEATURES
from shoal.auditing.attacks.place_in_box import PLACE
from shoal.auditing.kernels.known_cells import TOP_FEATURES
from shoal.auditing.kernels.sites import PLACE_FEATURES
from shoal.errors import UnfinishedError

SHIPPED = files("shoal.auditing.attacks").joinpath("weights.json")
FEATURES = {PLACE: PLACE_FEATURES, CHAIN: METHOD_FEATURES, "top_locations": TOP_FEATURES}


def test_ties_count_by_their_share() -> None:
    rng = Random(1)
    for _ in range(300):
        sizes = [rng.randint(0, 6) for _ in range(rng.randint(1, 5))]
        case = np.repeat(np.arange(len(sizes)), sizes)
        offset, scale = rng.choice([0.0, 1e6, -1e6]), rng.choice([1.0, 1e-12, 1e3])
        score = np.array([offset + scale * rng.randint(-2, 2) + 1e-12 * rng.random() for _ in case])
        right = np.array([rng.random() < 0.4 for _ in case], np.bool_)
        found = picked(case, score, right, len(sizes))
        for number in range(len(sizes)):
            lines = np.flatnonzero(case == number)
            expected = best_share(score[lines].tolist(), set(np.flatnonzero(right[lines]).tolist()))
            assert found[number] == expected


def test_a_line_may_stand_for_several_that_look_the_same() -> None:
    """Of a right line that stands for some, one is right: as if each of them had a line."""
    rng = Random(2)
    for _ in range(300):
        n_lines = rng.randint(1, 6)
        n_alike = np.array([rng.randint(1, 3) for _ in range(n_lines)])
        score = np.array([float(rng.randint(0, 2)) for _ in range(n_lines)])
        right = np.array([rng.random() < 0.4 for _ in range(n_lines)], np.bool_)
        found = picked(np.zeros(n_lines, np.int64), score, right, 1, n_alike)
        first = np.cumsum(n_alike) - n_alike
        expected = best_share(np.repeat(score, n_alike).tolist(), set(first[right].tolist()))
        assert found[0] == pytest.approx(expected)


def test_the_best_of_several_counts() -> None:
    # The first feature points at the right line in all cases, the weights look at the second one.
    case, right = np.repeat(np.arange(8), 2), np.tile([True, False], 8)
    features = np.stack([right.astype(float), 1.0 - right], axis=1)
    cases = Cases(case, right, features, np.array([0, 0, 0, 0, 0, 0, 0, 0]))
    found = try_attackers(cases, np.array([0.0, 5.0]), ("good", "bad"))
    assert {name: float(picks.mean()) for name, picks in found.picks.items()} == {
        "transfer": 0.0, "learnt": 0.5, "good": 1.0, "bad": 0.0, "least good": 0.0, "least bad": 1.0,
    }  # fmt: skip
    assert found.best.mean() == found.best_feature.mean() == 1
    assert found.best_chance is found.chance["learnt"]


def test_the_best_of_some_cases_may_be_another() -> None:
    found = Outcomes({"transfer": np.array([1.0, 1, 0]), "a": np.array([0.0, 0, 1])}, {}, {})
    assert found.best.tolist() == [1, 1, 0]
    assert found.picks_of(np.array([False, False, True])).best.tolist() == [1]


def test_a_feature_alone_is_tried_both_ways_whatever_its_weight() -> None:
    case, right = np.repeat(np.arange(4), 2), np.tile([False, True], 4)
    cases = Cases(case, right, right[:, None].astype(float), np.zeros(4, np.int64))
    for weight in (0.3, -0.3, 0.0):
        picks = try_attackers(cases, np.array([weight]), ("one",)).picks
        assert picks["one"].tolist() == [1] * 4
        assert picks["least one"].tolist() == [0] * 4


# --- the weights that come with shoal ----------------------------------------------------------------------


def test_weights_are_small_and_of_every_feature() -> None:
    content = json.loads(SHIPPED.read_text())
    assert len(SHIPPED.read_bytes()) < 100_000
    assert content["format"] == attackers.WEIGHTS_FORMAT
    assert {attack: set(told) for attack, told in content["weights"].items()} == {
        attack: set(names) for attack, names in FEATURES.items()
    }
    for attack, names in FEATURES.items():
        found = transferred_weights(attack, names)
        assert found.tolist() == [content["weights"][attack][name] for name in names]
        assert np.isfinite(found).all()
        assert found.any()


def test_the_commonest_site_is_the_one_with_the_largest_popularity() -> None:
    # The attacker by popularity alone goes the way of its weight.
    assert transferred_weights(PLACE, PLACE_FEATURES)[PLACE_FEATURES.index("popularity")] > 0


@pytest.fixture
def weights_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where the attackers look for their weights instead; nothing is there yet."""
    monkeypatch.setattr(attackers, "files", lambda _package: tmp_path)
    attackers.forget_weights()
    yield tmp_path / "weights.json"
    attackers.forget_weights()


GOOD: dict[str, Any] = {"format": 1, "weights": {"one": {"a": 1, "b": -2}}}


def test_weights_are_given_in_the_order_of_the_features(weights_file: Path) -> None:
    weights_file.write_text(json.dumps(GOOD))
    assert transferred_weights("one", ("b", "a")).tolist() == [-2, 1]


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (None, "cannot be read"),
        ("{", "cannot be read"),
        (json.dumps({**GOOD, "format": 2}), "has format 2, not 1"),
        (json.dumps({"weights": GOOD["weights"]}), "has format None, not 1"),
        (json.dumps([]), "cannot be read"),
        (json.dumps({"format": 1}), "has not the features of the attack one"),
        (json.dumps({"format": 1, "weights": {"one": {"a": 1}}}), "has not the features of the attack one"),
        (
            json.dumps({"format": 1, "weights": {"one": {"a": 1, "b": 1, "c": 1}}}),
            "has not the features of the attack one",
        ),
    ],
)
def test_unusable_weights_are_told_in_one_line(weights_file: Path, content: str | None, why: str) -> None:
    if content is not None:
        weights_file.write_text(content)
    with pytest.raises(UnfinishedError) as raised:
        transferred_weights("one", ("a", "b"))
    assert str(raised.value) == (
        f"weights.json of the audit's attackers {why}: install shoal again, or run make attackers."
    )
