"""Some two hundred bad inputs: files, options and outputs that newcomers get wrong, with canaries in all of them.

    python tests/end_to_end/bad_inputs.py > tests/end_to_end/bad_inputs.txt

writes down what is said of each, to be read by a person before it is believed.
"""

from __future__ import annotations

import gzip
import io
import json
import os
import sqlite3
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))

import pyarrow as pa
import pyarrow.parquet

from support.run_command import Run, run

NAMES = [f"Zanzibar-47{number:02d}" for number in range(12)]  # canaries: users
PLACES = ("31.4159", "27.1828")  # canaries: how all latitudes and longitudes begin
SECRETS = ("Zanzibar", "31.41", "27.18", "pass-word-4711")
HEAD = "user,time,lat,lon"
PROMISE = ("--k", 2, "--tau", "30min", "--epsilon", "30min")


class BadInput(NamedTuple):
    """A command that must be refused; ``prepare`` makes the files that it needs in a folder."""

    name: str
    prepare: Callable[[Path], object]
    words: tuple[object, ...]


def rows() -> list[str]:
    """Usable rows of a CSV file."""
    return [
        f"{name},2024-03-11T{hour:02d}:{2 * turn:02d}:00Z,{PLACES[0]}{turn}{hour % 10},{PLACES[1]}{turn}{hour % 10}"
        for turn, name in enumerate(NAMES)
        for hour in range(8)
    ]


def csv(*lines: str, head: str = HEAD) -> str:
    return "\n".join([head, *lines]) + "\n"


GOOD = csv(*rows())


def table() -> pa.Table:
    cells = [row.split(",") for row in rows()]
    user, time, lat, lon = (list(column) for column in zip(*cells, strict=True))
    return pa.table({"user": user, "time": time, "lat": list(map(float, lat)), "lon": list(map(float, lon))})


def write_good(folder: Path) -> None:
    (folder / "events.csv").write_text(GOOD)


def write_release(folder: Path) -> None:
    """Good events, and a release of them with its key."""
    write_good(folder)
    arguments = (
        "anonymize",
        folder / "events.csv",
        "-o",
        folder / "out.csv",
        "--key-out",
        folder / "key.csv",
    )
    assert run(*arguments, *PROMISE).code == 0


def file(name: str, content: str | bytes) -> Callable[[Path], object]:
    def prepare(folder: Path) -> object:
        return (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())

    return prepare


def events(
    name: str, prepare: Callable[[Path], object], source: str = "events.csv", *more: object
) -> BadInput:
    """Events that cannot be published."""
    return BadInput(f"events: {name}", prepare, ("anonymize", source, "-o", "out.csv", *PROMISE, *more))


def sqlite(folder: Path, *tables: str) -> None:
    with sqlite3.connect(folder / "events.sqlite") as database:
        for name in tables:
            database.execute(f"create table {name} (user text, time text, lat real, lon real)")
    database.close()


def parquet(folder: Path, made: pa.Table) -> None:
    pa.parquet.write_table(made, folder / "events.parquet")


def zipped(folder: Path, **members: str) -> None:
    with zipfile.ZipFile(folder / "events.zip", "w") as archive:
        for name, content in members.items():
            archive.writestr(name.replace("_", "."), content)


def _nothing(folder: Path) -> None:
    """No file at all."""


