"""Releases of the paper's own selector: what they promise once repaired, and what they say if they are not."""

from __future__ import annotations

import json
import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import shoal
from oracles.attacker import reuse_errors, truthfulness_errors, violations
from oracles.casual_worlds import random_case
from oracles.patterns import invariant_errors, pattern_groups, permutation_errors
from shoal.errors import InputError, UnfinishedError
from support.killed_runs import Killed, end_after
from support.release_worlds import Release, World, release
from support.run_command import anonymize, audit, boxes_in, city, write

CASES_PER_SEED = 20
MOST_REFUSED = 100  # random worlds in a row of which nothing can be published
SPECTRAL: tuple[str, ...] = ("--selector", "spectral")


def spectral_release(
    rng: random.Random, *, repair: bool
) -> tuple[World, int, int | None, int | None, str, Release]:
    """A random world and what becomes of it; worlds of which nothing can be published are passed over."""
    for _ in range(MOST_REFUSED):
        world, k, tau, epsilon = random_case(rng)
        if rng.random() < 0.1:
            tau = epsilon = None
        reuse, weight = rng.choice(["once", "pair", "spaced"]), rng.choice([1.0, 2.0, 1.5])
        try:
            result = release(
                world, k, tau, epsilon, reuse=reuse, weight=weight, seed=rng.randrange(5), selector="spectral",
                repair=repair,
            )  # fmt: skip
        except InputError:
            continue
        return world, k, tau, epsilon, reuse, result
    pytest.fail(f"nothing can be published of {MOST_REFUSED} random worlds in a row")


