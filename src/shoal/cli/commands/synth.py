"""``shoal synth``: made-up events."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from shoal.cli import options
from shoal.cli.terminal import TerminalProgress, show
from shoal.core.formatting import counted


def synth(
    preset: Annotated[
        str,
        typer.Argument(
            help="What to make: city (small, always the same), or a region with the surface, antennas, users and"
            " samples of a dataset of the paper: abi, dak, shn (cities), civ, sen (countries)."
        ),
    ],
    output: Annotated[
        Path, typer.Option("-o", "--output", help="Events to write: .parquet, .csv or .csv.gz.")
    ],
    users: Annotated[int | None, options.count("How many subscribers; city: 2,000 unless given.")] = None,
    days: Annotated[int | None, options.count("How many days; city: 1 unless given.")] = None,
    seed: Annotated[int, options.count("Another seed, another region.")] = 0,
    surface: Annotated[int | None, options.count("Surface in square kilometres.", metavar="KM2")] = None,
    antennas: Annotated[int | None, options.count("How many antennas.")] = None,
    samples_per_hour: Annotated[
        float | None,
        typer.Option(parser=options.number, metavar="R", help="Samples per user and hour, on average."),
    ] = None,
    sites: Annotated[
        Path | None, typer.Option(help="Table of antennas (lat, lon or x, y) to use instead of made-up ones.")
    ] = None,
    force: options.Force = False,
) -> None:
    """Make up subscribers of a region that does not exist."""
    from shoal.synthetic import write_city

    with TerminalProgress() as progress:
        made = write_city(
            preset,
            output,
            users=users,
            days=days,
            seed=seed,
            surface_km2=surface,
            antennas=antennas,
            samples_per_hour=samples_per_hour,
            sites=sites,
            force=force,
            progress=progress,
        )
    show(f"{counted(made.events, 'event')} of {counted(made.users, 'user')} in {output}")
