"""What may stand in a manifest, in a published file's notes and in what other programs note beside them.

A file is handed on with all of it, so that a member that nobody knows can hold anything, a whole key for instance. Of
members that are known, the values are looked at as well: sentences are those that some version of shoal writes.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Collection, Mapping
from typing import Any

from shoal.core.options import FORMAT_NAMES, Reuse, SelectorName
from shoal.core.schema import GEOMETRY, MANIFEST_FORMAT
from shoal.core.zones import Zone
from shoal.errors import ShoalError
from shoal.reading.summary import BY_CHOICE, REASONS

# What is expected of a value: members by name, the values of a list (which may be shorter), or a test.
Expected = Mapping[str, Any] | list[Any] | Callable[[Any], bool]
_MOST_WHOLE = 2**53  # so many numbers are told apart by all programs that read JSON


def count_unknown(value: object, expected: Expected) -> int:
    """How many entries of a value that came from JSON are none of those expected; members may be missing."""
    if isinstance(expected, Mapping):
        if not isinstance(value, Mapping):
            return 1
        return sum(
            count_unknown(part, expected[name]) if name in expected else 1 for name, part in value.items()
        )
    if isinstance(expected, list):
        if not isinstance(value, list):
            return 1
        told = sum(count_unknown(part, each) for part, each in zip(value, expected, strict=False))
        return told + max(0, len(value) - len(expected))
    return 0 if expected(value) else 1


class RepeatedMembers:
    """Counts members of JSON objects under a name that stands there already, of which programs read only the last."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        """An object of its members."""
        members = dict(pairs)
        self.count += len(pairs) - len(members)
        return members


def count_unknown_in_text(raw: bytes | None, expected: Expected) -> int:
    """How many entries of a JSON text are none of those expected, or are repeated; 1 where it is no JSON."""
    repeated = RepeatedMembers()
    try:
        content = json.loads(raw or b"", object_pairs_hook=repeated)
    except (ValueError, RecursionError):
        return 1
    return count_unknown(content, expected) + repeated.count


def _is(*allowed: object) -> Callable[[Any], bool]:
    return lambda value: any(type(value) is type(one) and value == one for one in allowed)


def _reads(pattern: str) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, str) and re.fullmatch(pattern, value) is not None


def _either(*tests: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: any(test(value) for test in tests)


def _is_flag(value: Any) -> bool:
    return isinstance(value, bool)


def _is_whole(value: Any) -> bool:
    return type(value) is int and abs(value) < _MOST_WHOLE


def _is_number(value: Any) -> bool:
    return _is_whole(value) or (isinstance(value, float) and math.isfinite(value))


def _is_rounded(value: Any) -> bool:
    """Whether a number has three decimals at most."""
    return _is_number(value) and round(value, 3) == value


def _is_rough(value: Any) -> bool:
    """Whether a count has two digits before its zeros at most."""
    return _is_whole(value) and value >= 0 and value % 10 ** max(0, len(str(value)) - 2) == 0


def _is_zone(value: Any) -> bool:
    try:
        return isinstance(value, str) and bool(Zone(value).name)
    except ShoalError:
        return False


_none = _is(None)
_count = _either(_is_rough, _reads(r"fewer than \d{1,9}"))
_share = _either(_is_rounded, _reads(r"some, of fewer than \d{1,9} users"))
_version = _reads(r"\d{1,4}(\.\d{1,4}){0,3}[\w.+-]{0,16}")
_plane = _reads(
    r"\+proj=laea \+lat_0=-?\d{1,2} \+lon_0=-?\d{1,3} \+datum=WGS84 \+units=m \+no_defs|[A-Za-z]{2,8}:\d{1,6}"
)
_covers = _reads(
    r"given|not given: samples were suppressed on which others rely \(selector spectral without repair\)"
)
_SPREAD = dict.fromkeys(("mean", "q25", "median", "q75"), _is_rounded)

NOTES_SCHEMA: Mapping[str, Any] = {
    "format": _is(MANIFEST_FORMAT),
    "promise": {
        "k": _is_whole,
        "whole": _is_flag,
        **dict.fromkeys(("tau_s", "epsilon_s"), _either(_none, _is_whole)),
    },
    "grid": {"cell_m": _is_number, "step_s": _is_whole, "crs": _either(_none, _plane)},
    "periods": {"rename_every_s": _is_whole, "timezone": _is_zone},
}
MANIFEST_SCHEMA: Expected = {
    **NOTES_SCHEMA,
    "reading": {
        "format": _is(*FORMAT_NAMES),
        "timezone": _is_zone,
        "resample_s": _either(_none, _is_whole),
    },
    "parameters": {
        "selector": _is(*map(str, SelectorName)),
        "repair": _is_flag,
        "reuse": _is(*map(str, Reuse)),
        "space_weight": _is_number,
        "shard_size": _is_whole,
        "harden": _either(_none, _is_whole),
        **dict.fromkeys(("min_spread", "max_space"), _either(_none, _reads(r"\d{1,8}(\.\d{1,3})?m"))),
        "suppress_at_most": _is_number,
        "max_time": _either(_none, _reads(r"[\d. ]{1,12}[a-z]{1,7}([\d. ]{1,12}[a-z]{1,7}){0,3} ?")),
    },
    "counts": {
        "records": _is_whole,
        "boxes": _is_whole,
        "rows_dropped": dict.fromkeys((*REASONS, BY_CHOICE), _count),
    },
    "suppression": {
        "share_of_samples": _share,
        "users_without_record": _count,
        "by_reason": dict.fromkeys(
            ("promise", "budget", "limits"),
            _either(_share, _is("not told: few people stand behind a reason")),
        ),
    },
    "granularity": {
        **dict.fromkeys(("longer_side_km", "space_km", "time_minutes"), _SPREAD),
        "cost_per_box": _is_rounded,
    },
    "guarantees": {
        **dict.fromkeys(("coverage", "matching"), _covers),
        "one_window": _reads(
            r"given|not given: members may serve again after a while \(reuse spaced\)"
            r"|weakened: (k kept; epsilon not: )?(up to \d[\d,]{0,20}|fewer than \d{1,9}) of"
            r" ((about )?\d[\d,]{0,20}|fewer than \d{1,9})"
            r" (members had to serve again|times a user had to hide with somebody again)"
        ),
        "knowing_the_method": _reads(
            r"not given: whoever knows the method, and links windows, may be left with one record"
            r"(; made rarer \(harden \d\))?"
        ),
        "across_borders": _is(
            "given to people of whom a published sample is known", "not given: periods are hidden one by one"
        ),
        "relinking": _reads(
            r"not given: whoever watched somebody across a border, or knows habits, may tie parts of one person"
            r" together"
        ),
        "intervals_with_fewer_than_k_records": _share,
    },
    **dict.fromkeys(("relaxations", "members"), _count),
    "verified": _is_flag,
    "versions": dict.fromkeys(
        ("shoal", "python", "numba", "numpy", "pyproj", "scikit-learn", "scipy"), _version
    ),
}
GEO_SCHEMA: Expected = {
    "version": _version,
    "primary_column": _is(GEOMETRY),
    "columns": {
        GEOMETRY: {
            "encoding": _is("WKB"),
            "geometry_types": [_is("Polygon")],
            "orientation": _is("counterclockwise"),
            "edges": _is("planar"),
            "crs": _none,
        }
    },
}


_PANDAS_TYPE = (
    r"unicode|string|str|object|bytes|bool|boolean|empty|mixed|categorical|category|date|decimal|u?int(8|16|32|64)"
    r"|[UI]nt(8|16|32|64)|float(16|32|64)|Float(32|64)|datetime(tz)?"
    r"|datetime64\[(s|ms|us|ns)(, [A-Za-z0-9_/+:-]{1,40})?\]"
)


def pandas_schema(names: Collection[str]) -> Expected:
    """What pandas notes about a table of columns with these names."""
    named, kind = _either(_none, _is(*names)), _reads(_PANDAS_TYPE)
    column = {
        "name": named,
        "field_name": _either(named, _is("None")),
        "pandas_type": kind,
        "numpy_type": kind,
        "metadata": _either(_none, _describes),
    }
    rows = {"kind": _is("range"), "name": _none, **dict.fromkeys(("start", "stop", "step"), _is_whole)}
    return {
        "index_columns": [_either(_is(*names), lambda value: not count_unknown(value, rows))],
        "column_indexes": [column],
        "columns": [column] * (len(names) + 1),
        "attributes": lambda value: value == {},
        "creator": {"library": _is("pyarrow", "fastparquet"), "version": _version},
        "pandas_version": _either(_none, _version),
    }


def _describes(value: Any) -> bool:
    """Whether this is what pandas notes about a column of some type."""
    return not count_unknown(
        value,
        {
            "timezone": _is_zone,
            "num_categories": _is_whole,
            "ordered": _is_flag,
            "encoding": _is("UTF-8"),
            **dict.fromkeys(("precision", "scale"), _is_whole),
        },
    )
