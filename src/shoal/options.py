"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

COLUMNS = "Names of columns"
FORMATS = (
    "cabspotting", "d4d-ivory-coast", "d4d-senegal", "foursquare", "geolife", "gpx", "mpat", "porto", "sessions",
    "shanghai-telecom", "snap", "t-drive", "yjmob", "table",
)  # fmt: skip  # spelled here as well, since help must not wait for the readers to load


def whole_number(text: str) -> int:
    """A number without a fraction; the complaint says what was expected."""
    try:
        return int(text)
    except ValueError:
        raise typer.BadParameter(f"expected a whole number, got {text!r}") from None


def number(text: str) -> float:
    """Any number."""
    try:
        return float(text)
    except ValueError:
        raise typer.BadParameter(f"expected a number, got {text!r}") from None


Events = Annotated[
    Path, typer.Argument(help="CSV, TSV, GeoJSON (also .gz), Parquet or a known format; a file or a folder.")
]
Tau = Annotated[str | None, typer.Option(help="How long an attacker may have followed somebody, e.g. 30min.")]
Epsilon = Annotated[str | None, typer.Option(help="How much more they may learn, e.g. 30min.")]
Whole = Annotated[bool, typer.Option("--whole", help="Hide whole trajectories instead; no tau, no epsilon.")]
Sites = Annotated[
    Path | None, typer.Option(help="Table of sites, for events with a site instead of a position.")
]
Format = Annotated[
    str | None,
    typer.Option(
        "--format",
        metavar="NAME",
        help=f"What the events are, unless recognised: {', '.join(FORMATS)}.",
    ),
]
Timezone = Annotated[
    str | None,
    typer.Option(help="Zone of times that come without one; that of the format, or UTC, unless given."),
]
From = Annotated[str | None, typer.Option("--from", help="Leave out events before this time.")]
To = Annotated[str | None, typer.Option("--to", help="Leave out events from this time on.")]
ExcludeUsers = Annotated[Path | None, typer.Option(help="File with one user per line to leave out.")]
BBox = Annotated[
    str | None,
    typer.Option(
        "--bbox", metavar="W,S,E,N", help="Leave out events elsewhere: degrees, or metres for x and y."
    ),
]
MinDaysActive = Annotated[
    int | None,
    typer.Option(
        parser=whole_number, metavar="N", help="Leave out users with events on fewer days (of the time zone)."
    ),
]
Resample = Annotated[
    str | None,
    typer.Option(metavar="PERIOD", help="Keep the first sample of each user in each period, e.g. 5min."),
]
SpaceWeight = Annotated[
    float,
    typer.Option(
        parser=number,
        metavar="NUMBER",
        help="1: space and time count alike; 2 buys precision in space with precision in time.",
    ),
]
Reuse = Annotated[str, typer.Option(help="How often two users may hide each other: once, pair or spaced.")]
Seed = Annotated[
    int,
    typer.Option(parser=whole_number, metavar="N", help="Breaks ties; the same seed gives the same boxes."),
]
Resume = Annotated[bool, typer.Option("--resume", help="Go on where an unfinished run ended.")]
Workers = Annotated[
    int | None, typer.Option(parser=whole_number, metavar="N", help="Threads; all cores unless given.")
]
Force = Annotated[bool, typer.Option("--force", help="Replace existing output.")]
ColumnName = Annotated[str | None, typer.Option(rich_help_panel=COLUMNS)]


def listed(text: str) -> list[str]:
    """The parts of a list with commas."""
    return [part.strip() for part in text.split(",") if part.strip()]


def columns(*names: str | None) -> dict[str, str]:
    """Roles of columns, in the order user, time, lat, lon, x, y, site, with the names given for them."""
    roles = ("user", "time", "lat", "lon", "x", "y", "site")
    return {role: name for role, name in zip(roles, names, strict=True) if name is not None}
