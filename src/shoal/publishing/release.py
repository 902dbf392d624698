"""A release: its boxes are read from where they are, the journal of the run or the published file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa

from shoal.core.boxes import Boxes, BoxSource
from shoal.core.formatting import counted, percent, promise_parameters
from shoal.core.optional import as_pandas, need
from shoal.core.options import TOLERANCE, HidingOptions, SelectorName
from shoal.core.periods import Renaming
from shoal.core.pickling import NeverPickled
from shoal.core.promise import DAY_S, Promise
from shoal.core.schema import GEOMETRY
from shoal.core.showing import html_of, plot_of
from shoal.errors import InputError
from shoal.hiding.pipeline import Outcome
from shoal.publishing.manifest import Unprotected, describe_precision, make_manifest
from shoal.publishing.record_names import NamedBoxes
from shoal.publishing.tables import key_table, parts_key_table, published_table
from shoal.reading import Events, read_published
from shoal.utility import precision_of
from shoal.utility.read_share import PeriodOutlook, recommend_period

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_ENOUGH_ALIKE = (
    5  # people whose records are the same, so that these say little of each (docs/names-frontier.md)
)


class Verification(NamedTuple):
    """What the check of a written release found; ``unprotected`` only where guarantee 1 is not given."""

    unprotected: Unprotected | None = None


def _lasting_names(draft: Draft) -> list[str]:
    """What it means that names never change, where records are longer than a day, and how often they should."""
    slots, step_s = draft.events.store.slots, draft.events.grid.step_s
    days = -(-(int(slots[-1]) + 1 - int(slots[0])) * step_s // DAY_S)
    if days <= 1 or draft.outcome.parts.periods.n_periods > 1:
        return []
    if draft.renaming is None:
        found = "record" if draft.promise.whole else "record, as four known moments mostly allow,"
        found = "group" if draft.alike else found
        words = f"Names never change: whoever finds somebody's {found} reads all {days:,} days of it."
    else:
        words = "--rename-every is longer than these data: no record gets a new name."
    chosen = recommend_period(draft.outlooks)
    if chosen is None:
        return [words]
    lost = "; but nothing is promised across borders then" if draft.promise.whole else ""
    return [
        f"{words} With --rename-every {chosen.rename_every} four known moments, at any times, lead to"
        f" {chosen.as_ceiling()} of a person's samples on average, as long as nobody ties parts together{lost} (shoal"
        " plan says more)."
    ]


def _few_alike(draft: Draft) -> list[str]:
    """What it means that the records of a group are the same, where groups are small."""
    if not draft.alike or draft.promise.k >= _ENOUGH_ALIKE:
        return []
    return [
        f"The records of a group of {draft.promise.k} are the same: whoever knows that somebody is in it reads what the"
        f" group did. In groups of {_ENOUGH_ALIKE} or more (--k) that tells less; --min-spread sets how little."
    ]


def _weakening(outcome: Outcome) -> list[str]:
    """A warning where guarantee 2 is weakened for more members than an audit tolerates."""
    share = outcome.relaxations / max(1, outcome.n_members)
    if share <= TOLERANCE:
        return []
    return [
        f"Guarantee 2 is weakened: k kept; epsilon not: {percent(share)} of members had to serve again. An audit fails"
        " such a file: choose a smaller k, a longer epsilon or fewer days, or add users."
    ]


@dataclass(frozen=True)
class Draft(NeverPickled):
    """A release before it is verified: what came in, what was decided, and the boxes under fresh random names.

    ``outlooks``: where names do not change, what that leaves to be read, and what other periods would leave.
    """

    events: Events
    outcome: Outcome
    promise: Promise
    options: HidingOptions
    named: NamedBoxes
    outlooks: Sequence[PeriodOutlook]
    _instead = "write() the release to files, or pickle to_arrow()"

    def __repr__(self) -> str:
        return f"<Draft: {_in_short(self)}>"

    def table(self, *, geometry: bool = False) -> pa.Table:
        """The table to publish."""
        return published_table(self.named, self.events.grid, self.events.projection, geometry=geometry)

    @property
    def renaming(self) -> Renaming | None:
        """How often records get new names; None for never."""
        every_s = self.options.rename_s
        return None if every_s is None else Renaming(every_s, self.events.timezone)

    @property
    def alike(self) -> bool:
        """Whether people are in groups whose records are the same."""
        return self.promise.whole and self.options.selector is SelectorName.MUTUAL

    def key_table(self) -> pa.Table:
        """Which record is whose; where names change, also which part of the person's."""
        users, parts = self.events.store.users, self.outcome.parts
        if self.renaming is not None:
            return parts_key_table(self.named, users, parts)
        return key_table(self.named, users[parts.user])

    def reading_from(self, path: Path) -> Draft:
        """The same release, whose boxes are read from the file to which it was written."""
        grid, named = self.events.grid, self.named

        def read() -> list[Boxes]:
            table = read_published(path, grid=grid)
            if not np.array_equal(table.names, named.name.astype(object)):
                raise InputError(
                    f"{path.name} is no longer the file to which this release was written: publish to another name."
                )
            return [table.boxes._replace(owner=named.owner[table.boxes.owner])]

        in_parts = BoxSource(read)
        outcome = replace(self.outcome, source=self.outcome.parts.by_users(in_parts))
        return replace(self, outcome=outcome, named=named.with_boxes(in_parts))


