"""What stays on the machine it was made on: pickles are sent around, and kept in caches that nobody thinks of."""

from __future__ import annotations

from typing import Any, NoReturn, Self


class NeverPickled:
    """Holds people's data, so that it cannot be pickled. It does not change, so that a copy of it is itself."""

    _instead = "read the events again where they are needed"

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        name = type(self).__name__
        raise TypeError(f"{name} holds raw data, which must not be pickled: {self._instead}.")

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self
