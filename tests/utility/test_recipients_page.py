"""The code of docs/recipients.md runs on a published file alone, as far as its libraries are installed."""

from __future__ import annotations

import re
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import shoal
from support.paths import PROJECT

PAGE = (PROJECT / "docs/recipients.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
OPTIONAL = ("duckdb", "geopandas", "shapely")


def lacking(block: str) -> list[str]:
    return [name for name in OPTIONAL if f"import {name}" in block and find_spec(name) is None]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("recipient")
    events = shoal.make_city(120, days=1, seed=3)
    shoal.anonymize(events, k=2, tau="30min", epsilon="30min", output=path / "published.parquet")
    return path


def test_code_of_the_page(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    known: dict[str, Any] = {}
    runnable = [block for block in BLOCKS if not lacking(block)]
    assert len(BLOCKS) == 5
    for block in runnable:
        exec(block, known)
    assert len(known["radius_km"]) == known["boxes"]["record"].nunique()
    assert known["people"].people.sum() > 0
    assert known["homes"].known().any()


def test_records_that_may_have_been_there(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The query for DuckDB counts as one would by hand."""
    duckdb = pytest.importorskip("duckdb")
    monkeypatch.chdir(folder)
    pd = pytest.importorskip("pandas")
    (query,) = re.findall(r'duckdb\.sql\("""\n(.*?)"""\)', PAGE, re.DOTALL)
    boxes = pd.read_parquet("published.parquet")
    # In place of the page's square, one in which somebody surely was.
    square = {axis: (boxes[f"{axis}_min"].quantile(0.2), boxes[f"{axis}_max"].quantile(0.8)) for axis in "xy"}
    query = re.sub(
        r"([xy])(_m\w+ [<>=]+) (0|5000)", lambda at: f"{at[1]}{at[2]} {square[at[1]][at[3] == '5000']}", query
    )
    day = boxes["t_start"].dt.normalize()
    eight, nine = (day + pd.Timedelta(hours=hour) for hour in (8, 9))
    met = (boxes["t_start"] < nine) & (boxes["t_end"] > eight)
    inside = (boxes["t_start"] >= eight) & (boxes["t_end"] <= nine)
    for axis, (begin, end) in square.items():
        low, high = boxes[f"{axis}_min"], boxes[f"{axis}_max"]
        met &= (low < end) & (high > begin)
        inside &= (low >= begin) & (high <= end)
    at_most, at_least = (boxes[rows]["record"].nunique() for rows in (met, inside))
    assert at_most > at_least > 0
    assert duckdb.sql(query).fetchall() == [(at_most, at_least)]


def test_figures_of_the_page(tmp_path: Path) -> None:
    """The column of the smaller city, as it comes out today."""
    events, published = shoal.make_city(3_000, seed=1), tmp_path / "published.parquet"
    shoal.anonymize(events, k=2, tau="30min", epsilon="30min", output=published)
    found = shoal.utility.agreement(events, published)
    told = [float(row) for row in re.findall(r"^\| \w+: [^|]+\| ([0-9.]+) \|", PAGE, re.MULTILINE)]
    assert told == [round(value, 3 if name == "density" else 2) for name, value in asdict(found).items()]