def _in_short(draft: Draft) -> str:
    outcome, renamed = draft.outcome, draft.renaming is not None
    promise = promise_parameters(draft.promise, draft.events.grid, renamed=renamed)
    return f"{counted(outcome.n_records, 'record')}, {counted(outcome.n_boxes, 'box', 'boxes')}, {promise}"


@dataclass(frozen=True)
class Published(Draft):
    """A release: the table, who is who (secret), what may be told about it, and a summary for its maker.

    A notebook shows what the manifest tells, and how large the boxes are. It cannot be pickled, since it holds raw
    data: ``write`` it, or keep ``to_arrow()``.

    Attributes
    ----------
    events : Events
        What was read; raw.
    outcome : Outcome
        What was decided; secret.
    promise : Promise
        What is promised, in steps of ``events.grid``.
    options : HidingOptions
        How it is kept.
    named : NamedBoxes
        The boxes under their random names.
    outlooks : sequence of PeriodOutlook
        Where names do not change: what that leaves to be read, and what other periods would leave.
    verification : Verification or None
        What the check found; None where nothing was checked.
    warnings : tuple of str
        Those of publishing, beside those of reading.
    output : Path or None
        The file that the release was made for, if any.
    inputs : tuple of Path
        The files that were read.

    Examples
    --------
    >>> import shoal
    >>> published = shoal.anonymize(shoal.make_city(100, seed=1), k=2, tau="30min", epsilon="30min")
    >>> published.to_pandas().columns[:3].tolist()
    ['record', 't_start', 't_end']
    >>> published.key().column_names
    ['user', 'record']
    >>> published.manifest["promise"]["k"], published.verified
    (2, True)
    """

    verification: Verification | None
    warnings: tuple[str, ...] = ()
    output: Path | None = None
    inputs: tuple[Path, ...] = ()

    def __repr__(self) -> str:
        return f"<Published: {_in_short(self)}, {'verified' if self.verified else 'not verified'}>"

    def _repr_html_(self) -> str:
        return html_of(self)

    @classmethod
    def of(cls, draft: Draft, verification: Verification | None) -> Published:
        """The release that a draft becomes once it is verified."""
        content = (draft.events, draft.outcome, draft.promise, draft.options, draft.named, draft.outlooks)
        return cls(*content, verification)

    @property
    def verified(self) -> bool:
        """Whether the release was checked, and found to keep its promise."""
        return self.verification is not None and self.options.gives_coverage

    def to_arrow(self) -> pa.Table:
        """The published table; whatever reads Arrow takes a release as it is, ``polars.DataFrame`` for one."""
        return self.table()

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def to_pandas(self) -> Any:
        """The published table as a pandas data frame."""
        return as_pandas(self.to_arrow())

    def to_polars(self) -> Any:
        """The published table as a polars data frame."""
        return need("polars", "to_polars()").from_arrow(self.to_arrow())

    def to_geopandas(self) -> Any:
        """The published table as a geopandas frame of polygons: in longitude and latitude, or in metres without a CRS.

        A polygon is the area in which the person of its record was at some moment of a stretch of time. It does not say
        where in it, but that can often be inferred from all boxes together (docs/promise.md).
        """
        geopandas = need("geopandas", "to_geopandas()", instead="to_pandas()")
        projection = self.events.projection
        table = self.table(geometry=True)
        polygons = geopandas.GeoSeries.from_wkb(
            table[GEOMETRY].to_pylist(), crs=None if projection is None else "EPSG:4326"
        )
        return geopandas.GeoDataFrame(table.drop_columns(GEOMETRY).to_pandas(), geometry=polygons)

    def plot(self) -> Figure:
        """How precise the boxes are: which share of them is at most so large, in space and in time."""
        return plot_of(self)

    def write(
        self,
        path: str | Path,
        *,
        key_out: str | Path | None = None,
        summary_out: str | Path | None = None,
        evidence: bool = True,
        force: bool = False,
    ) -> None:
        """Write the release to files, as anonymize() does with ``output``: all of them whole, or none.

        What is written is read back, and must hold the boxes that were verified.

        Parameters
        ----------
        path : path
            The published file: .parquet, .geoparquet, .csv, .csv.gz, .geojson or .geojson.gz. Its manifest stands
            beside it.
        key_out, summary_out : path, optional
            Who is who (secret, with private notes and evidence beside it), and exact figures. A release that was made
            for files has no more what goes beside a key: give ``key_out`` to anonymize() then.
        evidence : bool
            Whether to write evidence beside the key.
        force : bool
            Whether files that exist are replaced.

        Raises
        ------
        InputError
            Files of these names cannot be written, or would destroy something.
        UnfinishedError
            Writing failed, and nothing was published.

        Examples
        --------
        >>> import shoal, tempfile, pathlib
        >>> published = shoal.anonymize(shoal.make_city(100, seed=1), k=2, tau="30min", epsilon="30min")
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     published.write(pathlib.Path(folder) / "published.csv")
        ...     sorted(path.name for path in pathlib.Path(folder).iterdir())
        ['published.csv', 'published.csv.manifest.json']
        """
        from shoal.publishing.outputs import Outputs, write_release

        key, summary = (None if given is None else Path(given) for given in (key_out, summary_out))
        write_release(self, Outputs(Path(path), key, summary, with_evidence=evidence), force=force)

    def key(self) -> pa.Table:
        """Which record is whose: secret."""
        return self.key_table()

    @cached_property
    def manifest(self) -> dict[str, Any]:
        """What may be published about the release."""
        return make_manifest(
            outcome=self.outcome,
            precision=precision_of(self.outcome.box_sizes, self.events.grid),
            promise=self.promise,
            events=self.events,
            options=self.options,
            renaming=self.renaming,
            verified=self.verified,
            unprotected=None if self.verification is None else self.verification.unprotected,
        )

    @cached_property
    def summary(self) -> dict[str, Any]:
        """Exact figures for whoever made the release; unlike the manifest not meant to leave the machine."""
        outcome, read_summary = self.outcome, self.events.read_summary
        precision = describe_precision(precision_of(outcome.box_sizes, self.events.grid))
        unprotected = None if self.verification is None else self.verification.unprotected
        return {
            "format": read_summary.format,
            "rows": read_summary.rows_read,
            "rows_dropped": read_summary.dropped,
            "users_seldom_seen": read_summary.users_seldom_seen,
            "duplicates": read_summary.duplicates,
            "blank_lines": read_summary.blank_lines,
            "timezone": self.events.timezone,
            "timezone_from": read_summary.zone_from,
            "times_skipped": read_summary.times_skipped,
            "times_repeated": read_summary.times_repeated,
            "columns_dropped": read_summary.columns_dropped,
            "warnings": [
                *read_summary.warnings,
                *self.warnings,
                *_weakening(outcome),
                *_lasting_names(self),
                *_few_alike(self),
            ],
            "users": outcome.n_users,
            "samples": outcome.n_samples,
            "records": outcome.n_records,
            "boxes": outcome.n_boxes,
            "suppressed_samples": outcome.n_suppressed,
            "suppressed_share": outcome.n_suppressed / outcome.n_samples,
            "suppressed_rare_presence": outcome.epoch_suppressed_samples,
            "suppressed_users": outcome.recordless_users,
            "longer_side_km": precision["longer_side_km"],
            "precision_minutes": precision["time_minutes"],
            "cost_per_box": precision["cost_per_box"],
            "read_share": outcome.read_share,
            "hiding_members": outcome.n_members,
            "relaxations": outcome.relaxations,
            "estimated_below_k": outcome.estimated_below_k,
            "verified": self.verified,
            "coverage_given": self.options.gives_coverage,
            "unprotected": None if unprotected is None else unprotected._asdict(),
            "seconds": round(outcome.seconds, 3),
            "compile_seconds": round(outcome.compile_seconds, 3),
            **self.options.to_dict(),
        }
