"""Where compiled code is kept between runs: beside the sources, in the home folder, or nowhere that lasts."""

from __future__ import annotations

import atexit
import contextlib
import os
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

_ENVIRONMENT = "NUMBA_CACHE_DIR"


def choose_place(places: Sequence[Path]) -> tuple[Path, bool]:
    """The first place that takes files, and True; failing that, a private folder that goes with the process."""
    for place in places:
        if _takes_files(place):
            return place, True
    place = Path(tempfile.mkdtemp(prefix="shoal-cache-"))
    atexit.register(shutil.rmtree, place, ignore_errors=True)
    return place, False


def _takes_files(place: Path) -> bool:
    """Make a folder and, for a moment, a file in it: permissions alone do not tell all."""
    try:
        place.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=place):
            return True
    except OSError:
        return False


def _places() -> list[Path]:
    given = os.environ.get(_ENVIRONMENT)
    if given:
        return [Path(given)]
    places = [Path(__file__).parent / "__pycache__"]
    caches = os.environ.get("XDG_CACHE_HOME")
    with contextlib.suppress(RuntimeError):  # there may be no home folder
        places.append((Path(caches) if caches else Path("~/.cache").expanduser()) / "shoal")
    return places


CACHE_PLACE, CACHE_IS_KEPT = choose_place(_places())


def with_same_place(environment: dict[str, str]) -> dict[str, str]:
    """An environment in which another process keeps compiled code where this one does."""
    return {**environment, _ENVIRONMENT: str(CACHE_PLACE)}
