"""Freeze what the command does in many small runs, and compare two checkouts by what they did.

    python tools/frozen_runs.py run --python VENV/bin/python --out FOLDER
    python tools/frozen_runs.py compare OLD_FOLDER NEW_FOLDER

``run`` drives ``PYTHON -m shoal`` and keeps one JSON file per run in FOLDER; a run whose file is there is
skipped, so remove the file to repeat the run. A result has several parts, such as ``manifest``, ``summary``
and ``published``. ``compare`` prints a line for each difference: run, part, path in the part, old and new.
Exit code 1: something differs, or a run could not be made.

Nothing of shoal is imported here: what is compared is what the installed command writes. Real data are taken
from $SHOAL_DATA (../shared/data unless given); runs that need them are skipped, and said to be, where they
are missing.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import difflib
import functools
import gzip
import hashlib
import html
import itertools
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

DATA = Path(os.environ.get("SHOAL_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))

# ---- What is normalised away: this and nothing else --------------------------------------------------------

# Fields of JSON that differ from run to run, by part; * stands for every element of a list.
DROPPED_FIELDS = {
    "summary": ("seconds", "compile_seconds"),
    "audit": ("seconds",),
    "manifest": ("versions.shoal",),
    "plan": ("forecasts.*.seconds", "forecasts.*.processor_seconds", "forecasts.*.memory_bytes"),
}
DROPPED_COLUMNS = ("seconds",)  # of the tables that compare and sweep write

# What differs in texts, by command: a rule's name, what it finds, what it leaves.
TEXT_RULES = {
    "anonymize": [("time line", r"(?m)^(Time +)[\d.,]+ s(?:, and .*)?$", r"\1[seconds]")],
    "compare": [("column of seconds", r"(?m)( %) +[\d.,]+$", r"\1 [seconds]")],
    "sweep": [("column of seconds", r"(?m)( %) +[\d.,]+$", r"\1 [seconds]")],
    "plan": [("takes", r"(?m)( %) +[\d.,]+ (?:s|min|h|days?) +[\d.,]+ [GM]B$", r"\1 [takes] [memory]")],
    "page": [
        ("time of the audit", r"Audited in [\d.,]+ (?:s|min|h)\b", "Audited in [seconds]"),
        ("time of the page", r"this page took [\d.,]+ (?:s|min|h)\b", "this page took [seconds]"),
        ("version of shoal", r"Made by shoal \d[\w.+]*\w", "Made by shoal [version]"),
        ("version in the table", r'(<th scope="row">shoal</th><td>)[^<]+', r"\1[version]"),
    ],
}  # fmt: skip

# Lines of progress on stderr come when a stage takes long.
PROGRESS = re.compile(r".+ \.\.\.|.+: \d+ of \d+, about \d+ s left")

# Records have fresh random names at each run, which also decide the order of records and thereby ties among
# attacks. Audits and reports therefore see a copy, in which records are named and ordered after their users.
STABLE_NAME = "r{:016x}"
RECORD_NAME = re.compile(r"\br[0-9a-f]{16}\b")

# ---- Settings ----------------------------------------------------------------------------------------------

HALF_HOURS = "--tau 30min --epsilon 30min"
ATTACKS = "--attacks 60 --workers 1"
ONE = "--workers 1"
STEPS_BEFORE_KILL = 5
STEP_FILES = "step-*.npz"  # in the checkpoint's folder
PATIENCE_S = 60.0
BOX = ("t_start", "t_end", "x_min", "x_max", "y_min", "y_max")
ENVIRONMENT = {
    "COLUMNS": "80", "LC_ALL": "C.UTF-8", "NO_COLOR": "1", "TERM": "dumb", "TZ": "UTC",
    "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1",
}  # fmt: skip

Result = dict[str, Any]


class MissingDataError(Exception):
    """Real data that a run needs are not on this machine."""


class Said(NamedTuple):
    """What a command answered."""

    code: int
    out: str
    err: str

    def told(self, command: str) -> Result:
        """As it is kept: normalised, line by line."""
        errors = [line for line in self.err.splitlines() if not PROGRESS.fullmatch(line)]
        return {"exit": self.code, "stdout": normalised(self.out, command).splitlines(), "stderr": errors}


def normalised(text: str, command: str) -> str:
    """A text without what differs from run to run."""
    for _, pattern, left in TEXT_RULES.get(command, []):
        text = re.sub(pattern, left, text)
    return text


def without_dropped(value: Any, part: str) -> Any:
    """JSON of a part without the fields that differ from run to run."""
    for path in DROPPED_FIELDS.get(part, ()):
        _drop(value, path.split("."))
    return value


def _drop(value: Any, path: list[str]) -> None:
    first, *rest = path
    if first == "*":
        for element in value:
            _drop(element, rest)
    elif isinstance(value, dict) and rest and first in value:
        _drop(value[first], rest)
    elif isinstance(value, dict):
        value.pop(first, None)


def digest(data: bytes) -> str:
    """A short hash."""
    return hashlib.blake2b(data, digest_size=16).hexdigest()


def digest_of(texts: Iterable[str]) -> str:
    """A hash of texts, one per line."""
    return digest("\n".join(texts).encode())


# ---- The command and the files it reads --------------------------------------------------------------------


class Bench:
    """Where runs are made: the command, a folder for each run, and inputs made when first needed."""

    def __init__(self, python: str, folder: Path) -> None:
        self.python, self.folder = python, folder
        (folder / "inputs").mkdir()
        self.environment = {**os.environ, **ENVIRONMENT}
        self.environment.pop("PYTHONPATH", None)

    def command(self, *arguments: str) -> list[str]:
        """The command line of ``shoal`` with these arguments."""
        return [self.python, "-m", "shoal", *arguments]

    def shoal(self, cwd: Path, *arguments: str) -> Said:
        """Run ``shoal`` to its end."""
        ended = subprocess.run(
            self.command(*arguments),
            cwd=cwd,
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
        )
        return Said(ended.returncode, ended.stdout, ended.stderr)

    def start(self, cwd: Path, *command: str) -> subprocess.Popen[bytes]:
        """Start a process and leave it alone."""
        return subprocess.Popen(
            command, cwd=cwd, env=self.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )

    def make_folder(self, name: str) -> Path:
        """An empty folder for a run."""
        folder = self.folder / name
        folder.mkdir()
        return folder

    def input(self, name: str) -> str:
        """An input as runs name it, whose folders lie beside that of inputs."""
        return f"../inputs/{self.input_path(name).name}"

    def input_path(self, name: str) -> Path:
        """Where an input is, made if it is not there yet."""
        path = self.folder / "inputs" / name
        if not path.exists():
            INPUTS[name](self, path)
        return path


def synth(preset: str, *options: str) -> Callable[[Bench, Path], None]:
    """Events made up by the checkout under test."""

    def make(bench: Bench, path: Path) -> None:
        said = bench.shoal(path.parent, "synth", preset, "-o", path.name, "--seed", "1", *options)
        if said.code:
            raise RuntimeError(f"shoal synth {preset} failed: {said.err.strip()}")

    return make


def synth_hangzhou(bench: Bench, path: Path) -> None:
    """Made-up people among real antennas."""
    sites = real("hangzhou_bs.parquet")
    synth("abi", "--users", "400", "--days", "1", "--sites", str(sites))(bench, path)


def real(name: str) -> Path:
    """A file of real data."""
    if not (DATA / name).exists():
        raise MissingDataError(f"needs {name} in $SHOAL_DATA or ../shared/data")
    return DATA / name


def rows_of(bench: Bench, name: str) -> list[dict[str, str]]:
    """The rows of an input in CSV."""
    with bench.input_path(name).open(newline="") as file:
        return list(csv.DictReader(file))


def write_rows(path: Path, header: str, rows: Iterable[Iterable[object]], delimiter: str = ",") -> None:
    """A table as text."""
    with path.open("w", newline="") as file:
        writer = csv.writer(file, delimiter=delimiter)
        writer.writerow(header.split())
        writer.writerows(rows)


def make_foreign(bench: Bench, path: Path) -> None:
    """Two days under other names of columns, with one that is of no use, separated by tabs."""
    rows = rows_of(bench, "two-days.csv")
    table = ((row["lon"], row["lat"], "x", row["time"], row["user"]) for row in rows)
    write_rows(path, "east north colour when who", table, delimiter="\t")


def make_left_out(bench: Bench, path: Path) -> None:
    """Every ninth user."""
    users = sorted({row["user"] for row in rows_of(bench, "two-days.csv")})
    path.write_text("\n".join(users[::9]) + "\n")


def _metres(row: dict[str, str]) -> tuple[float, float]:
    return round(float(row["lon"]) * 109_000, 1), round(float(row["lat"]) * 111_000, 1)


def make_dirty(bench: Bench, path: Path) -> None:
    """A folder of two files in metres, local times without a zone, with rows that cannot be used."""
    path.mkdir()
    rows = [[row["user"], row["time"].rstrip("Z"), *_metres(row)] for row in rows_of(bench, "city.csv")]
    for spoilt, column, value in ((7, 0, ""), (11, 1, "noon"), (13, 2, ""), (17, 3, "north")):
        for row in rows[spoilt::997]:
            row[column] = value
    write_rows(path / "first.csv", "user time x y", rows[: len(rows) // 2])
    write_rows(path / "second.csv", "user time x y", rows[len(rows) // 2 :])


def make_sessions(bench: Bench, path: Path) -> None:
    """Every sample the beginning of a session of some minutes; a few end before they begin."""
    table = []
    for number, row in enumerate(rows_of(bench, "city.csv")):
        begin = datetime.fromisoformat(row["time"])
        minutes = -5 if number % 500 == 3 else number % 20
        end = begin + timedelta(minutes=minutes)
        table.append((row["user"], begin.isoformat(), end.isoformat(), row["lat"], row["lon"]))
    write_rows(path, "user start end lat lon", table)


def _sites_of(rows: list[dict[str, str]]) -> dict[tuple[str, str], str]:
    places = sorted({(row["lat"], row["lon"]) for row in rows})
    return {place: f"A{number}" for number, place in enumerate(places)}


def make_at_sites(bench: Bench, path: Path) -> None:
    """Samples at named antennas, some of which nobody knows."""
    rows = rows_of(bench, "city.csv")
    sites = _sites_of(rows)
    names = (sites[row["lat"], row["lon"]] for row in rows)
    table = (
        (row["user"], row["time"], "A-1" if number % 701 == 0 else name)
        for number, (row, name) in enumerate(zip(rows, names, strict=True))
    )
    write_rows(path, "user time antenna", table)


def make_sites(bench: Bench, path: Path) -> None:
    """The antennas' places."""
    sites = _sites_of(rows_of(bench, "city.csv"))
    write_rows(path, "antenna lat lon", ((name, *place) for place, name in sites.items()))


