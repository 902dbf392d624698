"""``shoal synth``: the events of a preset written to a file, some users at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, NamedTuple

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from shoal.core.checks import told
from shoal.core.progress import Progress, SilentProgress
from shoal.errors import InputError
from shoal.storage.files import AtomicFiles
from shoal.storage.outputs import check_target
from shoal.synthetic.city import make_city
from shoal.synthetic.region.making import prepare
from shoal.synthetic.region.presets import PRESETS as REGIONS

CITY = "city"
PRESETS = (CITY, *REGIONS)
SUFFIXES = (".parquet", ".csv", ".csv.gz")
_CITY_USERS, _CITY_DAYS = 2_000, 1


class WrittenEvents(NamedTuple):
    """How many events of how many users and days were written."""

    events: int
    users: int
    days: int


def write_city(
    preset: str,
    output: Path,
    *,
    users: int | None = None,
    days: int | None = None,
    seed: int = 0,
    surface_km2: int | None = None,
    antennas: int | None = None,
    samples_per_hour: float | None = None,
    sites: Path | None = None,
    force: bool = False,
    progress: Progress | None = None,
) -> WrittenEvents:
    """Make the events of a preset and write them to a file that appears whole; figures not given are the preset's."""
    if preset not in PRESETS:
        raise InputError(f"The preset must be one of {', '.join(PRESETS)}, got {told(preset)}.")
    suffix = next((suffix for suffix in SUFFIXES if output.name.lower().endswith(suffix)), None)
    if suffix is None:
        raise InputError(
            f"The output must end in one of {', '.join(SUFFIXES)}, found {output.suffix or 'none'!r}: rename it."
        )
    check_target(output, () if sites is None else (sites,), force=force)
    progress = progress or SilentProgress()
    tables: Iterable[pa.Table]
    if preset == CITY:
        if any(value is not None for value in (surface_km2, antennas, samples_per_hour, sites)):
            raise InputError(
                "The preset city is always the same city: surface, antennas, samples per hour and sites"
                f" belong to {', '.join(REGIONS)}."
            )
        users, days = (_CITY_USERS if users is None else users), (_CITY_DAYS if days is None else days)
        progress.stage("Making people", 1)
        tables = [make_city(users=users, days=days, seed=seed)]
        schema = tables[0].schema
    else:
        progress.stage("Laying out the region")
        dataset = prepare(
            preset,
            users=users,
            days=days,
            seed=seed,
            surface_km2=surface_km2,
            antennas=antennas,
            samples_per_hour=samples_per_hour,
            sites=sites,
        )
        users, days, schema, tables = dataset.users, dataset.days, dataset.schema, dataset.tables()
        progress.stage("Making people", len(dataset))
    events = 0
    with (
        AtomicFiles(may_replace=lambda _: force) as files,
        files.open(output) as file,
        _writer(file, suffix, schema) as writer,
    ):
        for table in tables:
            writer.write_table(table)
            events += table.num_rows
            progress.advance()
    return WrittenEvents(events, users, days)


@contextmanager
def _writer(file: IO[bytes], suffix: str, schema: pa.Schema) -> Iterator[Any]:
    if suffix == ".parquet":
        with pyarrow.parquet.ParquetWriter(file, schema, compression="zstd") as writer:
            yield writer
    elif suffix == ".csv":
        with pyarrow.csv.CSVWriter(file, schema) as writer:
            yield writer
    else:
        with (
            pa.CompressedOutputStream(file, "gzip") as packed,
            pyarrow.csv.CSVWriter(packed, schema) as writer,
        ):
            yield writer
