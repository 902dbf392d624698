"""Where rows are: positions from degrees, metres or a table of sites (antennas), and the cells that they fall into."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from shoal.core.arrays import Bools, Floats, Int32s
from shoal.core.projection import Plane
from shoal.core.schema import LAT, LON, SITE, X, Y
from shoal.errors import InputError
from shoal.reading import summary
from shoal.reading.columns import find_site_roles
from shoal.reading.source import as_input_error, open_source
from shoal.reading.values import Numbers, encode, read_numbers

NO_FAULT = 255
MOST_CELLS = 2**30  # cells are int32, and so are the spans of boxes
_WORTH_ENCODING = 0.5  # share of distinct values above which looking for repeated positions does not pay


class Positions(NamedTuple):
    """Distinct positions: longitude and latitude, or x and y in metres; in the end, cells."""

    first: npt.NDArray[Any]
    second: npt.NDArray[Any]


class Located(NamedTuple):
    """Where the rows of a batch are, and the number of the reason why they cannot be used.

    ``decimal_commas``: whether one of them surely has one; ``doubtful``: in which the comma may separate thousands
    instead, None where there are none.
    """

    code: Int32s
    places: Positions
    fault: npt.NDArray[np.uint8]
    decimal_commas: bool = False
    doubtful: Bools | None = None


class Locator(Protocol):
    """Turns the position columns of a batch into places."""

    geographic: bool

    def __call__(self, columns: Mapping[str, Any]) -> Located: ...


class ByDegrees:
    """Positions from latitude and longitude."""

    geographic = True

    def __call__(self, columns: Mapping[str, Any]) -> Located:
        """Locate the rows of a batch."""
        lat, lon = (read_numbers(columns[role], role, decimal_commas=True) for role in (LAT, LON))
        return _located(lon, lat, degree_faults(lon.value, lat.value))


class ByMetres:
    """Positions from x and y."""

    geographic = False

    def __call__(self, columns: Mapping[str, Any]) -> Located:
        """Locate the rows of a batch."""
        x, y = (read_numbers(columns[role], role, decimal_commas=True) for role in (X, Y))
        finite = np.isfinite(x.value) & np.isfinite(y.value)
        located = _located(x, y, {summary.POSITION_OUT_OF_RANGE: ~finite})
        return located._replace(decimal_commas=_has_decimal_comma(x, y), doubtful=_doubtful(x, y))


class BySite:
    """Positions from a table of sites: their names as text, and where they are."""

    def __init__(self, names: list[str], places: Positions, *, geographic: bool) -> None:
        self.geographic = geographic
        self._names = pa.array(names, pa.large_string())
        self._places = places
        zero = degree_faults(*places)[summary.POSITION_ZERO] if geographic else np.zeros(len(names), np.bool_)
        self._zero = np.append(zero, False)  # for rows without a site

    def __call__(self, columns: Mapping[str, Any]) -> Located:
        """Locate the rows of a batch."""
        codes, names = encode(columns[SITE], SITE)
        known = pa.compute.index_in(names, value_set=self._names).fill_null(-1).to_numpy(zero_copy_only=False)
        known = np.append(known, -1).astype(np.int32)  # code -1, no site, picks the last
        code = known[codes]
        faults = {
            summary.MISSING_POSITION: codes < 0,
            summary.UNKNOWN_SITE: code < 0,
            summary.POSITION_ZERO: self._zero[code],
        }
        return Located(np.maximum(code, 0), self._places, numbered(faults, len(code)))


def read_sites(sites: object) -> BySite:
    """Read a table of sites; every site needs one position that can be used."""
    title, geographic, names, where = _read(sites, named=True)
    return _by_site(names, where, title, geographic=geographic)


def read_positions(sites: object) -> tuple[Floats, Floats, bool]:
    """The positions of sites that need no names: longitudes and latitudes, or x and y; and whether the former."""
    _, geographic, _, where = _read(sites, named=False)
    return where.first, where.second, geographic


def _read(sites: object, *, named: bool) -> tuple[str, bool, list[str], Positions]:
    """What to call the table, whether it has degrees, its sites' names (if wanted) and positions."""
    source = open_source(sites, "Sites")
    title = f"The table of sites ({source.title})" if source.title != "The table" else "The table of sites"
    roles = find_site_roles(source.names, title, named=named)
    rejected = summary.DroppedRows()
    batches = list(source.batches(roles.used, rejected, threads=1))
    if rejected.rows:
        raise InputError(f"{title} has {rejected.rows:,} malformed rows: mend them.")
    rows = sum(batch.num_rows for batch in batches)
    if rows == 0:
        raise InputError(f"{title} has no rows: expected a row for each site.")
    geographic = LAT in roles.used
    first, second = (LON, LAT) if geographic else (X, Y)
    names: list[str] = []
    places, faults = [], []
    for batch in batches:
        columns = dict(zip(batch.schema.names, batch.columns, strict=True))
        with as_input_error(title, "sites"):
            one, two = (read_numbers(columns[role], role, decimal_commas=True) for role in (first, second))
            fault = _unusable(one.value, two.value, geographic=geographic)
            doubtful = None if geographic else _doubtful(one, two)
            if doubtful is not None and not _has_decimal_comma(one, two):
                fault |= doubtful
            if named:
                codes, texts = encode(columns[SITE], SITE)
                names += texts.take(pa.array(codes, mask=codes < 0)).to_pylist()
                fault |= codes < 0
        places.append(Positions(one.value, two.value))
        faults.append(fault)
    where = Positions(*(np.concatenate(values) for values in zip(*places, strict=True)))
    unusable = np.concatenate(faults)
    if unusable.any():
        raise InputError(
            f"{title} has {int(unusable.sum()):,} of {rows:,} rows without a"
            f" {'site or a usable' if named else 'usable'} position: mend or remove them."
        )
    return title, geographic, names, where