@pytest.mark.parametrize("seed", range(12))
def test_repaired_releases_keep_every_guarantee(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(CASES_PER_SEED):
        world, k, tau, epsilon, reuse, result = spectral_release(rng, repair=True)
        context = f"{world=} {k=} {tau=} {epsilon=} {reuse=}"
        assert not violations(world, result.records, k, tau, epsilon), context
        assert not truthfulness_errors(world, result.records, result.suppressed, epsilon), context
        reach = 0 if tau is None or epsilon is None else -(-tau // epsilon)
        users, epochs = list(result.records), {epoch for own in result.presence.values() for epoch in own}
        windows = range(min(epochs) - reach, max(epochs) + 1)
        assert not invariant_errors(result.presence, windows, reach, users, k), context
        for window, sets in result.hiding_sets.items():
            groups = pattern_groups(result.presence, window, reach, users)
            assert not permutation_errors(sets, groups, k), context
        assert not reuse_errors(result.hiding_sets, reuse, reach), context
        assert result.outcome.relaxations == 0


def test_without_repair_everything_but_coverage_is_kept() -> None:
    rng = random.Random(0)
    kinds: Counter[bool] = Counter()
    for _ in range(6 * CASES_PER_SEED):
        world, k, tau, epsilon, reuse, result = spectral_release(rng, repair=False)
        reach = 0 if tau is None or epsilon is None else -(-tau // epsilon)
        assert not truthfulness_errors(world, result.records, result.suppressed, epsilon)
        assert not reuse_errors(result.hiding_sets, reuse, reach)
        kinds[bool(violations(world, result.records, k, tau, epsilon))] += 1
    assert kinds[True]  # the paper's gap is there, not mended in secret
    assert kinds[False]


def test_the_same_on_any_number_of_workers() -> None:
    def boxes(**options: Any) -> Counter[Any]:
        published = shoal.anonymize(
            city(150), k=2, tau="30min", epsilon="30min", selector="spectral", **options
        )
        return Counter(zip(*(column.tolist() for column in published.outcome.boxes), strict=True))

    assert boxes(workers=1) == boxes(workers=3)
    assert boxes(workers=1, repair=True) == boxes(workers=2, repair=True)


def published(folder: Path, *options: object) -> tuple[Any, dict[str, Any], dict[str, Any]]:
    events = write(city(150), folder / "events.csv")
    done = anonymize(
        events,
        folder / "out.csv",
        *SPECTRAL,
        *options,
        "--key-out",
        folder / "key.csv",
        "--json",
        folder / "s.json",
    )
    assert done.code == 0, done.err
    manifest = json.loads((folder / "out.csv.manifest.json").read_text())
    return done, manifest, json.loads((folder / "s.json").read_text())


def audited(folder: Path) -> dict[str, Any]:
    found = audit(folder / "events.csv", folder / "out.csv", "--key", folder / "key.csv", "--json", "-")
    content = json.loads(found.out)
    assert found.code == (0 if content["kept"] else 1)
    return dict(content)


def test_the_gap_is_announced_and_measured(tmp_path: Path) -> None:
    done, manifest, summary = published(tmp_path)
    assert "guarantee 1 not given" in done.out
    assert manifest["parameters"]["selector"] == summary["selector"] == "spectral"
    assert manifest["verified"] is summary["verified"] is summary["coverage_given"] is False
    assert manifest["guarantees"]["coverage"].startswith("not given")
    assert manifest["guarantees"]["matching"].startswith("not given")
    missing = summary["unprotected"]
    assert missing["strict"] + missing["gap_tolerant"] > 0
    assert manifest["guarantees"]["intervals_with_fewer_than_k_records"]
    coverage = audited(tmp_path)["coverage"]
    assert missing == {
        "intervals": coverage["intervals"],
        "strict": coverage["violations_strict"],
        "gap_tolerant": coverage["violations_gap_tolerant"],
        "users": coverage["users_unprotected"],
    }


def test_repaired_it_is_verified_like_any_other(tmp_path: Path) -> None:
    done, manifest, summary = published(tmp_path, "--repair")
    assert "not given" not in done.out
    assert manifest["verified"] is summary["verified"] is True
    assert manifest["guarantees"]["coverage"] == manifest["guarantees"]["matching"] == "given"
    assert summary["unprotected"] is None
    assert audited(tmp_path)["kept"]


def test_not_measured_where_not_wanted(tmp_path: Path) -> None:
    done, manifest, summary = published(tmp_path, "--no-verify")
    assert "guarantee 1 not given" in done.out
    assert summary["unprotected"] is None
    assert "intervals_with_fewer_than_k_records" not in manifest["guarantees"]


@pytest.mark.parametrize("options", [(), ("--repair",)])
def test_a_killed_run_goes_on(
    options: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    events, output = write(city(150), tmp_path / "events.csv"), tmp_path / "out.csv"
    assert anonymize(events, tmp_path / "whole.csv", *SPECTRAL, *options).code == 0
    with monkeypatch.context() as patched:
        end_after(20, patched)
        with pytest.raises(Killed):
            anonymize(events, output, *SPECTRAL, *options)
    other = anonymize(events, output, "--resume")
    assert other.code == 2
    assert "another" in other.err
    assert anonymize(events, output, *SPECTRAL, *options, "--resume").code == 0
    assert boxes_in(output) == boxes_in(tmp_path / "whole.csv")


def test_a_checkpoint_with_other_clusters_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    events, output = write(city(150), tmp_path / "events.csv"), tmp_path / "out.csv"
    with monkeypatch.context() as patched:
        end_after(30, patched)
        with pytest.raises(Killed):
            anonymize(events, output, *SPECTRAL)
    from shoal.hiding.spectral import selector

    clusters = selector.cluster
    monkeypatch.setattr(selector, "cluster", lambda *arguments: clusters(*arguments) // 2)
    refused = anonymize(events, output, *SPECTRAL, "--resume")
    assert refused.code == 3
    assert "clusters users otherwise" in refused.err
    assert not output.exists()


def test_without_scikit_learn_it_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shoal.core.options.find_spec", lambda _: None)
    with pytest.raises(shoal.ParameterError, match="needs scikit-learn"):
        shoal.anonymize(city(), k=2, whole=True, selector="spectral")


def test_a_wrong_repair_is_not_published(monkeypatch: pytest.MonkeyPatch) -> None:
    """With repair the self-check refuses as ever: here nothing is repaired."""
    from shoal.hiding.spectral import selector

    decide = selector.decide_all_windows
    monkeypatch.setattr(selector, "decide_all_windows", lambda *of, repair: decide(*of, repair=not repair))
    with pytest.raises(UnfinishedError, match="would be hidden among fewer than k"):
        shoal.anonymize(city(150), k=2, tau="30min", epsilon="30min", selector="spectral", repair=True)
