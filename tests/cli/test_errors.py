"""Bad input and bad usage: one line that helps, exit code 2, nothing left behind, no data in the message."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pyarrow as pa
import pytest

from support.run_command import CANARY, HALF_HOURS, SECRET_X, anonymize, city, in_metres, refused, run, write

GOOD = ["--k", "2", *HALF_HOURS]


@pytest.fixture
def events(tmp_path: Path) -> Path:
    """Usable events with a canary among the users and the coordinates."""
    table = in_metres()
    users = [CANARY if user == "u03" else user for user in table["user"].to_pylist()]
    xs = [float(SECRET_X) if row == 5 else x for row, x in enumerate(table["x"].to_pylist())]
    table = table.set_column(0, "user", pa.array(users)).set_column(2, "x", pa.array(xs))
    return write(table, tmp_path / "events.csv")


OPTIONS = {
    "k one": (["--k", "1", *HALF_HOURS], "at least 2, got 1"),
    "k negative": (["--k", "-3", *HALF_HOURS], "at least 2, got -3"),
    "k no number": (["--k", "two", *HALF_HOURS], "expected a whole number, got 'two'"),
    "k fractional": (["--k", "2.5", *HALF_HOURS], "expected a whole number, got '2.5'"),
    "k missing": ([*HALF_HOURS], "--k"),
    "more than users": (["--k", "13", *HALF_HOURS], "needs at least 13 users with usable rows, found 12"),
    "tau zero": (["--k", "2", "--tau", "0min", "--epsilon", "30min"], "tau must be a duration"),
    "tau negative": (["--k", "2", "--tau=-5min", "--epsilon", "30min"], "tau must be a duration"),
    "tau unparsable": (["--k", "2", "--tau", "soon", "--epsilon", "30min"], "such as 30min"),
    "tau without unit": (["--k", "2", "--tau", "30", "--epsilon", "30min"], "such as 30min"),
    "tau no whole slots": (["--k", "2", "--tau", "90s", "--epsilon", "30min"], "whole number of steps of 60 s"),
    "epsilon zero": (["--k", "2", "--tau", "30min", "--epsilon", "0h"], "epsilon must be a duration"),
    "epsilon unparsable": (["--k", "2", "--tau", "30min", "--epsilon", "x"], "epsilon must be a duration"),
    "epsilon no whole slots": (["--k", "2", "--tau", "1h", "--epsilon", "61s"], "epsilon must be a whole number"),
    "epsilon beside tau": (
        ["--k", "2", "--tau", "30min", "--epsilon", "20min"],
        "epsilon must divide tau, got 20 min for 30 min, with which a window holds 30 min beyond tau:"
        " use 15 min or 30 min, or another tau.",
    ),
    "epsilon beyond tau": (["--k", "2", "--tau", "30min", "--epsilon", "1h"], "use 30 min, or another tau"),
    "tau missing": (["--k", "2", "--epsilon", "30min"], "tau missing"),
    "epsilon missing": (["--k", "2", "--tau", "30min"], "epsilon missing"),
    "neither": (["--k", "2"], "tau and epsilon missing"),
    "whole and tau": (["--k", "2", "--whole", "--tau", "30min"], "--whole takes no tau"),
    "cell zero": ([*GOOD, "--cell", "0m"], "cell must be a length"),
    "cell unparsable": ([*GOOD, "--cell", "small"], "cell must be a length"),
    "step unparsable": ([*GOOD, "--step", "1x"], "step must be a duration"),
    "step fractional": ([*GOOD, "--step", "0.5s"], "whole number of seconds"),
    "unknown option": ([*GOOD, "--bogus"], "No such option"),
    "extra argument": ([*GOOD, "more.csv"], "unexpected extra argument"),
    "reuse": ([*GOOD, "--reuse", "twice"], "once, pair, spaced, got 'twice'"),
    "selector": ([*GOOD, "--selector", "best"], "selector must be one of matching, mutual, spectral, got 'best'"),
    "repair": ([*GOOD, "--repair"], "repair goes with selector spectral, got selector matching"),
    "space weight": ([*GOOD, "--space-weight", "9"], "from 0 to 4, got 9"),
    "space weight negative": ([*GOOD, "--space-weight=-1"], "from 0 to 4"),
    "space weight no number": ([*GOOD, "--space-weight", "much"], "expected a number, got 'much'"),
    "space weight nan": ([*GOOD, "--space-weight", "nan"], "from 0 to 4, got nan"),
    "seed": ([*GOOD, "--seed=-1"], "seed must be a whole number"),
    "seed no number": ([*GOOD, "--seed", "x"], "expected a whole number"),
    "workers": ([*GOOD, "--workers", "0"], "workers must be a whole number of at least 1"),
    "format": ([*GOOD, "--format", "nothing"], "Unknown format 'nothing' for --format: expected one of"),
    "format of files": ([*GOOD, "--format", "geolife"], "No usable row"),
    "bbox of three": ([*GOOD, "--bbox", "1,2,3"], "bbox must be four numbers W,S,E,N"),
    "bbox no number": ([*GOOD, "--bbox", "a,b,c,d"], "bbox must be four numbers W,S,E,N"),
    "bbox upside down": ([*GOOD, "--bbox", "0,9,9,0"], "S no larger than N"),
    "bbox back to front": ([*GOOD, "--bbox", "9,0,0,9"], "W no larger than E"),
    "bbox of nothing": ([*GOOD, "--bbox=-9,-9,-8,-8"], "widen --bbox"),
    "days zero": ([*GOOD, "--min-days-active", "0"], "--min-days-active must be a whole number of at least 1"),
    "days no number": ([*GOOD, "--min-days-active", "all"], "expected a whole number, got 'all'"),
    "days too many": ([*GOOD, "--min-days-active", "99"], "No usable row"),
    "resample without unit": ([*GOOD, "--resample", "5"], "resample must be a duration such as 30min"),
    "resample fractional": ([*GOOD, "--resample", "0.5s"], "resample must be a whole number of seconds"),
    "timezone": ([*GOOD, "--timezone", "Mars/Olympus"], "Unknown time zone"),
    "from": ([*GOOD, "--from", "yesterday"], "--from must be a date"),
    "to": ([*GOOD, "--to", "32.13.2024"], "--to must be a date"),
    "from after to": ([*GOOD, "--from", "2024-02-01", "--to", "2024-01-01"], "earlier than"),
    "empty period": ([*GOOD, "--to", "1999-01-01"], "widen --from and --to"),
    "exclude missing": ([*GOOD, "--exclude-users", "nobody.txt"], "nobody.txt"),
    "user column": ([*GOOD, "--user-column", "who"], "--user-column"),
    "key suffix": ([*GOOD, "--key-out", "key.txt"], "must end in one of .csv, .parquet"),
    "json in no folder": ([*GOOD, "--json", "nowhere/summary.json"], "does not exist: choose another, or create it"),
    "key in no folder": ([*GOOD, "--key-out", "nowhere/key.csv"], "does not exist: choose another, or create it"),
}  # fmt: skip


@pytest.mark.parametrize("case", OPTIONS)
def test_bad_options(case: str, events: Path, tmp_path: Path) -> None:
    options, words = OPTIONS[case]
    refused(tmp_path, "anonymize", events, "-o", tmp_path / "out.parquet", *options, words=words)


def test_missing_output_and_missing_events(events: Path, tmp_path: Path) -> None:
    refused(tmp_path, "anonymize", events, *GOOD, words="--output")
    refused(tmp_path, "anonymize", "-o", tmp_path / "out.parquet", *GOOD, words="EVENTS")
    refused(tmp_path, "conquer", words="No such command")


FILES = {
    "headerless.csv": (f"{CANARY},1700000000,{SECRET_X},5\nu2,1700000060,10,10\n", "no header line"),
    "columns.csv": (f"user,time,height\n{CANARY},1700000000,{SECRET_X}\n", "No position among"),
    "user.csv": (f"who,time,x,y\n{CANARY},1700000000,{SECRET_X},4\n", "No column 'user'"),
    "empty.csv": ("", "empty"),
    "rowless.csv": ("user,time,x,y\n", "no rows"),
    "times.csv": (f"user,time,x,y\n{CANARY},noon,{SECRET_X},4\nb,dusk,3,4\n", "unparsable time"),
    "places.csv": (f"user,time,x,y\n{CANARY},1700000000,here,4\nb,1700000000,there,4\n", "unparsable position"),
    "garbage.parquet": (f"PAR1{CANARY}{SECRET_X}PAR1", "cannot be read"),
    "truncated.parquet": ("PAR1", "cannot be read"),
    "words.txt": ("user,time,x,y\n", "words.txt"),
    "one.csv": (f"user,time,x,y\n{CANARY},1700000000,{SECRET_X},4\n", "found 1"),
}  # fmt: skip


@pytest.mark.parametrize("name", FILES)
def test_bad_files(name: str, tmp_path: Path) -> None:
    content, words = FILES[name]
    (tmp_path / name).write_text(content)
    refused(tmp_path, "anonymize", tmp_path / name, "-o", tmp_path / "out.parquet", *GOOD, words=words)


def test_bad_tables_of_sites(tmp_path: Path) -> None:
    events = tmp_path / "events.csv"
    events.write_text("user,time,site\n" + "".join(f"u{i},{1_700_000_000 + i},{CANARY}\n" for i in range(5)))
    sites = tmp_path / "sites.csv"
    command = ("anonymize", events, "-o", tmp_path / "out.csv", *GOOD)
    refused(tmp_path, *command, words="with --sites")
    refused(tmp_path, *command, "--sites", sites, words="sites.csv")
    sites.write_text(f"site,lat,lon\n{CANARY},north,{SECRET_X}\n")
    refused(tmp_path, *command, "--sites", sites, words="usable position")
    sites.write_text("site,x,y\nelsewhere,1,2\n")
    refused(tmp_path, *command, "--sites", sites, words="5 unknown site")


def test_missing_file_and_empty_folder(tmp_path: Path) -> None:
    output = tmp_path / "out.parquet"
    refused(tmp_path, "anonymize", tmp_path / "none.csv", "-o", output, *GOOD, words="none.csv")
    (tmp_path / "data").mkdir()
    refused(tmp_path, "anonymize", tmp_path / "data", "-o", output, *GOOD, words="holds no data files")


def test_damaged_parquet(tmp_path: Path) -> None:
    whole = write(city(20), tmp_path / "whole.parquet").read_bytes()
    damaged = tmp_path / "damaged.parquet"
    damaged.write_bytes(whole[:200] + b"\xff" * 400 + whole[600:])
    refused(tmp_path, "anonymize", damaged, "-o", tmp_path / "out.parquet", *GOOD, words="damaged")


def test_strict_refuses_unusable_rows(events: Path, tmp_path: Path) -> None:
    events.write_text(events.read_text() + f"{CANARY},never,{SECRET_X},1\n")
    command = ("anonymize", events, "-o", tmp_path / "out.parquet", *GOOD)
    refused(tmp_path, *command, "--strict", words="1 of 97 rows cannot be used (1 unparsable time)")
    assert run(*command).code == 0


def test_an_opt_out_list_that_matches_nobody_is_refused_wherever_events_are_read(
    events: Path, tmp_path: Path
) -> None:
    output, left_out = tmp_path / "out.parquet", tmp_path / "left_out.txt"
    assert run("anonymize", events, "-o", output, *GOOD).code == 0
    left_out.write_text(f"{CANARY.lower()}\n{CANARY}-2\n")
    commands: list[tuple[object, ...]] = [
        ("anonymize", events, "-o", tmp_path / "other.parquet", *GOOD),
        ("audit", events, output),
        ("report", events, output, "-o", tmp_path / "page.html"),
        ("plan", events),
        ("sweep", events, "-o", tmp_path / "sweep"),
        ("compare", events),
        ("credibility", events),
    ]
    for command in commands:
        words = "found none of its 2 identifiers there"
        refused(tmp_path, *command, "--exclude-users", left_out, words=words)


def test_nobody_to_hide_with_leaves_no_checkpoint(tmp_path: Path) -> None:
    alone = pa.table(
        {"user": ["a", "b"], "time": [1_700_000_000, 1_700_100_000], "x": [1.0, 2.0], "y": [1.0, 2.0]}
    )
    events = write(alone, tmp_path / "events.csv")
    refused(tmp_path, "anonymize", events, "-o", tmp_path / "out.csv", *GOOD, words="come and go alike")


def test_output_suffix_and_folder(events: Path, tmp_path: Path) -> None:
    for name in ("out.xlsx", "out", "out.json", "out.gz"):
        refused(tmp_path, "anonymize", events, "-o", tmp_path / name, *GOOD, words="must end in one of")
    refused(tmp_path, "anonymize", events, "-o", tmp_path / "no/out.csv", *GOOD, words="does not exist")
    refused(tmp_path, "anonymize", events, "-o", events / "out.csv", *GOOD, words="is a file")
    (tmp_path / "folder.csv").mkdir()
    refused(tmp_path, "anonymize", events, "-o", tmp_path / "folder.csv", *GOOD, words="is a folder")
    long = tmp_path / ("o" * 245 + ".csv")  # possible itself, but not its manifest
    refused(tmp_path, "anonymize", events, "-o", long, *GOOD, words="too long")


def test_a_folder_that_takes_no_files(events: Path, tmp_path: Path) -> None:
    if not Path("/proc/self").is_dir():
        pytest.skip("needs a folder in which even root can make no file")
    refused(tmp_path, "anonymize", events, "-o", "/proc/out.csv", *GOOD, words="cannot be written")
    options = ("-o", tmp_path / "out.csv", *GOOD)
    refused(tmp_path, "anonymize", events, *options, "--json", "/proc/s.json", words="cannot be written")


def test_output_that_is_the_input(events: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    content = events.read_bytes()
    (tmp_path / "link.csv").symlink_to(events)
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "events.csv").write_bytes(content)
    monkeypatch.chdir(tmp_path)
    options = [*GOOD, "--force"]
    for output in ("events.csv", "./data/../events.csv", tmp_path / "events.csv", "link.csv"):
        refused(tmp_path, "anonymize", events, "-o", output, *options, words="overwrite or join the input")
    refused(tmp_path, "anonymize", "link.csv", "-o", events, *options, words="overwrite or join the input")
    refused(
        tmp_path, "anonymize", "data", "-o", "data/out.csv", *options, words="overwrite or join the input"
    )
    for option in ("--key-out", "--json"):
        command = ("anonymize", events, "-o", "out.parquet", *options, option, "events.csv")
        refused(tmp_path, *command, words="overwrite or join the input")
    (tmp_path / "left_out.csv").write_text("u01\n")
    command = ("anonymize", events, "--exclude-users", "left_out.csv", "-o", "left_out.csv", *options)
    refused(tmp_path, *command, words="overwrite or join the input")
    assert events.read_bytes() == content


def test_outputs_that_are_one_file(events: Path, tmp_path: Path) -> None:
    output = tmp_path / "out.csv"
    for option in ("--key-out", "--json"):
        refused(tmp_path, "anonymize", events, "-o", output, *GOOD, option, output, words="different files")
    manifest = f"{output}.manifest.json"
    refused(tmp_path, "anonymize", events, "-o", output, *GOOD, "--json", manifest, words="different files")


@pytest.mark.parametrize("existing", ["out.csv", "out.csv.manifest.json", "key.csv", "summary.json"])
def test_existing_output_needs_force(existing: str, events: Path, tmp_path: Path) -> None:
    (tmp_path / existing).write_text("precious")
    options = ("--key-out", tmp_path / "key.csv", "--json", tmp_path / "summary.json")
    command = ("anonymize", events, "-o", tmp_path / "out.csv", *GOOD, *options)
    refused(tmp_path, *command, words=f"{existing} exists already: add --force")
    assert (tmp_path / existing).read_text() == "precious"
    assert run(*command, "--force").code == 0
    assert (tmp_path / existing).read_text() != "precious"


def unfinished(events: Path, output: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that stops when it has all but written its files."""
    with monkeypatch.context() as patched:
        patched.setattr("shoal.api.write_outputs", lambda *_, **__: 1 / 0)
        assert anonymize(events, output).code == 3


