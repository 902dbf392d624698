"""``shoal synth``: synthetic events."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from shoal.cli import options
from shoal.cli.options import argument, option
from shoal.cli.terminal import TerminalProgress, show
from shoal.core.formatting import counted


@options.command(
    argument(
        "preset",
        kind=str,
        help="What to make: city (small, always the same), or a region with the surface, antennas, users and"
        " samples of a dataset of the paper: abi, dak, shn (cities), civ, sen (countries).",
    ),
    options.output("Events to write: .parquet, .csv or .csv.gz."),
    option("--users", kind=int, help="How many subscribers; city: 2,000 unless given."),
    option("--days", kind=int, help="How many days; city: 1 unless given."),
    option("--seed", kind=int, help="Another seed, another region.", default=0),
    option("surface_km2", "--surface", kind=int, metavar="KM2", help="Surface in square kilometres."),
    option("--antennas", kind=int, help="How many antennas."),
    option("--samples-per-hour", kind=float, metavar="R", help="Samples per user and hour, on average."),
    option(
        "--sites", kind=Path, help="Table of antennas (lat, lon or x, y) to use instead of synthetic ones."
    ),
    options.FORCE,
)
def synth(preset: str, output: Path, **keywords: Any) -> None:
    """Make synthetic subscribers of a region that does not exist."""
    from shoal.synthetic import write_city

    with TerminalProgress() as progress:
        made = write_city(preset, output, progress=progress, **keywords)
    show(f"{counted(made.events, 'event')} of {counted(made.users, 'user')} in {output}")