def bad_events() -> Iterator[BadInput]:
    """Files that are not what they should be."""
    lines = rows()
    texts = {
        "empty": "",
        "header only": csv(),
        "blank lines only": "\n\n\n",
        "no user column": GOOD.replace("user", "owner_of_it", 1),
        "no time column": GOOD.replace("time", "moment_of_it", 1),
        "no position": GOOD.replace("lat,lon", "here,there", 1),
        "only a latitude": GOOD.replace("lon", "there", 1),
        "nothing known": GOOD.replace(HEAD, "a,b,c,d", 1),
        "no header": "\n".join(lines) + "\n",
        "two columns of a name": GOOD.replace(HEAD, "user,time,lat,lat", 1),
        "two columns for a role": GOOD.replace(HEAD, "user,time,latitude,lat", 1),
        "all times wrong": GOOD.replace("2024-03-11T", "some day "),
        "all times missing": csv(*(",".join((row.split(",")[0], "", *row.split(",")[2:])) for row in lines)),
        "all users missing": csv(*(f"NULL,{row.split(',', 1)[1]}" for row in lines)),
        "all latitudes beyond the pole": GOOD.replace(f",{PLACES[0]}", ",131.4159"),
        "all positions missing": csv(*(",".join((*row.split(",")[:2], "", "")) for row in lines)),
        "all positions are words": csv(*(",".join((*row.split(",")[:2], "north", "east")) for row in lines)),
        "one user": csv(*lines[:8]),
        "one row": csv(lines[0]),
        "day or month first": csv(
            *(row.replace("2024-03-11T", "03/11/2024 ").replace("Z,", ",") for row in lines)
        ),
        "quote that never ends": csv('"' + lines[0], *lines[1:]),
        "json": json.dumps([{"user": NAMES[0]}]),
        "html": f"<html><body>{NAMES[0]}</body></html>",
        "year one": GOOD.replace("2024-", "0000-"),
    }
    for name, content in texts.items():
        yield events(name, file("events.csv", content))
    yield events("bytes of no text", file("events.csv", bytes(range(256)) * 4))
    yield events("UTF-16", file("events.csv", GOOD.encode("utf-16")))
    yield events("NUL among the rows", file("events.csv", GOOD.replace(NAMES[3], "Zan\0zibar-4703")))
    yield events("not there", _nothing)
    yield events("empty folder", lambda folder: (folder / "events.csv").mkdir())
    yield events("an address", _nothing, "https://user:pass-word-4711@example.org/events.csv")
    yield events("a connection", _nothing, "postgresql://user:pass-word-4711@host/events")
    yield events("gzip cut off", file("events.csv.gz", gzip.compress(GOOD.encode())[:-40]), "events.csv.gz")
    yield events("gzip that is none", file("events.csv.gz", GOOD), "events.csv.gz")
    yield events("zst that is none", file("events.csv.zst", GOOD), "events.csv.zst")
    yield events("zip that is none", file("events.zip", GOOD), "events.zip")
    yield events("zip of nothing", zipped, "events.zip")
    yield events("zip of something else", lambda folder: zipped(folder, notes_doc=NAMES[0]), "events.zip")
    yield events("unknown ending", file("events.xyz", GOOD), "events.xyz")
    yield events("spreadsheet", file("events.xlsx", b"PK\x03\x04" + GOOD.encode()), "events.xlsx")
    yield events("parquet that is none", file("events.parquet", GOOD), "events.parquet")
    yield events("parquet cut off", _cut_parquet, "events.parquet")
    yield events(
        "parquet without rows", lambda folder: parquet(folder, table().slice(0, 0)), "events.parquet"
    )
    nested = pa.array([[name] for name in table()["user"].to_pylist()])
    yield events(
        "parquet with nested users",
        lambda folder: parquet(folder, table().set_column(0, "user", nested)),
        "events.parquet",
    )
    yield events(
        "parquet with positions as text",
        lambda folder: parquet(folder, table().set_column(2, "lat", pa.array(["north"] * len(table())))),
        "events.parquet",
    )
    yield events("geojson that is none", file("events.geojson", GOOD), "events.geojson")
    yield events(
        "geojson cut off",
        file("events.geojson", '{"type": "FeatureCollection", "features": ['),
        "events.geojson",
    )
    yield events(
        "geojson of nothing",
        file("events.geojson", '{"type": "FeatureCollection", "features": []}'),
        "events.geojson",
    )
    yield events("sqlite without tables", lambda folder: sqlite(folder), "events.sqlite")
    yield events("sqlite with two tables", lambda folder: sqlite(folder, "a", "b"), "events.sqlite")
    yield events("sqlite without rows", lambda folder: sqlite(folder, "a"), "events.sqlite")
    yield events("sqlite that is none", file("events.sqlite", GOOD), "events.sqlite")
    for name, query in {
        "that writes": "delete from a",
        "of an unknown table": "select * from Zanzibar_4711",
        "that is no SQL": "Zanzibar please",
        "of two statements": "select 1; drop table a",
        "empty": "",
    }.items():
        yield events(f"query {name}", lambda folder: sqlite(folder, "a"), "events.sqlite", "--query", query)
    yield events("query of a CSV file", write_good, "events.csv", "--query", "select 1")
    yield events(
        "strict with a bad row",
        file("events.csv", GOOD + f"{NAMES[0]},never,1,1\n"),
        "events.csv",
        "--strict",
    )
    nobody = file("events.csv", GOOD + "NULL,2024-03-11T00:00:00Z,1,1\n")
    yield events("strict with a missing user", nobody, "events.csv", "--strict")


def _cut_parquet(folder: Path) -> None:
    parquet(folder, table())
    path = folder / "events.parquet"
    path.write_bytes(path.read_bytes()[:-30])


