"""Wherever people look, precision in space is the longer side of a box; beside the paper it is width plus height.

Two people always move together, 20 cells apart one way and 6 the other: every box is 2.1 km by 0.7 km. So whoever is
told 2.8 km is told the sum.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import shoal
from shoal.cli.text.anonymize import summary_lines
from shoal.cli.text.plan import plan_lines
from shoal.cli.text.sweep import comparison_lines, sweep_lines
from shoal.publishing.outputs import Outputs
from shoal.publishing.release import Published
from shoal.reporting.figures.sweep import write_plan, write_sweep
from support.paths import PROJECT

LONGER, BOTH = "2.1", "2.8"
HOUR = {"tau": "1h"}
OLD = PROJECT / "tests" / "data" / "release-0.1"


@pytest.fixture(scope="module")
def events() -> pa.Table:
    rows = [
        (user, f"2024-03-04T{hour:02}:00:00Z", x, y)
        for hour in range(8)
        for user, x, y in (("one", 0.0, 0.0), ("other", 2_050.0, 650.0))
    ]
    return pa.table(dict(zip(("user", "time", "x", "y"), map(list, zip(*rows, strict=True)), strict=True)))


@pytest.fixture(scope="module")
def published(events: pa.Table) -> Published:
    return shoal.anonymize(events, k=2, epsilon="1h", **HOUR)


def numbers_in(text: str) -> set[str]:
    return set(re.findall(r"\d+(?:\.\d+)?", text))


def check(text: str) -> None:
    """The longer side is told, and the sum is not."""
    assert LONGER in numbers_in(text)
    assert BOTH not in numbers_in(text)


def test_manifest_and_summary(published: Published) -> None:
    spread = dict.fromkeys(("mean", "q25", "median", "q75"), float(LONGER))
    assert published.summary["longer_side_km"] == spread
    assert published.manifest["granularity"]["longer_side_km"] == spread
    assert "space_km" not in published.manifest["granularity"]
    assert "precision_km" not in published.summary
    check(str(published.manifest["granularity"]))


def test_anonymize_in_words(published: Published) -> None:
    lines = "\n".join(
        summary_lines(published.summary, published.promise, published.events.grid, Outputs(Path("out")))
    )
    assert f"space (longer side): median {LONGER} km" in lines
    check(lines)


def test_plan(events: pa.Table, tmp_path: Path) -> None:
    found = shoal.plan(events, ks=[2], taus=["1h"], epsilons=["1h"])
    lines = plan_lines(found)
    assert "space: longer side" in lines[1]
    check(lines[4])
    assert found.to_dict()["forecasts"][0]["longer_side_km_median"] == pytest.approx(float(LONGER))
    write_plan(found, tmp_path / "plan.svg")
    assert "median longer side of a box, km" in (tmp_path / "plan.svg").read_text()


@pytest.mark.parametrize("as_in_paper", [False, True])
def test_sweep(as_in_paper: bool, events: pa.Table, tmp_path: Path) -> None:
    found = shoal.sweep(events, over=["tau", "hours"], taus=["1h"], selectors=["matching"], **HOUR)
    lines = sweep_lines(found)
    assert "space: longer side" in lines[0]
    check(lines[4])
    table: dict[str, Any] = found.to_arrow().to_pylist()[0]
    assert table["longer_side_km_median"] == pytest.approx(float(LONGER))
    assert table["width_plus_height_km_median"] == pytest.approx(float(BOTH))
    write_sweep(found, tmp_path, as_in_paper=as_in_paper)
    for name in ("tau-space", "hours-space"):
        drawn = (tmp_path / f"{name}.svg").read_text()
        assert ("longer side" in drawn) is not as_in_paper
        assert ("width + height" in drawn) is as_in_paper
        assert ("as in the paper" in drawn) is as_in_paper


def test_compare_is_the_papers_and_says_so(events: pa.Table) -> None:
    found = shoal.compare(events, ks=[2], tuples=1, whole_users=2)
    for row in found.rows:
        if row.method in ("k-merge", "shoal"):
            assert row.space_km == pytest.approx(float(BOTH))
    told = " ".join(" ".join(comparison_lines(found)).split())
    assert "min, km: mean duration and width + height of a box (as in the paper)" in told


@pytest.mark.parametrize("public", [False, True])
def test_report(public: bool, events: pa.Table, published: Published, tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    shoal.write_report(events, published, page, key=published.key(), public=public, attacks=20, workers=1)
    html = page.read_text(encoding="utf-8")
    told = re.search(r"<dt>Precision in space</dt><dd>(.*?)</dd>", html)
    assert told is not None
    check(told[1])
    assert "longer side of a box" in told[1]
    assert "width + height" not in html
    assert numbers_in(told[1].split("a raw cell has")[1]) == {"0.1"}


def test_the_sum_in_a_manifest_of_0_1_is_called_so(tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    shoal.write_report(
        OLD / "events.csv", OLD / "published.csv", page, key=OLD / "key.csv", attacks=20, workers=1
    )
    html = page.read_text(encoding="utf-8")
    assert "17.65" in html
    assert "width + height, km" in html
    assert "space km" not in html
    told = re.search(r"<dt>Precision in space</dt><dd>(.*?)</dd>", html)
    assert told is not None
    assert "17.65" not in told[1]
