"""How times are written, where somebody says it: a pattern such as ``%d.%m.%Y %H:%M``, as strptime has them."""

from __future__ import annotations

from typing import NamedTuple

from shoal.core.checks import told
from shoal.errors import ParameterError

EXAMPLE = "%d.%m.%Y %H:%M:%S"
YEAR, MONTH, DAY, HOUR, MINUTE, SECOND, HALF, ZONE, IGNORED = (
    "year", "month", "day", "hour", "minute", "second", "half of the day", "zone", "ignored",
)  # fmt: skip
# What each directive tells.
DIRECTIVES = {
    "Y": YEAR, "y": YEAR, "m": MONTH, "b": MONTH, "B": MONTH, "d": DAY, "H": HOUR, "I": HOUR, "M": MINUTE,
    "S": SECOND, "f": IGNORED, "p": HALF, "z": ZONE, "a": IGNORED, "A": IGNORED,
}  # fmt: skip
SPACE = " "  # one blank or more


class Directive(NamedTuple):
    """A part of a time, such as its year; ``padded`` where another number follows at once, so that zeros matter."""

    letter: str
    padded: bool

    @property
    def tells(self) -> str:
        """Which part of a time."""
        return DIRECTIVES[self.letter]


class TimeFormat(NamedTuple):
    """A pattern as its parts in a row: directives, SPACE, and any other character as it is."""

    parts: tuple[Directive | str, ...]

    @classmethod
    def parse(cls, pattern: object) -> TimeFormat:
        """The parts of a pattern; one that does not tell a day, or tells something twice, is refused."""
        if not isinstance(pattern, str):
            raise ParameterError(f"time format must be text such as {EXAMPLE!r}, got {told(pattern)}.")
        letters = _letters(pattern)
        parts: list[Directive | str] = []
        for place, letter in enumerate(letters):
            if len(letter) == 1:
                parts += [] if letter == SPACE and parts[-1:] == [SPACE] else [letter]
            else:
                follows = letters[place + 1 : place + 2]
                parts.append(
                    Directive(letter[1], padded=follows != [] and follows[0][1:] in set("YymdHIMSf"))
                )
        _check(pattern, [part for part in parts if isinstance(part, Directive)])
        return cls(tuple(parts))

    @property
    def zoned(self) -> bool:
        """Whether every time is written with its zone."""
        return any(isinstance(part, Directive) and part.tells == ZONE for part in self.parts)


def _letters(pattern: str) -> list[str]:
    """Directives as ``%d``, any blank as SPACE, other characters as they are; those around all of it do not matter."""
    letters: list[str] = []
    rest = iter(pattern.strip())
    for letter in rest:
        if letter != "%":
            letters.append(SPACE if letter.isspace() else letter)
            continue
        name = next(rest, "")
        if name != "%" and name not in DIRECTIVES:
            known = " ".join(f"%{each}" for each in DIRECTIVES)
            raise ParameterError(f"time format knows {known} and %%, got {'%' + name!r}: see {EXAMPLE!r}.")
        letters.append("%" if name == "%" else f"%{name}")
    return letters


def _check(pattern: str, directives: list[Directive]) -> None:
    tells = [directive.tells for directive in directives if directive.tells != IGNORED]
    twice = sorted({part for part in tells if tells.count(part) > 1})
    if twice:
        raise ParameterError(f"time format must tell the {twice[0]} once, got {told(pattern)}.")
    for part, needed in (
        (None, YEAR), (None, MONTH), (None, DAY), (MINUTE, HOUR), (SECOND, MINUTE), (HALF, HOUR),
    ):  # fmt: skip
        if needed not in tells and (part is None or part in tells):
            raise ParameterError(
                f"time format must tell the {needed}, such as {EXAMPLE!r}, got {told(pattern)}."
            )
    letters = {directive.letter for directive in directives}
    if ("I" in letters) != ("p" in letters):
        raise ParameterError(
            f"time format must have %I and %p together (hours from 1 to 12), or %H, got {told(pattern)}."
        )
