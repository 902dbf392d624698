"""``shoal credibility``: the table and its exit code, the page, the JSON, its options and its refusals."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from shoal.synthetic import make_city
from support.run_command import CANARY, SECRET_X, left_in, refused, run, write

START = 1_704_067_200


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("credibility")


@pytest.fixture(scope="module")
def table() -> pa.Table:
    city = make_city(150, 8, seed=1)
    return city.set_column(0, "user", pa.array([f"{CANARY}-{user}" for user in city["user"].to_pylist()]))


@pytest.fixture(scope="module")
def events(folder: Path, table: pa.Table) -> Path:
    return write(table, folder / "events.parquet")


def assess(*arguments: object) -> dict[str, Any]:
    """What the command finds, as JSON."""
    done = run("credibility", *arguments, "--json", "-")
    assert done.code in (0, 1), done
    assert done.err == ""
    found: dict[str, Any] = json.loads(done.out)
    assert found["credible"] == (done.code == 0)
    return found


@pytest.fixture(scope="module")
def plain(events: Path) -> dict[str, Any]:
    return assess(events)


def values(found: dict[str, Any]) -> dict[str, float]:
    return {name: row["value"] for name, row in found["statistics"].items()}


# ---- what it prints ------------------------------------------------------------------------------------------------


def test_table(events: Path, plain: dict[str, Any]) -> None:
    done = run("credibility", events)
    assert done.err == ""
    outside = [name for name, row in plain["statistics"].items() if row["outcome"] == "outside"]
    assert done.code == (1 if outside else 0)
    lines = done.out.splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[0].startswith("Not credible: " if outside else "Credible: ")
    assert f"{plain['setting']['n_samples']:,} samples at" in done.out
    assert sum("OUTSIDE" in line for line in lines) == len(outside)
    assert re.search(
        r"^unicity of four points +[\d.]+  at least 0\.9 inside  de Montjoye 2013$", done.out, re.M
    )
    assert CANARY not in done.out


def test_exit_code_is_0_when_all_that_apply_are_inside(tmp_path: Path) -> None:
    """The city departs from reality over days; of one coarse day little can be said against it."""
    city = make_city(300, 1, seed=1)
    coarse = pc.multiply(pc.divide(city["time"].cast(pa.int64()), 600), 600)
    events = write(city.set_column(1, "time", coarse), tmp_path / "events.parquet")
    done = run("credibility", events)
    assert done.code == 0, done
    assert done.out.startswith("Credible: all ")
    assert "Not judged:\nexponent of the gaps" in done.out
    assert "needs times to the minute" in done.out


def test_exit_code_is_1_when_one_is_outside(events: Path) -> None:
    done = run("credibility", events, "--timezone", "Asia/Tokyo")
    assert done.code == 1
    assert re.search(r"^quietest hour of the day +1\d:00  2:00 to 5:00 OUTSIDE ", done.out, re.MULTILINE)


def test_json(events: Path, plain: dict[str, Any], tmp_path: Path) -> None:
    target = tmp_path / "found.json"
    run("credibility", events, "--json", target)
    assert json.loads(target.read_text()) == plain
    assert set(plain) == {"credible", "setting", "statistics", "unicity_interval", "warnings"}
    row = plain["statistics"]["gap_exponent"]
    assert set(row) == {"value", "low", "high", "outcome", "lack", "real", "source", "reason"}
    assert (row["low"], row["high"], row["real"]) == (0.7, 1.1, None)
    low, high = plain["unicity_interval"]
    assert low <= plain["statistics"]["unicity"]["value"] <= high


# ---- the page ------------------------------------------------------------------------------------------------------


def test_page(events: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    assert run("credibility", events, "-o", page).code in (0, 1)
    html = page.read_text()
    assert html.count("<figure>") == 9
    assert CANARY not in html
    assert left_in(tmp_path) == {"page.html"}


def test_nothing_on_the_page_tells_where(table: pa.Table, tmp_path: Path) -> None:
    metres = table.drop_columns(["lat", "lon"])
    place = pc.index_in(table["lat"], pc.unique(table["lat"])).cast(pa.float64())
    metres = metres.append_column("x", pc.add(pc.multiply(place, 100.0), float(SECRET_X)))
    metres = metres.append_column("y", pc.multiply(place, 100.0))
    page, found = tmp_path / "page.html", tmp_path / "found.json"
    done = run(
        "credibility", write(metres, tmp_path / "events.parquet"), "-o", page, "--json", found, "--force"
    )
    for text in (page.read_text(), found.read_text(), done.out, done.err):
        assert str(SECRET_X)[:5] not in text.replace(",", "")
        assert CANARY not in text


# ---- options -------------------------------------------------------------------------------------------------------


def test_real(events: Path, plain: dict[str, Any], tmp_path: Path) -> None:
    other = write(make_city(120, 2, seed=9), tmp_path / "real.csv")
    found = assess(events, "--real", other)
    assert values(found) == values(plain)
    own = values(assess(other))
    assert {name: row["real"] for name, row in found["statistics"].items()} == own
    done = run("credibility", events, "--real", other, "-o", tmp_path / "page.html")
    assert re.search(r"^statistic +measured +real +band +outcome$", done.out, re.MULTILINE)
    assert (tmp_path / "page.html").read_text().count('class="real"') >= 8


def test_cell(events: Path, plain: dict[str, Any]) -> None:
    coarse = assess(events, "--cell", "5km")
    assert coarse["setting"]["n_places"] < plain["setting"]["n_places"]
    assert values(coarse)["top_place"] > values(plain)["top_place"]
    assert values(coarse)["gap_exponent"] == pytest.approx(values(plain)["gap_exponent"], abs=0.1)


def test_seed(events: Path, plain: dict[str, Any]) -> None:
    assert assess(events, "--seed", 0) == plain
    coarse = [values(assess(events, "--cell", "10km", "--seed", seed))["unicity"] for seed in range(4)]
    assert len(set(coarse)) > 1


@pytest.mark.parametrize("workers", [1, 3])
def test_workers(workers: int, events: Path, plain: dict[str, Any]) -> None:
    assert assess(events, "--workers", workers) == plain


def test_from_and_to(events: Path) -> None:
    found = assess(events, "--from", "2024-01-02", "--to", "2024-01-05")
    assert found["setting"]["n_days"] == 3
    assert found["statistics"]["unicity"]["lack"] == "needs 7 days"


def test_exclude_users(events: Path, table: pa.Table, plain: dict[str, Any], tmp_path: Path) -> None:
    excluded = tmp_path / "excluded.txt"
    excluded.write_text("\n".join(sorted(set(table["user"].to_pylist()))[:7]))
    found = assess(events, "--exclude-users", excluded)
    assert found["setting"]["n_users"] == plain["setting"]["n_users"] - 7


def test_bbox_min_days_active_and_resample(events: Path, plain: dict[str, Any]) -> None:
    n_samples = plain["setting"]["n_samples"]
    for options in (("--bbox", "-30,9,-29,11"), ("--min-days-active", 8), ("--resample", "30min")):
        assert 0 < assess(events, *options)["setting"]["n_samples"] < n_samples


def test_columns(table: pa.Table, plain: dict[str, Any], tmp_path: Path) -> None:
    renamed = write(table.rename_columns(list("abcd")), tmp_path / "events.parquet")
    names = ("--user-column", "a", "--time-column", "b", "--lat-column", "c", "--lon-column", "d")
    assert assess(renamed, *names) == plain
    metres = table.drop_columns(["lat", "lon"])
    place = pc.index_in(table["lat"], pc.unique(table["lat"])).cast(pa.float64())
    metres = metres.append_column("p", pc.multiply(place, 1000.0)).append_column("q", pc.multiply(place, 0.0))
    straight = assess(
        write(metres, tmp_path / "metres.parquet"), "--x-column", "p", "--y-column", "q", "--cell", "1km"
    )
    assert straight["setting"]["n_places"] == len(pc.unique(table["lat"]))


def test_sites_and_site_column(table: pa.Table, tmp_path: Path) -> None:
    pairs = list(zip(table["lat"].to_pylist(), table["lon"].to_pylist(), strict=True))
    sites = sorted(set(pairs))
    number = {pair: f"s{index}" for index, pair in enumerate(sites)}
    by_site = pa.table(
        {"user": table["user"], "time": table["time"], "mast": [number[pair] for pair in pairs]}
    )
    masts = pa.table(
        {"site": list(number.values()), "lat": [lat for lat, _ in sites], "lon": [lon for _, lon in sites]}
    )
    found = assess(
        write(by_site, tmp_path / "events.csv"), "--sites", write(masts, tmp_path / "sites.csv"),
        "--site-column", "mast",
    )  # fmt: skip
    assert found["setting"]["n_places"] == len(sites)


def test_format(tmp_path: Path) -> None:
    rows = [
        (user, day, t, 1 + (user * 7 + t) % 9, 1 + (user + t // 3) % 9)
        for user in range(120)
        for day in range(2)
        for t in range(0, 48, 3)
    ]
    events = tmp_path / "events.csv"
    events.write_text("\n".join(["uid,d,t,x,y", *(",".join(map(str, row)) for row in rows), ""]))
    found = assess(events, "--format", "yjmob")
    assert assess(events) == found
    assert found["setting"]["resolution_s"] == 5_400
    assert found["setting"]["width_km"] == pytest.approx(4 * 2**0.5, abs=0.2)


def test_force(events: Path, folder: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text("mine")
    refused(folder, "credibility", events, "-o", page, words="page.html exists already: add --force")
    assert run("credibility", events, "-o", page, "--force").code in (0, 1)
    assert page.read_text().startswith("<!doctype html>")


def test_rows_that_could_not_be_used_are_told(table: pa.Table, plain: dict[str, Any], tmp_path: Path) -> None:
    times = table["time"].cast(pa.string()).to_pylist()
    spoilt = table.set_column(1, "time", pa.array(["never", *times[1:]]))
    events, good = write(spoilt, tmp_path / "spoilt.csv"), write(table, tmp_path / "good.csv")
    done = run("credibility", events, "--json", "-")
    assert done.err.startswith("Warning: 1 of ")
    assert json.loads(done.out)["setting"]["n_samples"] == plain["setting"]["n_samples"] - 1
    assert run("credibility", good, "--real", events).err.startswith("Warning: Real events: 1 of ")


# ---- refusals ------------------------------------------------------------------------------------------------------


def test_refusals(events: Path, tmp_path: Path) -> None:
    few = write(make_city(20), tmp_path / "few.csv")
    refused(tmp_path, "credibility", few, words="need at least 100 users, found 20: take more.")
    refused(tmp_path, "credibility", tmp_path / "none.csv", words="none.csv")
    refused(
        tmp_path, "credibility", events, "-o", tmp_path / "page.pdf", words="must end in .html, found '.pdf'"
    )
    refused(tmp_path, "credibility", events, "--real", tmp_path / "none.csv", words="none.csv")
    refused(tmp_path, "credibility", events, "--cell", "0m", words="cell must be a length")
    refused(tmp_path, "credibility", events, "--seed", "x", words="expected a whole number, got 'x'")
    refused(
        tmp_path, "credibility", events, "--seed", "-1", words="seed must be a whole number of at least 0"
    )
    target = tmp_path / "page.html"
    refused(tmp_path, "credibility", events, "-o", target, "--json", target, words="page.html")
    refused(tmp_path, "credibility", events, "--json", events, words="would overwrite or join the input")
