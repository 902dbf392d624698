"""Read events with options as plain keywords."""

from __future__ import annotations

from typing import Any

from shoal.core.options import ReadingOptions
from shoal.core.promise import Grid
from shoal.reading import Events, read_events


def read_with(source: object, *, grid: Grid | None = None, **keywords: Any) -> Events:
    """read_events() with ReadingOptions made from those keywords that are its options."""
    options = ReadingOptions.from_keywords(keywords)
    others = {name: value for name, value in keywords.items() if name not in ReadingOptions.names()}
    return read_events(source, grid=grid or Grid(), options=options, **others)
