"""What every test can rely on."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def _slow_machines_say_nothing_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stages that take long are mentioned on stderr; what tests expect there must not depend on the machine's speed."""
    monkeypatch.setattr("shoal.core.progress_bars._SECONDS_OF_SILENCE", 3600.0)