def _yjmob(days: int) -> list[dict[str, int]]:
    table = pyarrow.parquet.read_table(real("yjmob100k_1k_users.parquet"))
    return [row for row in table.to_pylist() if row["t"] < days * 86_400]


def make_yjmob_metres(_bench: Bench, path: Path) -> None:
    """The first day and a half of real people, cells as metres."""
    rows = [
        (row["user"], row["t"], row["x"] * 500, row["y"] * 500) for row in _yjmob(2) if row["t"] < 129_600
    ]
    columns = dict(zip(("user", "t", "x", "y"), zip(*rows, strict=True), strict=True))
    pyarrow.parquet.write_table(pa.table(columns), path)


def make_yjmob_format(_bench: Bench, path: Path) -> None:
    """A day of real people as YJMob100K is published, with some masked places."""
    table = [
        (row["user"], row["t"] // 86_400, row["t"] % 86_400 // 1800, row["x"], row["y"]) for row in _yjmob(1)
    ]
    table[::499] = [(*row[:3], 999, 999) for row in table[::499]]
    write_rows(path, "uid d t x y", table)


def make_times(_bench: Bench, path: Path) -> None:
    path.write_text("user,time,x,y\na,noon,1,4\nb,dusk,3,4\n")


def make_heights(_bench: Bench, path: Path) -> None:
    path.write_text("user,time,height\na,1700000000,7\nb,1700000000,8\n")


def make_headerless(_bench: Bench, path: Path) -> None:
    path.write_text("a,1700000000,3,5\nb,1700000060,10,10\n")


def make_garbage(_bench: Bench, path: Path) -> None:
    path.write_bytes(b"PAR1 no table at all PAR1")


INPUTS: dict[str, Callable[[Bench, Path], None]] = {
    "city.csv": synth("city", "--users", "400"),
    "big.csv": synth("city", "--users", "2000"),
    "two-days.csv": synth("city", "--users", "200", "--days", "2"),
    "abi.parquet": synth("abi", "--users", "500", "--days", "1"),
    "hangzhou.parquet": synth_hangzhou,
    "foreign.tsv": make_foreign,
    "left-out.txt": make_left_out,
    "dirty": make_dirty,
    "sessions.csv": make_sessions,
    "at-sites.csv": make_at_sites,
    "sites.csv": make_sites,
    "yjmob-metres.parquet": make_yjmob_metres,
    "yjmob.csv": make_yjmob_format,
    "times.csv": make_times,
    "heights.csv": make_heights,
    "headerless.csv": make_headerless,
    "garbage.parquet": make_garbage,
}

# ---- Published files ---------------------------------------------------------------------------------------


class Published(NamedTuple):
    """A published file: its rows in the order of the file, and what else it says."""

    rows: list[dict[str, Any]]
    about: Result


def read_published(path: Path) -> Published:
    """Read boxes in whichever format."""
    if path.suffix in (".parquet", ".geoparquet"):
        return _read_parquet(path)
    return _read_geojson(path) if ".geojson" in path.name else _read_csv(path)


def _read_parquet(path: Path) -> Published:
    table = pyarrow.parquet.read_table(path)
    notes = {key.decode(): json.loads(value) for key, value in (table.schema.metadata or {}).items()}
    columns = [f"{field.name}: {field.type}{'' if field.nullable else ' not null'}" for field in table.schema]
    return Published(table.to_pylist(), {"columns": columns, "metadata": notes})


def _read_csv(path: Path) -> Published:
    with _opened(path) as file:
        header = file.readline().decode().rstrip("\n")
    table = pyarrow.csv.read_csv(path)
    return Published(table.to_pylist(), {"columns": header.split(",")})


def _read_geojson(path: Path) -> Published:
    with _opened(path) as file:
        collection = json.load(file)
    features = collection.pop("features")
    rows = [{**feature["properties"], "geometry": feature["geometry"]} for feature in features]
    for row in rows:
        row.update({name: datetime.fromisoformat(row[name]) for name in ("t_start", "t_end")})
    return Published(rows, {"columns": list(features[0]["properties"]), "collection": collection})


def _opened(path: Path) -> Any:
    return gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb")


def box_text(row: dict[str, Any]) -> str:
    """A box in canonical words: Unix seconds and metres."""
    times = [row[name].timestamp() for name in BOX[:2]]
    return json.dumps([*times, *(float(row[name]) for name in BOX[2:])])


def row_text(row: dict[str, Any]) -> str:
    """A box with everything beside it, degrees and geometry, but for the record's name."""
    others = {name: value for name, value in row.items() if name not in (*BOX, "record")}
    return box_text(row) + json.dumps(others, sort_keys=True, default=bytes.hex)


def record_digests(rows: Iterable[dict[str, Any]], text: Callable[[dict[str, Any]], str]) -> dict[str, str]:
    """A hash of each record's boxes, in whichever order."""
    texts: dict[str, list[str]] = {}
    for row in rows:
        texts.setdefault(row["record"], []).append(text(row))
    return {record: digest_of(sorted(boxes)) for record, boxes in texts.items()}


def in_order(rows: list[dict[str, Any]]) -> bool:
    """Whether records stand by name, and each record's boxes by time."""
    places = [(row["record"], row["t_start"]) for row in rows]
    return places == sorted(places)


def published_part(published: Published) -> Result:
    """What is kept of a published file."""
    boxes = record_digests(published.rows, box_text)
    return {
        "records": len(boxes),
        "boxes": len(published.rows),
        "boxes_hash": digest_of(sorted(boxes.values())),
        "rows_hash": digest_of(sorted(record_digests(published.rows, row_text).values())),
        "in_order": in_order(published.rows),
        **published.about,
    }


def read_key(path: Path) -> dict[str, str]:
    """Which record is whose."""
    if path.suffix == ".parquet":
        rows = pyarrow.parquet.read_table(path).to_pylist()
    else:
        with path.open(newline="") as file:
            rows = list(csv.DictReader(file))
    return {row["user"]: row["record"] for row in rows}


def key_part(key: dict[str, str], published: Published) -> Result:
    """What is kept of a key: the boxes of each user."""
    boxes = record_digests(published.rows, box_text)
    lines = [f"{user} {boxes.get(record)}" for user, record in sorted(key.items())]
    return {"users": len(key), "sorted": list(key) == sorted(key), "boxes_hash": digest_of(lines)}


# ---- Copies with stable names, for audits ------------------------------------------------------------------


def write_stable(folder: Path, output: str, key: dict[str, str]) -> tuple[str, str]:
    """Copy a published file and its key under names that do not change from run to run."""
    names = {record: STABLE_NAME.format(number) for number, (_, record) in enumerate(sorted(key.items()))}
    stable = f"stable-{output}"
    _write_renamed(folder / output, folder / stable, names)
    shutil.copy(folder / f"{output}.manifest.json", folder / f"{stable}.manifest.json")
    write_rows(folder / "stable-key.csv", "user record", ((user, names[key[user]]) for user in sorted(key)))
    return stable, "stable-key.csv"


def _write_renamed(source: Path, target: Path, names: dict[str, str]) -> None:
    """Rename records and put them in the order of their names."""
    if source.suffix in (".parquet", ".geoparquet"):
        table = pyarrow.parquet.read_table(source)
        renamed = [names[record] for record in table["record"].to_pylist()]
        table = table.set_column(0, table.schema.field("record"), pa.array(renamed, pa.string()))
        order = sorted(range(len(renamed)), key=renamed.__getitem__)
        pyarrow.parquet.write_table(table.take(pa.array(order, pa.int64())), target)
        return
    with _opened(source) as file:
        lines = file.read().decode().splitlines()
    boxes, around = [], []
    for line in lines:
        found = RECORD_NAME.search(line)
        if found:
            boxes.append((names[found[0]], line.replace(found[0], names[found[0]]).rstrip(",")))
        else:
            around.append(line)
    boxes.sort(key=lambda box: box[0])
    joined = (",\n" if ".geojson" in source.name else "\n").join(line for _, line in boxes)
    content = "\n".join([around[0], joined, *around[1:], ""]).encode()
    target.write_bytes(gzip.compress(content) if target.suffix == ".gz" else content)


# ---- Releases ----------------------------------------------------------------------------------------------


class Audit(NamedTuple):
    """An audit of a release."""

    title: str = "audit"
    options: str = ""
    with_key: bool = True


class Release(NamedTuple):
    """A run of ``shoal anonymize``, and what follows it.

    Options are words with spaces between them; an input among them is written as @NAME. ``reading`` goes to
    audits as well.
    """

    events: str
    output: str
    options: str
    reading: str = ""
    workers: str = ONE
    audits: tuple[Audit, ...] = ()
    key: str = "key.csv"
    how: str = "plain"
    pages: bool = False


KEYED = (Audit(),)
ANOTHER = Audit("audit of another promise", "--k 3 --tau 1h --epsilon 30min")
UNKEYED = Audit("audit without key", with_key=False)
WHOLE = Audit("audit of whole", "--k 2 --whole --show-users")
COLUMNS = "--user-column who --time-column when --lat-column north --lon-column east"
PART = "--from 2024-01-01T05:00 --to 2024-01-02T21:00 --bbox=-30.2,9.8,-29.8,10.3 --resample 5min"
PEOPLE = "--min-days-active 2 --exclude-users @left-out.txt --timezone Asia/Tokyo"
SHARDS = f"--k 2 {HALF_HOURS} --shard-size 100"
ODD = "--k 3 --tau 1h --epsilon 20min --reuse spaced"
ODD_MUTUAL = "--k 5 --tau 90min --epsilon 30min --selector mutual --reuse spaced"
REPAIRED = f"--k 3 {HALF_HOURS} --selector spectral --repair"
COARSE = f"--k 2 {HALF_HOURS} --cell 250m --step 5min --no-verify"
HOURS = "--tau 1h --epsilon 1h"
RELEASES = {
    "matching": Release(
        "city.csv", "out.parquet", f"--k 2 {HALF_HOURS}", audits=(*KEYED, UNKEYED, ANOTHER, WHOLE), pages=True
    ),
    "matching-k5-harden2": Release(
        "abi.parquet", "out.csv.gz", f"--k 5 {HALF_HOURS} --harden 2", audits=KEYED, key="key.parquet"
    ),
    "harden0-space2": Release(
        "city.csv", "out.geojson", f"--k 2 {HALF_HOURS} --harden 0 --space-weight 2", audits=KEYED
    ),
    "harden1-pair": Release(
        "abi.parquet", "out.parquet", f"--k 2 {HALF_HOURS} --harden 1 --reuse pair", audits=KEYED
    ),
    "harden3": Release(
        "abi.parquet", "out.geoparquet", f"--k 2 {HALF_HOURS} --harden 3 --seed 7", audits=KEYED
    ),
    "odd-tau-spaced": Release("city.csv", "out.csv", ODD, audits=KEYED),
    "mutual": Release("city.csv", "out.parquet", f"--k 2 {HALF_HOURS} --selector mutual", audits=KEYED),
    "mutual-k5-odd-tau": Release("abi.parquet", "out.geojson.gz", ODD_MUTUAL, audits=KEYED),
    "spectral": Release("city.csv", "out.parquet", f"--k 2 {HALF_HOURS} --selector spectral", audits=KEYED),
    "spectral-repair": Release("city.csv", "out.csv", REPAIRED, audits=(*KEYED, UNKEYED)),
    "whole": Release("city.csv", "out.parquet", "--k 2 --whole", audits=KEYED),
    "whole-k5-shards": Release("big.csv", "out.csv", "--k 5 --whole --shard-size 100"),
    "shards": Release("big.csv", "out.parquet", SHARDS, audits=KEYED),
    "processes": Release("big.csv", "out.parquet", SHARDS, workers="--workers 2 --engine processes"),
    "cluster": Release("big.csv", "out.parquet", SHARDS, workers="", how="cluster"),
    "killed": Release("big.csv", "out.parquet", f"--k 3 {HALF_HOURS} --harden 3", how="killed"),
    "reading": Release(
        "foreign.tsv", "out.csv", f"--k 2 {HALF_HOURS}", reading=f"{COLUMNS} {PART} {PEOPLE}", audits=KEYED
    ),
    "dirty": Release("dirty", "out.parquet", COARSE, reading="--timezone Europe/Rome", audits=KEYED),
    "sessions": Release("sessions.csv", "out.geojson", f"--k 2 {HALF_HOURS}"),
    "sites": Release(
        "at-sites.csv", "out.parquet", f"--k 2 {HALF_HOURS}", reading="--sites @sites.csv", audits=KEYED
    ),
    "yjmob": Release("yjmob-metres.parquet", "out.parquet", f"--k 2 {HOURS}", audits=KEYED),
    "yjmob-format": Release(
        "yjmob.csv", "out.csv.gz", f"--k 3 {HOURS} --cell 500m --step 30min", audits=KEYED
    ),
    "hangzhou": Release("hangzhou.parquet", "out.geoparquet", f"--k 3 {HALF_HOURS}", audits=KEYED),
}


def make_release(name: str, bench: Bench) -> Result:
    """Anonymize, keep what was published, and attack it."""
    release = RELEASES[name]
    folder, events = bench.make_folder(name), f"@{release.events}"
    options = f"{release.options} {release.workers} {release.reading}"
    outputs = f"-o {release.output} --key-out {release.key} --json summary.json"
    arguments = given(bench, f"anonymize {events} {options} {outputs}")
    result = HOW[release.how](bench, folder, arguments, release.output)
    result["files"] = files_in(folder)
    if not (folder / release.output).exists():
        return {**result, "published": None}
    result["summary"] = without_dropped(read_json(folder / "summary.json"), "summary")
    result["manifest"] = without_dropped(read_json(folder / f"{release.output}.manifest.json"), "manifest")
    published, key = read_published(folder / release.output), read_key(folder / release.key)
    result["published"], result["key"] = published_part(published), key_part(key, published)
    stable, stable_key = write_stable(folder, release.output, key)
    for audit in release.audits:
        keyed = f"--key {stable_key}" if audit.with_key else ""
        target = f"audit {events} {stable} {keyed} {audit.options} {release.reading} {ATTACKS}"
        result.update(audited(bench, folder, audit.title, target))
    if release.pages:
        target = f"report {events} {stable} --key {stable_key} {release.reading} {ATTACKS}"
        result["report"] = reported(bench, folder, target, "report.html")
        result["report public"] = reported(bench, folder, f"{target} --public", "datasheet.html")
    return result


def given(bench: Bench, arguments: str) -> list[str]:
    """Arguments word by word, inputs in the place of their names."""
    return [bench.input(word[1:]) if word.startswith("@") else word for word in arguments.split()]


def files_in(folder: Path) -> list[str]:
    """What a release left, and who may read it."""
    return [f"{path.name} {path.stat().st_mode & 0o777:o}" for path in sorted(folder.iterdir())]


def read_json(path: Path) -> Any:
    """A JSON file, or nothing where there is none."""
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None


def plainly(bench: Bench, folder: Path, arguments: list[str], _output: str) -> Result:
    """A run that nothing happens to."""
    return {"anonymize": bench.shoal(folder, *arguments).told("anonymize")}


def killed(bench: Bench, folder: Path, arguments: list[str], output: str) -> Result:
    """A run that is killed after some steps, refused without --resume, and finished with it."""
    checkpoint = folder / f"{output}.checkpoint"
    process = bench.start(folder, *bench.command(*arguments))
    while process.poll() is None and len(list(checkpoint.glob(STEP_FILES))) < STEPS_BEFORE_KILL:
        time.sleep(0.001)
    process.send_signal(signal.SIGKILL)
    code = process.wait()
    left = {"exit": code, "checkpoint": checkpoint.is_dir(), "published": (folder / output).exists()}
    refused = bench.shoal(folder, *arguments).told("anonymize")
    return {"kill": left, "not resumed": refused, **plainly(bench, folder, [*arguments, "--resume"], output)}


def clustered(bench: Bench, folder: Path, arguments: list[str], output: str) -> Result:
    """A run on a scheduler and one worker, both on loopback."""
    with loopback(bench) as address:
        return plainly(bench, folder, [*arguments, "--cluster", address], output)


@contextlib.contextmanager
def loopback(bench: Bench) -> Iterator[str]:
    """A Dask scheduler with a worker; they leave files in a folder of their own."""
    folder, (port, worker_port) = bench.make_folder("dask"), free_ports(2)
    address = f"tcp://127.0.0.1:{port}"
    here = ("--host", "127.0.0.1", "--no-dashboard")
    scheduler = ("distributed.cli.dask_scheduler", *here, "--port", str(port), "--no-show")
    alone = ("--worker-port", str(worker_port), "--nthreads", "1", "--no-nanny")
    worker = ("distributed.cli.dask_worker", address, *here, *alone)
    started = []
    try:
        for command, listening in ((scheduler, port), (worker, worker_port)):
            started.append(bench.start(folder, bench.python, "-m", *command))
            wait_for(started[-1], listening)
        yield address
    finally:
        for process in started:
            process.kill()
            process.wait()


def free_ports(n: int) -> list[int]:
    """Ports of loopback that nobody listens on."""
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(n)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]


