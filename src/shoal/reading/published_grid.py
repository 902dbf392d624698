"""Grid and plane of a published table: as given by the caller, as noted in the file, or in the manifest beside it."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from shoal.core.projection import same_plane
from shoal.core.promise import Grid
from shoal.core.schema import MANIFEST_FORMAT, MANIFEST_SUFFIX, NOTES
from shoal.errors import InputError

_MANIFEST = "manifest"


class Coordinates(NamedTuple):
    """What the edges of boxes are counted in.

    ``manifest`` is what stood beside the table, ``notes`` what its metadata or else that manifest say, if anything.
    """

    grid: Grid
    crs: str | None
    manifest: dict[str, Any] | None
    notes: dict[str, Any] | None


class _Account(NamedTuple):
    """What one place says about a table."""

    place: str
    content: dict[str, Any]
    grid: Grid
    crs: str | None


def find_coordinates(
    source: object, title: str, metadata: Mapping[bytes, bytes], grid: Grid | None, crs: str | None
) -> Coordinates:
    """Grid and CRS: those given, else those of the metadata, else those of the manifest; all must agree.

    An account that cannot be read is an error only where nothing else names the grid.
    """
    noted, faults = {}, []
    for kind, place, raw in _accounts(source, title, metadata):
        try:
            noted[kind] = _read(raw, place)
        except InputError as fault:
            faults.append(fault)
    accounts = list(noted.values())
    if grid is None and not accounts:
        raise faults[0] if faults else _no_grid(title)
    planes = (plane for plane in (crs, *(account.crs for account in accounts)) if plane is not None)
    found = Coordinates(
        grid=accounts[0].grid if grid is None else grid,
        crs=next(planes, None),
        manifest=noted[_MANIFEST].content if _MANIFEST in noted else None,
        notes=accounts[0].content if accounts else None,
    )
    for account in accounts:
        _check_agreement(account, found)
    return found


def check_coordinates(crs: str | None, *, geographic: bool) -> None:
    """Refuse events that cannot be compared with a published table: degrees without a plane, or the reverse."""
    if geographic and crs is None:
        raise InputError(
            "The events are in degrees, but the published table names no coordinate system for its metres:"
            " give --crs, or events in x and y."
        )
    if not geographic and crs is not None:
        raise InputError(
            "The events are in metres, but the published table was made from degrees (it names a CRS):"
            " give events in lat and lon."
        )


def _accounts(
    source: object, title: str, metadata: Mapping[bytes, bytes]
) -> Iterator[tuple[str, str, bytes | dict[str, Any] | None]]:
    """What is noted about a table: of which kind, where, and what (None if it cannot be read)."""
    if NOTES in metadata:
        yield "metadata", f"The metadata of {title[0].lower() + title[1:]}", metadata[NOTES]
    if isinstance(source, str | os.PathLike):
        path = Path(source).with_name(Path(source).name + MANIFEST_SUFFIX)
        try:
            raw = path.read_bytes()
        except FileNotFoundError:
            return
        except OSError:
            raw = None
        yield _MANIFEST, f"The manifest {path.name!r}", raw
        return
    carried = getattr(source, "manifest", None)  # a release in memory has its manifest with it
    if isinstance(carried, dict):
        yield _MANIFEST, "The manifest of the release", carried


def manifest_beside(source: object) -> bytes | dict[str, Any] | None:
    """The manifest of a table as it stands; empty where it cannot be read, None where there is none."""
    found = [b"" if raw is None else raw for kind, _, raw in _accounts(source, "", {}) if kind == _MANIFEST]
    return found[0] if found else None


def _read(raw: bytes | dict[str, Any] | None, place: str) -> _Account:
    """Grid and CRS that notes or a manifest name."""
    damaged = InputError(
        f"{place} cannot be used: expected JSON with a grid of cell_m, step_s and crs;"
        " mend it, or give --cell and --step."
    )
    try:
        content = raw if isinstance(raw, dict) else json.loads(raw or b"")
        version = content.get("format", MANIFEST_FORMAT)
        noted = content["grid"]
        grid, crs = Grid(float(noted["cell_m"]), int(noted["step_s"])), noted.get("crs")
        exact = (grid.cell_m, grid.step_s) == (noted["cell_m"], noted["step_s"])
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError):
        raise damaged from None
    if version != MANIFEST_FORMAT:
        raise InputError(
            f"{place} is of another format than this version of shoal reads ({MANIFEST_FORMAT}): update shoal,"
            " or give --cell and --step."
        )
    if not (exact and (crs is None or isinstance(crs, str))):
        raise damaged
    return _Account(place, content, grid, crs)


def _no_grid(title: str) -> InputError:
    return InputError(
        f"{title} does not tell its grid, neither in metadata nor in a manifest beside it:"
        " give its cell and step with --cell and --step."
    )


def _check_agreement(account: _Account, found: Coordinates) -> None:
    """Refuse an account that contradicts what was given or is noted elsewhere: nobody knows which is right."""
    if account.grid != found.grid:
        raise InputError(
            f"{account.place} tells of {_described(account.grid)}, where {_described(found.grid)} were given or"
            " noted before: correct one of them."
        )
    if account.crs is not None and found.crs is not None and not same_plane(account.crs, found.crs):
        raise InputError(
            f"{account.place} names another coordinate system than was given or noted before:"
            " correct one of them."
        )


def _described(grid: Grid) -> str:
    return f"cells of {grid.cell_m:.12g} m and steps of {grid.step_s} s"
