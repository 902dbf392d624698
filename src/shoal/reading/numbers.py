"""Columns of numbers, typed or written as text."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from shoal.core.arrays import Bools
from shoal.errors import InputError
from shoal.reading.texts import as_bytes, is_text

Floats = npt.NDArray[np.float64]

INTEGER = r"^-?\d{1,18}$"
FINITE = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$"
_NUMBER = FINITE + r"|^[+-]?(?i:nan|inf|infinity)$"


class Numbers(NamedTuple):
    """Values (NaN where there is none), and whether each is missing, or there but not a number."""

    value: Floats
    missing: Bools
    unparsable: Bools


def read_numbers(column: Any, role: str) -> Numbers:
    """Numbers of one batch."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        return read_numbers(column.dictionary_decode(), role)
    if is_text(kind):
        return _from_text(as_bytes(column))
    if not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)) and not (
        pa.types.is_null(kind)
    ):
        raise InputError(f"The {role} column holds values of type {kind}: expected numbers.")
    missing = column.is_null().to_numpy(zero_copy_only=False)
    value = column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    return Numbers(value, missing, np.zeros(len(column), bool))


def finite_numbers(text: Any) -> Floats:
    """The numbers written in a large_binary array; NaN for anything else."""
    return _cast_where(text, pc.match_substring_regex(text, FINITE))


def _from_text(text: Any) -> Numbers:
    text = pc.if_else(pc.equal(pc.binary_length(text), 0), pa.scalar(None, pa.large_binary()), text)
    missing = text.is_null().to_numpy(zero_copy_only=False)
    try:
        value = text.cast(pa.large_string()).cast(pa.float64()).to_numpy(zero_copy_only=False)
        return Numbers(value, missing, np.zeros(len(text), bool))
    except pa.ArrowInvalid:  # at least one is no number: find out which
        number = pc.fill_null(pc.match_substring_regex(text, _NUMBER), False)
        unparsable = ~number.to_numpy(zero_copy_only=False) & ~missing
        return Numbers(_cast_where(text, number), missing, unparsable)


def _cast_where(text: Any, wanted: Any) -> Floats:
    chosen = pc.if_else(wanted, text, pa.scalar(None, pa.large_binary()))
    values: Floats = chosen.cast(pa.large_string()).cast(pa.float64()).to_numpy(zero_copy_only=False)
    return values
