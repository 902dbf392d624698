"""Which kinds of geometry tell where somebody was: points, and nothing else."""

from __future__ import annotations

from collections.abc import Iterable

from shoal.errors import InputError

KINDS = (  # in the order in which well-known binary numbers them, from 1 on
    "Point", "LineString", "Polygon", "MultiPoint", "MultiLineString", "MultiPolygon", "GeometryCollection",
)  # fmt: skip
_BY_NAME = {kind.lower(): kind for kind in KINDS}


def check_points(kinds: Iterable[str], title: str) -> None:
    """Refuse geometries that are no points, given the names of their kinds; unknown names may be data."""
    others = sorted({_BY_NAME.get(str(kind).lower(), "something else") for kind in kinds} - {"Point"})
    if others:
        raise InputError(
            f"The geometry of {title[0].lower() + title[1:]} holds {' and '.join(others)}: expected points, one for"
            " each row; give the positions that it was made of."
        )
