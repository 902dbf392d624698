"""Compiled code that does not count its arrays must not hand any out."""

from __future__ import annotations

import numpy as np
import pytest
from numba.core.errors import TypingError

from shoal.kernels.compiled import inner, lean
from shoal.samples import Int32s


@pytest.mark.parametrize("decorator", [inner, lean])
def test_a_function_that_returns_arrays_is_refused(decorator) -> None:
    def part(values: Int32s) -> Int32s:
        return values[1:]

    with pytest.raises(TypeError, match="part returns Int32s: compile it with kernel or making"):
        decorator(part)


def test_a_function_that_makes_arrays_is_refused() -> None:
    with pytest.raises(TypingError):
        makes_an_array(3)


@lean
def makes_an_array(n: int) -> int:
    return len(np.empty(n))
