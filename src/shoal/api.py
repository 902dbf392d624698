"""What Python users call."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import version
from numbers import Integral, Real
from pathlib import Path
from typing import Any

import pyarrow as pa

from shoal.anonymizing import Outcome, anonymize_samples, check_population, prepare
from shoal.blocks import Workers
from shoal.errors import ParameterError
from shoal.fold import Settings
from shoal.hiding.reuse import Reuse
from shoal.journal import FolderJournal, open_journal
from shoal.manifest import describe_granularity, make_manifest
from shoal.naming import NamedBoxes
from shoal.outputs import Outputs, check_outputs, write_outputs
from shoal.progress import Progress, Silent
from shoal.promise import Grid, Promise
from shoal.reading import Events, read_events
from shoal.utility import granularity
from shoal.writing import key_table, published_batches


@dataclass(frozen=True)
class Published:
    """A release in memory: the table, who is who (secret), what may be told about it, and a summary for its maker."""

    events: Events
    outcome: Outcome
    promise: Promise
    settings: Settings

    @cached_property
    def named(self) -> NamedBoxes:
        """The boxes under fresh random names."""
        return NamedBoxes(self.outcome.boxes)

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

    def key(self) -> pa.Table:
        """Which record is whose: secret."""
        return key_table(self.named, self.events.samples.users)

    @cached_property
    def manifest(self) -> dict[str, Any]:
        """What may be published about the release."""
        projection = self.events.projection
        return make_manifest(
            outcome=self.outcome,
            precision=granularity(self.outcome.boxes, self.events.grid),
            promise=self.promise,
            grid=self.events.grid,
            crs=None if projection is None else projection.crs,
            settings=self.settings,
            intake=self.events.intake,
        )

    @cached_property
    def summary(self) -> dict[str, Any]:
        """Exact figures for whoever made the release; unlike the manifest not meant to leave the machine."""
        outcome, intake = self.outcome, self.events.intake
        precision = describe_granularity(granularity(outcome.boxes, self.events.grid))
        return {
            "rows": intake.rows_read,
            "rows_dropped": intake.dropped,
            "duplicates": intake.duplicates,
            "columns_dropped": intake.columns_dropped,
            "warnings": list(intake.warnings),
            "users": outcome.n_users,
            "samples": outcome.n_samples,
            "records": outcome.n_records,
            "boxes": outcome.boxes.n_boxes,
            "suppressed_samples": outcome.n_suppressed,
            "suppressed_share": outcome.n_suppressed / outcome.n_samples,
            "suppressed_rare_presence": outcome.suppressed_samples,
            "suppressed_users": outcome.recordless_users,
            "precision_km": precision["space_km"],
            "precision_minutes": precision["time_minutes"],
            "cost_per_box": precision["cost_per_box"],
            "hiding_members": outcome.picks,
            "relaxations": outcome.relaxations,
            "seconds": round(outcome.seconds, 3),
            "reuse": str(self.settings.reuse),
            "seed": self.settings.seed,
        }


def anonymize(
    events: Any,
    *,
    k: int,
    tau: str | None = None,
    epsilon: str | None = None,
    whole: bool = False,
    cell: str = "100m",
    step: str = "1min",
    space_weight: float = 1.0,
    selector: str = "matching",
    reuse: str = "once",
    columns: Mapping[str, str] | None = None,
    sites: Any = None,
    timezone: str = "UTC",
    start: str | None = None,
    end: str | None = None,
    exclude_users: str | Path | Iterable[str] | None = None,
    strict: bool = False,
    seed: int = 0,
    workers: int | None = None,
    output: str | Path | None = None,
    key_out: str | Path | None = None,
    summary_out: str | Path | None = None,
    force: bool = False,
    resume: bool = False,
    progress: Progress | None = None,
) -> Published:
    """Publish events under k^{tau,epsilon}-anonymity.

    ``events`` is a path or a pandas, polars or pyarrow table. With ``output`` the release is also written to files,
    ``key_out`` and ``summary_out`` among them if given, and a killed run goes on with ``resume``.
    """
    progress = progress or Silent()
    grid = Grid.parse(cell, step)
    promise = Promise.parse(k, tau, epsilon, grid=grid, whole=whole)
    settings = _settings(space_weight, selector, reuse, seed)
    n_workers = _n_workers(workers)
    outputs = _outputs(output, key_out, summary_out)
    if outputs is not None:
        check_outputs(outputs, _paths(events, sites, exclude_users), force=force, resume=resume)
    progress.stage("reading")
    found = read_events(
        events,
        grid=grid,
        columns=columns,
        sites=sites,
        timezone=timezone,
        start=start,
        end=end,
        exclude_users=exclude_users,
        strict=strict,
        threads=n_workers,
    )
    check_population(found.samples.n_users, k)
    progress.stage("loading the engine (compiles it once)")
    prepare(settings)
    identity = _identity(found, promise, settings)
    with (
        open_journal(None if outputs is None else outputs.checkpoint, identity, resume=resume) as journal,
        Workers(n_workers) as threads,
    ):
        outcome = anonymize_samples(
            found.samples, promise, settings, threads, journal=journal, progress=progress
        )
        published = Published(found, outcome, promise, settings)
        if outputs is not None and isinstance(journal, FolderJournal):
            progress.stage("writing")
            journal.note_writing()
            _write(outputs, published)
            if not journal.remove():
                published.summary["warnings"].append(
                    f"{outputs.checkpoint.name} could not be removed whole and holds secrets: remove it."
                )
    return published


def _write(outputs: Outputs, published: Published) -> None:
    events = published.events
    write_outputs(
        outputs,
        published.named,
        events.samples.users,
        events.grid,
        events.projection,
        manifest=published.manifest,
        summary=published.summary,
    )


def _settings(space_weight: float, selector: str, reuse: str, seed: int) -> Settings:
    if selector != "matching":
        raise ParameterError(f"selector must be matching, got {selector!r}.")
    if reuse not in set(Reuse):
        raise ParameterError(f"reuse must be one of {', '.join(Reuse)}, got {reuse!r}.")
    if not isinstance(space_weight, Real) or not 0 <= space_weight <= 4:
        raise ParameterError(f"space weight must be a number from 0 to 4, got {space_weight!r}.")
    if isinstance(seed, bool) or not isinstance(seed, Integral) or seed < 0:
        raise ParameterError(f"seed must be a whole number of at least 0, got {seed!r}.")
    return Settings(float(space_weight), Reuse(reuse), int(seed))


def _n_workers(workers: int | None) -> int:
    if workers is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if isinstance(workers, bool) or not isinstance(workers, Integral) or workers < 1:
        raise ParameterError(f"workers must be a whole number of at least 1, got {workers!r}.")
    return int(workers)


def _outputs(
    output: str | Path | None, key_out: str | Path | None, summary_out: str | Path | None
) -> Outputs | None:
    if output is None:
        if key_out is not None or summary_out is not None:
            raise ParameterError(
                "key_out and summary_out go with output: name the published file as well,"
                " or use Published.key() and Published.summary."
            )
        return None
    key, summary = (None if path is None else Path(path) for path in (key_out, summary_out))
    return Outputs(Path(output), key, summary)


def _paths(*inputs: object) -> list[Path]:
    """Those inputs that are files or folders."""
    return [Path(given) for given in inputs if isinstance(given, str | os.PathLike)]


def _identity(events: Events, promise: Promise, settings: Settings) -> dict[str, Any]:
    """What must be equal for one run to go on where another ended."""
    return {
        "dataset": events.samples.fingerprint(),
        "k": promise.k,
        "tau": promise.tau,
        "epsilon": promise.epsilon,
        "cell": events.grid.cell_m,
        "step": events.grid.step_s,
        "space weight": settings.space_weight,
        "reuse": str(settings.reuse),
        "seed": settings.seed,
        "version of shoal": version("shoal"),
    }
