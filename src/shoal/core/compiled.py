"""Compiler flags: the decorators of all compiled functions, and the folder in which machine code is cached."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar, cast

import numba

Function = TypeVar("Function", bound=Callable[..., object])

_PACKAGE = Path(__file__).parents[1]
_IMPORTS_COMPILER = re.compile(rb"^\s*(from|import)\b[^\n]*\b(compiled|numba)\b", re.MULTILINE)


def _writable(folder: Path) -> bool:
    """Whether a file could be made in this folder, or in the nearest one above it that exists."""
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    return os.access(folder, os.W_OK)


def compiled_sources(package: Path) -> list[Path]:
    """Every file with compiled code, wherever it lies: those that import these flags or numba in any way."""
    return sorted(path for path in package.rglob("*.py") if _IMPORTS_COMPILER.search(path.read_bytes()))


def source_digest(package: Path) -> str:
    """A digest of all compiled code: numba looks only at a function's own file, not at those it inlines."""
    digest = hashlib.blake2b(digest_size=8)
    for path in compiled_sources(package):
        content = path.read_bytes()
        digest.update(f"{path.relative_to(package)}:{len(content)}:".encode() + content)
    return digest.hexdigest()


def _choose_cache_folder() -> None:
    """A folder for this very code, beside it or in the home folder; without a place to write, a private one."""
    given = os.environ.get("NUMBA_CACHE_DIR")
    places = (
        [Path(given)]
        if given
        else [Path(__file__).parent / "__pycache__", Path("~/.cache/shoal").expanduser()]
    )
    place = next((place for place in places if _writable(place)), None)
    if place is None:
        numba.config.CACHE_DIR = tempfile.mkdtemp(prefix="shoal-cache-")
        return
    folder = place / f"shoal-{source_digest(_PACKAGE)}"
    if not folder.exists():
        for outdated in place.glob("shoal-*"):
            shutil.rmtree(outdated, ignore_errors=True)
    numba.config.CACHE_DIR = str(folder)


_choose_cache_folder()


def jit(function: Function) -> Function:
    """Compile to machine code that runs without Python's lock and is cached between runs."""
    return cast(Function, numba.njit(cache=True, nogil=True)(function))


def jit_inline_allocating(function: Function) -> Function:
    """Compile a building block of kernels that makes arrays."""
    return cast(Function, numba.njit(cache=True, nogil=True, forceinline=True)(function))


def jit_no_arrays(function: Function) -> Function:
    """Compile a kernel, or the part of one that takes the time, which makes no arrays.

    It needs not count who still uses which array. Threads spend a third of their time on such counts, and wait for each
    other at them. (The compiler refuses such a function if it makes arrays.)
    """
    return cast(Function, numba.njit(cache=True, nogil=True, _nrt=False)(_without_arrays(function)))


def jit_inline(function: Function) -> Function:
    """Compile a building block that kernels call in their innermost loop; it makes no arrays, either."""
    compiled = numba.njit(cache=True, nogil=True, forceinline=True, _nrt=False)(_without_arrays(function))
    return cast(Function, compiled)


def _without_arrays(function: Function) -> Function:
    """Refuse a function that returns arrays: whoever calls it would count them, and free them too early."""
    returned = str(function.__annotations__.get("return"))
    if not set(re.findall(r"[\w.]+", returned)) <= {"int", "float", "bool", "None", "tuple", "np.uint64"}:
        raise TypeError(
            f"{function.__name__} returns {returned}: compile it with jit or jit_inline_allocating."
        )
    return function
