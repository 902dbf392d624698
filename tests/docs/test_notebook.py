"""The notebook of the docs runs from top to bottom, shows results as cards and figures, and tells nothing raw."""

from __future__ import annotations

import json
import re
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

import shoal
from support.paths import PROJECT

NOTEBOOK = PROJECT / "docs/notebook.ipynb"
SHOWN = ("plan", "published", "audit", "sweep")  # cells that end in a result
DRAWN = ("plan.plot()", "published.plot()", 'sweep.plot(over="k", what="suppressed")')


@pytest.fixture(scope="module")
def executed(tmp_path_factory: pytest.TempPathFactory) -> Any:
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    folder = tmp_path_factory.mktemp("notebook")
    NotebookClient(
        notebook, timeout=600, kernel_name="python3", resources={"metadata": {"path": str(folder)}}
    ).execute()
    return notebook


def outputs_of(executed: Any, last_line: str) -> list[dict[str, Any]]:
    """What the cell that ends in a line displays."""
    (cell,) = [
        each
        for each in executed.cells
        if each.source.rstrip().endswith("\n" + last_line) or each.source == last_line
    ]
    return [dict(output.data) for output in cell.outputs if "data" in output]


def test_the_file_holds_no_outputs() -> None:
    """What is shown is made where it is run; a file with outputs would hold old ones."""
    for cell in json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]:
        assert not cell.get("outputs")
        assert cell.get("execution_count") is None


@pytest.mark.parametrize("name", SHOWN)
def test_results_show_themselves(executed: Any, name: str) -> None:
    *bars, shown = outputs_of(executed, name)
    assert "<table" in shown["text/html"]
    assert "<svg" in shown["text/html"]
    assert shown["text/plain"].startswith("<")
    assert any("Done in " in bar["text/html"] for bar in bars)


@pytest.mark.parametrize("line", DRAWN)
def test_figures_are_drawn(executed: Any, line: str) -> None:
    (shown,) = outputs_of(executed, line)
    assert len(shown["image/png"]) > 5_000


def test_mistakes_are_told_in_the_words_of_arguments(executed: Any) -> None:
    (said,) = executed.cells[-1].outputs
    assert said.text == "epsilon missing: give tau and epsilon, or whole=True.\n"


def test_nothing_raw_is_shown(executed: Any) -> None:
    """No name of a user and no position, to four digits, in anything that a cell displays."""
    events = shoal.make_city(300, seed=1).to_pydict()
    told = "".join(
        str(content)
        for cell in executed.cells
        if cell.cell_type == "code"
        for output in cell.outputs
        for kind, content in (*output.get("data", {}).items(), ("text", output.get("text", "")))
        if kind != "image/png"
    )
    assert len(told) > 10_000
    words = set(re.findall(r"[\w.-]+", told))
    assert not words & set(events["user"])
    places = {f"{value:.4f}" for name in ("lat", "lon") for value in events[name]}
    assert not {
        word for word in words if re.fullmatch(r"-?\d+\.\d{4,}", word) and f"{float(word):.4f}" in places
    }
