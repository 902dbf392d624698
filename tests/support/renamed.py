"""Releases whose records get new names: small worlds published by the whole way, and files as the oracles see them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

import shoal
from oracles.casual_worlds import random_world
from oracles.parts import borders
from shoal.auditing.result import Audit
from support.release_worlds import World
from support.run_command import seconds

HOUR_S, CELL_M = 3600, 100
_RECOMPUTED = ("granularity", "suppression")  # what a spoilt table changes in a manifest
Part = tuple[Any, int, list[tuple[int, ...]]]


@dataclass(frozen=True)
class Case:
    """A world, a promise and a period, all in slots of an hour; tau and epsilon are None for whole parts."""

    world: World
    k: int
    tau: int | None
    epsilon: int | None
    period: int

    @cached_property
    def borders(self) -> list[int]:
        """By the oracle that watches the clock of UTC."""
        times = [t for own in self.world.values() for t, _, _ in own]
        return borders(min(times), max(times), self.period * HOUR_S, "UTC", self.epsilon, HOUR_S)

    @property
    def options(self) -> dict[str, Any]:
        """The same for ``shoal.anonymize``."""
        timed = {"tau": f"{self.tau}h", "epsilon": f"{self.epsilon}h"} if self.tau else {"whole": True}
        return {"k": self.k, **timed, "step": "1h", "cell": "100m", "rename_every": f"{self.period}h"}


def random_case(rng: Random, *, whole: bool = False) -> Case:
    """Some people over some days or less; the period is often no longer than tau, seldom longer than the data."""
    epsilon = rng.choice([1, 1, 2, 3])
    tau = epsilon * rng.randint(1, 3)
    world = random_world(rng, epsilon)
    earliest = min(t for own in world.values() for t, _, _ in own) // epsilon
    later = (rng.randint(0, 48) - earliest) * epsilon
    moved = {user: {(t + later, x, y) for t, x, y in own} for user, own in world.items()}
    period = rng.choice([hours for hours in (1, 2, 3, 4, 6, 8, 12, 24, 48) if hours >= tau][:4])
    return Case(moved, rng.choice([2, 2, 3]), *((None, None) if whole else (tau, epsilon)), period)


def events_of(world: World) -> pa.Table:
    """A world as a table of events."""
    rows = [(f"u{user}", *sample) for user, own in sorted(world.items()) for sample in sorted(own)]
    user, t, x, y = zip(*rows, strict=True)
    columns = {"user": user, "time": [HOUR_S * slot + 7 for slot in t]}
    return pa.table(columns | {"x": _metres(x), "y": _metres(y)})


def _metres(cells: tuple[int, ...]) -> list[float]:
    return [CELL_M * cell + CELL_M / 2 for cell in cells]


class Renamed:
    """A release in a folder, with its key, that can be spoilt and audited."""

    def __init__(self, events: pa.Table, folder: Path, suffix: str = ".parquet", **options: Any) -> None:
        self.events, self.folder = events, folder
        self.output, self.key_file = folder / f"out{suffix}", folder / "key.csv"
        self.published = shoal.anonymize(events, output=self.output, key_out=self.key_file, **options)
        self.key = read_key(self.key_file)
        self.manifest: dict[str, Any] = json.loads(Path(f"{self.output}.manifest.json").read_text())

    def audit(self, *, key: bool = True, **options: Any) -> Audit:
        """Audit the release as it was written."""
        found = {"key": self.key_file} if key else {}
        return shoal.audit(self.events, self.output, **{"attacks": 20, **found, **options})

    @property
    def table(self) -> pa.Table:
        """The boxes of a Parquet file, with its metadata."""
        return pq.read_table(self.output)

    def audit_spoilt(
        self,
        table: pa.Table,
        key: pa.Table | None = None,
        *,
        with_key: bool = True,
        evidence: bool = True,
        **options: Any,
    ) -> Audit:
        """Audit another table, under the manifest and the private notes of the release, with another key if given.

        The manifest tells of as many records and boxes as the table has, and has no account of how large they are.
        """
        output, keyed = self.folder / "spoilt.parquet", self.folder / "spoilt.csv"
        pq.write_table(table, output)
        told = {name: told for name, told in self.manifest.items() if name not in _RECOMPUTED}
        told["counts"] = told["counts"] | {"records": len(table["record"].unique()), "boxes": len(table)}
        Path(f"{output}.manifest.json").write_text(json.dumps(told))
        pa.csv.write_csv(self.key if key is None else key, keyed)
        for end in (".private.json", ".evidence.parquet"):
            Path(f"{keyed}{end}").unlink(missing_ok=True)
            if evidence or end == ".private.json":
                Path(f"{keyed}{end}").write_bytes(Path(f"{self.key_file}{end}").read_bytes())
        found = {"key": keyed} if with_key else {}
        return shoal.audit(self.events, output, **{"attacks": 20, **found, **options})


def read_key(path: Path) -> pa.Table:
    """A key with its users and records as texts."""
    texts = pa.csv.ConvertOptions(column_types={"user": pa.string(), "record": pa.string()})
    return pa.csv.read_csv(path, convert_options=texts)


def boxes_of(table: pa.Table, step_s: int = HOUR_S) -> list[tuple[str, tuple[int, ...]]]:
    """The record and the slots and cells of every box, ends included."""
    t0, t1 = (
        [second // step_s - end for second in seconds(table[name])]
        for end, name in enumerate(("t_start", "t_end"))
    )
    cells = [
        [round(metre / CELL_M) - end for metre in table[f"{axis}_{name}"].to_pylist()]
        for axis in "xy"
        for end, name in enumerate(("min", "max"))
    ]
    boxes = zip(t0, t1, *cells, strict=True)
    return list(zip(table["record"].to_pylist(), boxes, strict=True))


def with_boxes(table: pa.Table, rows: list[tuple[str, tuple[int, ...]]], step_s: int = HOUR_S) -> pa.Table:
    """A table with other boxes, in the order given, and the same metadata."""
    names = table.schema.names
    columns: dict[str, list[Any]] = {name: [] for name in names}
    for record, (t0, t1, x0, x1, y0, y1) in rows:
        row = {
            "record": record,
            "t_start": 1000 * step_s * t0,
            "t_end": 1000 * step_s * (t1 + 1),
            "x_min": float(CELL_M * x0),
            "x_max": float(CELL_M * (x1 + 1)),
            "y_min": float(CELL_M * y0),
            "y_max": float(CELL_M * (y1 + 1)),
        }
        for name in names:
            columns[name].append(row[name])
    arrays = [
        pa.array(columns[field.name], pa.int64()).cast(pa.timestamp("ms")).cast(field.type)
        if pa.types.is_timestamp(field.type)
        else pa.array(columns[field.name], field.type)
        for field in table.schema
    ]
    return pa.table(arrays, schema=table.schema)


def key_of(parts: list[Part], names: dict[tuple[Any, int], str]) -> pa.Table:
    """The key of some parts."""
    rows = [(f"u{user}", period + 1, names[user, period]) for user, period, _ in parts]
    columns = list(zip(*rows, strict=True))
    return pa.table(dict(zip(("user", "part", "record"), columns, strict=True)))


def parts_of(table: pa.Table, key: pa.Table, step_s: int = HOUR_S) -> list[Part]:
    """A file and its key as the oracle wants them: user (as the world has it), period and boxes of every part."""
    boxes: dict[str, list[tuple[int, ...]]] = {}
    for record, box in boxes_of(table, step_s):
        boxes.setdefault(record, []).append(box)
    return [
        (int(line["user"][1:]), line["part"] - 1, boxes.get(line["record"], [])) for line in key.to_pylist()
    ]
