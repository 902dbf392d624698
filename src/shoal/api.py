"""What Python users call: anonymize, audit and assess; and warm_up, which compiles ahead."""

from __future__ import annotations

import os
import time
from dataclasses import replace
from pathlib import Path
from typing import Any, Unpack

from shoal.auditing.auditor import run_audit
from shoal.auditing.coverage.check import RunTasks
from shoal.auditing.coverage.chunks import CHECK_REHEARSAL
from shoal.auditing.opening import open_audit
from shoal.auditing.rehearsal import rehearsal_of_audit
from shoal.auditing.result import Audit
from shoal.core.checks import check_count, check_workers
from shoal.core.code_cache import CACHE_IS_KEPT
from shoal.core.compiling import compile_ahead, compile_side_by_side, make_ready, not_compiled
from shoal.core.engines import Engine, open_engine
from shoal.core.option_fields import refuse_unknown
from shoal.core.options import (
    AuditKeywords,
    AuditOptions,
    ReadingKeywords,
    ReadingOptions,
    ReleaseKeywords,
    ReleaseOptions,
)
from shoal.core.periods import find_periods
from shoal.core.progress import Progress, SilentProgress
from shoal.core.promise import Grid
from shoal.core.settings import settings_text, take_options
from shoal.core.workers import Workers
from shoal.core.zones import Zone
from shoal.errors import ParameterError, UnfinishedError
from shoal.hiding.pipeline import anonymize_samples, check_population, rehearsal_of, usual_rehearsals
from shoal.publishing.checkpoint import open_checkpoint, run_identity
from shoal.publishing.outputs import Outputs, check_outputs, reserve_outputs, write_outputs
from shoal.publishing.record_names import NamedBoxes
from shoal.publishing.release import Draft, Published, Verification
from shoal.publishing.self_check import verify_release
from shoal.publishing.tables import is_map
from shoal.reading import read_events
from shoal.synthetic.credibility.verdict import Credibility, assess_events
from shoal.utility.read_share import outlook_on_periods


