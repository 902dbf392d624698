"""What the command shows: progress on stderr, results on stdout."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import time
from collections.abc import Iterable
from types import TracebackType
from typing import TYPE_CHECKING

from shoal.errors import UnfinishedError

if TYPE_CHECKING:
    from rich.progress import Progress as Bars
    from rich.progress import TaskID


_SECONDS_BETWEEN_LINES = 10.0  # where there is no terminal to draw on
_SECONDS_OF_SILENCE = 2.0  # a stage that takes no longer is not mentioned there


def say(line: str) -> None:
    """One line to whoever watches, if anybody does."""
    with contextlib.suppress(OSError, ValueError):
        print(line, file=sys.stderr, flush=True)


def say_warnings(warnings: Iterable[str]) -> None:
    """A line for each."""
    for warning in warnings:
        say(f"Warning: {warning}")


def show(text: str) -> None:
    """A result to stdout; whoever reads it may stop early."""
    try:
        print(text, flush=True)
    except OSError as error:
        # Python would try once more on its way out, and complain.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError):
            raise UnfinishedError(
                f"The files are in place, but stdout cannot be written to ({error.strerror})."
            ) from error


class TerminalProgress:
    """Stages of work as bars with the time left; as occasional lines where stderr is no terminal."""

    def __init__(self) -> None:
        self._bars: Bars | None = _bars() if sys.stderr.isatty() else None
        self._task: TaskID | None = None
        self._soon: threading.Timer | None = None
        self._name, self._steps, self._done = "", 0, 0
        self._began = self._spoke = 0.0

    def __enter__(self) -> TerminalProgress:
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
        self._name, self._steps, self._done = name, steps or 0, 0
        self._began = self._spoke = time.monotonic()
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
        self._done += 1
        if self._bars is not None and self._task is not None:
            self._bars.update(self._task, advance=1, detail=self._detail())
            return
        now = time.monotonic()
        if now - self._spoke >= _SECONDS_BETWEEN_LINES:
            self._spoke = now
            say(f"{self._name}: {self._detail()}")

    def _detail(self) -> str:
        left = (time.monotonic() - self._began) / self._done * max(self._steps - self._done, 0)
        return f"{min(self._done, self._steps)} of {self._steps}, about {left:.0f} s left"

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
