"""``shoal compare``: the tables, the numbers in a file, its options and its refusals."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet
import pytest

from support.run_command import CANARY, city, left_in, read_table, refused, run, write

QUICK = ("--ks", "2", "--tuples", 3, "--whole-users", 12)


@pytest.fixture(scope="module")
def table() -> pa.Table:
    made = city(40, 2)
    return made.set_column(0, "user", pa.array([f"{CANARY}-{user}" for user in made["user"].to_pylist()]))


@pytest.fixture(scope="module")
def events(table: pa.Table, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(table, tmp_path_factory.mktemp("compare") / "events.parquet")


def rows(events: Path, output: Path, *options: object) -> list[dict[str, Any]]:
    done = run("compare", events, "-o", output, *QUICK, *options)
    assert (done.code, done.err) == (0, "")
    return pa.parquet.read_table(output).drop_columns(["seconds"]).to_pylist()


@pytest.fixture(scope="module")
def plain(events: Path) -> list[dict[str, Any]]:
    return rows(events, events.with_name("plain.parquet"))


def test_tables(events: Path, tmp_path: Path) -> None:
    done = run("compare", events, *QUICK, "-o", tmp_path / "out.csv")
    assert (done.code, done.err) == (0, "")
    assert max(map(len, done.out.splitlines())) <= 80
    assert "Means over 3 random tuples of 40 users." in done.out
    assert "Whole trajectories of 12 of them." in done.out
    assert re.search(r"^k-merge +2 +100 % ", done.out, re.MULTILINE)
    assert re.search(r"^static 8h 20km +2 +\d+ % +480 +40 +0 % +0 % +0 % ", done.out, re.MULTILINE)
    assert read_table(tmp_path / "out.csv").num_rows == 12
    assert left_in(tmp_path) == {"out.csv"}
    assert CANARY not in done.out


OPTIONS = {
    "--ks": ("--ks", "3"),
    "--tuples": ("--tuples", 4),
    "--whole-users": ("--whole-users", 0),
    "--cell": ("--cell", "1km"),
    "--step": ("--step", "5min"),
    "--from": ("--from", "2024-01-02"),
    "--to": ("--to", "2024-01-02"),
    "--resample": ("--resample", "3h"),
    "--seed": ("--seed", 9),
    "--bbox": ("--bbox=-30.05,9.95,-29.95,10.05",),
}  # fmt: skip


@pytest.mark.parametrize("option", OPTIONS)
def test_options_matter(option: str, events: Path, plain: list[dict[str, Any]], tmp_path: Path) -> None:
    assert repr(rows(events, tmp_path / "out.parquet", *OPTIONS[option])) != repr(plain)


def test_options_of_reading(
    events: Path, table: pa.Table, plain: list[dict[str, Any]], tmp_path: Path
) -> None:
    same = rows(
        events, tmp_path / "same.parquet", "--format", "table", "--workers", 1, "--min-days-active", 1
    )
    assert repr(same) == repr(plain)
    renamed = write(table.rename_columns(list("abcd")), tmp_path / "renamed.parquet")
    names = ("--user-column", "a", "--time-column", "b", "--lat-column", "c", "--lon-column", "d")
    assert repr(rows(renamed, tmp_path / "named.parquet", *names)) == repr(plain)
    left_out = tmp_path / "left-out.txt"
    left_out.write_text("\n".join(sorted(set(table["user"].to_pylist()))[:9]))
    fewer = rows(events, tmp_path / "fewer.parquet", "--exclude-users", left_out)
    assert repr(fewer) != repr(plain)
    naive = pc.strftime(table["time"], format="%Y-%m-%d %H:%M:%S")
    local = write(table.set_column(1, "time", naive), tmp_path / "local.csv")
    zoned = rows(local, tmp_path / "zoned.parquet", "--timezone", "Asia/Tokyo")
    assert repr(zoned) != repr(plain)  # the static grids count from midnight UTC
    place = pc.index_in(table["lat"], pc.unique(table["lat"])).cast(pa.float64())
    metre = pc.multiply(place, 100.0)
    metres = pa.table({"user": table["user"], "time": table["time"], "p": metre, "q": metre})
    on_a_line = write(metres, tmp_path / "metres.parquet")
    by_site = pa.table({"user": table["user"], "time": table["time"], "mast": place.cast(pa.int64())})
    number = list(range(len(pc.unique(place))))
    apart = [100.0 * each for each in number]
    masts = write(pa.table({"site": number, "x": apart, "y": apart}), tmp_path / "masts.csv")
    first = rows(on_a_line, tmp_path / "first.parquet", "--x-column", "p", "--y-column", "q")
    second = rows(
        write(by_site, tmp_path / "by-site.parquet"), tmp_path / "second.parquet",
        "--sites", masts, "--site-column", "mast",
    )  # fmt: skip
    assert repr(first) == repr(second)


def test_refusals(events: Path, tmp_path: Path) -> None:
    there = tmp_path / "there.csv"
    there.write_text("mine")
    refused(tmp_path, "compare", events, "-o", there, *QUICK, words="there.csv exists already: add --force")
    assert run("compare", events, "-o", there, *QUICK, "--force").code == 0
    refused(tmp_path, "compare", events, "-o", tmp_path / "x.txt", words="must end in one of .csv, .parquet")
    refused(tmp_path, "compare", events, "--ks", "two", words="expected a whole number, got 'two'")
    refused(tmp_path, "compare", events, "--ks", "50", words="k = 50 needs at least 50 users")
    refused(tmp_path, "compare", tmp_path / "none.csv", words="none.csv")
