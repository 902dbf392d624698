"""An option is one place: the command, the functions, saved options, checkpoints and manifests all follow from it."""

from __future__ import annotations

import dataclasses
import inspect
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args, get_type_hints

import pyarrow as pa
import pytest

import shoal
from shoal.cli.main import app
from shoal.core import options as core_options
from shoal.core.bounding_box import BoundingBox
from shoal.core.evaluation_options import NOT_EVALUATED, PlanOptions, SweepOptions
from shoal.core.option_fields import Options, choices_of
from shoal.core.options import FORMAT_NAMES, AuditOptions, HidingOptions, PromiseOptions, ReadingOptions
from shoal.core.period_text import parse_period, spell_period
from shoal.core.settings import TAKEN as SETTINGS
from shoal.errors import ParameterError
from shoal.publishing.checkpoint import run_identity
from shoal.reading.formats import FORMAT_NAMES as READABLE
from support.progress_listener import Listener
from support.run_command import city

NOWHERE: Any = object()  # no events: whoever tries to read it fails with another error
ALL_OPTIONS = (ReadingOptions, PromiseOptions, HidingOptions, AuditOptions, PlanOptions, SweepOptions)
TAKEN: dict[str, tuple[type[Options], ...]] = {
    "anonymize": (PromiseOptions, HidingOptions, ReadingOptions),
    "assess": (ReadingOptions,),
    "audit": (AuditOptions, ReadingOptions),
    "check": (ReadingOptions,),
    "compare": (ReadingOptions,),
    "plan": (PlanOptions, HidingOptions, ReadingOptions),
    "sweep": (SweepOptions, HidingOptions, ReadingOptions),
    "write_report": (AuditOptions, ReadingOptions),
}
COMMANDS = {name: name for name in TAKEN} | {"assess": "credibility", "write_report": "report"}
LEFT_OUT = {"plan": NOT_EVALUATED, "sweep": NOT_EVALUATED}
GRID = {name: {"cell", "step"} for name in ("check", "plan", "sweep")}  # of the promise: they vary the rest


def calls(folder: Path) -> dict[str, Callable[..., object]]:
    """Each public function that reads events, about to read and write."""
    output, checkpoint = folder / "out", folder / "points"
    return {
        "anonymize": lambda **more: shoal.anonymize(NOWHERE, k=2, whole=True, output=output, **more),
        "assess": lambda **more: shoal.assess(NOWHERE, **more),
        "audit": lambda **more: shoal.audit(NOWHERE, NOWHERE, **more),
        "check": lambda **more: shoal.check(NOWHERE, **more),
        "compare": lambda **more: shoal.compare(NOWHERE, **more),
        "plan": lambda **more: shoal.plan(NOWHERE, **more),
        "sweep": lambda **more: shoal.sweep(NOWHERE, checkpoint=checkpoint, **more),
        "write_report": lambda **more: shoal.write_report(
            NOWHERE, NOWHERE, output.with_suffix(".html"), **more
        ),
    }


@pytest.mark.parametrize("name", sorted(TAKEN))
def test_a_misspelt_option_is_refused_before_anything_happens(name: str, tmp_path: Path) -> None:
    listener = Listener()
    with pytest.raises(TypeError) as caught:
        calls(tmp_path)[name](timezon="UTC", progress=listener)
    assert str(caught.value) == f"{name}() got an unexpected keyword argument 'timezon'"
    assert listener.names == []
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", sorted(TAKEN))
def test_a_wrong_filter_is_refused_before_anything_is_read(name: str, tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="bbox must be four numbers"):
        calls(tmp_path)[name](bbox="1,2")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", sorted(LEFT_OUT))
def test_what_a_function_varies_itself_is_no_option_of_it(name: str, tmp_path: Path) -> None:
    for option in LEFT_OUT[name]:
        with pytest.raises(TypeError, match=f"unexpected keyword argument '{option}'"):
            calls(tmp_path)[name](**{option: getattr(HidingOptions(), option)})


@pytest.mark.parametrize("kind", ALL_OPTIONS, ids=lambda kind: kind.__name__)
def test_keywords_for_type_checkers_are_the_fields(kind: type[Options]) -> None:
    keywords = getattr(sys.modules[kind.__module__], kind.__name__.replace("Options", "Keywords"))
    assert tuple(get_type_hints(keywords)) == kind.names()


@pytest.mark.parametrize("name", sorted(TAKEN))
def test_a_type_checker_knows_every_option_of_a_function(name: str) -> None:
    """What stands behind ``**options`` and the parameters beside it is all that the classes of options offer."""
    function = getattr(shoal, name)
    parameters = inspect.signature(function).parameters
    (rest,) = (each for each in parameters.values() if each.kind is each.VAR_KEYWORD)
    (keywords,) = get_args(get_type_hints(function)[rest.name])
    known = set(parameters) | set(get_type_hints(keywords))
    assert known >= {option for kind in TAKEN[name] for option in kind.names()} - set(LEFT_OUT.get(name, ()))


@pytest.mark.parametrize("name", sorted(SETTINGS))
def test_a_file_of_settings_may_hold_every_option(name: str) -> None:
    taken = {option for names in SETTINGS[name].values() for option in names}
    wanted = {option for kind in TAKEN[name] for option in kind.names()} - set(LEFT_OUT.get(name, ()))
    assert taken == wanted | GRID.get(name, set())


@pytest.mark.parametrize("name", sorted(TAKEN))
def test_the_command_offers_every_option(name: str) -> None:
    offered = {parameter.name for parameter in app.commands[COMMANDS[name]].params}
    wanted = {option for kind in TAKEN[name] for option in kind.names()} - set(LEFT_OUT.get(name, ()))
    roles = {f"{role}_column" for role in core_options.ROLES}
    assert offered >= (wanted - {"columns"}) | roles


