"""The options of how events are read are the same everywhere, and a misspelt one is refused at the door."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import shoal
from shoal.auditing.opening import AuditOptions, open_audit
from shoal.cli import options
from shoal.core.signatures import options_of, takes
from shoal.errors import ParameterError
from shoal.reading import read_events
from shoal.reading.filters import BoundingBox, Filters
from shoal.reading.options import ReadingOptions, check_reading
from support.progress_listener import Listener

NAMES = set(ReadingOptions.__annotations__)
NOWHERE: Any = object()  # no events: whoever tries to read it fails with another error


def calls(folder: Path) -> dict[str, Callable[..., object]]:
    """Each public function that reads events, about to read and write."""
    output, checkpoint = folder / "out", folder / "points"
    return {
        "anonymize": lambda **more: shoal.anonymize(NOWHERE, k=2, whole=True, output=output, **more),
        "assess": lambda **more: shoal.assess(NOWHERE, **more),
        "audit": lambda **more: shoal.audit(NOWHERE, NOWHERE, **more),
        "compare": lambda **more: shoal.compare(NOWHERE, **more),
        "plan": lambda **more: shoal.plan(NOWHERE, **more),
        "sweep": lambda **more: shoal.sweep(NOWHERE, checkpoint=checkpoint, **more),
        "write_report": lambda **more: shoal.write_report(
            NOWHERE, NOWHERE, output.with_suffix(".html"), **more
        ),
    }


EVERY_FUNCTION = sorted(calls(Path()))


@pytest.mark.parametrize("name", EVERY_FUNCTION)
def test_a_misspelt_option_is_refused_before_anything_happens(name: str, tmp_path: Path) -> None:
    listener = Listener()
    with pytest.raises(TypeError) as caught:
        calls(tmp_path)[name](timezon="UTC", progress=listener)
    assert str(caught.value) == f"{name}() got an unexpected keyword argument 'timezon'"
    assert listener.names == []
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", EVERY_FUNCTION)
def test_a_wrong_filter_is_refused_before_anything_is_read(name: str, tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="bbox must be four numbers"):
        calls(tmp_path)[name](bbox="1,2")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", EVERY_FUNCTION)
def test_every_function_lists_all_of_them(name: str) -> None:
    parameters = inspect.signature(getattr(shoal, name)).parameters
    assert set(parameters) >= NAMES
    assert all(parameters[each].default is None for each in NAMES)
    assert all(each.kind is not each.VAR_KEYWORD for each in parameters.values())


def test_the_command_has_all_of_them() -> None:
    def command(*, reading: dict[str, Any]) -> None:
        given.update(reading)

    given: dict[str, Any] = {}
    called = options.reads_events(command)
    called(**dict.fromkeys(inspect.signature(called).parameters))
    assert set(given) == NAMES


def test_all_of_them_reach_the_reader() -> None:
    checked = check_reading(dict.fromkeys(NAMES))  # type: ignore[arg-type]
    assert set(checked) < set(inspect.signature(read_events).parameters)
    assert check_reading({}) == {"filters": Filters()}
    some = check_reading(
        {"timezone": "Asia/Tokyo", "bbox": "0,1,2,3", "min_days_active": 4, "resample": "5min"}
    )
    assert some == {"timezone": "Asia/Tokyo", "filters": Filters(BoundingBox(0, 1, 2, 3), 4, 300)}


def test_options_of_audits_are_those_that_are_passed_on() -> None:
    assert {option.name for option in options_of(open_audit)} == set(AuditOptions.__annotations__)


def test_other_mistakes_are_told_by_the_function_itself() -> None:
    @takes(options_of(read_events))
    def read(source: object, *, grid: int, **_: object) -> object:
        return source, grid

    assert read("a", grid=1, timezone="UTC") == ("a", 1)
    assert list(inspect.signature(read).parameters)[:3] == ["source", "grid", "columns"]
    with pytest.raises(TypeError, match=r"read\(\) missing 1 required keyword-only argument: 'grid'"):
        read("a")  # type: ignore[call-arg]
    with pytest.raises(TypeError, match=r"read\(\) takes 1 positional argument"):
        read("a", 2)  # type: ignore[call-arg, misc]
