"""The one place that owns the compiler's flags."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar, cast

import numba

Function = TypeVar("Function", bound=Callable[..., object])


def _writable(folder: Path) -> bool:
    """Whether a file could be made in this folder, or in the nearest one above it that exists."""
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    return os.access(folder, os.W_OK)


def _ensure_cache_folder() -> None:
    """Numba refuses to compile with a cache when it finds nowhere to write; give it a private folder then."""
    if os.environ.get("NUMBA_CACHE_DIR"):
        return
    places = (Path(__file__).parent / "__pycache__", Path("~/.cache/numba").expanduser())
    if not any(_writable(place) for place in places):
        numba.config.CACHE_DIR = tempfile.mkdtemp(prefix="shoal-cache-")


_ensure_cache_folder()


def kernel(function: Function) -> Function:
    """Compile to machine code that runs without Python's lock and is cached between runs."""
    return cast(Function, numba.njit(cache=True, nogil=True)(function))


def inner(function: Function) -> Function:
    """Compile a building block that kernels call in their innermost loop."""
    return cast(Function, numba.njit(cache=True, nogil=True, forceinline=True)(function))
