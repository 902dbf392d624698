"""Options and arguments of the commands: made from the fields of core/options.py, and those only commands have."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import UnionType
from typing import Any, get_args, get_origin, get_type_hints

import rich_click as click

from shoal.core.evaluation_options import GRID as GRID_NAMES
from shoal.core.option_fields import Choice, Options, choices_of
from shoal.core.options import ROLES, PromiseOptions, ReadingOptions
from shoal.core.settings import read_settings, settings_text

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


class _Listed(click.ParamType[tuple[Any, ...]]):
    """Values of a kind, separated by commas."""

    name = "LIST"

    def __init__(self, kind: click.ParamType[Any]) -> None:
        self._kind = kind

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[Any, ...]:
        parts = value
        if isinstance(value, str):
            parts = [part.strip() for part in value.split(",")] if value.strip() else []
        if not all(parts):
            self.fail(f"expected a value before and after each comma, got {value!r}", param, ctx)
        return tuple(self._kind.convert(part, param, ctx) for part in parts)


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
    *names: str, kind: Any = str, help: str, default: Any = None, metavar: str | None = None, **more: Any
) -> click.Option:
    """An option of a command; a bool is a flag, and a list of a type has values of it with commas between."""
    if kind is bool:
        return click.RichOption(names, is_flag=True, default=default or False, help=help, **more)
    if metavar is None and kind is int:
        metavar = "N"
    if default is not None:  # to click, None would be a value like any other
        more["default"] = default
    is_list = get_origin(kind) is Sequence
    param_type = _Listed(_PARAM_TYPES[get_args(kind)[0]]) if is_list else _PARAM_TYPES[kind]
    return click.RichOption(names, type=param_type, help=help, metavar=metavar, show_default=True, **more)


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
    kind = said.kind or _kind_of(annotation)
    required = each.default is dataclasses.MISSING
    default = None if required else each.default
    if isinstance(default, tuple):
        default = ",".join(map(str, default))
    elif kind is str and default is not None:
        default = str(default)
    if kind is bool:  # so that the command line can take back what a file of settings says
        spelled = f"{spelled}/--no-{spelled.removeprefix('--')}"
    return option(
        each.name,
        spelled,
        kind=kind,
        help=said.help,
        default=default,
        metavar=said.metavar,
        required=required,
    )


def _kind_of(annotation: Any) -> Any:
    """The type of an option, of those that its field may have: numbers, flags and lists before text."""
    kinds = get_args(annotation) if get_origin(annotation) is UnionType else (annotation,)
    if str in kinds:
        return str
    return next(
        (kind for kind in kinds if kind in (int, float, bool) or get_origin(kind) is Sequence),
        str,
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
    named = [path for path in (events, keywords.get("config")) if isinstance(path, Path)]
    return [*named, *ReadingOptions.from_keywords(keywords).files]


def command(
    *parameters: click.Parameter | Iterable[click.Parameter],
) -> Callable[[Callable[..., int | None]], click.Command]:
    """Make a function a command: its name, its docstring as help, and these parameters as its keywords.

    What it returns is the exit code; None is 0.
    """

    def decorate(function: Callable[..., int | None]) -> click.Command:
        return click.RichCommand(
            name=function.__name__.replace("_", "-"),
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
GRID = options_from(PromiseOptions, without=set(PromiseOptions.names()) - set(GRID_NAMES))
WORKERS = option("--workers", kind=int, help="How many threads or processes; all cores unless given.")
ENGINE = option(
    "--engine", help="What the workers are: threads, or processes, which take more memory.", default="threads"
)
CLUSTER = option(
    "--cluster",
    metavar="ADDRESS",
    help="Use the workers of this Dask scheduler instead, e.g. tcp://10.0.0.1:8786.",
)
RESUME = option("--resume", kind=bool, help="Go on where an unfinished run ended, if one did.")
FORCE = option("--force", kind=bool, help="Replace existing output.")


def settings_options(function: str) -> list[click.Option]:
    """Where options of a command come from and go to, as a file of settings for a function."""

    def apply(context: click.Context, _: click.Parameter, path: Path | None) -> Path | None:
        if path is not None and not context.resilient_parsing:
            context.default_map = {**(context.default_map or {}), **_defaults(function, path)}
        return path

    return [
        option(
            "--config",
            kind=Path,
            help="Settings (TOML) for all options that are not given.",
            is_eager=True,
            callback=apply,
        ),
        option(
            "--save-config", kind=Path, help="Write the settings of this run, to repeat it with --config."
        ),
    ]


def _defaults(function: str, path: Path) -> dict[str, Any]:
    """The settings in a file as values of a command."""
    values = read_settings(path).keywords(function)
    columns = values.pop("columns", {})
    if isinstance(values.get("bbox"), list):
        values["bbox"] = ",".join(map(str, values["bbox"]))
    return {**values, **{f"{role}_column": name for role, name in columns.items()}}


def check_saving(path: Path | None, others: Iterable[Path | None], *, force: bool) -> None:
    """Refuse a file of settings that could not be written, or would take the place of another file of the command."""
    from shoal.storage.outputs import check_target

    if path is not None:
        check_target(path, [other for other in others if other is not None], force=force)


def save_settings(path: Path | None, function: str, keywords: Mapping[str, Any]) -> None:
    """Write the options of a command as a file of settings, if that is wanted."""
    from shoal.storage.outputs import write_whole

    if path is not None:
        write_whole(path, settings_text(function, keywords).encode())


def output(help: str, *, required: bool = True) -> click.Option:
    """Where the result goes."""
    return option("-o", "--output", kind=Path, help=help, required=required)


def json_output(help: str = "Write all figures as JSON to a file, or - for stdout.") -> click.Option:
    """Where the result goes as JSON; the command gets it as ``json_out``."""
    return option("json_out", "--json", help=help)


def json_file(json_out: str | None) -> Path | None:
    """Where JSON goes, if it is to a file."""
    return None if json_out in (None, "-") else Path(json_out or "")
