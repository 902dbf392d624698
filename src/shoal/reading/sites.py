"""Tables of sites (antennas): where each of them is."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from shoal.core.arrays import Bools
from shoal.core.schema import LAT, LON, SITE, X, Y
from shoal.errors import InputError
from shoal.reading import summary
from shoal.reading.columns import find_site_roles
from shoal.reading.numbers import Floats, read_numbers
from shoal.reading.opening import open_source
from shoal.reading.positions import BySite, Places, degree_faults
from shoal.reading.source import guarded
from shoal.reading.texts import encode


def read_sites(sites: object) -> BySite:
    """Read a table of sites; every site needs one position that can be used."""
    title, geographic, names, where = _read(sites, named=True)
    return _distinct(names, where, title, geographic=geographic)


def read_positions(sites: object) -> tuple[Floats, Floats, bool]:
    """The positions of sites that need no names: longitudes and latitudes, or x and y; and whether the former."""
    _, geographic, _, where = _read(sites, named=False)
    return where.first, where.second, geographic


def _read(sites: object, *, named: bool) -> tuple[str, bool, list[str], Places]:
    """What to call the table, whether it has degrees, its sites' names (if wanted) and positions."""
    source = open_source(sites, "Sites")
    title = f"The table of sites ({source.title})" if source.title != "The table" else "The table of sites"
    roles = find_site_roles(source.names, title, named=named)
    rejected = summary.Rejected()
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
        with guarded(title, "sites"):
            one, two = read_numbers(columns[first], first), read_numbers(columns[second], second)
            fault = _unusable(one.value, two.value, geographic=geographic)
            if named:
                codes, texts = encode(columns[SITE], SITE)
                names += texts.take(pa.array(codes, mask=codes < 0)).to_pylist()
                fault |= codes < 0
        places.append(Places(one.value, two.value))
        faults.append(fault)
    where = Places(*(np.concatenate(values) for values in zip(*places, strict=True)))
    unusable = np.concatenate(faults)
    if unusable.any():
        raise InputError(
            f"{title} has {int(unusable.sum()):,} of {rows:,} rows without a"
            f" {'site or a usable' if named else 'usable'} position: mend or remove them."
        )
    return title, geographic, names, where


def _unusable(first: Floats, second: Floats, *, geographic: bool) -> Bools:
    if geographic:
        return degree_faults(first, second)[summary.POSITION_OUT_OF_RANGE]
    return ~(np.isfinite(first) & np.isfinite(second))


def _distinct(names: list[str], where: Places, title: str, *, geographic: bool) -> BySite:
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
    return BySite(list(known), Places(where.first[rows], where.second[rows]), geographic=geographic)
