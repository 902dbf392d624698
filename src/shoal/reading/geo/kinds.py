"""Which kinds of geometry tell where somebody was: points, and nothing else."""

from __future__ import annotations

from collections.abc import Iterable

from shoal.errors import InputError


def check_points(kinds: Iterable[str], title: str) -> None:
    """Refuse geometries that are no points, given the names of their kinds."""
    others = sorted({str(kind) for kind in kinds} - {"Point"})
    if others:
        raise InputError(
            f"The geometry of {title[0].lower() + title[1:]} holds {' and '.join(others)}: expected points, one for"
            " each row; give the positions that it was made of."
        )