def anonymize(
    events: Any,
    *,
    strict: bool = False,
    workers: int | None = None,
    engine: str = "threads",
    cluster: str | None = None,
    output: str | Path | None = None,
    key_out: str | Path | None = None,
    summary_out: str | Path | None = None,
    config: str | Path | None = None,
    save_config: str | Path | None = None,
    force: bool = False,
    resume: bool = False,
    verify: bool = True,
    evidence: bool = True,
    progress: Progress | None = None,
    **options: Unpack[ReleaseKeywords],
) -> Published:
    """Publish events under k^{tau,epsilon}-anonymity.

    ``events`` is a path, a file open for reading bytes, or a pandas, polars or pyarrow table, or what geopandas,
    trackintel, MovingPandas or scikit-mobility make of one (docs/ecosystem.md).

    What is promised: ``k`` with ``tau`` and ``epsilon`` such as "30min", of which epsilon divides tau, or with
    ``whole=True`` for whole trajectories; ``cell`` (100m) and ``step`` (1min) are the finest resolution.

    How it is kept: ``selector`` ("matching"; "mutual" hides users in groups of k who all hide each other, which costs
    more; with ``whole`` it is chosen unless given, and the records of a group are identical; "spectral" is the paper's
    own, which does not give guarantee 1: the check then measures what is missing instead of refusing it, unless
    ``repair`` suppresses more until it is given), ``reuse``, ``space_weight``, ``seed``,
    ``harden`` (0 to 3: how much to pay so that an attacker who knows the method and links windows is not left with one
    record, docs/hardening.md; 1 unless given, 0 where there is nothing to harden), ``min_spread`` (with ``whole``: how
    far apart people of a group were at least in every box, such as "1km") and ``shard_size``, the most users among whom
    hiding sets are chosen. ``rename_every`` ("never"; "1d", "6h" ...) cuts every record at fixed times of the clock of
    ``timezone`` and gives each part a name of its own (docs/new-names.md).

    How events are read: ``format`` (docs/formats.md; recognised where there is no doubt), ``columns`` from roles (user,
    time, lat, lon, x, y, site) to names of columns, ``sites`` with the positions of sites, ``timezone`` of times
    without one, ``start`` and ``end``, ``exclude_users``, ``min_days_active``, ``bbox`` (W,S,E,N), ``resample`` and
    ``query`` (of SQLite and DuckDB files). With ``strict``, rows that cannot be used are an error.

    ``config`` is a file of settings (docs/formats.md) for all of these options that are not given; ``save_config`` says
    where to write one with which the release can be repeated.

    With ``output`` the release is also written to files, ``key_out`` and ``summary_out`` among them if given, and a
    killed run goes on with ``resume``. Beside the key are private notes of how the events were read and, unless
    ``evidence`` is False, which record was made to hold whom (docs/formats.md). What is published is first read back
    and checked, every user and every interval, unless ``verify`` is False. Hiding sets are chosen on ``workers``
    threads, with ``engine="processes"`` in as many processes, or on the workers of the Dask scheduler at the address
    ``cluster``: the boxes are the same (docs/scaling.md).
    """
    progress = progress or SilentProgress()
    given = take_options("anonymize", options, config)
    if "k" not in given:
        raise TypeError("anonymize() missing 1 required keyword-only argument: 'k'")
    promised, hiding, reading = ReleaseOptions.from_keywords(given)
    grid, promise = promised.grid, promised.promise
    hiding = hiding.for_promise(promise)
    hiding.check_period(promise, grid)
    n_workers = check_workers(workers)
    settings = settings_text("anonymize", given | hiding.to_dict()) if save_config is not None else ""
    outputs = _outputs(output, key_out, summary_out, save_config, evidence=evidence)
    if outputs is not None:
        check_outputs(outputs, [*_paths(events, config), *reading.files], force=force, resume=resume)
    with (
        reserve_outputs(outputs),
        open_checkpoint(None if outputs is None else outputs.checkpoint, resume=resume) as checkpoint,
        Workers(n_workers) as threads,
        open_engine(engine, n_workers, cluster) as machinery,
    ):
        progress.stage("reading")
        found = read_events(
            events,
            grid=grid,
            options=reading,
            strict=strict,
            for_map=outputs is not None and is_map(outputs.published),
            threads=n_workers,
            spill=checkpoint.samples,
        )
        check_population(found.store.n_users, promise.k)
        needed = [rehearsal_of(hiding, promise), *([CHECK_REHEARSAL] if verify else [])]
        compile_seconds = make_ready(needed, n_workers, progress)
        slots, zone = found.store.slots, Zone(found.timezone)
        periods = find_periods(hiding.rename_s, int(slots[0]), int(slots[-1]), promise, grid, zone)
        outcome = anonymize_samples(
            found.store,
            promise,
            hiding,
            threads,
            journal=checkpoint.journal(run_identity(found, promise, hiding)),
            progress=progress,
            engine=machinery,
            periods=periods,
            min_spread_cells=hiding.min_spread_cells(grid),
        )
        outcome = replace(outcome, compile_seconds=compile_seconds)
        named = NamedBoxes(outcome.parts.in_parts(outcome.source), outcome.parts.sizes)
        outlooks = outlook_on_periods(found.store, promise, grid, zone) if periods.n_periods == 1 else []
        draft = Draft(found, outcome, promise, hiding, named, outlooks)

        def verified(written: object) -> Verification | None:
            if not verify:
                return None
            return verify_release(
                draft,
                written,
                workers=threads,
                progress=progress,
                folder=checkpoint.folder,
                run=_elsewhere(machinery),
            )

        if outputs is None:
            return Published.of(draft, verified(draft.table()) if verify else None)
        in_file = draft.reading_from(outputs.published.absolute())
        progress.stage("writing")
        published = write_outputs(
            outputs,
            draft,
            lambda written: Published.of(in_file, verified(written)),
            checkpoint=checkpoint,
            force=force,
            settings=settings,
        )
        if checkpoint.remove():
            return published
        warning = f"{outputs.checkpoint.name} could not be removed whole and holds secrets: remove it."
        return replace(published, warnings=(warning,))


class _AuditArguments(AuditKeywords, ReadingKeywords, total=False):
    """Options of audit(): AuditOptions and ReadingOptions."""


