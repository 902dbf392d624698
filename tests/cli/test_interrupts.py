"""Ctrl-C waits for the end of what must not be left half done, and is never mistaken for an error."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator

import pytest

from shoal.cli import main
from shoal.storage.files import defer_interrupts


@pytest.fixture(autouse=True)
def usual_ctrl_c() -> Iterator[None]:
    """As in a terminal: a process in the background is born deaf to Ctrl-C."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_ctrl_c_takes_effect_at_the_end() -> None:
    done = []

    def work() -> None:
        with defer_interrupts():
            signal.raise_signal(signal.SIGINT)
            done.append("all")

    with pytest.raises(KeyboardInterrupt):
        work()
    assert done == ["all"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_an_error_of_the_work_itself_passes() -> None:
    with pytest.raises(OSError, match="full"), defer_interrupts():
        raise OSError("full")
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_nothing_happens_in_other_threads() -> None:
    seen = []

    def work() -> None:
        with defer_interrupts():
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [signal.default_int_handler]


def test_an_error_on_the_way_out_of_an_interruption_is_told_as_one(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(_: list[str]) -> None:
        try:
            raise KeyboardInterrupt
        finally:
            raise ValueError("cannot close")

    monkeypatch.setattr(main, "_run", interrupted)
    with pytest.raises(SystemExit) as end:
        main.main([])
    assert end.value.code == 3
    assert capsys.readouterr().err.startswith("shoal: Interrupted: nothing was published")