def test_checkpoint_without_resume(events: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    output = tmp_path / "out.csv"
    unfinished(events, output, monkeypatch)
    command = ("anonymize", events, "-o", output, *GOOD)
    refused(tmp_path, *command, words="add --resume to go on with it, or remove it")
    refused(tmp_path, *command, "--force", words="add --resume to go on with it, or remove it")
    assert run(*command, "--resume").code == 0


OTHERS = {
    "k": ["--k", "3", *HALF_HOURS],
    "tau": ["--k", "2", "--tau", "1h", "--epsilon", "30min"],
    "seed": [*GOOD, "--seed", "5"],
    "reuse": [*GOOD, "--reuse", "pair"],
    "space weight": [*GOOD, "--space-weight", "2"],
    "cell and dataset": [*GOOD, "--cell", "200m"],
}  # fmt: skip


def test_checkpoint_of_another_run(events: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    output = tmp_path / "out.csv"
    unfinished(events, output, monkeypatch)
    for differing, options in OTHERS.items():
        command = ("anonymize", events, "-o", output, *options, "--resume")
        refused(tmp_path, *command, words=f"with another {differing}: resume with the same")
    other = write(in_metres(users=13), tmp_path / "other.csv")
    refused(tmp_path, "anonymize", other, "-o", output, *GOOD, "--resume", words="with another dataset:")
    header = tmp_path / "out.csv.checkpoint" / "run.json"
    header.write_text(json.dumps({**json.loads(header.read_text()), "version of shoal": "0.0.1"}))
    command = ("anonymize", events, "-o", output, *GOOD, "--resume")
    refused(tmp_path, *command, words="with another version of shoal:")


def test_checkpoint_that_is_a_file(events: Path, tmp_path: Path) -> None:
    (tmp_path / "out.csv.checkpoint").write_text("")
    command = ("anonymize", events, "-o", tmp_path / "out.csv", *GOOD, "--resume")
    refused(tmp_path, *command, words="must become a folder but is a file")


def test_no_device_or_pipe_is_replaced_by_force(events: Path, tmp_path: Path) -> None:
    """A pipe stands for a device, which a test must not put at risk."""
    pipe = tmp_path / "pipe.csv"
    os.mkfifo(pipe)
    refused(tmp_path, "anonymize", events, "-o", pipe, *GOOD, "--force", words="a device or a pipe")
    assert pipe.is_fifo()