@pytest.mark.parametrize("name", sorted(TAKEN))
def test_defaults_of_the_command_are_those_of_the_options(name: str) -> None:
    command = app.commands[COMMANDS[name]]
    by_name = {parameter.name: parameter for parameter in command.params}
    unsaid = command.make_context(name, [], resilient_parsing=True).params
    for kind in TAKEN[name]:
        for field, said in choices_of(kind):
            if field.name == "columns" or field.name in LEFT_OUT.get(name, ()):
                continue
            parameter = by_name[field.name]
            if field.default is dataclasses.MISSING:
                assert parameter.required
            else:
                assert unsaid[field.name] == field.default
            assert parameter.help == said.help  # type: ignore[attr-defined]


@pytest.mark.parametrize("kind", ALL_OPTIONS, ids=lambda kind: kind.__name__)
def test_the_class_explains_what_its_name_does_not(kind: type[Options]) -> None:
    for field, said in choices_of(kind):
        assert said.help.strip(), field.name
        assert field.name == "columns" or said.help.endswith(".")


def test_formats_that_help_lists_are_those_that_are_read() -> None:
    assert tuple(READABLE) == FORMAT_NAMES


def test_a_new_option_of_hiding_reaches_everything() -> None:
    """Planted: an option added to the class alone is in the command, saved options, identity and manifest."""
    field = core_options.choice(3, "How much more.", decides_boxes=True, public=True)
    grown = dataclasses.make_dataclass("Grown", [("more", int, field)], bases=(HidingOptions,), frozen=True)
    from shoal.cli.options import options_from

    assert "more" in {option.name for option in options_from(grown)}
    assert grown().to_dict()["more"] == grown().deciding()["more"] == grown().public()["more"] == 3
    found = shoal.reading.read_events(city(users=20), grid=PromiseOptions(2, whole=True).grid)
    assert run_identity(found, PromiseOptions(2, whole=True).promise, grown(more=4))["more"] == 4


def test_the_selector_that_goes_with_a_promise() -> None:
    whole, halves = (PromiseOptions(2, whole=True).promise, PromiseOptions(2, "30min", "30min").promise)
    assert HidingOptions().for_promise(whole).selector == "mutual"
    assert HidingOptions().for_promise(halves).selector == "matching"
    for name in ("matching", "mutual"):
        for promise in (whole, halves):
            assert HidingOptions(selector=name).for_promise(promise).selector == name


@pytest.mark.parametrize(
    "wrong",
    [
        {"selector": "best"}, {"reuse": "never"}, {"space_weight": -1}, {"space_weight": "1"}, {"seed": -1},
        {"seed": 1.5}, {"shard_size": 0}, {"harden": 4}, {"harden": True}, {"effort": 0}, {"effort": 4},
        {"repair": True},
    ],
)  # fmt: skip
def test_options_of_hiding_that_make_no_sense_cannot_be_made(wrong: dict[str, Any]) -> None:
    with pytest.raises(ParameterError):
        HidingOptions(**wrong)


@pytest.mark.parametrize(
    "wrong",
    [
        {"attacks": 0}, {"attacks": 10**7}, {"seed": -1}, {"cell": "100m"}, {"step": "1min"}, {"tau": "30min"},
        {"whole": True},
    ],
)  # fmt: skip
def test_options_of_auditing_that_make_no_sense_cannot_be_made(wrong: dict[str, Any]) -> None:
    with pytest.raises(ParameterError):
        AuditOptions(**wrong)


def test_options_cannot_be_changed() -> None:
    for options in (ReadingOptions(), PromiseOptions(2, whole=True), HidingOptions(), AuditOptions()):
        with pytest.raises(dataclasses.FrozenInstanceError):
            options.seed = 1  # type: ignore[misc]


def test_parsed_values_of_reading() -> None:
    options = ReadingOptions(bbox="0,1,2,3", resample="5min", sites="s.csv", exclude_users=["a"])
    assert options.bounding_box == BoundingBox(0, 1, 2, 3)
    assert options.resample_s == 300
    assert options.files == [Path("s.csv")]
    assert ReadingOptions().bounding_box is ReadingOptions().resample_s is None


def test_a_table_in_memory_is_not_saved() -> None:
    options = ReadingOptions(sites=pa.table({"site": ["a"]}))
    with pytest.raises(ParameterError, match="sites is a table in memory"):
        options.to_dict()


def test_k_must_be_given() -> None:
    with pytest.raises(TypeError, match=r"anonymize\(\) missing 1 required keyword-only argument: 'k'"):
        shoal.anonymize(NOWHERE, whole=True)


@pytest.mark.parametrize("period", ["7d", "1d", "12h", "90min", "6h", "45s", "1000d"])
def test_periods_are_spelled_as_they_are_read(period: str) -> None:
    seconds = parse_period(period)
    assert seconds is not None
    assert spell_period(seconds) == period


@pytest.mark.parametrize(
    "wrong", [["user"], pa.table({"user": ["canary"]}), "user"], ids=["list", "table", "text"]
)
def test_columns_are_a_mapping(wrong: Any) -> None:
    with pytest.raises(ParameterError, match="columns must map roles to names of columns") as refused:
        shoal.anonymize(NOWHERE, k=2, whole=True, columns=wrong)
    assert "canary" not in str(refused.value)


def test_a_table_is_no_choice() -> None:
    for name in ("selector", "reuse"):
        with pytest.raises(
            ParameterError, match=f"{name} must be one of .* got a value of type Table"
        ) as refused:
            HidingOptions(**{name: pa.table({"user": ["canary"]})})
        assert "canary" not in str(refused.value)