BAD_OPTIONS: dict[str, list[object]] = {
    "--k": [1, 0, -3, "two", 2.5, "", 10**30, 13],
    "--cell": ["0m", "small", "-100m", "100", "1e999m", ""],
    "--step": ["0min", "1x", "0.5s", "-1min", ""],
    "--space-weight": ["nan", "inf", -1, 5, "heavy"],
    "--seed": [-1, "abc", 1.5],
    "--harden": [-1, 4, "hard"],
    "--effort": [0, 4, "much"],
    "--shard-size": [0, 99, -5, "big"],
    "--selector": ["best", ""],
    "--reuse": ["twice", ""],
    "--rename-every": ["5h", "0h", "soon", "-1d", "7", "10min"],
    "--min-spread": ["1km", "far", "-1km"],
    "--workers": [0, -1, "many"],
    "--engine": ["steam"],
    "--format": ["excel", ""],
    "--timezone": ["Mars/Olympus", "UTC+25", "Moon/Base", ""],
    "--time-format": ["%Q", "words", "%H", ""],
    "--from": ["yesterday", "2024-13-01", "2030-01-01", ""],
    "--to": ["tomorrow", "2024-02-30", "2020-01-01"],
    "--bbox": ["1,2,3", "a,b,c,d", "9,9,1,1", "400,0,500,1", "nan,0,1,1", "-1,-1,1,1", ""],
    "--min-days-active": [0, -1, "all", 40],
    "--resample": ["0min", "often", "-1h", "0.1s"],
    "--exclude-users": ["nobody.txt", "."],
    "--sites": ["masts.csv", "events.csv"],
    "--user-column": ["who", ""],
    "--time-column": ["when", "user"],
    "--lat-column": ["north", "user"],
    "--lon-column": ["east"],
    "--x-column": ["lon"],
    "--site-column": ["mast"],
    "--config": ["none.toml", "events.csv"],
    "--key-out": ["key.txt", "out.csv", "events.csv", "nowhere/key.csv"],
    "--json": ["out.csv", "nowhere/figures.json", "events.csv"],
    "--save-config": ["nowhere/release.toml", "events.csv"],
    "--colour": ["red"],
}


def bad_options() -> Iterator[BadInput]:
    """Options of a release that make no sense, on good events."""
    for option, values in BAD_OPTIONS.items():
        for value in values:
            given = () if option == "--k" else ("--k", 2)
            promise = (*given, "--tau", "30min", "--epsilon", "30min")
            words = ("anonymize", "events.csv", "-o", "out.csv", *promise, f"{option}={value}")
            yield BadInput(f"{option}={value}", write_good, words)
    for name, promise in {
        "no promise": (),
        "tau without epsilon": ("--tau", "30min"),
        "epsilon without tau": ("--epsilon", "30min"),
        "whole with tau": ("--whole", "--tau", "30min"),
        "epsilon that does not divide tau": ("--tau", "30min", "--epsilon", "20min"),
        "epsilon beyond tau": ("--tau", "30min", "--epsilon", "1h"),
        "tau in parts of a step": ("--tau", "90s", "--epsilon", "90s"),
        "tau of nothing": ("--tau", "0min", "--epsilon", "0min"),
        "tau without a unit": ("--tau", "30", "--epsilon", "30"),
        "hardened whole": ("--whole", "--harden", 2),
        "whole looked at again": ("--whole", "--effort", 2),
    }.items():
        words = ("anonymize", "events.csv", "-o", "out.csv", "--k", 2, *promise)
        yield BadInput(f"promise: {name}", write_good, words)
    for name, content in {
        "unknown section": "[promises]\nk = 2\n",
        "unknown name": "[promise]\nK = 2\n",
        "wrong type": '[promise]\nk = "two"\n',
        "no TOML": "k: 2\n",
        "a path": '[reading]\nsites = "/Zanzibar/masts.csv"\n',
        "people": '[reading]\nexclude_users = ["Zanzibar-4711"]\n',
    }.items():
        words = ("anonymize", "events.csv", "-o", "out.csv", *PROMISE, "--config", "release.toml")
        yield BadInput(f"settings: {name}", _both(write_good, file("release.toml", content)), words)


def _both(*ways: Callable[[Path], object]) -> Callable[[Path], object]:
    def prepare(folder: Path) -> None:
        for way in ways:
            way(folder)

    return prepare


def bad_outputs() -> Iterator[BadInput]:
    """Outputs that could not be written, or would destroy something."""
    for name, output in {
        "unknown ending": "out.txt",
        "no ending": "out",
        "the events": "events.csv",
        "folder that is not there": "nowhere/out.csv",
        "a folder": ".",
    }.items():
        yield BadInput(f"output: {name}", write_good, ("anonymize", "events.csv", "-o", output, *PROMISE))
    there = _both(write_good, file("out.csv", "mine"))
    yield BadInput("output: exists", there, ("anonymize", "events.csv", "-o", "out.csv", *PROMISE))
    same = ("anonymize", "events.csv", "-o", "out.csv", "--key-out", "key.csv", "--json", "key.csv", *PROMISE)
    yield BadInput("output: key and summary in one", write_good, same)


