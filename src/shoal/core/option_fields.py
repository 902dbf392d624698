"""What all options share: fields that say what the command says about them, and turn into plain values and back.

The options themselves are in options.py.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, NamedTuple, Self

from shoal.errors import ParameterError


class Choice(NamedTuple):
    """What the command says about an option; ``name`` and ``kind`` only where the field's name and type do not fit.

    ``decides_boxes``: two runs that differ in it give different boxes; ``public``: the manifest tells it.
    ``kept_out``: what it is that no file of settings may hold; empty for what may stand there. ``repeated``: a command
    to run next repeats it, though reprs do not tell it.
    """

    help: str
    metavar: str | None = None
    name: str | None = None
    kind: type | None = None
    decides_boxes: bool = False
    public: bool = False
    kept_out: str = ""
    repeated: bool = False


def choice(default: Any, help: str, *, shown: bool = True, **more: Any) -> Any:
    """A field that users may choose; it must be given where the default is MISSING.

    ``shown``: whether reprs tell it and pickles hold it; what may hold people or places is not.
    """
    metadata = {"choice": Choice(help, **more)}
    if default is dataclasses.MISSING:
        return field(metadata=metadata, repr=shown)
    return field(default=default, metadata=metadata, repr=shown)


def choices_of(options: type[Options] | Options) -> Iterator[tuple[dataclasses.Field[Any], Choice]]:
    """The fields that users may choose, in order, with what is said about them."""
    for each in dataclasses.fields(options):
        if "choice" in each.metadata:
            yield each, each.metadata["choice"]


@dataclass(frozen=True)
class Options:
    """What all options share: they are made from keywords, and turn into plain values and back."""

    def __getstate__(self) -> dict[str, Any]:
        """What a pickle holds: nothing of people and places, so that it may go anywhere."""
        return {
            each.name: getattr(self, each.name) if each.repr else None for each in dataclasses.fields(self)
        }

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """The names of all fields that users may choose."""
        return tuple(each.name for each, _ in choices_of(cls))

    @classmethod
    def from_keywords(cls, keywords: Mapping[str, Any]) -> Self:
        """These options among the keywords of a call; the others are for somebody else."""
        return cls(**{name: keywords[name] for name in cls.names() if name in keywords})

    def to_dict(self) -> dict[str, Any]:
        """All choices as plain values, for JSON or TOML."""
        return {each.name: _plain(getattr(self, each.name), each.name) for each, _ in choices_of(self)}

    def deciding(self) -> dict[str, Any]:
        """The choices that decide the boxes, as plain values."""
        return {name: value for name, value in self.to_dict().items() if self._said(name).decides_boxes}

    def public(self) -> dict[str, Any]:
        """The choices that the manifest tells, as plain values."""
        return {name: value for name, value in self.to_dict().items() if self._said(name).public}

    @classmethod
    def spelled(cls, name: str) -> str:
        """The option of the command for a field."""
        return cls._said(name).name or "--" + name.replace("_", "-")

    @classmethod
    def kept_out(cls, name: str) -> str:
        """What a field is that no file of settings may hold; empty for what may stand there."""
        return cls._said(name).kept_out

    @classmethod
    def _said(cls, name: str) -> Choice:
        return next(said for each, said in choices_of(cls) if each.name == name)


def _plain(value: Any, name: str) -> Any:
    """A value that JSON and TOML know; tables in memory are refused."""
    if isinstance(value, StrEnum | Path):
        return str(value)
    if isinstance(value, Mapping):
        return dict(value)
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Sequence) and all(isinstance(part, int | float | str) for part in value):
        return list(value)
    raise ParameterError(f"{name} is a table in memory, which cannot be saved: give a path instead.")


def refuse_unknown(function: str, keywords: Iterable[str], names: Collection[str]) -> None:
    """Refuse a misspelt keyword in the name of the function that was called, before anything happens."""
    for name in keywords:
        if name not in names:
            raise TypeError(f"{function}() got an unexpected keyword argument {name!r}")