def wait_for(process: subprocess.Popen[bytes], port: int) -> None:
    """Until a process listens; one that ends, or never does, is left for the run to complain about."""
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end and process.poll() is None:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        time.sleep(0.05)


HOW = {"plain": plainly, "killed": killed, "cluster": clustered}


def audited(bench: Bench, folder: Path, title: str, arguments: str) -> Result:
    """An audit: what it said, and its JSON."""
    target = folder / f"{title.replace(' ', '-')}.json"
    said = bench.shoal(folder, *given(bench, arguments), "--json", target.name)
    return {title: said.told("audit"), f"{title} json": without_dropped(read_json(target), "audit")}


def reported(bench: Bench, folder: Path, arguments: str, output: str) -> Result:
    """A page: what was said, and what is on it."""
    said = bench.shoal(folder, *given(bench, arguments), "-o", output)
    return {**said.told("report"), **page_part(folder / output)}


def page_part(path: Path) -> Result:
    """What is kept of a page: its text, and hashes of all of it and of its styles, scripts and figures."""
    if not path.exists():
        return {"page": None}
    page = normalised(path.read_text(encoding="utf-8"), "page")
    blocks = re.compile(r"<(script|style|svg)\b.*?</\1>", re.DOTALL)
    text = html.unescape(re.sub(r"<[^>]*>", " ", blocks.sub(" ", page)))
    lines = [" ".join(line.split()) for line in text.splitlines()]
    return {
        "page_hash": digest(page.encode()),
        "text": [line for line in lines if line],
        "blocks": [f"{found[1]} {digest(found[0].encode())}" for found in blocks.finditer(page)],
    }


