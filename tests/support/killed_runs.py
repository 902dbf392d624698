"""Runs that end in the middle."""

from __future__ import annotations

from typing import Any

import pytest

from shoal.hiding.journal import FolderJournal


class Killed(BaseException):
    """Ends a run as a kill would: no handler of ours catches it."""


def end_after(steps: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a run end when it has noted so many steps."""
    append = FolderJournal.append

    def ending(self: FolderJournal, step: Any) -> None:
        if len(self) == steps:
            raise Killed
        append(self, step)

    monkeypatch.setattr(FolderJournal, "append", ending)
