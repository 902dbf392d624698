"""Events to samples on the grid: ``read_events`` opens, parses, filters, projects and sorts the rows of a table."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from shoal.core.checks import check_path, names_a_file, path_told
from shoal.core.formatting import counted, percent
from shoal.core.options import ReadingOptions
from shoal.core.pickling import NeverPickled
from shoal.core.projection import Plane
from shoal.core.promise import Grid
from shoal.core.samples import Samples
from shoal.core.schema import LAT, SITE
from shoal.core.workers import results_in_order
from shoal.core.zones import Zone
from shoal.errors import InputError, for_caller, is_called_by_command
from shoal.reading.batches import Batch, BatchStore, parse_batch
from shoal.reading.columns import Roles, find_roles
from shoal.reading.filters import Period, keep_active, keep_inside
from shoal.reading.formats import open_events
from shoal.reading.geo import implied_columns, names_position, with_points
from shoal.reading.inputs import open_input
from shoal.reading.inspection import Inspection
from shoal.reading.name_index import NameIndex
from shoal.reading.positions import ByDegrees, ByMetres, Locator, read_sites
from shoal.reading.published_grid import check_coordinates
from shoal.reading.resolving import (
    RowStatistics,
    UserNumbering,
    centred,
    keep_period,
    resolve_cells,
    resolve_marks,
    store_all,
)
from shoal.reading.sorting import sort_rows
from shoal.reading.source import Source, names_recur, numeric_columns
from shoal.reading.summary import (
    RESAMPLED,
    ZONE_ASSUMED,
    ZONE_GIVEN,
    ZONE_OF_FORMAT,
    ZONE_WRITTEN,
    DroppedRows,
    ReadSummary,
    check_strict,
    in_order,
    nothing_left,
)
from shoal.reading.values import decode, texts_of
from shoal.storage.sample_store import SampleStore
from shoal.storage.spill import ROWS, open_spill

_NAIVE = "Times come without a zone"


@dataclass(frozen=True)
class Events(NeverPickled):
    """Samples with the grid and projection they are counted in, and what became of the rows read.

    ``options`` are how they were read; users to exclude are told one by one, whether or not they came from a file.
    """

    store: SampleStore
    grid: Grid
    projection: Plane | None
    read_summary: ReadSummary
    timezone: str = "UTC"
    options: ReadingOptions = field(default_factory=ReadingOptions)

    def __repr__(self) -> str:
        return f"<Events: {counted(len(self.store), 'sample')} of {counted(self.store.n_users, 'user')}>"

    @cached_property
    def samples(self) -> Samples:
        """All samples in memory, user by user."""
        return self.store.load()


def read_events(
    source: object,
    *,
    grid: Grid,
    options: ReadingOptions | None = None,
    strict: bool = False,
    for_map: bool = False,
    projection: Plane | None = None,
    threads: int | None = None,
    spill: Path | None = None,
    inspection: Inspection | None = None,
) -> Events:
    """Read a file, a folder, an open file or a table of events into samples.

    Columns are found by their usual names, and formats recognised where there is no doubt, unless the options say
    otherwise. Positions ``for_map`` must be degrees. Degrees are brought to the plane of ``projection`` if one is given
    (an audit takes that of the release), else to one centred on them. The result depends on neither the order of the
    rows nor the number of threads.

    With ``spill``, a folder that is made if need be, rows are kept in files there and memory holds a few batches,
    however many there are; the samples stay in that folder, for as long as they are used, and it is for the caller to
    remove it. An ``inspection`` notes what it sees on the way, and may have only a part of the rows read.
    """
    options = options or ReadingOptions()
    if options.timezone is not None:
        Period.parse(options.start, options.end, Zone(options.timezone))  # before files are opened
    with open_input(source, query=options.query, spill=spill) as readable:
        return _read(
            readable,
            grid=grid,
            options=options,
            strict=strict,
            for_map=for_map,
            projection=projection,
            threads=threads,
            spill=spill,
            inspection=inspection,
        )


def _read(
    source: object,
    *,
    grid: Grid,
    options: ReadingOptions,
    strict: bool,
    for_map: bool,
    projection: Plane | None,
    threads: int | None,
    spill: Path | None,
    inspection: Inspection | None,
) -> Events:
    """Read what can be opened."""
    columns, bounding_box, pattern = options.columns, options.bounding_box, options.time_pattern
    excluded = _excluded(options.exclude_users)
    check_path(options.sites, "Sites", "a path or a table")
    table, sites, zone_of_format, format = open_events(
        source, name=options.format, sites=options.sites, columns=columns, pattern=pattern
    )
    zone = Zone(options.timezone or zone_of_format or "UTC")
    period = Period.parse(options.start, options.end, zone)
    has_sites = sites is not None
    if inspection is not None:
        table = inspection.opened(table, format, zone)
    recur = names_recur(table)
    if not names_position(columns, has_sites=has_sites):
        table = with_points(table)
    implied = implied_columns(table.names, columns, has_sites=has_sites)
    roles = find_roles(
        table.names,
        implied,
        table.title,
        has_sites=has_sites,
        names_recur=recur,
        numeric=numeric_columns(table),
    )
    locate = _locator(roles, sites)
    if inspection is not None:
        inspection.found(roles, geographic=locate.geographic)
    if for_map and not locate.geographic:
        raise not_on_a_map(table.title)
    if bounding_box is not None:
        bounding_box.check(geographic=locate.geographic)
    if projection is not None:
        check_coordinates(projection.crs, geographic=locate.geographic)
    users = NameIndex(nobody=options.missing_users)
    rejected = DroppedRows()
    parse = partial(parse_batch, zone=zone, pattern=pattern, locate=locate, users=users)
    parsed = _parsed(table, roles, parse, rejected, max(1, threads or os.cpu_count() or 1), inspection)
    with open_spill(spill, ROWS, keep=True) as space:
        batches = BatchStore(space)
        told = store_all(parsed, batches)
        numbering = UserNumbering.of(users.names, excluded)

        def resolve(batch: Batch) -> Batch:
            resolve_marks(batch, told, zone)
            keep_period(batch, period)
            numbering.renumber(batch)
            if bounding_box is not None:
                keep_inside(batch, bounding_box)
            return batch

        for batch in batches:
            resolve(batch)
        if inspection is not None:
            inspection.understood(lambda batch: resolve(parse(batch)))
        users_seldom_seen = 0
        if options.min_days_active is not None:
            users_seldom_seen = keep_active(batches, len(numbering.names), options.min_days_active, zone)
        if inspection is not None:
            inspection.kept(batches, numbering.names)
        if projection is None and locate.geographic:
            projection = centred(batches)
        statistics = RowStatistics(len(numbering.names), options.resample_s or grid.step_s)
        if projection is not None or not locate.geographic:
            resolve_cells(batches, grid.cell_m, projection, statistics)
        dropped, rows_read = batches.dropped + rejected.counts, batches.rows + rejected.rows
        if strict:
            check_strict(dropped, rows_read)
        if dropped.total() == rows_read:
            raise nothing_left(dropped, rows_read, table.title, format)
        whole = inspection is None or inspection.extent.parts == 0
        if whole:  # a sample need not hold whoever is excluded
            _check_exclusions(excluded, numbering, strict=strict)
        store, resampled, dense = sort_rows(
            batches, statistics, numbering.names, grid, options.resample_s, space
        )
    dropped[RESAMPLED] += resampled
    zone_from = _zone_from(options.timezone, zone_of_format, naive=told.naive)
    found_wrong = [*table.warnings, *_zone_warnings(zone_from), *statistics.warnings(zone), *dense]
    if options.exclude_users is not None and whole:
        found_wrong += _exclusion_warnings(excluded, numbering)
    read_summary = ReadSummary(
        rows_read=rows_read,
        dropped=in_order(dropped),
        duplicates=rows_read - dropped.total() - len(store),
        columns_used=roles.used,
        columns_dropped=roles.dropped,
        warnings=list(map(for_caller, found_wrong)),
        format=format,
        users_seldom_seen=users_seldom_seen,
        blank_lines=rejected.blank_lines,
        zone_from=zone_from,
        naive=told.naive,
        times_skipped=statistics.skipped,
        times_repeated=statistics.repeated,
    )
    noted = replace(
        options,
        timezone=zone.name,
        exclude_users=sorted(excluded) if options.exclude_users is not None else None,
    )
    return Events(store, grid, projection, read_summary, zone.name, noted)


def _zone_from(given: str | None, of_format: str | None, *, naive: bool) -> str:
    """Where the zone of times without one comes from."""
    if given is not None:
        return ZONE_GIVEN
    if not naive:
        return ZONE_WRITTEN
    return ZONE_ASSUMED if of_format is None else ZONE_OF_FORMAT


def _zone_warnings(zone_from: str) -> list[str]:
    if zone_from != ZONE_ASSUMED:
        return []
    return [f"{_NAIVE}, and were read as UTC: if clocks were local, name the zone with --timezone."]


def warn_of_assumed_zone(warnings_of_reading: Iterable[str]) -> None:
    """Where nobody said on which clock times are, a warning of Python's for whoever called the caller, once per place.

    The command prints a line of its own.
    """
    for text in warnings_of_reading:
        if text.startswith(_NAIVE) and not is_called_by_command():
            warnings.warn(text, UserWarning, stacklevel=3)


def _locator(roles: Roles, sites: object) -> Locator:
    if roles.position == (SITE,):
        return read_sites(sites)
    if sites is not None:
        raise InputError(
            "--sites gives positions by site, but lat, lon or x, y were named as well: leave out one."
        )
    return ByDegrees() if LAT in roles.used else ByMetres()


def not_on_a_map(title: str) -> InputError:
    """The refusal of a map of positions that have no place on it."""
    return InputError(
        f"{title} gives positions in metres without a coordinate system, which GeoJSON cannot place on the map:"
        " give lat and lon, or publish as .parquet, .geoparquet or .csv."
    )


def _excluded(users: str | os.PathLike[str] | Iterable[object] | None) -> set[str]:
    if users is None:
        return set()
    if isinstance(users, str | os.PathLike):
        try:
            raw = Path(users).read_bytes()
        except (OSError, ValueError):  # a name with a NUL in it is a ValueError
            named = f" {path_told(users)}" if names_a_file(os.fspath(users)) else ""
            raise InputError(
                f"No readable file{named} for --exclude-users: expected text, one user on each line."
            ) from None
        users = decode(raw).removeprefix("\ufeff").splitlines()
    return texts_of(users)


def _check_exclusions(excluded: set[str], numbering: UserNumbering, *, strict: bool) -> None:
    """Refuse a list of which nobody is found: most likely its identifiers are written otherwise than the events'.

    If strict, everybody must be found.
    """
    if excluded and not numbering.n_excluded:
        raise InputError(
            f"--exclude-users must list users of the events, found none of its {counted(len(excluded), 'identifier')}"
            " there: check how they are written, and --user-column."
        )
    missing = len(excluded) - numbering.n_excluded
    if strict and missing:
        raise InputError(
            f"--exclude-users must list users of the events, found {missing:,} of its"
            f" {counted(len(excluded), 'identifier')} nowhere there: mend the list, or leave out --strict."
        )


def _exclusion_warnings(excluded: set[str], numbering: UserNumbering) -> list[str]:
    if not excluded:
        return ["The list of users to exclude is empty: nobody was excluded."]
    missing = len(excluded) - numbering.n_excluded
    if not missing:
        return []
    share = percent(missing / len(excluded))
    return [f"{missing:,} of {len(excluded):,} users to exclude ({share}) do not occur in the events."]


def _parsed(
    table: Source,
    roles: Roles,
    parse: Callable[[Any], Batch],
    rejected: DroppedRows,
    threads: int,
    inspection: Inspection | None,
) -> Iterator[Batch]:
    """Parse batches on a pool of threads; they come in their order, and few are in memory at a time."""
    with ThreadPoolExecutor(max_workers=threads) as pool:
        batches = table.batches(roles.used, rejected, threads=threads)
        if inspection is not None:
            batches = inspection.watched(batches)
        yield from results_in_order(lambda batch: pool.submit(parse, batch), batches, threads)
