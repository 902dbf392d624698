"""A small town by day, and a few alone by night: what is suppressed is known, and no coordinate looks like a pixel."""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq

import shoal
from reporting.releases import Release

Row = tuple[str, int, float, float]  # user, Unix second, x and y in metres

MIDNIGHT = int(datetime(2024, 3, 4, tzinfo=UTC).timestamp())
WEST, SOUTH = 7_310_000, 4_470_000
FAR = (WEST - 137_000.0, SOUTH - 40_000.0)


def by_day(n_users: int = 40, seed: int = 1) -> list[Row]:
    """People are about home once or twice an hour, from 7 to 18, half of them at work in one square from 9 to 15; a
    quarter is seen from 9 to 15 alone."""
    rng, rows = random.Random(seed), []
    for number in range(n_users):
        home = (WEST + rng.uniform(0, 8_000), SOUTH + rng.uniform(0, 8_000))
        work = (WEST + 4_500, SOUTH + 4_500) if number % 2 else home
        for hour in range(7, 19) if number % 4 else range(9, 16):
            x, y = work if 9 <= hour < 16 else home
            for _ in range(rng.choice([1, 2])):
                second = MIDNIGHT + 3600 * hour + rng.randrange(3600)
                rows.append((f"user-{number:03}", second, x + rng.gauss(0, 150), y + rng.gauss(0, 150)))
    return rows


def alone(user: str, hour: int, at: tuple[float, float] = FAR, samples: int = 15) -> list[Row]:
    """Somebody alone in an hour of the night."""
    return [(user, MIDNIGHT + 3600 * hour + 120 * i, at[0] + 50, at[1] + 50) for i in range(samples)]


def write_rows(rows: list[Row], path: Path) -> Path:
    """Events as a CSV."""
    user, time, x, y = zip(*sorted(rows, key=lambda row: row[1]), strict=True)
    pc.write_csv(pa.table({"user": user, "time": time, "x": x, "y": y}), path)
    return path


def publish(folder: Path, rows: list[Row], k: int = 2, rename_every: str = "never") -> Release:
    """The rows, published with their key, but without notes and evidence, which would tell other events from them."""
    events = write_rows(rows, folder / "events.csv")
    made = Release(events, folder / "published.parquet", folder / "key.parquet")
    shoal.anonymize(
        events,
        k=k,
        tau="1h",
        epsilon="1h",
        rename_every=rename_every,
        output=made.published,
        key_out=made.key,
        evidence=False,
    )
    made.key.with_name(made.key.name + ".private.json").unlink()
    return made


def renamed(made: Release, folder: Path, name: Callable[[str], str], rows: list[Row]) -> Release:
    """The same release of users with other names."""
    key = pq.read_table(made.key).to_pydict()
    path = folder / "key.parquet"
    pq.write_table(pa.table({**key, "user": [name(user) for user in key["user"]]}), path)
    events = write_rows([(name(row[0]), *row[1:]) for row in rows], folder / "events.csv")
    return made._replace(events=events, key=path)
