"""Synthetic events -> files."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from shoal.atomic import AtomicFiles
from shoal.cities.city import make_city
from shoal.errors import InputError
from shoal.outputs import check_target

PRESETS = ("city",)
SUFFIXES = (".parquet", ".csv", ".csv.gz")


def write_city(preset: str, output: Path, *, users: int, days: int, seed: int, force: bool = False) -> int:
    """Make the events of a preset and write them whole; return their number."""
    if preset not in PRESETS:
        raise InputError(f"The preset must be one of {', '.join(PRESETS)}, got {preset!r}.")
    suffix = next((suffix for suffix in SUFFIXES if output.name.lower().endswith(suffix)), None)
    if suffix is None:
        raise InputError(
            f"The output must end in one of {', '.join(SUFFIXES)}, found {output.suffix or 'none'!r}: rename it."
        )
    check_target(output, (), force=force)
    events = make_city(users=users, days=days, seed=seed)
    with AtomicFiles() as files, files.open(output) as file:
        if suffix == ".parquet":
            pyarrow.parquet.write_table(events, file, compression="zstd")
        elif suffix == ".csv":
            pyarrow.csv.write_csv(events, file)
        else:
            with pa.CompressedOutputStream(file, "gzip") as packed:
                pyarrow.csv.write_csv(events, packed)
    return int(events.num_rows)