def _by_site(names: list[str], where: Positions, title: str, *, geographic: bool) -> BySite:
    known: dict[str, int] = {}
    conflicts = set()
    for row, name in enumerate(names):
        kept = known.setdefault(name, row)
        if (where.first[kept], where.second[kept]) != (where.first[row], where.second[row]):
            conflicts.add(name)
    if conflicts:
        raise InputError(
            f"{title} gives {len(conflicts):,} of {len(known):,} sites several positions: keep one each."
        )
    rows = np.array(list(known.values()))
    return BySite(list(known), Positions(where.first[rows], where.second[rows]), geographic=geographic)


def _unusable(first: Floats, second: Floats, *, geographic: bool) -> Bools:
    if geographic:
        return degree_faults(first, second)[summary.POSITION_OUT_OF_RANGE]
    return ~(np.isfinite(first) & np.isfinite(second))


def degree_faults(lon: Floats, lat: Floats) -> dict[str, Bools]:
    """Which degrees are no place on Earth, or the place where unknown positions are put."""
    with np.errstate(invalid="ignore"):
        inside = (np.abs(lat) <= 90) & (np.abs(lon) <= 180)  # false for NaN
    return {summary.POSITION_OUT_OF_RANGE: ~inside, summary.POSITION_ZERO: (lat == 0) & (lon == 0)}


def numbered(faults: Mapping[str, Bools], n: int) -> npt.NDArray[np.uint8]:
    """For each row the number of the first of ``summary.REASONS`` that holds, or NO_FAULT."""
    fault = np.full(n, NO_FAULT, np.uint8)
    for reason, holds in faults.items():
        if holds.any():
            fault[holds] = np.minimum(fault[holds], summary.REASONS.index(reason))
    return fault


def _located(first: Numbers, second: Numbers, faults: dict[str, Bools]) -> Located:
    faults[summary.MISSING_POSITION] = first.missing | second.missing
    faults[summary.UNPARSABLE_POSITION] = first.unparsable | second.unparsable
    fault = numbered(faults, len(first.value))
    return Located(*_distinct_pairs(first.value, second.value), fault)


def _has_decimal_comma(*numbers: Numbers) -> bool:
    """Whether a comma is there that cannot separate thousands."""
    return any(
        each.commas is not None and each.doubtful is not None and bool((each.commas & ~each.doubtful).any())
        for each in numbers
    )


def _doubtful(one: Numbers, two: Numbers) -> Bools | None:
    """Which rows have a comma that may separate thousands."""
    flags = [each.doubtful for each in (one, two) if each.doubtful is not None]
    return flags[0] | flags[-1] if flags else None


def _distinct_pairs(first: Floats, second: Floats) -> tuple[Int32s, Positions]:
    """Codes into distinct pairs; into all pairs where most are distinct anyway."""
    everything = np.arange(len(first), dtype=np.int32), Positions(first, second)
    one = pa.array(first).dictionary_encode()
    if len(one.dictionary) > _WORTH_ENCODING * len(first):
        return everything
    two = pa.array(second).dictionary_encode()
    pair = one.indices.to_numpy().astype(np.int64) * len(two.dictionary) + two.indices.to_numpy()
    pairs = pa.array(pair).dictionary_encode()
    if len(pairs.dictionary) > _WORTH_ENCODING * len(first):
        return everything
    distinct = pairs.dictionary.to_numpy()
    at_one, at_two = np.divmod(distinct, len(two.dictionary))
    places = Positions(one.dictionary.to_numpy()[at_one], two.dictionary.to_numpy()[at_two])
    return pairs.indices.to_numpy(), places


def cells(places: Positions, cell_m: float, projection: Plane | None) -> tuple[Int32s, Int32s, Bools]:
    """Cells of places, and which of them cells of 32 bits can hold."""
    x, y = places if projection is None else projection.to_metres(*places)
    with np.errstate(invalid="ignore", over="ignore"):
        columns = [_cells_along(metres, cell_m) for metres in (x, y)]
        held = (np.abs(columns[0]) <= MOST_CELLS) & (np.abs(columns[1]) <= MOST_CELLS)
    x_cell, y_cell = (np.where(held, column, 0).astype(np.int32) for column in columns)
    return x_cell, y_cell, held


def _cells_along(metres: Floats, cell_m: float) -> Floats:
    """The cell of each coordinate, such that its edges as they are published (cell times cell_m) enclose it.

    Division and multiplication round differently: 7.7 / 1.1 is 7, but 7 * 1.1 is more than 7.7.
    """
    cell = np.floor(metres / cell_m)
    cell -= cell * cell_m > metres
    cell += (cell + 1) * cell_m <= metres
    return cell
