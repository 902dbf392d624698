"""Compiler flags: the decorators of all compiled functions, and the folder for the machine code of this version."""

from __future__ import annotations

import hashlib
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar, cast

import numba
from numba.core.registry import CPUDispatcher

from shoal.core.code_cache import CACHE_PLACE

Function = TypeVar("Function", bound=Callable[..., object])

_FLAGS = {"cache": True, "nogil": True, "no_cfunc_wrapper": True}  # nobody calls kernels from C

_PACKAGE = Path(__file__).parents[1]
_CACHE_FOLDER = re.compile(r"shoal-[0-9a-f]{16}")
_IMPORTS_COMPILER = re.compile(rb"^\s*(from|import)\b[^\n]*\b(compiled|numba)\b", re.MULTILINE)


def compiled_sources(package: Path) -> list[Path]:
    """Every file with compiled code, wherever it lies: those that import these flags or numba in any way, but one."""
    driver = package / "core" / "compiling.py"  # of the compiler: it holds no compiled code itself
    return sorted(
        path
        for path in package.rglob("*.py")
        if path != driver and _IMPORTS_COMPILER.search(path.read_bytes())
    )


def source_digest(package: Path) -> str:
    """A digest of all compiled code: numba looks only at a function's own file, not at those it inlines."""
    digest = hashlib.blake2b(digest_size=8)
    for path in compiled_sources(package):
        content = path.read_bytes()
        digest.update(f"{path.relative_to(package)}:{len(content)}:".encode() + content)
    return digest.hexdigest()


def _choose_cache_folder() -> None:
    """A folder for this very code, in place of those for earlier code."""
    folder = CACHE_PLACE / f"shoal-{source_digest(_PACKAGE)}"
    if not folder.exists():
        for outdated in CACHE_PLACE.iterdir():
            if _CACHE_FOLDER.fullmatch(outdated.name):
                shutil.rmtree(outdated, ignore_errors=True)
    numba.config.CACHE_DIR = str(folder)


_choose_cache_folder()


def jit(function: Function) -> Function:
    """Compile to machine code that runs without Python's lock and is cached between runs."""
    return cast(Function, numba.njit(**_FLAGS)(function))


def jit_inline_allocating(function: Function) -> Function:
    """Compile a building block of kernels that makes arrays."""
    return _building_block(function)


def jit_no_arrays(function: Function) -> Function:
    """Compile a kernel, or the part of one that takes the time, which makes no arrays.

    It needs not count who still uses which array. Threads spend a third of their time on such counts, and wait for each
    other at them. (The compiler refuses such a function if it makes arrays.)
    """
    return cast(Function, numba.njit(**_FLAGS, _nrt=False)(_without_arrays(function)))


def jit_inline(function: Function) -> Function:
    """Compile a building block that kernels call in their innermost loop; it makes no arrays, either."""
    return _building_block(_without_arrays(function), _nrt=False)


class BuildingBlock(CPUDispatcher):  # type: ignore[misc]
    """A compiled function for kernels alone, without a way in from Python, which would often take longer to compile.

    Called from Python (by a test), it is interpreted.
    """

    def __call__(self, *given: object) -> object:
        return self.py_func(*given)


def _building_block(function: Function, **flags: bool) -> Function:
    compiled = numba.njit(**_FLAGS, forceinline=True, no_cpython_wrapper=True, **flags)(function)
    compiled.__class__ = BuildingBlock
    return cast(Function, compiled)


def _without_arrays(function: Function) -> Function:
    """Refuse a function that returns arrays: whoever calls it would count them, and free them too early."""
    returned = str(function.__annotations__.get("return"))
    if not set(re.findall(r"[\w.]+", returned)) <= {"int", "float", "bool", "None", "tuple", "np.uint64"}:
        raise TypeError(
            f"{function.__name__} returns {returned}: compile it with jit or jit_inline_allocating."
        )
    return function
