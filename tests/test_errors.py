"""Errors speak of arguments to who calls from Python, and of options to who calls the command."""

from __future__ import annotations

import ast
import inspect
import pickle
import re
import traceback
from collections.abc import Iterator
from typing import Any, get_args, get_type_hints

import pytest

import shoal
from core.test_options import COMMANDS
from shoal.cli.main import app
from shoal.errors import InputError, ParameterError, ShoalError, UnfinishedError, in_python
from support.paths import PROJECT
from support.run_command import in_metres, refused, write

OPTION = re.compile(r"--[a-z]+(?:-[a-z]+)*")
# Options of commands that write or print what the function returns.
OF_THE_COMMAND = {"--json", "--output", "--force", "--show-users", "--save-config"}


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ("give --tau and --epsilon, or --whole.", "give tau and epsilon, or whole=True."),
        ("add --resume to go on, or --force.", "add resume=True to go on, or force=True."),
        ("leave them out with --from and --to.", "leave them out with start and end."),
        ("--rename-every 1d gives", "rename_every='1d' gives"),
        ("--min-days-active must be", "min_days_active must be"),
        ("say --time-format '%d.%m.%y' to read", "say time_format='%d.%m.%y' to read"),
        ("wrong: --from 2024-05-01 --to 2024-05-09.", "wrong: start='2024-05-01' end='2024-05-09'."),
        ("got --rename-every 6 h", "got rename_every 6 h"),
        ("name it with --user-column.", "name it with columns={'user': ...}."),
        ("--lat-column and --lon-column,", "columns={'lat': ..., 'lon': ...},"),
        ("swapped: --lat-column lon --lon-column lat.", "swapped: columns={'lat': 'lon', 'lon': 'lat'}."),
        ("no, as asked (--no-verify)", "no, as asked (verify=False)"),
        ("(shoal plan says what that changes)", "(shoal.plan() says what that changes)"),
        ("shoal report writes it", "shoal.write_report() writes it"),
        ("names that shoal knows -- and others", "names that shoal knows -- and others"),
    ],
)
def test_options_become_arguments(written: str, told: str) -> None:
    assert in_python(written) == told
    assert in_python(told) == told


def test_an_error_says_it_in_python_and_keeps_it_for_the_command() -> None:
    for kind in (ShoalError, InputError, ParameterError, UnfinishedError):
        error = kind("Found it: add --resume, or give --k.")
        again = pickle.loads(pickle.dumps(error))  # as engines send them
        for each in (error, again):
            assert str(each) == each.args[0] == "Found it: add resume=True, or give k."
            assert "--" not in repr(each) + "".join(traceback.format_exception(each))
            assert each.for_command == "Found it: add --resume, or give --k."


def arguments_of(function: str) -> set[str]:
    """All keywords of a function, those behind ``**options`` among them."""
    called = getattr(shoal, function)
    parameters = inspect.signature(called).parameters
    (rest,) = (each for each in parameters.values() if each.kind is each.VAR_KEYWORD)
    (keywords,) = get_args(get_type_hints(called)[rest.name])
    return set(parameters) | set(get_type_hints(keywords))


@pytest.mark.parametrize("function", COMMANDS)
def test_every_option_has_an_argument_in_python(function: str) -> None:
    """Whatever a message may name, the function that was called knows it under the name that is told."""
    arguments = arguments_of(function)
    for parameter in app.commands[COMMANDS[function]].params:
        for option in filter(OPTION.fullmatch, parameter.opts):
            told = in_python(option)
            known = told.partition("=")[0] in arguments
            assert known or option in OF_THE_COMMAND, f"{option} is told as {told}"
            if getattr(parameter, "is_flag", False):
                assert told.endswith(("=True", "=False")), option


def literals() -> Iterator[tuple[str, str]]:
    """Every text in the sources of the library, but for docstrings, with the file it is in."""
    for path in sorted((PROJECT / "src/shoal").rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        documented = (ast.Module, ast.ClassDef, ast.FunctionDef)
        docs = {
            ast.get_docstring(node, clean=False) for node in ast.walk(tree) if isinstance(node, documented)
        }
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value not in docs:
                yield path.name, node.value


def test_messages_name_options_that_exist() -> None:
    known = {option for command in app.commands.values() for each in command.params for option in each.opts}
    known |= {"--version", "--internal", "--help", "--no"}  # --no: what every flag is taken back by
    named = [(file, option) for file, text in literals() for option in OPTION.findall(text)]
    assert len(named) > 100
    assert [(file, option) for file, option in named if option not in known] == []


def test_the_same_mistake_in_python_and_on_the_command_line(tmp_path: Any) -> None:
    events = write(in_metres(), tmp_path / "events.csv")
    with pytest.raises(ParameterError, match=r"^epsilon missing: give tau and epsilon, or whole=True\.$"):
        shoal.anonymize(events, k=2, tau="30min")
    command = ("anonymize", events, "-o", tmp_path / "out.csv", "--k", 2, "--tau", "30min")
    refused(tmp_path, *command, words="epsilon missing: give --tau and --epsilon, or --whole.")
    with pytest.raises(ParameterError, match=r"^shard_size must be a whole number of at least 100, got 5\.$"):
        shoal.anonymize(events, k=2, whole=True, shard_size=5)
