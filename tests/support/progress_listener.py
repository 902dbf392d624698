"""Who is told of progress."""

from __future__ import annotations


class Told:
    """A stage: how many steps were announced, and how many done."""

    def __init__(self, name: str, steps: int | None) -> None:
        self.name, self.steps, self.done = name, steps, 0


class Listener:
    """Keeps what it is told."""

    def __init__(self) -> None:
        self.stages: list[Told] = []

    @property
    def names(self) -> list[str]:
        return [told.name for told in self.stages]

    def stage(self, name: str, steps: int | None = None) -> None:
        self.stages.append(Told(name, steps))

    def advance(self) -> None:
        self.stages[-1].done += 1
