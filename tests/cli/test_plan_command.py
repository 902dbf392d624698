"""``shoal plan``: a table, JSON and a figure; refusals in one line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import shoal
from support.run_command import CANARY, city, left_in, refused, run, write

QUICK = ("--ks", "2,3", "--taus", "30min")


@pytest.fixture(scope="module")
def events(tmp_path_factory: pytest.TempPathFactory) -> Path:
    table = city(80)
    return write(table, tmp_path_factory.mktemp("plan") / "events.parquet")


def test_everything(events: Path, tmp_path: Path) -> None:
    done = run("plan", events, *QUICK, "-o", tmp_path / "plan.svg", "--json", tmp_path / "plan.json")
    assert (done.code, done.err) == (0, "")
    assert max(map(len, done.out.splitlines())) <= 80
    assert "space than k 2 at 30 min." in done.out or "the space of k 2 at 30 min." in done.out
    content = json.loads((tmp_path / "plan.json").read_text())
    assert [(row["k"], row["tau_min"]) for row in content["forecasts"]] == [(2, 30), (3, 30)]
    assert {name: content[name] for name in ("version", "cell_m", "step_s", "harden")} == {
        "version": shoal.__version__, "cell_m": 100, "step_s": 60, "harden": 1,
    }  # fmt: skip
    assert [row["harden"] for row in content["forecasts"]] == [1, 1]
    assert left_in(tmp_path) == {"plan.svg", "plan.json"}
    printed = run("plan", events, *QUICK, "--json", "-")
    assert json.loads(printed.out)["advice"] == content["advice"]


def test_refusals(events: Path, tmp_path: Path) -> None:
    refused(tmp_path, "plan", events, "--ks", "", words="ks must name at least one value")
    refused(tmp_path, "plan", events, "--taus", " ", words="taus must name at least one value")
    for ks in ("2,,5", ",2", "2,", ","):
        words = f"Invalid value for '--ks': expected a value before and after each comma, got {ks!r}"
        refused(tmp_path, "plan", events, "--ks", ks, words=words)
    refused(tmp_path, "plan", events, "--epsilons", "", words="epsilons must name at least one value")
    many = ",".join(str(k) for k in range(2, 12))
    refused(tmp_path, "plan", events, "--ks", many, words="at most 27 points, got 30")
    refused(tmp_path, "plan", events, "--ks", "two", words="expected a whole number, got 'two'")
    refused(tmp_path, "plan", events, "--ks", "500", words="k = 500 needs at least 500 users")
    refused(tmp_path, "plan", events, "-o", tmp_path / "plan.txt", words="must end in one of .svg, .png")
    refused(tmp_path, "plan", tmp_path / "none.csv", words="none.csv")
    broken = tmp_path / "broken.parquet"
    broken.write_bytes(f"no parquet, {CANARY}".encode())
    refused(tmp_path, "plan", broken, words="broken.parquet")
