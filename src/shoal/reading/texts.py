"""Identifiers as text: the same from CSV, Parquet and tables, whatever type they are stored in."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.core.arrays import Int32s
from shoal.errors import InputError
from shoal.reading.utf8 import decode

_WHOLE_FLOAT = 2.0**63


class Encoded(NamedTuple):
    """A column of identifiers: ``codes`` index ``names`` (not always distinct); -1 where missing."""

    codes: Int32s
    names: Any


def encode(column: Any, role: str) -> Encoded:
    """Dictionary-encode a column of identifiers; only distinct values are turned into text."""
    if pa.types.is_nested(column.type):
        raise InputError(
            f"The {role} column holds values of type {column.type}: expected text or whole numbers."
        )
    if pa.types.is_dictionary(column.type) and len(column.dictionary) > len(column):
        column = column.dictionary_decode()  # few rows of a large dictionary: keep only what occurs
    if not pa.types.is_dictionary(column.type):
        column = _plain_storage(column).dictionary_encode()
    names = as_text(column.dictionary, role)
    codes = pc.fill_null(column.indices.cast(pa.int32()), -1).to_numpy(zero_copy_only=False)
    missing = pc.fill_null(pc.equal(pc.binary_length(names), 0), True).to_numpy(zero_copy_only=False)
    if missing.any():
        codes = np.where(missing[codes] & (codes >= 0), np.int32(-1), codes)
    return Encoded(codes, names)


def as_text(values: Any, role: str) -> Any:
    """A large_string array: whole numbers as plain digits, text without surrounding space; nulls stay."""
    kind = values.type
    if pa.types.is_dictionary(kind):
        return as_text(values.dictionary_decode(), role)
    if pa.types.is_fixed_size_binary(kind) or isinstance(kind, pa.BaseExtensionType):
        return as_text(_plain_storage(values), role)
    if pa.types.is_integer(kind):
        return values.cast(pa.large_string())
    if pa.types.is_floating(kind):
        return _floats_as_text(values.cast(pa.float64()))
    others = pa.types.is_decimal(kind) or pa.types.is_null(kind) or pa.types.is_boolean(kind)
    if not (is_text(kind) or others):
        raise InputError(f"The {role} column holds values of type {kind}: expected text or whole numbers.")
    return _tidy(_decoded(values) if _is_bytes(kind) else values.cast(pa.large_string()))


def texts_of(values: Iterable[object]) -> set[str]:
    """Identifiers given one by one, in the same form as those of a column."""
    texts = pa.array([one_as_text(value) for value in values], pa.large_string())
    return {text for text in _tidy(texts).to_pylist() if text}


def one_as_text(value: object) -> str | None:
    """One identifier as text: whole numbers as plain digits."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    return str(value)


def _tidy(text: Any) -> Any:
    trimmed = pc.utf8_trim_whitespace(text)
    if pc.any(pc.ends_with(trimmed, ".0")).as_py():  # a whole number that some tool wrote as a float
        return pc.replace_substring_regex(trimmed, pattern=r"^([+-]?\d+)\.0$", replacement=r"\1")
    return trimmed


def _floats_as_text(values: Any) -> Any:
    numbers = values.to_numpy(zero_copy_only=False)
    with np.errstate(invalid="ignore"):
        whole = (np.floor(numbers) == numbers) & (np.abs(numbers) < _WHOLE_FLOAT)
    digits = pa.array(np.where(whole, numbers, 0).astype(np.int64)).cast(pa.large_string())
    text = pc.if_else(pa.array(whole), digits, values.cast(pa.large_string()))
    return pc.if_else(pa.array(np.isnan(numbers)), pa.scalar(None, pa.large_string()), text)


def _decoded(values: Any) -> Any:
    """Bytes as UTF-8, or where they are not, as Latin-1."""
    values = values.cast(pa.large_binary())
    try:
        return values.cast(pa.large_string())
    except pa.ArrowInvalid:
        return pa.array(
            [None if value is None else decode(value) for value in values.to_pylist()], pa.large_string()
        )


def _plain_storage(values: Any) -> Any:
    """Extension types (such as UUIDs) by what they are stored as; fixed-size bytes in hexadecimal."""
    if isinstance(values.type, pa.BaseExtensionType):
        values = values.storage
    if pa.types.is_fixed_size_binary(values.type):
        return pa.array([None if raw is None else raw.hex() for raw in values.to_pylist()], pa.large_string())
    return values


def _is_bytes(kind: Any) -> bool:
    return bool(pa.types.is_binary(kind) or pa.types.is_large_binary(kind) or pa.types.is_binary_view(kind))


def is_text(kind: Any) -> bool:
    """Whether a type of Arrow holds text, or bytes that may be text."""
    return _is_bytes(kind) or bool(
        pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
    )


def as_bytes(column: Any) -> Any:
    """A column of text as a large_binary array without surrounding ASCII space."""
    text = pc.cast(
        column.cast(pa.large_binary()),
        options=pc.CastOptions(target_type=pa.large_string(), allow_invalid_utf8=True),
    )
    return pc.ascii_trim_whitespace(text).cast(pa.large_binary())
