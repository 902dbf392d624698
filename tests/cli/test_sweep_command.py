"""``shoal sweep``: numbers and figures in a folder, together or not at all."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet
import pytest

from support.run_command import CANARY, city, left_in, refused, run, write

SECOND_DAY = pa.scalar(1_704_067_200 + 86_400).cast(pa.timestamp("s", tz="UTC"))
OURS = ("--selectors", "matching")
QUICK = ("--taus", "30min,1h", "--ks", "2,3", "--epsilons", "15min, 30min")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("sweep")


@pytest.fixture(scope="module")
def events(folder: Path) -> Path:
    table = city(60, 2)
    seldom = pc.and_(pc.ends_with(table["user"], "7"), pc.greater_equal(table["time"], SECOND_DAY))
    table = table.filter(pc.invert(seldom))
    named = table.set_column(0, "user", pa.array([f"{CANARY}-{user}" for user in table["user"].to_pylist()]))
    return write(named, folder / "events.parquet")


@pytest.fixture(scope="module")
def swept(events: Path, folder: Path) -> Path:
    done = run("sweep", events, *OURS, "-o", folder / "out", *QUICK)
    assert (done.code, done.err) == (0, "")
    assert max(map(len, done.out.splitlines())) <= 80
    assert re.search(r"^matching 1 +3 +30 min +30 min +[\d.]+ \([\d.]+-[\d.]+\) ", done.out, re.MULTILINE)
    assert done.out.endswith(f"28 files in {folder / 'out'}\n")
    assert not (folder / "out.checkpoint").exists()
    return folder / "out"


def test_files(swept: Path) -> None:
    figures = {
        f"{axis}-{what}{suffix}"
        for axis in ("tau", "k", "epsilon", "hours")
        for what in ("space", "time", "suppressed")
        for suffix in (".svg", ".png")
    }
    assert left_in(swept) == {"sweep.parquet", "sweep.csv", "hours.parquet", "hours.csv"} | figures
    numbers = pa.parquet.read_table(swept / "sweep.parquet")
    assert numbers["tau_min"].to_pylist() == [30, 60, 30, 30]
    assert numbers["k"].to_pylist() == [2, 2, 3, 2]
    assert pa.csv.read_csv(swept / "sweep.csv").column_names == numbers.column_names
    for path in swept.glob("*.svg"):
        text = path.read_text(encoding="utf-8")
        ElementTree.fromstring(text)
        assert not re.search(r"\bnan\b", text)
    assert not any(CANARY in (swept / name).read_bytes().decode("latin-1") for name in left_in(swept))


def test_over(events: Path, tmp_path: Path) -> None:
    assert (
        run("sweep", events, *OURS, "-o", tmp_path / "out", "--over", "k", "--ks", "2", "--tau", "1h").code
        == 0
    )
    assert left_in(tmp_path / "out") == {
        "sweep.parquet",
        "sweep.csv",
        *(f"k-{what}{suffix}" for what in ("space", "time", "suppressed") for suffix in (".svg", ".png")),
    }
    assert pa.parquet.read_table(tmp_path / "out" / "sweep.parquet")["tau_min"].to_pylist() == [60]


OPTIONS = {
    "--k": ("--over", "hours", "--k", "3"),
    "--cell": ("--over", "hours", "--cell", "1km"),
    "--step": ("--over", "hours", "--step", "5min"),
    "--space-weight": ("--over", "hours", "--space-weight", "2"),
    "--reuse": ("--over", "hours", "--reuse", "pair"),
    "--from": ("--over", "hours", "--from", "2024-01-02"),
    "--to": ("--over", "hours", "--to", "2024-01-02"),
    "--min-days-active": ("--over", "hours", "--min-days-active", "2"),
    "--resample": ("--over", "hours", "--resample", "1h"),
    "--harden": ("--over", "hours", "--harden", "3"),
    "--effort": ("--over", "hours", "--effort", "2"),
    "--seed": ("--over", "hours", "--seed", "5"),
    "--bbox": ("--over", "hours", "--bbox=-30.05,9.95,-29.95,10.05"),
}  # fmt: skip


def rows_in(output: Path) -> list[dict[str, object]]:
    return pa.parquet.read_table(output / "sweep.parquet").drop_columns(["seconds"]).to_pylist()


@pytest.fixture(scope="module")
def plain_rows(events: Path, folder: Path) -> list[dict[str, object]]:
    assert run("sweep", events, *OURS, "-o", folder / "plain", "--over", "hours").code == 0
    return rows_in(folder / "plain")


@pytest.mark.parametrize("option", OPTIONS)
def test_options_matter(
    option: str, events: Path, plain_rows: list[dict[str, object]], tmp_path: Path
) -> None:
    assert run("sweep", events, *OURS, "-o", tmp_path / "other", *OPTIONS[option]).code == 0
    assert rows_in(tmp_path / "other") != plain_rows


def hours_in(events: Path, output: Path, *more: object) -> str:
    assert run("sweep", events, *OURS, "-o", output, "--over", "hours", *more).code == 0
    return repr(pa.parquet.read_table(output / "hours.parquet").to_pylist())


def test_timezone_workers_and_selectors(events: Path, tmp_path: Path) -> None:
    plain = hours_in(events, tmp_path / "plain")
    assert hours_in(events, tmp_path / "same", "--workers", 1, "--selectors", "matching") == plain
    assert hours_in(events, tmp_path / "zone", "--timezone", "Asia/Tokyo") != plain
    both = hours_in(events, tmp_path / "both", "--selectors", "matching,mutual")
    assert "'mutual'" in both
    assert "'matching'" in both


def test_columns_format_and_users_left_out(events: Path, tmp_path: Path) -> None:
    table = pa.parquet.read_table(events)
    renamed = write(table.rename_columns(list("abcd")), tmp_path / "renamed.parquet")
    names = ("--user-column", "a", "--time-column", "b", "--lat-column", "c", "--lon-column", "d")
    left_out = tmp_path / "left-out.txt"
    left_out.write_text("\n".join(sorted(set(table["user"].to_pylist()))[:5]))
    plain = hours_in(events, tmp_path / "plain", "--format", "table")
    assert hours_in(renamed, tmp_path / "renamed", *names) == plain
    assert hours_in(events, tmp_path / "fewer", "--exclude-users", left_out) != plain


def test_sites_and_metres(events: Path, tmp_path: Path) -> None:
    table = pa.parquet.read_table(events)
    place = pc.index_in(table["lat"], pc.unique(table["lat"]))
    by_site = pa.table({"user": table["user"], "time": table["time"], "mast": place})
    number = [float(n) for n in range(len(pc.unique(place)))]
    masts = pa.table({"site": pa.array(number).cast(pa.int64()), "x": [700 * n for n in number], "y": number})
    metres = pa.table(
        {
            "user": table["user"],
            "time": table["time"],
            "p": pc.multiply(place.cast(pa.float64()), 700.0),
            "q": place.cast(pa.float64()),
        }
    )
    sites = write(masts, tmp_path / "sites.csv")
    of_sites = hours_in(
        write(by_site, tmp_path / "a.parquet"), tmp_path / "a", "--sites", sites, "--site-column", "mast"
    )
    of_metres = hours_in(
        write(metres, tmp_path / "b.parquet"), tmp_path / "b", "--x-column", "p", "--y-column", "q"
    )
    assert of_sites == of_metres


def test_refusals(events: Path, tmp_path: Path) -> None:
    full = tmp_path / "full"
    full.mkdir()
    (full / "mine.txt").write_text("mine")
    refused(tmp_path, "sweep", events, "-o", full, words="The folder full is not empty: add --force")
    assert run("sweep", events, *OURS, "-o", full, "--over", "k", "--ks", "2", "--force").code == 0
    assert (full / "mine.txt").read_text() == "mine"
    out = tmp_path / "out"
    refused(tmp_path, "sweep", events, "-o", events, words="must be a folder but is a file")
    refused(tmp_path, "sweep", events, "-o", tmp_path / "no" / "out", words="does not exist")
    refused(tmp_path, "sweep", events, "-o", out, "--over", "speed", words="over must name some of")
    refused(
        tmp_path, "sweep", events, "-o", out, "--ks", "2,many", words="expected a whole number, got 'many'"
    )
    for given in ("2,,5", "2,5,", ","):
        words = f"Invalid value for '--ks': expected a value before and after each comma, got {given!r}"
        refused(tmp_path, "sweep", events, "-o", out, "--ks", given, words=words)
    refused(
        tmp_path, "sweep", events, "-o", out, "--ks", "", words="ks must name at least one value, got none"
    )
    refused(tmp_path, "sweep", events, "-o", out, "--taus", "soon", words="tau must be a duration")
    refused(tmp_path, "sweep", tmp_path / "none.csv", "-o", out, words="none.csv")


def test_resume(events: Path, tmp_path: Path) -> None:
    checkpoint = tmp_path / "out.checkpoint"
    checkpoint.mkdir(mode=0o700)
    refused(tmp_path, "sweep", events, "-o", tmp_path / "out", *QUICK, words="add --resume to go on")
    done = run("sweep", events, *OURS, "-o", tmp_path / "out", *QUICK, "--resume")
    assert done.code == 0
    again = ("sweep", events, *OURS, "-o", tmp_path / "out", *QUICK, "--resume", "--force")
    words = (
        "--resume goes on with a sweep that was interrupted, but no out.checkpoint was found: leave it out"
    )
    refused(tmp_path, *again, words=words)
    assert {path.name for path in tmp_path.iterdir()} == {"out"}
