"""Whom long work tells of its progress: nobody, a listener, or a bar that fits where Python runs."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

import shoal
from core.test_options import COMMANDS, calls
from shoal.core import progress_bars
from shoal.core.progress import SilentProgress, listening
from shoal.core.progress_bars import NotebookProgress, TerminalProgress, in_notebook, open_bar
from shoal.errors import ParameterError
from support.progress_listener import Listener
from support.run_command import in_metres


class Display:
    """IPython's display: keeps what each of its outputs shows in the end, and all that it showed before."""

    def __init__(self) -> None:
        self.history: list[list[dict[str, str]]] = []

    def __call__(self, bundle: dict[str, str], *, raw: bool, display_id: bool) -> Any:
        assert raw
        assert display_id
        shown = [bundle]
        self.history.append(shown)
        return SimpleNamespace(update=lambda bundle, raw: shown.append(bundle))  # noqa: ARG005

    @property
    def last(self) -> dict[str, str]:
        return self.history[-1][-1]


@pytest.fixture
def notebook(monkeypatch: pytest.MonkeyPatch) -> Display:
    """A notebook as far as IPython tells."""
    display, ipython, shown = Display(), ModuleType("IPython"), ModuleType("IPython.display")
    ipython.get_ipython = lambda: SimpleNamespace(kernel=object())  # type: ignore[attr-defined]
    shown.display = display  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", shown)
    monkeypatch.setattr(progress_bars, "_SECONDS_BETWEEN_DRAWINGS", 0.0)
    return display


def test_nobody_listens_unless_asked() -> None:
    for silent in (None, False):
        with listening(silent) as told:
            assert isinstance(told, SilentProgress)


def test_a_listener_is_told_itself() -> None:
    listener = Listener()
    with listening(listener) as told:
        assert told is listener


@pytest.mark.parametrize("wrong", ["yes", 1, object(), Listener, [1]])
def test_what_cannot_listen_is_refused(wrong: Any) -> None:
    with pytest.raises(ParameterError, match=r"^progress must be True, False or an object with stage"):
        shoal.anonymize(in_metres(), k=2, whole=True, progress=wrong)


def test_a_terminal_unless_there_is_a_notebook(monkeypatch: pytest.MonkeyPatch, notebook: Display) -> None:
    assert in_notebook()
    assert isinstance(open_bar(), NotebookProgress)
    for shell in (None, SimpleNamespace()):  # IPython is installed, or runs in a terminal
        monkeypatch.setattr(sys.modules["IPython"], "get_ipython", lambda shell=shell: shell)
        assert isinstance(open_bar(), TerminalProgress)
    monkeypatch.setitem(sys.modules, "IPython", None)
    assert isinstance(open_bar(), TerminalProgress)
    assert notebook.history == []


def test_a_notebook_shows_one_bar_and_then_how_long_it_took(notebook: Display) -> None:
    shoal.anonymize(in_metres(), k=2, tau="30min", epsilon="30min", progress=True)
    (shown,) = notebook.history
    bars = [bundle["text/html"] for bundle in shown]
    assert any("hiding" in bar and "<progress" in bar and "about" in bar for bar in bars)
    assert notebook.last["text/plain"].startswith("Done in ")
    assert "<progress" not in notebook.last["text/html"]


def test_a_stage_is_text_and_no_markup(notebook: Display) -> None:
    with open_bar() as bar:
        bar.stage("<b>k</b>", 2)
        bar.advance()
        assert "&lt;b&gt;" in notebook.last["text/html"]
        assert 'value="1" max="2"' in notebook.last["text/html"]


def test_a_failure_ends_the_bar(notebook: Display) -> None:
    with pytest.raises(shoal.InputError):
        shoal.anonymize("nowhere.csv", k=2, whole=True, progress=True)
    assert notebook.last["text/plain"].startswith("Stopped after 0 s: reading")


@pytest.mark.parametrize("function", COMMANDS)
def test_every_long_call_takes_true(function: str, notebook: Display, tmp_path: Any) -> None:
    with pytest.raises(shoal.InputError, match=r"must be a path or a table|must end in"):
        calls(tmp_path)[function](progress=True)
    assert len(notebook.history) == (function != "anonymize")  # whose output is refused before


def test_lines_where_there_is_no_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress_bars, "_SECONDS_BETWEEN_LINES", 0.0)
    shoal.anonymize(in_metres(), k=2, tau="30min", epsilon="30min", progress=True)
    assert "hiding: 1 of " in capsys.readouterr().err
    shoal.anonymize(in_metres(), k=2, tau="30min", epsilon="30min")
    assert capsys.readouterr() == ("", "")