def other_commands() -> Iterator[BadInput]:
    """The same mistakes elsewhere."""
    for command in ("plan", "compare", "sweep"):
        target = ("-o", "swept") if command == "sweep" else ()
        for name, source, more in (
            ("events not there", "nowhere.csv", ()),
            ("no k", "events.csv", ("--ks", "")),
            ("k of one", "events.csv", ("--ks", "1,2")),
            ("k of words", "events.csv", ("--ks", "a,b")),
            ("k beyond the users", "events.csv", ("--ks", "500")),
            ("unknown zone", "events.csv", ("--timezone", "Mars/Olympus")),
            ("cells of words", "events.csv", ("--cell", "small")),
        ):
            yield BadInput(f"{command}: {name}", write_good, (command, source, *target, *more))
    for name, words in {
        "plan: taus of words": ("plan", "events.csv", "--taus", "soon"),
        "plan: epsilons that divide no tau": ("plan", "events.csv", "--taus", "30min", "--epsilons", "20min"),
        "plan: too many": ("plan", "events.csv", "--ks", "2,3,4,5,6,7,8,9,10,11", "--taus", "30min,1h,2h"),
        "plan: figure of an unknown kind": ("plan", "events.csv", "-o", "plan.doc"),
        "sweep: over nothing known": ("sweep", "events.csv", "-o", "swept", "--over", "speed"),
        "sweep: no output": ("sweep", "events.csv"),
        "compare: drawn by whim": ("compare", "events.csv", "--drawn", "whim"),
        "compare: no tuples": ("compare", "events.csv", "--tuples", 0),
        "synth: unknown preset": ("synth", "atlantis", "-o", "made.csv"),
        "synth: no users": ("synth", "city", "-o", "made.csv", "--users", 0),
        "synth: no output": ("synth", "city"),
        "credibility: events not there": ("credibility", "nowhere.csv"),
        "no command": ("anonymise", "events.csv"),
        "demo: folder is a file": ("demo", "--folder", "events.csv"),
    }.items():
        yield BadInput(name, write_good, words)
    for command, target in (("audit", ()), ("report", ("-o", "page.html"))):
        for name, words in {
            "published not there": ("events.csv", "nowhere.csv"),
            "published is the events": ("events.csv", "events.csv"),
            "events are the release": ("out.csv", "out.csv"),
            "key not there": ("events.csv", "out.csv", "--key", "nowhere.csv"),
            "key is the events": ("events.csv", "out.csv", "--key", "events.csv"),
            "no attacks": ("events.csv", "out.csv", "--attacks", 0),
            "tolerance of more than all": ("events.csv", "out.csv", "--tolerance", 2),
            "k of one": ("events.csv", "out.csv", "--k", 1),
            "thresholds that cross": ("events.csv", "out.csv", "--moderate", 0.9, "--high", 0.1),
        }.items():
            yield BadInput(f"{command}: {name}", write_release, (command, *words, *target))
    yield BadInput(
        "report: page of an unknown kind",
        write_release,
        ("report", "events.csv", "out.csv", "-o", "page.doc"),
    )
    public = ("report", "events.csv", "out.csv", "-o", "page.html", "--public")
    yield BadInput("report: datasheet without a key", write_release, public)
    damaged = _both(write_release, lambda folder: (folder / "out.csv.manifest.json").write_text("{"))
    yield BadInput("audit: manifest damaged", damaged, ("audit", "events.csv", "out.csv"))
    notes = _both(write_release, lambda folder: (folder / "key.csv.private.json").write_text("{"))
    yield BadInput(
        "audit: private notes damaged", notes, ("audit", "events.csv", "out.csv", "--key", "key.csv")
    )


def bad_inputs() -> list[BadInput]:
    """All of them."""
    return [*bad_events(), *bad_options(), *bad_outputs(), *other_commands()]


def try_it(case: BadInput, folder: Path) -> tuple[Run, set[str], set[str]]:
    """Run a command in a folder of its own; what it did, and the files before and after."""
    case.prepare(folder)
    before = _files(folder)
    was, stdin = Path.cwd(), sys.stdin
    os.chdir(folder)
    sys.stdin = io.StringIO("")
    try:
        done = run(*case.words)
    finally:
        os.chdir(was)
        sys.stdin = stdin
    return done, before, _files(folder)


def _files(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


if __name__ == "__main__":
    for each in bad_inputs():
        with tempfile.TemporaryDirectory() as made:
            said, _, _ = try_it(each, Path(made))
        print(f"{each.name}\t{said.code}\t{said.err.strip()}")
