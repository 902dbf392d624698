"""What Python users call."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any, Unpack

from shoal.auditing.auditor import run_audit
from shoal.auditing.coverage.check import RunTasks
from shoal.auditing.opening import AUDITING, AuditOptions, open_audit
from shoal.auditing.result import Audit
from shoal.core.checks import check_count, check_workers
from shoal.core.engines import Engine, open_engine
from shoal.core.progress import Progress, SilentProgress
from shoal.core.promise import Grid, Promise
from shoal.core.signatures import takes
from shoal.core.workers import Workers
from shoal.errors import ParameterError
from shoal.hiding.pipeline import anonymize_samples, check_population, prepare
from shoal.hiding.settings import Settings, applicable_harden, check_settings
from shoal.publishing.checkpoint import open_checkpoint
from shoal.publishing.outputs import Outputs, check_outputs, write_outputs
from shoal.publishing.release import Published, move_to_file
from shoal.publishing.self_check import verify_release
from shoal.publishing.tables import is_map
from shoal.reading import Events, read_events
from shoal.reading.options import READING, ReadingOptions, check_reading
from shoal.synthetic.credibility.verdict import Credibility, assess_events


@takes(READING)
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
    repair: bool = False,
    strict: bool = False,
    seed: int = 0,
    shard_size: int = Settings().shard_size,
    harden: int | None = None,
    workers: int | None = None,
    engine: str = "threads",
    cluster: str | None = None,
    output: str | Path | None = None,
    key_out: str | Path | None = None,
    summary_out: str | Path | None = None,
    force: bool = False,
    resume: bool = False,
    verify: bool = True,
    progress: Progress | None = None,
    **reading: Unpack[ReadingOptions],
) -> Published:
    """Publish events under k^{tau,epsilon}-anonymity.

    ``events`` is a path or a pandas, polars or pyarrow table, or what geopandas, trackintel, MovingPandas or
    scikit-mobility make of one (docs/ecosystem.md); ``format`` names one of other people's (docs/formats.md), which is
    recognised where there is no doubt. ``columns`` maps roles (user, time, lat, lon, x, y, site) to names of columns,
    ``sites`` gives sites their positions, ``timezone`` is that of times without one. ``start`` and ``end`` leave out
    other times, ``exclude_users`` and ``min_days_active`` those users and users seldom seen, ``bbox`` (W,S,E,N) what
    lies elsewhere, ``resample`` all but the first sample of each user in each period.

    With ``output`` the release is also written to files, ``key_out`` and ``summary_out`` among them if given, and a
    killed run goes on with ``resume``. What is published is first read back and checked, every user and every interval,
    unless ``verify`` is False.

    ``selector="spectral"`` is the paper's own, which does not give guarantee 1: the check then measures what is missing
    instead of refusing it, unless ``repair`` suppresses more until it is given. ``selector="mutual"`` hides users in
    groups of k who all hide each other (full consistency), which costs more and is there to be compared.

    ``harden``, 0 to 3, is how much to pay so that an attacker who knows the method, and links windows, is not left with
    one record (docs/hardening.md). 1 unless given; 0 where there is nothing to harden.

    Large windows are cut into shards of at most ``shard_size`` users who are near each other. They are decided on
    ``workers`` threads, with ``engine="processes"`` in as many processes, or on the workers of the Dask scheduler whose
    address ``cluster`` is: the boxes are the same (docs/scaling.md).
    """
    progress = progress or SilentProgress()
    grid = Grid.parse(cell, step)
    promise = Promise.parse(k, tau, epsilon, grid=grid, whole=whole)
    settings = check_settings(space_weight, selector, reuse, seed, repair, shard_size)
    settings = settings._replace(harden=applicable_harden(harden, selector, promise))
    n_workers = check_workers(workers)
    how = check_reading(reading)
    outputs = _outputs(output, key_out, summary_out)
    if outputs is not None:
        given = _paths(events, reading.get("sites"), reading.get("exclude_users"))
        check_outputs(outputs, given, force=force, resume=resume)
    with (
        open_checkpoint(None if outputs is None else outputs.checkpoint, resume=resume) as checkpoint,
        Workers(n_workers) as threads,
        open_engine(engine, n_workers, cluster) as machinery,
    ):
        progress.stage("reading")
        found = read_events(
            events,
            grid=grid,
            strict=strict,
            for_map=outputs is not None and is_map(outputs.published),
            threads=n_workers,
            spill=checkpoint.samples,
            **how,
        )
        check_population(found.store.n_users, k)
        progress.stage("loading the engine (compiles it once)")
        prepare(settings)
        outcome = anonymize_samples(
            found.store,
            promise,
            settings,
            threads,
            journal=checkpoint.journal(_identity(found, promise, settings)),
            progress=progress,
            engine=machinery,
        )
        published = Published(found, outcome, promise, settings, verify)
        check = (
            partial(
                verify_release,
                published,
                workers=threads,
                progress=progress,
                folder=checkpoint.folder,
                run=_elsewhere(machinery),
            )
            if verify
            else None
        )
        if outputs is not None:
            progress.stage("writing")
            checkpoint.note_writing()
            _write(outputs, published, check, checkpoint.sorting)
            move_to_file(published, outputs.published)
            if not checkpoint.remove():
                published.summary["warnings"].append(
                    f"{outputs.checkpoint.name} could not be removed whole and holds secrets: remove it."
                )
        elif check is not None:
            check(published)
    return published


@takes(AUDITING)
def audit(
    events: Any,
    published: Any,
    *,
    engine: str = "threads",
    cluster: str | None = None,
    progress: Progress | None = None,
    **options: Unpack[AuditOptions],
) -> Audit:
    """Attack a published file, shoal's own or anybody else's, and say what is and is not protected.

    ``events`` and ``published`` are paths or tables. The promise to hold the file to (``k`` with ``tau`` and
    ``epsilon``, or with ``whole``) is the one it notes itself unless given. ``key`` tells which record is whose; what
    needs it is not checked without. ``cell``, ``step`` and ``crs`` are for files that do not tell theirs. Give the
    options with which anonymize() read the events, so that the audit sees the same samples. ``attacks`` are drawn of
    each kind, others for another ``seed``; the promise is checked exactly, with a key also in the processes or on the
    ``cluster`` that are chosen as in anonymize().
    """
    progress = progress or SilentProgress()
    with (
        open_audit(events, published, progress, **options) as (context, warnings),
        open_engine(engine, context.workers.count, cluster) as machinery,
    ):
        return run_audit(context, warnings, progress, run=_elsewhere(machinery))


@takes(READING)
def assess(
    events: Any,
    *,
    real: Any = None,
    cell: str = "100m",
    seed: int = 0,
    workers: int | None = None,
    progress: Progress | None = None,
    **reading: Unpack[ReadingOptions],
) -> Credibility:
    """Say whether events look like people with phones: statistics, held to bands from the literature and real data.

    ``events`` and ``real`` are paths or tables; ``real`` ones, in the same ``cell`` and otherwise as they come, are
    measured beside them. A place is a cell. ``seed`` chooses whose points are drawn for the unicity. How events are
    read is said as in anonymize().
    """
    progress = progress or SilentProgress()
    n_workers = check_workers(workers)
    seed = check_count(seed, "seed", least=0)
    grid = Grid.parse(cell, "1s")
    how = check_reading(reading)
    progress.stage("reading")
    found = read_events(events, grid=grid, threads=n_workers, **how)
    beside = None if real is None else read_events(real, grid=grid, threads=n_workers)
    progress.stage("measuring")
    return assess_events(found, beside, seed=seed)


def _write(
    outputs: Outputs, published: Published, check: Callable[[object], None] | None, spill: Path | None
) -> None:
    events = published.events
    write_outputs(
        outputs,
        published.named,
        events.store.users,
        events.grid,
        events.projection,
        manifest=published.manifest,
        summary=published.summary,
        check=check,
        spill=spill,
    )


def _elsewhere(engine: Engine) -> RunTasks | None:
    """Who carries out chunks of a check, where others are at hand."""
    return engine.map if engine.n_tasks > 1 else None


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
        "dataset": events.store.fingerprint(),
        "k": promise.k,
        "tau": promise.tau,
        "epsilon": promise.epsilon,
        "cell": events.grid.cell_m,
        "step": events.grid.step_s,
        "space weight": settings.space_weight,
        "selector": str(settings.selector),
        "repair": settings.repair,
        "reuse": str(settings.reuse),
        "seed": settings.seed,
        "shard size": settings.shard_size,
        "harden": settings.harden,
        "version of shoal": version("shoal"),
    }
