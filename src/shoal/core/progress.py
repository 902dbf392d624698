"""Progress of long work, stage by stage; the command shows it, the library is silent unless asked."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from shoal.core.checks import told
from shoal.errors import ParameterError


class Progress(Protocol):
    """A listener to stages of work and their steps: what ``progress`` may be, besides True.

    Examples
    --------
    >>> import shoal
    >>> class Stages(list):
    ...     def stage(self, name, steps=None):
    ...         self.append(name)
    ...     def advance(self):
    ...         pass
    >>> stages = Stages()
    >>> published = shoal.anonymize(shoal.make_city(50), k=2, whole=True, progress=stages)
    >>> stages[0], "hiding" in stages
    ('reading', True)
    """

    def stage(self, name: str, steps: int | None = None) -> None:
        """A stage begins; ``steps`` says how many there will be, if that is known."""

    def advance(self) -> None:
        """One step of the stage is done."""


class SilentProgress:
    """Nobody listens."""

    def stage(self, name: str, steps: int | None = None) -> None:
        """Say nothing."""

    def advance(self) -> None:
        """Say nothing."""


def _listens(progress: Progress | bool) -> bool:
    methods = [callable(getattr(progress, name, None)) for name in ("stage", "advance")]
    return all(methods) and not isinstance(progress, type)


@contextmanager
def listening(progress: Progress | bool | None) -> Iterator[Progress]:
    """Whom to tell of progress: a bar for True, nobody for False and None, else the listener that is given."""
    if progress is True:
        from shoal.core.progress_bars import open_bar

        with open_bar() as bar:
            yield bar
    elif progress is None or progress is False:
        yield SilentProgress()
    elif _listens(progress):
        yield progress
    else:
        raise ParameterError(
            f"progress must be True, False or an object with stage() and advance(), got {told(progress)}."
        )
