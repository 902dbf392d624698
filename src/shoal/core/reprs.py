"""Reprs of what holds people's data: they tell what it is and how much of it there is, never the data.

A notebook shows the repr of what a cell ends with, and notebooks are sent around. So a class that holds identifiers,
places or times of people, and that users can get hold of, has a repr by ``sizes_only`` or in a few words of its own.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sized
from typing import Any


def sizes_only(thing: Any) -> str:
    """``<Places: record 120, x_m 120, y_m 120>``: how many values each field of a named tuple or a dataclass holds."""
    names = getattr(thing, "_fields", None) or [each.name for each in dataclasses.fields(thing)]
    values = {name: getattr(thing, name) for name in names}
    sizes = [f"{name} {len(value):,}" for name, value in values.items() if _holds_several(value)]
    return f"<{type(thing).__name__}: {', '.join(sizes)}>" if sizes else f"<{type(thing).__name__}>"


def _holds_several(value: Any) -> bool:
    return isinstance(value, Sized) and not isinstance(value, str) and not hasattr(value, "_fields")
