"""Ctrl-C, put off while something must not be left half done."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType


@contextlib.contextmanager
def held() -> Iterator[None]:
    """Ctrl-C in here takes effect at the end. For short work only.

    A library that is interrupted while it writes may fail on its way out with an error of its own, which then hides
    the interruption. Outside the main thread Ctrl-C does not arrive, and nothing is done.
    """
    usual = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(usual):
        yield
        return
    arrived: list[tuple[int, FrameType | None]] = []
    signal.signal(signal.SIGINT, lambda number, frame: arrived.append((number, frame)))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, usual)
    if arrived:
        usual(*arrived[0])
