"""Requests to end a run as one exception: Ctrl-C, SIGTERM (batch systems, ``kill``) and SIGHUP (a closed terminal).

In Python they are ``KeyboardInterrupt``, whose argument is the name of the signal unless that is Ctrl-C's. Whatever a
run leaves behind is told in a note on the exception (``BaseException.add_note``), a ``LeftBehind``.
"""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType

# Windows has no SIGHUP.
_SIGNALS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]


class LeftBehind(str):
    """What a failed run leaves behind, as a note on its exception; libraries' own notes may quote data."""


class InterruptedAfterwards(KeyboardInterrupt):
    """The request to end came when all files were in place: there was nothing left to give up."""


@contextlib.contextmanager
def signals_as_interrupts() -> Iterator[None]:
    """Inside a ``with`` block SIGTERM and SIGHUP end the work as Ctrl-C does.

    A signal that is ignored (SIGHUP under ``nohup``, Ctrl-C in the background) or has a handler stays as it is. Outside
    the main thread, where signals do not arrive, nothing is done.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    usual = {
        number: signal.signal(number, _interrupt)
        for number in _SIGNALS
        if signal.getsignal(number) == signal.SIG_DFL
    }
    try:
        yield
    finally:
        for number, handler in usual.items():
            signal.signal(number, handler)


def _interrupt(number: int, _: FrameType | None) -> None:
    raise KeyboardInterrupt(signal.Signals(number).name)


@contextlib.contextmanager
def defer_interrupts() -> Iterator[None]:
    """Delay the effect of Ctrl-C and other requests to end to the end of a ``with`` block. For short work only.

    A library that is interrupted while it writes may fail on its way out with an error of its own, which then hides
    the interruption. Outside the main thread signals do not arrive, and nothing is done.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    arrived: list[tuple[int, FrameType | None]] = []
    usual = {number: handler for number in _SIGNALS if callable(handler := signal.getsignal(number))}
    for number in usual:
        signal.signal(number, lambda number, frame: arrived.append((number, frame)))
    try:
        yield
    finally:
        for number, handler in usual.items():
            signal.signal(number, handler)
    if arrived:
        usual[arrived[0][0]](*arrived[0])
