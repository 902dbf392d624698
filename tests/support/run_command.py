"""Run the command inside the test's process, and look at what it published."""

from __future__ import annotations

import contextlib
import gzip
import io
import json
import os
import subprocess
import sys
from collections import Counter
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet

import shoal
from shoal.cli.main import main
from shoal.core import progress_bars
from shoal.synthetic import make_city

HALF_HOURS = ("--tau", "30min", "--epsilon", "30min")
CANARY = "Zanzibar-4711"  # an identifier that no message may repeat
SECRET_X = 31415926  # metres; no message may repeat it
METRIC = ("t_start", "t_end", "x_min", "x_max", "y_min", "y_max")


class Run(NamedTuple):
    """What a command did."""

    code: int
    out: str
    err: str


def run(*arguments: object) -> Run:
    """``shoal`` with these arguments."""
    out, err, code = io.StringIO(), io.StringIO(), 0
    # A slow machine, or one that has yet to compile the kernels, tells of its progress: not what is tested here.
    silent = mock.patch.multiple(progress_bars, _SECONDS_OF_SILENCE=1e6, _SECONDS_BETWEEN_LINES=1e6)
    with silent, contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main([str(argument) for argument in arguments])
        except SystemExit as end:
            code = int(end.code or 0)
    return Run(code, out.getvalue(), err.getvalue())


def anonymize(events: object, output: Path, *options: object, k: int = 2) -> Run:
    """``shoal anonymize`` with k and, unless the options say otherwise, half hours for tau and epsilon."""
    timed = () if {"--whole", "--tau", "--epsilon"} & set(options) else HALF_HOURS
    return run("anonymize", events, "-o", output, "--k", k, *timed, *options)


def refused(folder: Path, *arguments: object, words: str) -> str:
    """Run a command that must be refused, and return its message."""
    before = left_in(folder)
    done = run(*arguments)
    assert done.code == 2, done
    assert done.out == ""
    assert done.err.count("\n") == 1
    assert done.err.endswith("\n")
    assert done.err.startswith("shoal: ")
    assert words in done.err
    for secret in (CANARY, str(SECRET_X), "1700000", "Internal error"):
        assert secret not in done.err
    assert left_in(folder) == before
    return done.err


def audit(events: object, output: Path, *options: object, attacks: int = 40) -> Run:
    """``shoal audit`` with few attacks."""
    return run("audit", events, output, "--attacks", attacks, *options)


def published(events: object, output: Path, *options: object, k: int = 2) -> Counter[Any]:
    """The boxes that come of events and options (the run must succeed)."""
    done = anonymize(events, output, *options, "--force", k=k)
    assert done.code == 0, done.err
    return boxes_in(output)


def boxes_in(path: Path) -> Counter[Any]:
    """A published file as a multiset of records, each the list of its boxes."""
    return records_of(read_table(path))


def records_of(table: pa.Table) -> Counter[Any]:
    """A published table as a multiset of records, each the list of its boxes."""
    records: dict[str, list[Any]] = {}
    times = [seconds(table[name]) for name in METRIC[:2]]
    metres = [table[name].to_pylist() for name in METRIC[2:]]
    for record, *box in zip(table["record"].to_pylist(), *times, *metres, strict=True):
        records.setdefault(record, []).append(tuple(box))
    return Counter(tuple(boxes) for boxes in records.values())


def seconds(times: pa.ChunkedArray) -> list[int]:
    """Timestamps as Unix seconds."""
    return pc.cast(pc.cast(times, pa.timestamp("s", "UTC")), pa.int64()).to_pylist()


def read_table(path: Path) -> pa.Table:
    """A published file, whatever its format."""
    if path.name.endswith("parquet"):
        return pa.parquet.read_table(path)
    if ".geojson" in path.name:
        return read_features(path)
    convert = pa.csv.ConvertOptions(
        column_types={"record": pa.string()} | dict.fromkeys(METRIC[:2], pa.timestamp("s", "UTC"))
    )
    return pa.csv.read_csv(path, convert_options=convert)


def read_features(path: Path) -> pa.Table:
    """A published GeoJSON file as a table; the hulls in degrees are those of its polygons."""
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path) as file:
        features = json.load(file)["features"]
    rows = []
    for feature in features:
        lon, lat = zip(*feature["geometry"]["coordinates"][0], strict=True)
        hull = {"lon_min": min(lon), "lon_max": max(lon), "lat_min": min(lat), "lat_max": max(lat)}
        times = {name: datetime.fromisoformat(feature["properties"][name]) for name in METRIC[:2]}
        rows.append(feature["properties"] | times | hull)
    return pa.Table.from_pylist(rows)


def city(users: int = 60, days: int = 1) -> pa.Table:
    """A small city; enough for k = 2, and quick."""
    return make_city(users=users, days=days, seed=1)


def write(table: pa.Table, path: Path) -> Path:
    """A table as a file of events."""
    if path.suffix == ".parquet":
        pa.parquet.write_table(table, path)
    else:
        pa.csv.write_csv(table, path)
    return path


def in_metres(users: int = 12, samples: int = 8) -> pa.Table:
    """Users on a square of a few kilometres for two hours, in x and y; every number is its own formula."""
    rows = [(user, turn) for user in range(users) for turn in range(samples)]
    return pa.table(
        {
            "user": [f"u{user:02d}" for user, _ in rows],
            "time": [1_700_000_100 + 900 * turn + 37 * ((user * 7 + turn * 3) % 20) for user, turn in rows],
            "x": [float(100 * ((user * 13 + turn * 5) % 40) + 50) for user, turn in rows],
            "y": [float(100 * ((user * 29 + turn * 11) % 40) + 50) for user, turn in rows],
        }
    )


def shrink_boxes(source: Path, target: Path, most: int = 1) -> Path:
    """A Parquet file in which so many of the narrowest boxes lack their last column; its metadata stay."""
    table = read_table(source)
    edges = list(zip(*(table[name].to_pylist() for name in METRIC), strict=True))
    wide = [row for row, (_, _, x0, x1, *_) in enumerate(edges) if x1 - x0 > 100]
    shrunk = set(sorted(wide, key=lambda row: (edges[row][3] - edges[row][2], edges[row]))[:most])
    x_max = [x1 - 100 * (row in shrunk) for row, (_, _, _, x1, *_) in enumerate(edges)]
    place = table.column_names.index("x_max")
    pa.parquet.write_table(table.set_column(place, table.schema.field(place), pa.array(x_max)), target)
    return target


def spawn(*arguments: object, **options: Any) -> subprocess.Popen[str]:
    """``shoal`` in a process of its own."""
    source = str(Path(shoal.__file__).parents[1])
    return subprocess.Popen(
        [sys.executable, "-m", "shoal", *(str(argument) for argument in arguments)],
        env={**os.environ, "PYTHONPATH": source, **options.pop("env", {})},
        text=True,
        stdout=options.pop("stdout", subprocess.PIPE),
        stderr=options.pop("stderr", subprocess.PIPE),
        **options,
    )


def complaints(err: str) -> list[str]:
    """Lines on stderr that are no progress."""
    return [line for line in err.splitlines() if not line.endswith(("...", "s left"))]


def left_in(folder: Path) -> set[str]:
    """Everything in a folder, hidden files included."""
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*")}
