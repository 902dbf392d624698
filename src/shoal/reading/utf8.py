"""Text of unknown encoding as UTF-8: what is not UTF-8 is taken for Latin-1."""

from __future__ import annotations

import codecs
from typing import Any

_LATIN_1 = "shoal-latin-1"


def _as_latin_1(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return error.object[error.start : error.end].decode("latin-1"), error.end


codecs.register_error(_LATIN_1, _as_latin_1)


def decode(raw: bytes) -> str:
    """Text of bytes that are UTF-8, or where they are not, Latin-1."""
    return raw.decode("utf-8", _LATIN_1)


class Utf8Stream:
    """A stream of bytes that passes UTF-8 on as it is and turns other bytes into UTF-8.

    Arrow hands malformed rows over as text, so all of a file must decode, whatever columns are wanted.
    """

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self._decoder = codecs.getincrementaldecoder("utf-8")(_LATIN_1)
        self._ready = b""
        self.closed = False

    def read(self, size: int = -1) -> bytes:
        """As many bytes as asked for, or what is left."""
        while not 0 <= size <= len(self._ready):
            fresh = self._stream.read(size if size >= 0 else None)
            self._ready += self._decoder.decode(fresh, final=not fresh).encode()
            if not fresh:
                break
        end = size if size >= 0 else len(self._ready)
        taken, self._ready = self._ready[:end], self._ready[end:]
        return taken

    def close(self) -> None:
        """Close the stream below."""
        self.closed = True
        self._stream.close()