def audit(
    events: Any,
    published: Any,
    *,
    engine: str = "threads",
    cluster: str | None = None,
    config: str | Path | None = None,
    progress: Progress | None = None,
    **options: Unpack[_AuditArguments],
) -> Audit:
    """Attack a published file, shoal's own or anybody else's, and say what is and is not protected.

    ``events`` and ``published`` are paths or tables. The promise to hold the file to (``k`` with ``tau`` and
    ``epsilon``, or with ``whole``) is the file's own unless given. ``key`` tells which record is whose; what needs it
    is not checked without. ``cell``, ``step`` and ``crs`` are for files that do not tell theirs. Events are read with
    the options in the private notes beside a key that is a path, unless others are given; without such notes give those
    of anonymize(), so that the audit sees the same samples. ``attacks`` are drawn of each kind, others for another
    ``seed``. The promise is checked exactly; with a key, ``workers`` threads, processes (``engine``) or a ``cluster``
    do that as in anonymize(). ``config`` is a file of settings for what is not given.
    """
    progress = progress or SilentProgress()
    given = take_options("audit", options, config)
    how, reading = AuditOptions.from_keywords(given), ReadingOptions.from_keywords(given)
    with (
        open_audit(events, published, progress, how, reading) as (context, warnings),
        open_engine(engine, context.workers.count, cluster) as machinery,
    ):
        needed = [rehearsal_of_audit(context.parts is not None)]
        compile_ahead(needed, context.workers.count, progress)
        return run_audit(context, warnings, progress, run=_elsewhere(machinery))


def assess(
    events: Any,
    *,
    real: Any = None,
    cell: str = "100m",
    seed: int = 0,
    workers: int | None = None,
    progress: Progress | None = None,
    **reading: Unpack[ReadingKeywords],
) -> Credibility:
    """Say whether events look like people with phones: statistics, held to bands from the literature and real data.

    ``events`` and ``real`` are paths or tables; ``real`` ones, in the same ``cell`` and otherwise as they come, are
    measured beside them. A place is a cell. ``seed`` chooses whose points are drawn for the unicity. How events are
    read is said as in anonymize().
    """
    progress = progress or SilentProgress()
    refuse_unknown("assess", reading, ReadingOptions.names())
    how = ReadingOptions.from_keywords(reading)
    n_workers = check_workers(workers)
    seed = check_count(seed, "seed", least=0)
    grid = Grid.parse(cell, "1s")
    progress.stage("reading")
    found = read_events(events, grid=grid, options=how, threads=n_workers)
    beside = None if real is None else read_events(real, grid=grid, threads=n_workers)
    progress.stage("measuring")
    return assess_events(found, beside, seed=seed)


def warm_up(*, workers: int | None = None, progress: Progress | None = None) -> float:
    """Compile ahead what first runs would compile, in as many processes as ``workers`` says, 4 at most.

    That is for anonymize(), with all options but ``selector="spectral"``, and for audit(), plan(), sweep() and
    write_report(). Returns the seconds it took; 0 where everything was compiled already.
    """
    progress = progress or SilentProgress()
    n_workers = check_workers(workers)
    if not CACHE_IS_KEPT:
        raise UnfinishedError(
            "There is no folder to keep compiled code in: make the home folder writable, or name another in"
            " NUMBA_CACHE_DIR."
        )
    began = time.perf_counter()
    needed = not_compiled([*usual_rehearsals(), CHECK_REHEARSAL, *map(rehearsal_of_audit, (False, True))])
    if not needed:
        return 0.0
    compile_side_by_side(needed, n_workers, progress)
    return time.perf_counter() - began


def _elsewhere(engine: Engine) -> RunTasks | None:
    """What carries out chunks of a check, where an engine has several workers."""
    return engine.map if engine.n_tasks > 1 else None


def _outputs(
    output: str | Path | None,
    key_out: str | Path | None,
    summary_out: str | Path | None,
    save_config: str | Path | None,
    *,
    evidence: bool,
) -> Outputs | None:
    beside = [None if path is None else Path(path) for path in (key_out, summary_out, save_config)]
    if output is None:
        if any(path is not None for path in beside):
            raise ParameterError(
                "key_out, summary_out and save_config go with output: name the published file as well,"
                " or use Published.key() and Published.summary."
            )
        return None
    key, summary, settings = beside
    return Outputs(Path(output), key, summary, with_evidence=evidence, settings=settings)


def _paths(*inputs: object) -> list[Path]:
    """Those inputs that are files or folders."""
    return [Path(given) for given in inputs if isinstance(given, str | os.PathLike)]
