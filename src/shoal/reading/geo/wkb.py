"""Points as well-known binary: what GeoParquet files hold."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.core.projection import Floats
from shoal.errors import InputError
from shoal.reading.geo.kinds import KINDS, check_points

_DIMENSIONS = 4000  # thousands say whether there is a Z, an M, or both
_BIG, _LITTLE = (
    np.dtype([("order", "u1"), ("kind", f"{end}u4"), ("x", f"{end}f8"), ("y", f"{end}f8")]) for end in "><"
)


def points_in_binary(column: Any, title: str) -> tuple[Floats, Floats]:
    """x and y of points; NaN where there is none."""
    x, y = np.full(len(column), np.nan), np.full(len(column), np.nan)
    there = np.flatnonzero(column.is_valid().to_numpy(zero_copy_only=False))
    values = column.drop_null().cast(pa.large_binary())
    heads = pc.binary_slice(values, 0, _LITTLE.itemsize).cast(pa.large_binary())
    raw = np.frombuffer(b"".join(heads.to_pylist()), np.uint8)
    if len(raw) != len(values) * _LITTLE.itemsize:
        raise _damaged(title)
    for mark, form in enumerate((_BIG, _LITTLE)):
        points = raw.view(form)
        rows = points["order"] == mark
        kinds = np.unique(points["kind"][rows])
        if not all(kind < _DIMENSIONS and 1 <= kind % 1000 <= len(KINDS) for kind in kinds.tolist()):
            raise _damaged(title)
        check_points((KINDS[kind % 1000 - 1] for kind in kinds.tolist()), title)
        x[there[rows]], y[there[rows]] = points["x"][rows], points["y"][rows]
    if not np.isin(raw[:: _LITTLE.itemsize], (0, 1)).all():
        raise _damaged(title)
    return x, y


def _damaged(title: str) -> InputError:
    return InputError(
        f"The geometry of {title[0].lower() + title[1:]} cannot be read: expected points as well-known binary (WKB);"
        " mend it or make it again."
    )