# ---- Other commands ----------------------------------------------------------------------------------------


def make_inputs(bench: Bench) -> Result:
    """What ``shoal synth`` makes up."""
    kept = {}
    for name, made in (
        ("city.csv", rows_of(bench, "city.csv")),
        ("abi.parquet", _table(bench, "abi.parquet")),
    ):
        kept[name] = {"rows": len(made), "hash": digest_of(json.dumps(row, default=str) for row in made)}
    folder = bench.make_folder("inputs-again")
    said = bench.shoal(folder, "synth", "dak", "--users", "60", "--days", "1", "-o", "dak.csv.gz")
    with contextlib.suppress(OSError), gzip.open(folder / "dak.csv.gz") as file:
        kept["dak.csv.gz"] = {"hash": digest(file.read())}
    return {**kept, "synth": said.told("synth")}


def _table(bench: Bench, name: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = pyarrow.parquet.read_table(bench.input_path(name)).to_pylist()
    return rows


def make_plan(bench: Bench) -> Result:
    """Forecasts, without those of time and memory."""
    folder = bench.make_folder("plan")
    lists = "--ks 2,3 --taus 30min,1h --epsilons 20min,30min"
    arguments = f"plan @two-days.csv {lists} --json plan.json -o plan.svg {ONE}"
    said = bench.shoal(folder, *given(bench, arguments))
    forecasts = without_dropped(read_json(folder / "plan.json"), "plan")
    return {"plan": said.told("plan"), "plan json": forecasts, "figures": figures_in(folder)}


def make_compare(bench: Bench) -> Result:
    """Other methods on few people."""
    folder = bench.make_folder("compare")
    arguments = f"compare @city.csv --ks 2,3 --tuples 10 --whole-users 30 -o compare.csv {ONE}"
    said = bench.shoal(folder, *given(bench, arguments))
    return {"compare": said.told("compare"), "tables": tables_in(folder)}


def make_sweep(bench: Bench) -> Result:
    """Tables and figures over very short lists."""
    folder = bench.make_folder("sweep")
    lists = "--ks 2,3 --taus 30min,1h --epsilons 15min --selectors matching,mutual"
    said = bench.shoal(folder, *given(bench, f"sweep @city.csv {lists} -o sweep {ONE}"))
    made = folder / "sweep"
    return {"sweep": said.told("sweep"), "tables": tables_in(made), "figures": figures_in(made)}


def make_credibility(bench: Bench) -> Result:
    """Statistics of events, as text, JSON and page."""
    folder = bench.make_folder("credibility")
    outputs = "--json credibility.json -o credibility.html"
    said = bench.shoal(folder, *given(bench, f"credibility @two-days.csv --real @city.csv {outputs} {ONE}"))
    return {
        "credibility": said.told("credibility"),
        "credibility json": read_json(folder / "credibility.json"),
        "page": page_part(folder / "credibility.html"),
    }


def tables_in(folder: Path) -> dict[str, list[str]]:
    """Small tables row by row, without the columns that differ from run to run."""
    kept = {}
    for path in sorted(folder.glob("*.csv")):
        with path.open(newline="") as file:
            kept[path.name] = [json.dumps(_without_columns(row)) for row in csv.DictReader(file)]
    for path in sorted(folder.glob("*.parquet")):
        table = pyarrow.parquet.read_table(path)
        rows = [json.dumps(_without_columns(row)) for row in table.to_pylist()]
        kept[path.name] = [*(f"{field.name}: {field.type}" for field in table.schema), *rows]
    return kept


def _without_columns(row: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name not in DROPPED_COLUMNS}


def figures_in(folder: Path) -> dict[str, str]:
    """A hash of each figure."""
    paths = sorted((*folder.glob("*.svg"), *folder.glob("*.png")))
    return {path.name: digest(path.read_bytes()) for path in paths}


GOOD = f"-o out.csv --k 2 {HALF_HOURS}"
ERRORS = {
    "k of one": f"anonymize @city.csv -o out.csv --k 1 {HALF_HOURS}",
    "more than users": f"anonymize @city.csv -o out.csv --k 401 {HALF_HOURS}",
    "no tau": "anonymize @city.csv -o out.csv --k 2 --epsilon 30min",
    "unknown selector": f"anonymize @city.csv {GOOD} --selector best",
    "unknown option": f"anonymize @city.csv {GOOD} --bogus",
    "no such events": f"anonymize nowhere.csv {GOOD}",
    "suffix": f"anonymize @city.csv -o out.xlsx --k 2 {HALF_HOURS}",
    "times": f"anonymize @times.csv {GOOD}",
    "no position": f"anonymize @heights.csv {GOOD}",
    "no header": f"anonymize @headerless.csv {GOOD}",
    "garbage": f"anonymize @garbage.parquet {GOOD}",
    "strict": f"anonymize @dirty {GOOD} --strict",
    "output is there": f"anonymize @city.csv -o there.csv --k 2 {HALF_HOURS}",
    "nobody in the box": f"anonymize @city.csv {GOOD} --bbox 1,1,2,2",
    "no scheduler": f"anonymize @city.csv {GOOD} --cluster nonsense",
    "audit of events": "audit @city.csv @city.csv",
    "unknown preset": "synth atlantis -o out.csv",
}


def make_errors(bench: Bench) -> Result:
    """Bad input and usage: the line and the exit code of each, and that nothing is left."""
    folder = bench.make_folder("errors")
    (folder / "there.csv").write_text("mine\n")
    kept = {}
    for title, arguments in ERRORS.items():
        kept[title] = bench.shoal(folder, *given(bench, arguments)).told("error")
        kept[title]["left"] = sorted(path.name for path in folder.iterdir())
    return kept


COMMANDS = ("anonymize", "audit", "report", "credibility", "compare", "sweep", "plan", "synth", "demo")


def make_help(bench: Bench) -> Result:
    """What every command says of itself."""
    folder = bench.make_folder("help")
    kept = {command: bench.shoal(folder, command, "--help").told("help") for command in COMMANDS}
    return {"shoal": bench.shoal(folder, "--help").told("help"), **kept}


RUNS: dict[str, Callable[[Bench], Result]] = {
    "inputs": make_inputs,
    **{name: functools.partial(make_release, name) for name in RELEASES},
    "plan": make_plan,
    "compare": make_compare,
    "sweep": make_sweep,
    "credibility": make_credibility,
    "errors": make_errors,
    "help": make_help,
}


def run(python: str, out: Path) -> int:
    """Make the runs that have no result yet."""
    out.mkdir(parents=True, exist_ok=True)
    began, said = time.monotonic(), list[str]()
    with tempfile.TemporaryDirectory(prefix="frozen-runs-") as temporary:
        # Not resolved: the link to the interpreter is what makes it that of a virtual environment.
        bench = Bench(str(Path.cwd() / python), Path(temporary).resolve())
        print(f"frozen runs of {checkout(bench)}")
        for name, make in RUNS.items():
            print(f"{name:<22}", end="", flush=True)
            said.append(one_run(bench, make, out / f"{name}.json"))
            print(said[-1], flush=True)
    print(f"{time.monotonic() - began:.0f} s in all")
    return 1 if any(line.startswith("FAILED") for line in said) else 0


def checkout(bench: Bench) -> str:
    """Which package it is that runs."""
    asking = [bench.python, "-c", "import shoal; print(shoal.__file__)"]
    found = subprocess.run(
        asking, cwd=bench.folder, env=bench.environment, capture_output=True, text=True, check=False
    )
    if found.returncode:
        sys.exit(f"{bench.python} has no shoal: {found.stderr.strip().splitlines()[-1]}")
    return found.stdout.strip()


def one_run(bench: Bench, make: Callable[[Bench], Result], target: Path) -> str:
    """Make a run and keep its result; say what became of it."""
    if target.exists():
        return "there already"
    began = time.monotonic()
    try:
        result = make(bench)
    except MissingDataError as missing:
        return f"SKIPPED: {missing}"
    except Exception as error:  # the other runs can still be made
        return f"FAILED: {type(error).__name__}: {error}"
    unfinished = target.with_suffix(".part")
    unfinished.write_text(json.dumps(result, indent=1, default=str) + "\n", encoding="utf-8")
    unfinished.replace(target)
    return f"{time.monotonic() - began:.1f} s"


# ---- Comparing ---------------------------------------------------------------------------------------------

ABSENT = object()


class Difference(NamedTuple):
    """Something that is not as it was."""

    path: str
    old: Any
    new: Any

    def __str__(self) -> str:
        return f"{self.path}  {_short(self.old)} -> {_short(self.new)}"


def _short(value: Any) -> str:
    text = "(absent)" if value is ABSENT else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 160 else f"{text[:150]}... ({len(text)} characters)"


def differences(old: Any, new: Any, path: str = "$") -> Iterator[Difference]:
    """Where two values differ; lines of text as blocks of lines."""
    if isinstance(old, dict) and isinstance(new, dict):
        for name in sorted({*old, *new}):
            yield from differences(old.get(name, ABSENT), new.get(name, ABSENT), f"{path}.{name}")
    elif _is_text(old) and _is_text(new):
        yield from _lines(old, new, path)
    elif isinstance(old, list) and isinstance(new, list):
        for number, pair in enumerate(itertools.zip_longest(old, new, fillvalue=ABSENT)):
            yield from differences(*pair, f"{path}[{number}]")
    elif not _same(old, new):
        yield Difference(path, old, new)


def _is_text(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(line, str) for line in value)


def _lines(old: list[str], new: list[str], path: str) -> Iterator[Difference]:
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    for kind, begin, end, new_begin, new_end in matcher.get_opcodes():
        if kind != "equal":
            yield Difference(f"{path}[{begin}:{end}]", old[begin:end], new[new_begin:new_end])


def _same(old: Any, new: Any) -> bool:
    """Equal and of one type; not a number is equal to itself."""
    if old is ABSENT or new is ABSENT:
        return old is new
    return type(old) is type(new) and json.dumps(old) == json.dumps(new)


def compare(old: Path, new: Path) -> int:
    """Print each difference as a line."""
    names = sorted({path.stem for folder in (old, new) for path in folder.glob("*.json")})
    if not names:
        sys.exit(f"No results in {old} and {new}: make some with run.")
    found = 0
    for name in names:
        results = [read_json(folder / f"{name}.json") for folder in (old, new)]
        if None in results:
            found += 1
            print(f"{name}  only in {old if results[1] is None else new}")
            continue
        for part in sorted({*results[0], *results[1]}):
            for difference in differences(*(result.get(part, ABSENT) for result in results)):
                found += 1
                print(f"{name}  {part}  {difference}")
    print(f"{len(names)} runs compared: {found or 'no'} difference{'' if found == 1 else 's'}")
    return 1 if found else 0


def main() -> int:
    """Run or compare."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    running = commands.add_parser("run", help="make the runs and keep their results")
    running.add_argument(
        "--python", required=True, help="Python of the virtual environment with the checkout"
    )
    running.add_argument("--out", type=Path, required=True, help="folder of results, one JSON file per run")
    comparing = commands.add_parser("compare", help="print each difference between two folders of results")
    comparing.add_argument("old", type=Path)
    comparing.add_argument("new", type=Path)
    given_ones = parser.parse_args()
    if given_ones.command == "run":
        return run(given_ones.python, given_ones.out)
    return compare(given_ones.old, given_ones.new)


if __name__ == "__main__":
    sys.exit(main())
