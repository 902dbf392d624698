"""Every public name says in its docstring what it takes, gives and raises, and shows an example that runs."""

from __future__ import annotations

import doctest
import inspect
import re
from collections.abc import Iterator
from typing import Any, get_type_hints

import pytest

import shoal
from shoal.core.options import AuditOptions, HidingOptions, PromiseOptions, ReadingOptions

FUNCTIONS = [name for name in shoal.__all__ if inspect.isfunction(getattr(shoal, name))]
CLASSES = [name for name in shoal.__all__ if inspect.isclass(getattr(shoal, name))]
RESULTS = ("Audit", "Comparison", "Credibility", "Plan", "Published", "Sweep")
OF_UTILITY = [name for name in shoal.utility.__all__ if inspect.isfunction(getattr(shoal.utility, name))]
HEADING = re.compile(r"^(\w[\w ]*)\n-+$", re.MULTILINE)


def sections(documented: Any) -> dict[str, str]:
    """The sections of a docstring by their headings; what stands before them under an empty one."""
    parts = HEADING.split(inspect.getdoc(documented) or "")
    return {"": parts[0], **dict(zip(parts[1::2], parts[2::2], strict=True))}


def entries(section: str) -> dict[str, str]:
    """What a section says of each name; several names may share an entry."""
    found: dict[str, str] = {}
    for block in re.split(r"^(?=\S)", section, flags=re.MULTILINE):
        names, _, text = block.partition("\n")
        found |= {name.strip(): text for name in names.partition(" : ")[0].split(",") if name.strip()}
    return found


def public_functions() -> Iterator[tuple[str, Any]]:
    yield from ((name, getattr(shoal, name)) for name in FUNCTIONS)
    yield from ((f"utility.{name}", getattr(shoal.utility, name)) for name in OF_UTILITY)
    for name in RESULTS:
        for method, value in vars(getattr(shoal, name)).items():
            public = inspect.isfunction(value) and not method.startswith("_")
            if public and len(inspect.signature(value).parameters) > 1:
                yield f"{name}.{method}", value


EVERY = dict(public_functions())


def test_what_is_tested_is_all_there_is() -> None:
    assert {*FUNCTIONS, *CLASSES} == set(shoal.__all__) - {"utility"}
    assert set(RESULTS) < set(CLASSES)
    assert {"Published.write", "Sweep.plot", "Audit.to_dict", "utility.density", "anonymize"} <= set(EVERY)


@pytest.mark.parametrize("name", [*FUNCTIONS, *CLASSES, *(f"utility.{name}" for name in OF_UTILITY)])
def test_the_first_line_is_a_sentence(name: str) -> None:
    documented = EVERY.get(name) or getattr(shoal, name)
    first = re.split(r"(?<=\.)\s", sections(documented)[""].strip())[0]
    assert first[0].isupper()
    assert len(first.split()) > 3


# "counterexample" takes a violation that only an audit has; its two lines say all.
@pytest.mark.parametrize("name", [name for name in EVERY if name != "Audit.counterexample"])
def test_every_parameter_is_documented(name: str) -> None:
    function = EVERY[name]
    described = entries(sections(function)["Parameters"])
    wanted = [
        f"**{each.name}" if each.kind is each.VAR_KEYWORD else each.name
        for each in inspect.signature(function).parameters.values()
        if each.name != "self"
    ]
    assert list(described) == wanted or set(described) == set(wanted), name
    assert all(text.strip() for text in described.values())


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_say_what_they_give_raise_and_show(name: str) -> None:
    found = sections(EVERY[name])
    returned = get_type_hints(EVERY[name])["return"]
    assert returned.__name__ in found["Returns"]
    for raised in entries(found["Raises"]):
        assert issubclass(getattr(shoal, raised), shoal.ShoalError)
    assert ">>> " in found["Examples"]


@pytest.mark.parametrize(
    ("name", "kinds"),
    [("anonymize", (PromiseOptions, HidingOptions, ReadingOptions)), ("audit", (AuditOptions,))],
)
def test_every_option_is_documented(name: str, kinds: tuple[Any, ...]) -> None:
    described = entries(sections(EVERY[name])["Other Parameters"])
    assert set(described) == {option for kind in kinds for option in kind.names()}


@pytest.mark.parametrize("name", RESULTS)
def test_results_describe_their_fields(name: str) -> None:
    kind = getattr(shoal, name)
    fields = getattr(kind, "_fields", None) or list(kind.__dataclass_fields__)
    assert set(entries(sections(kind)["Attributes"])) == set(fields)
    for method, value in vars(kind).items():
        if not method.startswith("_") and callable(value):
            assert inspect.getdoc(value), f"{name}.{method}"


EXAMPLES = [
    test
    for documented in (
        *(getattr(shoal, name) for name in shoal.__all__ if name != "utility"),
        *(getattr(shoal.utility, name) for name in OF_UTILITY),
    )
    for test in doctest.DocTestFinder(recurse=True).find(documented, globs={})
    if test.examples
]


def test_every_name_has_an_example() -> None:
    shown = {test.name.partition(".")[0] for test in EXAMPLES}
    assert shown == {*FUNCTIONS, *CLASSES, *OF_UTILITY}


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda test: test.name)
def test_examples_give_what_they_say(example: doctest.DocTest) -> None:
    said: list[str] = []
    failed, tried = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(
        example, out=said.append, clear_globs=False
    )
    assert tried
    assert not failed, "".join(said)
