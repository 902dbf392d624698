"""JSON that is larger than memory: the members of an object and the values of a list, one after the other."""

from __future__ import annotations

import codecs
import json
from collections.abc import Iterator
from typing import Any

_DIGITS = "0123456789.eE+-"
_SPACE = " \t\n\r"
_PIECE = 1 << 20  # bytes


class JsonText:
    """A stream of UTF-8 of which no more is held than the value being read; ValueError where it is no JSON."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self._decode = codecs.getincrementaldecoder("utf-8-sig")().decode
        self._scan = json.JSONDecoder().raw_decode
        self._held, self._at, self._ended = "", 0, False

    def members(self) -> Iterator[str]:
        """The names in an object; whoever asks for the next has read the value of the last."""
        for _ in self._elements("{", "}"):
            name = self.value()
            if not isinstance(name, str):
                raise ValueError("a name must be a text")
            self._take(":")
            yield name

    def values(self) -> Iterator[Any]:
        """The values in a list."""
        for _ in self._elements("[", "]"):
            yield self.value()

    def value(self) -> Any:
        """The next value, whatever it is."""
        self._next()
        size = _PIECE
        while True:
            try:
                found, end = self._scan(self._held, self._at)
                if self._ended or not self._may_go_on(found, end):
                    self._at = end
                    return found
            except RecursionError:
                raise ValueError("nested too deeply") from None
            except ValueError:
                if self._ended:
                    raise
            self._read(size)
            size *= 2

    def _may_go_on(self, found: Any, end: int) -> bool:
        """Whether a number might be longer than what is held of it."""
        return (
            isinstance(found, int | float) and self._held[end : end + 1] in _DIGITS
        )  # empty at the end of it

    def end(self) -> None:
        """Make sure that nothing follows."""
        if self._next():
            raise ValueError("something follows")

    def _elements(self, opening: str, closing: str) -> Iterator[None]:
        self._take(opening)
        if self._next() != closing:
            yield
            while self._next() == ",":
                self._at += 1
                yield
        self._take(closing)

    def _take(self, mark: str) -> None:
        if self._next() != mark:
            raise ValueError(f"expected {mark}")
        self._at += 1

    def _next(self) -> str:
        """The next letter that is no space; empty at the end."""
        while True:
            while self._at < len(self._held):
                if self._held[self._at] not in _SPACE:
                    return self._held[self._at]
                self._at += 1
            if self._ended:
                return ""
            self._read(_PIECE)

    def _read(self, size: int) -> None:
        piece = self._stream.read(size)
        self._ended = not piece
        self._held = self._held[self._at :] + self._decode(piece, final=self._ended)
        self._at = 0
