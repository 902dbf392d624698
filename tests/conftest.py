"""What every test can rely on."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from shoal.errors import called_by_command


@pytest.fixture(autouse=True)
def _slow_machines_say_nothing_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stages that take long are mentioned on stderr; what tests expect there must not depend on the machine's speed."""
    monkeypatch.setattr("shoal.core.progress_bars._SECONDS_OF_SILENCE", 3600.0)


@pytest.fixture
def by_command() -> Iterator[None]:
    """Texts name options as the command does; tests/end_to_end/test_words_of_python.py has the words of Python."""
    with called_by_command():
        yield
