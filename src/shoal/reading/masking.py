"""Values without what they say: how they are written, for a screen that may be copied into a ticket."""

from __future__ import annotations

import re

from shoal.core.schema import LAT, LON, TIME, X, Y

MISSING = "(empty)"
_MOST_LETTERS = 24
_PUNCTUATION = set(" .,:;-+/_@#()[]'\"|*&%=<>")
_CLOCK_LETTERS = re.compile(r"(?<=\d)[TZ](?=\d|$)")  # of ISO 8601
_WHOLE_PART = re.compile(r"^[+-]?9+")


def masked(value: object, role: str) -> str:
    """A value with 9 for every digit and a for every letter.

    Of a coordinate neither sign nor size is left, only how many decimals it has. A long value is cut, and its length
    told.
    """
    text = "" if value is None else str(value).strip()
    if not text:
        return MISSING
    kept = [found.start() for found in _CLOCK_LETTERS.finditer(text)] if role == TIME else []
    mask = "".join(letter if place in kept else _mask(letter) for place, letter in enumerate(text))
    if role in (LAT, LON, X, Y):
        mask = _WHOLE_PART.sub("9", mask)
    if len(mask) > _MOST_LETTERS:
        return f"{mask[: _MOST_LETTERS - 8]}... ({len(mask)})"
    return mask


def _mask(letter: str) -> str:
    if letter.isnumeric():
        return "9"
    if letter.isalpha():
        return "a"
    return letter if letter in _PUNCTUATION else "?"
