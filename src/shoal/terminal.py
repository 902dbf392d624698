"""What the command shows: progress on stderr, results on stdout."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from types import TracebackType
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TaskID, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bars

from shoal.promise import Grid, Promise

_SECONDS_BETWEEN_LINES = 10.0  # where there is no terminal to draw on


def say(line: str) -> None:
    """One line to whoever watches."""
    print(line, file=sys.stderr, flush=True)


class TerminalProgress:
    """Stages of work as bars with the time left; as occasional lines where stderr is no terminal."""

    def __init__(self) -> None:
        self._bars: Bars | None = None
        if sys.stderr.isatty():
            self._bars = Bars(
                TextColumn("{task.description:<28}"),
                BarColumn(bar_width=24),
                MofNCompleteColumn(),
                TextColumn("epochs,"),
                TimeRemainingColumn(compact=True),
                TextColumn("left"),
                console=Console(stderr=True),
                transient=True,
            )
        self._task: TaskID | None = None
        self._name, self._steps, self._done = "", 0, 0
        self._began = self._spoke = 0.0

    def __enter__(self) -> TerminalProgress:
        if self._bars is not None:
            self._bars.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bars is not None:
            self._bars.stop()

    def stage(self, name: str, steps: int | None = None) -> None:
        """Begin a stage."""
        self._name, self._steps, self._done = name, steps or 0, 0
        self._began = self._spoke = time.monotonic()
        if self._bars is None:
            say(f"{name} ...")
            return
        if self._task is not None:
            self._bars.remove_task(self._task)
        self._task = self._bars.add_task(name, total=steps)

    def advance(self) -> None:
        """One step of the stage is done."""
        self._done += 1
        if self._bars is not None and self._task is not None:
            self._bars.advance(self._task)
            return
        now = time.monotonic()
        if now - self._spoke >= _SECONDS_BETWEEN_LINES and self._steps:
            self._spoke = now
            left = (now - self._began) / self._done * max(self._steps - self._done, 0)
            say(f"{self._name}: epoch {self._done} of {self._steps}, about {left:.0f} s left")


def show_summary(summary: dict[str, Any], promise: Promise, grid: Grid, output: Path) -> None:
    """A closing summary that a non-expert understands, in 80 columns."""
    for label, texts in summary_parts(summary, promise, grid, output).items():
        for number, text in enumerate(texts):
            print(f"{'' if number else label:<12}{text}")


def summary_parts(
    summary: dict[str, Any], promise: Promise, grid: Grid, output: Path
) -> dict[str, list[str]]:
    """The parts of the summary, a label and its lines each; parts without lines are not shown."""
    return {
        "Promise": promise_lines(promise, grid),
        "In": _intake(summary),
        "Published": [f"{summary['records']:,} records with {summary['boxes']:,} boxes", f"in {output.name}"],
        "Suppressed": _suppression(summary),
        "Precision": _precision(summary),
        "Relaxed": _relaxations(summary),
        "Time": [f"{summary['seconds']:.1f} s"],
    }


def _intake(summary: dict[str, Any]) -> list[str]:
    lines = [f"{summary['users']:,} users, {summary['samples']:,} samples from {summary['rows']:,} rows"]
    if summary["duplicates"]:
        lines.append(f"{summary['duplicates']:,} rows repeat another within one cell and time step")
    lines += [f"{rows:,} rows not used: {reason}" for reason, rows in sorted(summary["rows_dropped"].items())]
    if summary["columns_dropped"]:
        lines.append(f"columns not used: {', '.join(summary['columns_dropped'])}")
    return lines


def _precision(summary: dict[str, Any]) -> list[str]:
    space, minutes = summary["precision_km"], summary["precision_minutes"]
    return [
        f"space: median {space['median']:.1f} km, half of the boxes {space['q25']:.1f} to {space['q75']:.1f} km",
        f"time: median {minutes['median']:.0f} min, half of the boxes {minutes['q25']:.0f} to {minutes['q75']:.0f} min",
    ]


def promise_lines(promise: Promise, grid: Grid) -> list[str]:
    """The promise in plain words."""
    if promise.tau is None or promise.epsilon is None:
        return [
            f"whoever knows all places and times of a person finds at least {promise.k}",
            "records that fit",
        ]
    return [
        f"whoever followed a person for {duration(promise.tau * grid.step_s)} finds at least {promise.k} records",
        f"that fit, and learns at most {duration(promise.epsilon * grid.step_s)} more",
    ]


def duration(seconds: int) -> str:
    """A duration as people write it."""
    for unit, size in (("h", 3600), ("min", 60)):
        if seconds % size == 0:
            return f"{seconds // size} {unit}"
    return f"{seconds} s"


def _suppression(summary: dict[str, Any]) -> list[str]:
    n = summary["suppressed_samples"]
    if not n:
        return ["nothing"]
    lines = [f"{n:,} samples ({100 * summary['suppressed_share']:.2g} %)"]
    if summary["suppressed_rare_presence"]:
        lines.append(
            f"{summary['suppressed_rare_presence']:,} of users who came and went unlike anybody else"
        )
    if summary["suppressed_users"]:
        lines.append(f"all samples of {summary['suppressed_users']:,} users: they have no record")
    return lines


def _relaxations(summary: dict[str, Any]) -> list[str]:
    n, members = summary["relaxations"], summary["hiding_members"]
    if not n:
        return []
    return [
        f"{n:,} of {members:,} times a user had to hide with somebody again: too few",
        "others came and went alike. The k records are there; what follows from",
        "them may exceed the promised extra",
    ]
