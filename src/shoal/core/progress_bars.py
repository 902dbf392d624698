"""Bars for whoever waits: in a terminal, as occasional lines where there is none, and in a notebook."""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from html import escape
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from rich.progress import Progress as Bars
    from rich.progress import TaskID

_SECONDS_BETWEEN_LINES = 10.0  # where there is no terminal to draw on
_SECONDS_OF_SILENCE = 2.0  # a stage that takes no longer is not mentioned there
_SECONDS_BETWEEN_DRAWINGS = 0.2  # in a notebook, where every one is a message to the browser


def open_bar() -> TerminalProgress | NotebookProgress:
    """The bar that fits where Python runs."""
    return NotebookProgress() if in_notebook() else TerminalProgress()


def in_notebook() -> bool:
    """Whether what is displayed goes to a notebook: IPython in a terminal has no kernel."""
    find_shell = getattr(sys.modules.get("IPython"), "get_ipython", None)
    return find_shell is not None and hasattr(find_shell(), "kernel")


def say(line: str) -> None:
    """One line to whoever watches, if anybody does."""
    with contextlib.suppress(OSError, ValueError):
        print(line, file=sys.stderr, flush=True)


class _Steps:
    """The stage that is under way, how many of its steps are done, and since when."""

    def __init__(self) -> None:
        self.began_all = time.monotonic()
        self.begin("", None)

    def begin(self, name: str, steps: int | None) -> None:
        self.name, self.steps, self.done = name, steps or 0, 0
        self.began = time.monotonic()

    def detail(self) -> str:
        left = (time.monotonic() - self.began) / self.done * max(self.steps - self.done, 0)
        return f"{min(self.done, self.steps)} of {self.steps}, about {left:.0f} s left"


class TerminalProgress:
    """Stages of work as bars with the time left; as occasional lines where stderr is no terminal."""

    def __init__(self) -> None:
        self._bars: Bars | None = _bars() if sys.stderr.isatty() else None
        self._task: TaskID | None = None
        self._soon: threading.Timer | None = None
        self._steps = _Steps()
        self._spoke = 0.0

    def __enter__(self) -> Self:
        if self._bars is not None:
            self._bars.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._keep_silent()
        if self._bars is not None:
            self._bars.stop()

    def stage(self, name: str, steps: int | None = None) -> None:
        """Begin a stage."""
        self._keep_silent()
        self._steps.begin(name, steps)
        self._spoke = self._steps.began
        if self._bars is None:
            self._soon = threading.Timer(_SECONDS_OF_SILENCE, say, [f"{name} ..."])
            self._soon.daemon = True
            self._soon.start()
            return
        if self._task is not None:
            self._bars.remove_task(self._task)
        self._task = self._bars.add_task(name, total=steps, detail="")

    def advance(self) -> None:
        """One step of the stage is done."""
        self._steps.done += 1
        if self._bars is not None and self._task is not None:
            self._bars.update(self._task, advance=1, detail=self._steps.detail())
            return
        now = time.monotonic()
        if now - self._spoke >= _SECONDS_BETWEEN_LINES:
            self._spoke = now
            say(f"{self._steps.name}: {self._steps.detail()}")

    def _keep_silent(self) -> None:
        if self._soon is not None:
            self._soon.cancel()


def _bars() -> Bars:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn

    return Progress(
        TextColumn("{task.description:<26}"),
        BarColumn(bar_width=16),
        TextColumn("{task.fields[detail]}"),
        console=Console(stderr=True),
        transient=True,
    )


class NotebookProgress:
    """A bar below the cell, in the browser's own style; in the end a line that says how long it took."""

    def __init__(self) -> None:
        self._steps = _Steps()
        self._handle: Any = None
        self._drawn = 0.0

    def __enter__(self) -> Self:
        from IPython.display import display  # type: ignore[import-not-found, unused-ignore]

        self._handle = display(_bundle("", ""), raw=True, display_id=True)  # type: ignore[no-untyped-call, unused-ignore]
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        seconds = time.monotonic() - self._steps.began_all
        last = f"Done in {seconds:.0f} s."
        if kind is not None:
            last = f"Stopped after {seconds:.0f} s: {self._steps.name or 'checking the arguments'}."
        self._handle.update(_bundle(f"<small>{escape(last)}</small>", last), raw=True)

    def stage(self, name: str, steps: int | None = None) -> None:
        """Begin a stage."""
        self._steps.begin(name, steps)
        self._draw("")

    def advance(self) -> None:
        """One step of the stage is done."""
        self._steps.done += 1
        if time.monotonic() - self._drawn >= _SECONDS_BETWEEN_DRAWINGS:
            self._draw(self._steps.detail())

    def _draw(self, detail: str) -> None:
        steps = self._steps
        self._drawn = time.monotonic()
        bar = f'<progress value="{min(steps.done, steps.steps)}" max="{steps.steps}"></progress>'
        drawn = f"<small>{escape(steps.name)} {bar if steps.steps else '...'} {detail}</small>"
        self._handle.update(_bundle(drawn, f"{steps.name} {detail}".strip()), raw=True)


def _bundle(html: str, text: str) -> dict[str, str]:
    """What a notebook shows, and what is left of it where there is no HTML."""
    return {"text/html": html, "text/plain": text}
