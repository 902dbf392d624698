"""Progress of long work, stage by stage; the command shows it, the library is silent unless asked."""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """A listener to stages of work and their steps."""

    def stage(self, name: str, steps: int | None = None) -> None:
        """A stage begins; ``steps`` says how many there will be, if that is known."""

    def advance(self) -> None:
        """One step of the stage is done."""


class SilentProgress:
    """Nobody listens."""

    def stage(self, name: str, steps: int | None = None) -> None:
        """Say nothing."""

    def advance(self) -> None:
        """Say nothing."""
