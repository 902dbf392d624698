"""Options that several commands share."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any

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


def count(help: str, *names: str, metavar: str = "N") -> Any:
    """An option that is a whole number."""
    return typer.Option(*names, parser=whole_number, metavar=metavar, help=help)


Events = Annotated[
    Path, typer.Argument(help="CSV, TSV, GeoJSON (also .gz), Parquet or a known format; a file or a folder.")
]
Published = Annotated[
    Path, typer.Argument(help="Published file: .parquet, .geoparquet, .csv, .csv.gz, .geojson, .geojson.gz.")
]
Tau = Annotated[str | None, typer.Option(help="How long an attacker may have followed somebody, e.g. 30min.")]
Epsilon = Annotated[str | None, typer.Option(help="How much more they may learn, e.g. 30min.")]
Whole = Annotated[bool, typer.Option("--whole", help="Hide whole trajectories instead; no tau, no epsilon.")]
Cell = Annotated[str, typer.Option(help="Finest resolution in space.")]
Step = Annotated[str, typer.Option(help="Finest resolution in time.")]
Ks = Annotated[str, typer.Option(metavar="LIST", help="Values of k.")]
Epsilons = Annotated[str, typer.Option(metavar="LIST", help="Values of epsilon.")]
AuditK = Annotated[
    int | None,
    count(
        "The promise to hold the file to; with --tau and --epsilon, or --whole. The file's own unless given.",
        "--k",
    ),
]
AuditCell = Annotated[str | None, typer.Option(help="Cell of a file that does not tell it.")]
AuditStep = Annotated[str | None, typer.Option(help="Time step of a file that does not tell it.")]
AuditCrs = Annotated[
    str | None, typer.Option(help="Coordinate system of a file that does not tell it, e.g. EPSG:3035.")
]
AuditSeed = Annotated[int, count("Other attacks for another seed.")]
Attacks = Annotated[int, count("How many attacks to draw of each kind.")]
Key = Annotated[Path | None, typer.Option(help="Which record is whose (secret), as anonymize wrote it.")]
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
    typer.Option(
        help="Zone of times that come without one, and of hours of the day; that of the format, or UTC, unless given."
    ),
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
MinDaysActive = Annotated[int | None, count("Leave out users with events on fewer days (of the time zone).")]
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
Seed = Annotated[int, count("Breaks ties; the same seed gives the same boxes.")]
Harden = Annotated[
    int | None,
    count(
        "What to pay so that linking windows does not single out: 0 nothing, 1 (unless given) up to a quarter of the"
        " precision, 2, or 3 for most; with matching.",
        metavar="LEVEL",
    ),
]
Resume = Annotated[bool, typer.Option("--resume", help="Go on where an unfinished run ended.")]
Engine = Annotated[
    str, typer.Option(help="What the workers are: threads, or processes, which take more memory.")
]
Cluster = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS", help="Use the workers of this Dask scheduler instead, e.g. tcp://10.0.0.1:8786."
    ),
]
Workers = Annotated[int | None, count("How many threads or processes; all cores unless given.")]
Force = Annotated[bool, typer.Option("--force", help="Replace existing output.")]
JsonFigures = Annotated[
    str | None, typer.Option("--json", help="Write all figures as JSON to a file, or - for stdout.")
]
ColumnName = Annotated[str | None, typer.Option(rich_help_panel=COLUMNS)]


def listed(text: str) -> list[str]:
    """The parts of a list with commas."""
    return [part.strip() for part in text.split(",") if part.strip()]


def numbers(text: str) -> list[int]:
    """The whole numbers of a list with commas."""
    return [whole_number(part) for part in listed(text)]


def file_of(json_out: str | None) -> Path | None:
    """Where JSON goes, if it is to a file."""
    return None if json_out in (None, "-") else Path(json_out or "")


_ROLES = ("user", "time", "lat", "lon", "x", "y", "site")
_READING: dict[str, Any] = {
    "sites": Sites,
    "format": Format,
    "timezone": Timezone,
    "start": From,
    "end": To,
    "exclude_users": ExcludeUsers,
    "bbox": BBox,
    "min_days_active": MinDaysActive,
    "resample": Resample,
}


def reads_events(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command all options of how events are read; it gets them as ``reading``, ready for the library."""
    own = inspect.signature(command, eval_str=True).parameters
    columns = {f"{role}_column": role for role in _ROLES}
    shared = {**_READING, **dict.fromkeys(columns, ColumnName)}
    added = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=option)
        for name, option in shared.items()
    ]
    parameters = [*(parameter for name, parameter in own.items() if name != "reading"), *added]

    def called(**given: Any) -> None:
        named = {role: given.pop(column) for column, role in columns.items()}
        reading = {name: given.pop(name) for name in _READING}
        reading["columns"] = {role: name for role, name in named.items() if name is not None}
        command(**given, reading=reading)

    called.__name__, called.__doc__ = command.__name__, command.__doc__
    called.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    vars(called)["__signature__"] = inspect.Signature(
        [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in parameters]
    )
    return called


def inputs(events: Path, reading: Mapping[str, Any]) -> list[Path]:
    """The files that a command reads."""
    return [path for path in (events, reading["sites"], reading["exclude_users"]) if path is not None]
