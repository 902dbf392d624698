"""Options and arguments of the commands: made from the fields of core/options.py, and those only commands have."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, get_args, get_type_hints

import rich_click as click

from shoal.core.option_fields import Choice, Options, choices_of
from shoal.core.options import ROLES, PromiseOptions, ReadingOptions

_COLUMNS = "Names of columns"
_MEANINGS = {
    "user": "person",
    "time": "time",
    "lat": "latitude",
    "lon": "longitude",
    "x": "x in metres",
    "y": "y in metres",
    "site": "site",
}


class _WholeNumber(click.ParamType[int]):
    name = "N"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        try:
            return int(value)
        except ValueError:
            self.fail(f"expected a whole number, got {value!r}", param, ctx)


class _Number(click.ParamType[float]):
    name = "NUMBER"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        try:
            return float(value)
        except ValueError:
            self.fail(f"expected a number, got {value!r}", param, ctx)


class _EventsSource(click.ParamType[Any]):
    """A path, or standard input."""

    name = "path"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:  # noqa: ARG002
        return sys.stdin.buffer if value == "-" else Path(value)


_PARAM_TYPES: dict[type, click.ParamType[Any]] = {
    int: _WholeNumber(),
    float: _Number(),
    Path: click.Path(path_type=Path),
    str: click.STRING,
}


def option(
    *names: str, kind: type = str, help: str, default: Any = None, metavar: str | None = None, **more: Any
) -> click.Option:
    """An option of a command; a bool is a flag."""
    if kind is bool:
        return click.RichOption(names, is_flag=True, default=default or False, help=help, **more)
    if metavar is None and kind is int:
        metavar = "N"
    if default is not None:  # to click, None would be a value like any other
        more["default"] = default
    return click.RichOption(
        names, type=_PARAM_TYPES[kind], help=help, metavar=metavar, show_default=True, **more
    )


def argument(name: str, *, kind: type = Path, help: str) -> click.Argument:
    """A value without a name, which must be given."""
    return click.RichArgument([name], type=_PARAM_TYPES[kind], help=help)


def options_from(options: type[Options], *, without: Iterable[str] = ()) -> list[click.Option]:
    """An option for every choice that a class of options offers, but for some."""
    kinds = get_type_hints(options)
    return [
        made
        for each, said in choices_of(options)
        if each.name not in without
        for made in (
            _column_options()
            if each.name == "columns"
            else [_option_from(each, said, kinds[each.name], options.spelled(each.name))]
        )
    ]


def _option_from(each: dataclasses.Field[Any], said: Choice, annotation: Any, spelled: str) -> click.Option:
    kind = said.kind or next(
        (part for part in (annotation, *get_args(annotation)) if part in (int, float, bool)), str
    )
    required = each.default is dataclasses.MISSING
    default = None if required else each.default
    if kind is str and default is not None:
        default = str(default)
    return option(
        each.name,
        spelled,
        kind=kind,
        help=said.help,
        default=default,
        metavar=said.metavar,
        required=required,
    )


def _column_options() -> list[click.Option]:
    """The columns of the events by their roles, one option each."""
    return [
        option(f"--{role}-column", help=f"Column with the {_MEANINGS[role]}.", panel=_COLUMNS)
        for role in ROLES
    ]


def gather_columns(given: Mapping[str, Any]) -> dict[str, Any]:
    """The values of a command as keywords of the library: ``columns`` in place of an option for each role."""
    keywords = dict(given)
    named = {role: keywords.pop(f"{role}_column") for role in ROLES}
    keywords["columns"] = {role: name for role, name in named.items() if name is not None}
    return keywords


def input_files(events: object, keywords: Mapping[str, Any]) -> list[Path]:
    """The files that a command reads."""
    named = [events] if isinstance(events, Path) else []
    return [*named, *ReadingOptions.from_keywords(keywords).files]


def command(
    *parameters: click.Parameter | Iterable[click.Parameter],
) -> Callable[[Callable[..., int | None]], click.Command]:
    """Make a function a command: its name, its docstring as help, and these parameters as its keywords.

    What it returns is the exit code; None is 0.
    """

    def decorate(function: Callable[..., int | None]) -> click.Command:
        return click.RichCommand(
            name=function.__name__,
            callback=lambda **given: function(**gather_columns(given) if "user_column" in given else given),
            params=[
                each
                for part in parameters
                for each in ([part] if isinstance(part, click.Parameter) else part)
            ],
            help=function.__doc__,
            panels=[click.RichOptionPanel(title) for title in ("Arguments", "Options", _COLUMNS)],
        )

    return decorate


EVENTS = click.RichArgument(
    ["events"],
    type=_EventsSource(),
    help="CSV, TSV, GeoJSON (also .gz, .zst), Parquet, SQLite, DuckDB or a known format: a file, a folder, a .zip, or -"
    " for stdin.",
)
PUBLISHED = argument(
    "published", help="Published file: .parquet, .geoparquet, .csv, .csv.gz, .geojson, .geojson.gz."
)
READING = options_from(ReadingOptions)
GRID = options_from(PromiseOptions, without=("k", "tau", "epsilon", "whole"))
WORKERS = option("--workers", kind=int, help="How many threads or processes; all cores unless given.")
ENGINE = option(
    "--engine", help="What the workers are: threads, or processes, which take more memory.", default="threads"
)
CLUSTER = option(
    "--cluster",
    metavar="ADDRESS",
    help="Use the workers of this Dask scheduler instead, e.g. tcp://10.0.0.1:8786.",
)
RESUME = option("--resume", kind=bool, help="Go on where an unfinished run ended.")
FORCE = option("--force", kind=bool, help="Replace existing output.")


def output(help: str, *, required: bool = True) -> click.Option:
    """Where the result goes."""
    return option("-o", "--output", kind=Path, help=help, required=required)


def json_output(help: str = "Write all figures as JSON to a file, or - for stdout.") -> click.Option:
    """Where the result goes as JSON; the command gets it as ``json_out``."""
    return option("json_out", "--json", help=help)


def listed(name: str, help: str, default: str | None) -> click.Option:
    """An option with a list of values, separated by commas."""
    return option(name, metavar="LIST", help=help, default=default)


def parts_of(text: str) -> list[str]:
    """The parts of a list with commas."""
    return [part.strip() for part in text.split(",") if part.strip()]


def numbers_of(text: str) -> list[int]:
    """The whole numbers of a list with commas."""
    return [_PARAM_TYPES[int].convert(part, None, None) for part in parts_of(text)]


def json_file(json_out: str | None) -> Path | None:
    """Where JSON goes, if it is to a file."""
    return None if json_out in (None, "-") else Path(json_out or "")
