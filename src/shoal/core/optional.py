"""Libraries that shoal does not need: loaded when somebody asks for what they make, missed in one clear line."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pyarrow as pa

from shoal.errors import InputError


def need(library: str, method: str, *, instead: str = "to_arrow()") -> Any:
    """A library that a method needs; where it is not installed, an error that says what to take ``instead``."""
    try:
        return import_module(library)
    except ModuleNotFoundError:
        raise InputError(
            f"{method} needs {library}, which is not installed: pip install {library}, or take {instead}."
        ) from None


def as_pandas(table: pa.Table) -> Any:
    """A table as a pandas data frame."""
    need("pandas", "to_pandas()")
    return table.to_pandas()
