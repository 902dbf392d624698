"""The command as a whole: help, version, interruptions, failures nobody foresaw, the other commands."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
import pytest

import shoal
from shoal.cli.commands.demo import run_demo
from shoal.core.progress import SilentProgress
from support.run_command import (
    CANARY,
    HALF_HOURS,
    anonymize,
    city,
    complaints,
    in_metres,
    left_in,
    read_table,
    run,
    spawn,
    write,
)


def test_help_loads_nothing_slow() -> None:
    script = (
        "import sys, shoal.cli.main as cli\n"
        "slow = ('numba', 'pyarrow', 'numpy', 'matplotlib')\n"
        "try: cli.main(['anonymize', '--help'])\n"
        "finally: print([name for name in slow if name in sys.modules])\n"
    )
    source = str(Path(shoal.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "PYTHONPATH": source},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines()[-1] == "[]"
    assert "--exclude-users" in done.stdout


def test_version_and_welcome() -> None:
    assert run("--version") == (0, f"{shoal.__version__}\n", "")
    welcome = run()
    assert (welcome.code, welcome.err) == (0, "")
    for command in ("anonymize", "audit", "synth", "demo"):
        assert command in welcome.out
    assert run("-h").out == run("--help").out


# ---- failures ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "place", ["shoal.api.read_events", "shoal.api.anonymize_samples", "shoal.api.write_outputs"]
)
def test_unforeseen_failures_tell_no_data(
    place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError(f"cannot parse row {CANARY}\n48.8584,2.2945")

    monkeypatch.setattr(place, fail)
    events = write(in_metres(), tmp_path / "events.csv")
    done = anonymize(events, tmp_path / "out.csv")
    assert (done.code, done.out) == (3, "")
    assert done.err.startswith("shoal: Internal error (RuntimeError in test_main.py:")
    assert done.err.count("\n") == 1
    assert CANARY not in done.err
    assert "48.8" not in done.err
    assert {name for name in left_in(tmp_path) if "checkpoint" not in name} == {"events.csv"}
    monkeypatch.setenv("SHOAL_DEBUG", "1")
    with pytest.raises(RuntimeError, match=CANARY):
        anonymize(events, tmp_path / "out.csv", "--resume")


@pytest.mark.parametrize(
    ("error", "words"), [(MemoryError(), "Out of memory"), (KeyboardInterrupt(), "Interrupted")]
)
def test_foreseen_failures(
    error: BaseException, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr("shoal.api.anonymize_samples", fail)
    done = anonymize(write(in_metres(), tmp_path / "events.csv"), tmp_path / "out.csv")
    assert (done.code, done.out) == (3, "")
    assert done.err.startswith(f"shoal: {words}. Nothing was published")
    assert done.err.count("\n") == 1


def test_warnings_of_libraries_are_not_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import warnings

    from shoal.api import check_population

    def noisy(n_users: int, k: int) -> None:
        warnings.warn(CANARY, stacklevel=1)
        check_population(n_users, k)

    monkeypatch.setattr("shoal.api.check_population", noisy)
    with warnings.catch_warnings():
        done = anonymize(write(in_metres(), tmp_path / "events.csv"), tmp_path / "out.csv")
    assert (done.code, done.err) == (0, "")


def test_ctrl_c_gives_one_line_and_resume_goes_on(tmp_path: Path) -> None:
    events, output = write(city(500), tmp_path / "events.parquet"), tmp_path / "out.parquet"
    command = ("anonymize", events, "-o", output, "--k", 3, *HALF_HOURS)
    process = spawn(*command)
    while process.poll() is None and len(list(tmp_path.rglob("step-*.npz"))) < 4:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=180)
    assert process.returncode == 3
    assert out == ""
    assert complaints(err) == [
        "shoal: Interrupted. Nothing was published. out.parquet.checkpoint is left, readable by you alone, and tells"
        " who hides whom: go on with --resume, or remove it."
    ]
    assert {path.name for path in tmp_path.iterdir()} == {"events.parquet", "out.parquet.checkpoint"}
    assert run(*command, "--resume").code == 0


def test_stdout_that_nobody_reads_or_that_is_full(tmp_path: Path) -> None:
    events, output = write(in_metres(), tmp_path / "events.csv"), tmp_path / "out.csv"
    reading, writing = os.pipe()
    os.close(reading)
    process = spawn("anonymize", events, "-o", output, "--k", 2, *HALF_HOURS, stdout=writing)
    os.close(writing)
    _, err = process.communicate(timeout=180)
    assert (process.returncode, complaints(err)) == (0, [])
    if Path("/dev/full").exists():
        with Path("/dev/full").open("w") as full:
            process = spawn("anonymize", events, "-o", output, "--k", 2, *HALF_HOURS, "--force", stdout=full)
            _, err = process.communicate(timeout=180)
        assert process.returncode == 3
        (complaint,) = complaints(err)
        assert complaint.startswith(
            "shoal: The files are in place, but stdout cannot be written to (No space"
        )


# ---- synth and demo ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".parquet"])
def test_synth_city(suffix: str, tmp_path: Path) -> None:
    events = tmp_path / f"events{suffix}"
    made = run("synth", "city", "-o", events, "--users", 30, "--days", 1, "--seed", 1)
    assert (made.code, made.err) == (0, "")
    table = city(30)
    assert made.out == f"{len(table):,} events of 30 users in {events}\n"
    assert left_in(tmp_path) == {events.name}
    read = pa.parquet.read_table(events) if suffix == ".parquet" else read_table(events)
    assert read["user"].to_pylist() == table["user"].to_pylist()
    assert read["lat"].to_pylist() == table["lat"].to_pylist()
    assert run("synth", "city", "-o", events).code == 2
    assert run("synth", "city", "-o", events, "--users", 20, "--seed", 2, "--force").code == 0
    assert anonymize(events, tmp_path / "out.csv").code == 0


def test_synth_region(tmp_path: Path) -> None:
    sites = write(
        pa.table({"lat": [1 + 0.01 * n for n in range(40)], "lon": [0.01 * (n * n % 17) for n in range(40)]}),
        tmp_path / "sites.csv",
    )
    events, other = tmp_path / "events.parquet", tmp_path / "other.csv"
    made = run("synth", "abi", "-o", events, "--users", 30, "--days", 2, "--seed", 4)
    table = pa.parquet.read_table(events)
    assert made.out == f"{table.num_rows:,} events of 30 users in {events}\n"
    assert table["user"].to_pylist() == shoal.make_region("abi", users=30, days=2, seed=4)["user"].to_pylist()
    small = ("--surface", 90, "--antennas", 30, "--samples-per-hour", 2.5)
    assert run("synth", "sen", "-o", other, "--users", 40, "--days", 1, *small).code == 0
    made_small = read_table(other)
    assert len(set(zip(made_small["lat"].to_pylist(), made_small["lon"].to_pylist(), strict=True))) <= 30
    assert made_small.num_rows > 40 * 24
    assert run("synth", "shn", "-o", other, "--users", 40, "--sites", sites, "--force").code == 0
    assert set(read_table(other)["lat"].to_pylist()) <= set(read_table(sites)["lat"].to_pylist())
    assert anonymize(events, tmp_path / "out.csv").code == 0


BAD_CITIES = {
    "preset": (["village", "-o", "x.csv"], "must be one of city, abi, dak, shn, civ, sen, got 'village'"),
    "suffix": (["city", "-o", "x.txt"], "must end in one of"),
    "users": (["city", "-o", "x.csv", "--users", "0"], "users must be"),
    "users no number": (["city", "-o", "x.csv", "--users", "many"], "expected a whole number, got 'many'"),
    "days": (["city", "-o", "x.csv", "--days", "0"], "days must be"),
    "seed": (["city", "-o", "x.csv", "--seed", "x"], "expected a whole number"),
    "folder": (["city", "-o", "no/x.csv"], "does not exist"),
    "output": (["city"], "--output"),
    "city is fixed": (["city", "-o", "x.csv", "--antennas", "50"], "The preset city is always the same city"),
    "antennas": (["abi", "-o", "x.csv", "--antennas", "2"], "antennas must be a whole number of at least 10"),
    "surface": (["abi", "-o", "x.csv", "--surface", "big"], "expected a whole number, got 'big'"),
    "rate": (["abi", "-o", "x.csv", "--samples-per-hour", "-1"], "samples per hour must be a number above 0"),
    "sites": (["abi", "-o", "x.csv", "--sites", "none.csv"], "none.csv"),
}


@pytest.mark.parametrize("case", BAD_CITIES)
def test_bad_cities(case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    arguments, words = BAD_CITIES[case]
    done = run("synth", *arguments)
    assert (done.code, done.out) == (2, "")
    assert words in done.err
    assert done.err.count("\n") == 1
    assert left_in(tmp_path) == set()


def test_demo_makes_a_page_and_makes_it_again(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "demo"
    result = run_demo(folder, SilentProgress(), users=120, days=1)
    assert result.page.read_text().startswith("<!doctype html>")
    assert result.summary["users"] == 120
    files = {
        "events.csv",
        "published.parquet",
        "published.parquet.manifest.json",
        "key.csv",
        "key.csv.private.json",
        "key.csv.evidence.parquet",
        "report.html",
        ".shoal-demo",
    }
    assert left_in(folder) == files
    manifest = json.loads((folder / "published.parquet.manifest.json").read_text())
    assert 120 < manifest["counts"]["records"] <= 4 * 120  # parts, of which everybody has up to four
    assert manifest["periods"]["rename_every_s"] == 6 * 3600
    assert {"relinking", "revealed"} <= set(result.audit.to_dict()["attacks"])
    assert "the next part of a person is found in" in result.page.read_text()
    (folder / "published.parquet.checkpoint").mkdir()  # of a demo that was killed
    assert run_demo(folder, SilentProgress(), users=60, days=1).summary["users"] == 60
    assert left_in(folder) == files


def test_demo_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_demo, "__kwdefaults__", {"users": 80, "days": 1})
    done = run("demo", "--folder", tmp_path / "demo")
    assert done.code == 0
    assert done.out.startswith("Promise")
    said = " ".join(done.out.split())
    for words in (
        "new names every 6 h",
        "(relinking): the next part of a person is found in",
        "reads",
        "Watching somebody across a border",
    ):
        assert words in said
    assert done.out.endswith(f"Now look at {tmp_path / 'demo' / 'report.html'}\n")


def test_demo_leaves_other_folders_alone(tmp_path: Path) -> None:
    (tmp_path / "events.csv").write_text("precious")
    for folder, words in ((tmp_path, "holds other files"), (tmp_path / "events.csv", "is a file")):
        done = run("demo", "--folder", folder)
        assert (done.code, done.out) == (2, "")
        assert words in done.err
        assert done.err.count("\n") == 1
    assert left_in(tmp_path) == {"events.csv"}
    assert (tmp_path / "events.csv").read_text() == "precious"
