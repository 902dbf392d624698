"""Values of columns: bytes as UTF-8 text, text as numbers, identifiers as text."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.core.arrays import Bools, Floats, Int32s
from shoal.errors import InputError

_LATIN_1 = "shoal-latin-1"
INTEGER = r"^-?\d{1,18}$"
FINITE = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$"
_NUMBER = FINITE + r"|^[+-]?(?i:nan|inf|infinity)$"
_DECIMAL_COMMA = r"^[+-]?\d+,\d+([eE][+-]?\d+)?$"
_LIKE_THOUSANDS = r"^[+-]?[1-9]\d{0,2},\d{3}$"
_WHOLE_FLOAT = 2.0**63


def _as_latin_1(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return error.object[error.start : error.end].decode("latin-1"), error.end


codecs.register_error(_LATIN_1, _as_latin_1)


def decode(raw: bytes) -> str:
    """Text of bytes that are UTF-8, or where they are not, Latin-1."""
    return raw.decode("utf-8", _LATIN_1)


class Utf8Stream:
    """A stream of bytes that passes UTF-8 on as it is and turns other bytes into UTF-8.

    Arrow hands malformed rows over as text, so all of a file must decode, whatever columns are wanted. ``listener``
    gets every piece that is passed on.
    """

    def __init__(self, stream: Any, listener: Callable[[bytes], None] | None = None) -> None:
        self._stream = stream
        self._listener = listener
        self._decoder = codecs.getincrementaldecoder("utf-8")(_LATIN_1)
        self._ready = b""
        self.closed = False

    def read(self, size: int = -1) -> bytes:
        """As many bytes as asked for, or what is left."""
        while not 0 <= size <= len(self._ready):
            fresh = self._stream.read(size if size >= 0 else None)
            text = self._decoder.decode(fresh, final=not fresh).encode()
            if self._listener is not None and text:
                self._listener(text)
            self._ready += text
            if not fresh:
                break
        end = size if size >= 0 else len(self._ready)
        passed_on, self._ready = self._ready[:end], self._ready[end:]
        return passed_on

    def close(self) -> None:
        """Close the stream below."""
        self.closed = True
        self._stream.close()


class Numbers(NamedTuple):
    """Values (NaN where there is none), and whether each is missing, or there but not a number.

    ``commas``: which were read as written with a decimal comma, ``doubtful``: those of them in which it may separate
    thousands instead; None where there are none.
    """

    value: Floats
    missing: Bools
    unparsable: Bools
    commas: Bools | None = None
    doubtful: Bools | None = None


def read_numbers(column: Any, role: str, *, decimal_commas: bool = False) -> Numbers:
    """Numbers of one batch; ``decimal_commas``: whether 48,85 is one."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        return read_numbers(column.dictionary_decode(), role, decimal_commas=decimal_commas)
    if is_text(kind):
        return _from_text(as_bytes(column), decimal_commas=decimal_commas)
    if not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)) and not (
        pa.types.is_null(kind)
    ):
        raise InputError(f"The {role} column holds values of type {kind}: expected numbers.")
    missing = column.is_null().to_numpy(zero_copy_only=False)
    value = column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    return Numbers(value, missing, np.zeros(len(column), bool))


def finite_numbers(text: Any) -> Floats:
    """The numbers written in a large_binary array, commas that must be decimal ones included; NaN for anything else."""
    commas = pc.and_not(*(pc.match_substring_regex(text, form) for form in (_DECIMAL_COMMA, _LIKE_THOUSANDS)))
    return _cast_where(_with_points(text, commas), pc.or_(pc.match_substring_regex(text, FINITE), commas))


def _from_text(text: Any, *, decimal_commas: bool) -> Numbers:
    text = pc.if_else(pc.equal(pc.binary_length(text), 0), pa.scalar(None, pa.large_binary()), text)
    missing = text.is_null().to_numpy(zero_copy_only=False)
    try:
        value = text.cast(pa.large_string()).cast(pa.float64()).to_numpy(zero_copy_only=False)
        return Numbers(value, missing, np.zeros(len(text), bool))
    except pa.ArrowInvalid:  # at least one is no number: find out which
        number = _matches(text, _NUMBER)
        commas = _matches(text, _DECIMAL_COMMA) if decimal_commas else None
        if commas is None or not pc.any(commas).as_py():
            return Numbers(_cast_where(text, number), missing, _false(number) & ~missing)
        number, value = (
            pc.or_(number, commas),
            _cast_where(_with_points(text, commas), pc.or_(number, commas)),
        )
        doubtful = ~_false(_matches(text, _LIKE_THOUSANDS))
        return Numbers(value, missing, _false(number) & ~missing, ~_false(commas), doubtful)


def _matches(text: Any, form: str) -> Any:
    return pc.fill_null(pc.match_substring_regex(text, form), False)


def _false(flags: Any) -> Bools:
    values: Bools = ~flags.to_numpy(zero_copy_only=False)
    return values


def _with_points(text: Any, commas: Any) -> Any:
    """The same with points where there are decimal commas."""
    if not pc.any(commas).as_py():
        return text
    return pc.if_else(commas, pc.replace_substring(text, ",", "."), text)


def _cast_where(text: Any, wanted: Any) -> Floats:
    chosen = pc.if_else(wanted, text, pa.scalar(None, pa.large_binary()))
    values: Floats = chosen.cast(pa.large_string()).cast(pa.float64()).to_numpy(zero_copy_only=False)
    return values


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
