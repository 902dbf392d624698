"""A release: its boxes are read from where they are, the steps that made them or the published file."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.core.boxes import Boxes
from shoal.core.promise import Grid, Promise
from shoal.core.schema import GEOMETRY
from shoal.errors import InputError
from shoal.hiding.pipeline import Outcome
from shoal.hiding.settings import Settings
from shoal.publishing.manifest import describe_precision, make_manifest
from shoal.publishing.record_names import NamedBoxes
from shoal.publishing.tables import key_table, published_batches
from shoal.reading import Events, read_published
from shoal.utility import precision_of


@dataclass(frozen=True)
class Published:
    """A release: the table, who is who (secret), what may be told about it, and a summary for its maker."""

    events: Events
    outcome: Outcome
    promise: Promise
    settings: Settings
    verified: bool

    @cached_property
    def named(self) -> NamedBoxes:
        """The boxes under fresh random names."""
        return NamedBoxes(self.outcome.source, self.outcome.sizes)

    def to_arrow(self) -> pa.Table:
        """The published table; whatever reads Arrow takes a release as it is, ``polars.DataFrame`` for one."""
        return pa.Table.from_batches(published_batches(self.named, self.events.grid, self.events.projection))

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def to_pandas(self) -> Any:
        """The published table as a pandas data frame."""
        return self.to_arrow().to_pandas()

    def to_polars(self) -> Any:
        """The published table as a polars data frame."""
        import polars

        return polars.from_arrow(self.to_arrow())

    def to_geopandas(self) -> Any:
        """The published table as a geopandas frame of polygons: in longitude and latitude, or in metres without a CRS.

        A polygon is the area in which its record was for a stretch of time; nothing says where in it.
        """
        try:
            import geopandas
        except ModuleNotFoundError:
            raise InputError(
                "to_geopandas() needs geopandas, which is not installed: pip install geopandas, or take to_pandas()."
            ) from None
        projection = self.events.projection
        batches = published_batches(self.named, self.events.grid, projection, geometry=True)
        table = pa.Table.from_batches(batches)
        polygons = geopandas.GeoSeries.from_wkb(
            table[GEOMETRY].to_pylist(), crs=None if projection is None else "EPSG:4326"
        )
        return geopandas.GeoDataFrame(table.drop_columns(GEOMETRY).to_pandas(), geometry=polygons)

    def key(self) -> pa.Table:
        """Which record is whose: secret."""
        return key_table(self.named, self.events.store.users)

    @cached_property
    def manifest(self) -> dict[str, Any]:
        """What may be published about the release."""
        projection = self.events.projection
        return make_manifest(
            outcome=self.outcome,
            precision=precision_of(self.outcome.box_sizes, self.events.grid),
            promise=self.promise,
            grid=self.events.grid,
            crs=None if projection is None else projection.crs,
            settings=self.settings,
            read_summary=self.events.read_summary,
            verified=self.verified and self.settings.gives_coverage,
        )

    @cached_property
    def summary(self) -> dict[str, Any]:
        """Exact figures for whoever made the release; unlike the manifest not meant to leave the machine."""
        outcome, read_summary = self.outcome, self.events.read_summary
        precision = describe_precision(precision_of(outcome.box_sizes, self.events.grid))
        return {
            "format": read_summary.format,
            "rows": read_summary.rows_read,
            "rows_dropped": read_summary.dropped,
            "users_seldom_seen": read_summary.users_seldom_seen,
            "duplicates": read_summary.duplicates,
            "columns_dropped": read_summary.columns_dropped,
            "warnings": list(read_summary.warnings),
            "users": outcome.n_users,
            "samples": outcome.n_samples,
            "records": outcome.n_records,
            "boxes": outcome.n_boxes,
            "suppressed_samples": outcome.n_suppressed,
            "suppressed_share": outcome.n_suppressed / outcome.n_samples,
            "suppressed_rare_presence": outcome.suppressed_samples,
            "suppressed_users": outcome.recordless_users,
            "precision_km": precision["space_km"],
            "precision_minutes": precision["time_minutes"],
            "cost_per_box": precision["cost_per_box"],
            "hiding_members": outcome.n_members,
            "relaxations": outcome.relaxations,
            "verified": self.verified and self.settings.gives_coverage,
            "coverage_given": self.settings.gives_coverage,
            "unprotected": None,
            "seconds": round(outcome.seconds, 3),
            "selector": str(self.settings.selector),
            "repair": self.settings.repair,
            "reuse": str(self.settings.reuse),
            "seed": self.settings.seed,
            "shard_size": self.settings.shard_size,
            "harden": self.settings.harden,
        }


def move_to_file(release: Published, path: Path) -> None:
    """From now on the boxes of a release are read from the file to which it was written."""
    place = path.absolute()
    release.outcome.source.read = lambda: [_read_back(place, release.named, release.events.grid)]


def _read_back(path: Path, named: NamedBoxes, grid: Grid) -> Boxes:
    table = read_published(path, grid=grid)
    if not np.array_equal(table.names, named.name.astype(object)):
        raise InputError(
            f"{path.name} is no longer the file to which this release was written: publish to another name."
        )
    return table.boxes._replace(owner=named.owner[table.boxes.owner])
