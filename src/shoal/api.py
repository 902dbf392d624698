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
from shoal.core.progress import Progress, listening
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
    progress: Progress | bool | None = None,
    **options: Unpack[ReleaseKeywords],
) -> Published:
    """Publish events under k^{tau,epsilon}-anonymity.

    What is published is first read back and checked, every user and every interval.

    Parameters
    ----------
    events : path or table
        Who was where, when: a file, a folder, a file open for reading bytes, a pandas, polars or pyarrow table, or what
        geopandas, trackintel, MovingPandas or scikit-mobility make of one (docs/ecosystem.md). An index of times is the
        time where no column is.
    strict : bool
        Whether rows that cannot be used are an error.
    workers : int, optional
        How many threads or processes; all cores unless given.
    engine : {"threads", "processes"}
        What the workers are; the boxes are the same (docs/scaling.md).
    cluster : str, optional
        The address of a Dask scheduler whose workers decide instead.
    output, key_out, summary_out : path, optional
        Files to write: the release, who is who (secret), exact figures. Beside the key are private notes of how the
        events were read and, unless ``evidence`` is False, which record was made to hold whom (docs/formats.md).
        Without ``output`` the release stays in memory; ``Published.write`` writes it later.
    config : path, optional
        A file of settings (docs/formats.md) for all options that are not given.
    save_config : path, optional
        Where to write a file of settings with which the release can be repeated.
    force : bool
        Whether files that exist are replaced.
    resume : bool
        Whether to go on where a run with the same ``output`` was killed.
    verify : bool
        Whether to check the release before it is published.
    evidence : bool
        Whether to write evidence beside the key.
    progress : bool or Progress, optional
        True for a bar, in notebooks and in terminals; or an object that is told of stages and steps.
    **options
        All that is listed below.

    Other Parameters
    ----------------
    k : int
        Everybody is hidden among at least k records. Must be given.
    tau, epsilon : str or timedelta
        For how long somebody may have been followed, and how much more may be learnt, such as "30min". Epsilon divides
        tau.
    whole : bool
        Hide whole trajectories instead; no tau, no epsilon.
    cell, step : str
        The finest resolution published, in space ("100m") and in time ("1min").
    selector : {"matching", "mutual", "spectral"}
        How hiding sets are chosen. "mutual" hides users in groups of k who all hide each other, which costs more; with
        ``whole`` it is chosen unless given, and the records of a group are identical. "spectral" is the paper's own,
        which does not give guarantee 1: the check then measures what is missing instead of refusing it.
    repair : bool
        With "spectral": suppress more, until guarantee 1 is given.
    reuse : {"once", "pair", "spaced"}
        How often two users may hide each other.
    space_weight : float
        1 counts space and time alike; 2 buys precision in space with precision in time.
    seed : int
        Breaks ties; the same seed gives the same boxes.
    harden : int, optional
        0 to 3: how seldom an attacker who knows the method and links windows may be left with fewer than k records. 1,
        2 and 3 aim at 10, 5 and 2 % of attacks (docs/hardening.md); 1 unless given, 0 where there is nothing to harden.
    min_spread : str, optional
        With ``whole``: how far apart people of a group were at least in every box, such as "1km".
    shard_size : int
        The most users among whom hiding sets are chosen.
    rename_every : str or timedelta
        "never", or after which time ("1d", "6h") everybody gets a new name, on the clock of ``timezone``
        (docs/new-names.md).
    format : str, optional
        A format of docs/formats.md; recognised where there is no doubt.
    columns : mapping, optional
        From roles (user, time, lat, lon, x, y, site) to names of columns.
    sites : path or table, optional
        Positions of sites, for events with a site instead of a position.
    timezone : str, optional
        Of times without a zone; that of the format, or UTC, unless given.
    time_format : str, optional
        How times are written, as for strptime; recognised where there is no doubt.
    start, end : str or datetime, optional
        Leave out events before and from these times on.
    missing_user : str or sequence of str, optional
        What stands for no user besides an empty cell; NULL, NA, NaN, None and - unless given, "" for nothing.
    exclude_users : path or list of str, optional
        Users to leave out.
    min_days_active : int, optional
        Leave out users with events on fewer days.
    bbox : str or sequence of float, optional
        Leave out events elsewhere: W, S, E, N.
    resample : str or timedelta, optional
        Keep only the first sample of each user in each period.
    query : str, optional
        What to read from a SQLite or DuckDB file.

    Returns
    -------
    Published
        The release: its table, the key, the manifest, a summary.

    Raises
    ------
    ParameterError
        With these parameters no promise can be given.
    InputError
        The events, or the files to write, cannot be used as they are.
    UnfinishedError
        The work could not be finished, and nothing was published.

    Examples
    --------
    >>> import shoal
    >>> events = shoal.make_city(100, seed=1)
    >>> published = shoal.anonymize(events, k=2, tau="30min", epsilon="30min")
    >>> published
    <Published: 100 records, 751 boxes, k = 2, tau = 30 min, epsilon = 30 min, verified>
    """
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
    read = [*_paths(events, config), *reading.files]
    if outputs is not None:
        check_outputs(outputs, read, force=force, resume=resume)
    with (
        listening(progress) as told,
        reserve_outputs(outputs),
        open_checkpoint(None if outputs is None else outputs.checkpoint, resume=resume) as checkpoint,
        Workers(n_workers) as threads,
        open_engine(engine, n_workers, cluster) as machinery,
    ):
        told.stage("reading")
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
        compile_seconds = make_ready(needed, n_workers, told)
        slots, zone = found.store.slots, Zone(found.timezone)
        periods = find_periods(hiding.rename_s, int(slots[0]), int(slots[-1]), promise, grid, zone)
        outcome = anonymize_samples(
            found.store,
            promise,
            hiding,
            threads,
            journal=checkpoint.journal(run_identity(found, promise, hiding)),
            progress=told,
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
                progress=told,
                folder=checkpoint.folder,
                run=_elsewhere(machinery),
            )

        if outputs is None:
            made = Published.of(draft, verified(draft.table()) if verify else None)
            return replace(made, inputs=tuple(read))
        in_file = draft.reading_from(outputs.published.absolute())
        told.stage("writing")
        published = write_outputs(
            outputs,
            draft,
            lambda written: Published.of(in_file, verified(written)),
            checkpoint=checkpoint,
            force=force,
            settings=settings,
        )
        published = replace(published, output=outputs.published.absolute(), inputs=tuple(read))
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
    progress: Progress | bool | None = None,
    **options: Unpack[_AuditArguments],
) -> Audit:
    """Attack a published file, shoal's own or anybody else's, and say what is and is not protected.

    The promise is checked exactly, for every user and every interval; then attackers try what is not promised.

    Parameters
    ----------
    events : path or table
        The events from which the file was made.
    published : path, table or Published
        What was published.
    engine, cluster : str
        Who carries out the exact check where there is a key, as in anonymize().
    config : path, optional
        A file of settings for all options that are not given.
    progress : bool or Progress, optional
        True for a bar, in notebooks and in terminals; or an object that is told of stages and steps.
    **options
        All that is listed below, and how events are read, as in anonymize().

    Other Parameters
    ----------------
    k, tau, epsilon, whole : int, str or timedelta, str or timedelta, bool
        The promise to hold the file to; the file's own unless given.
    key : path or table, optional
        Which record is whose. What needs it is not checked without. Beside a key that is a path lie private notes:
        events are read as these say, unless options of reading are given.
    cell, step, crs, rename_every : str, str or timedelta, str, str or timedelta
        Of a file that does not tell its own.
    tolerance : float
        For which share of the members a guarantee may be weakened before the file fails.
    moderate, high : float
        From which share of attacks that succeed on a risk is called so.
    attacks : int
        How many are drawn of each kind.
    seed : int
        Another seed draws other attacks.
    workers : int, optional
        How many threads or processes; all cores unless given.

    Returns
    -------
    Audit
        What was checked and measured; ``verdict`` says it in words.

    Raises
    ------
    InputError
        Events, file and key cannot be used, or do not belong together.

    Examples
    --------
    >>> import shoal
    >>> events = shoal.make_city(100, seed=1)
    >>> published = shoal.anonymize(events, k=2, tau="30min", epsilon="30min")
    >>> audit = shoal.audit(events, published, key=published.key(), attacks=50)
    >>> audit.coverage.kept
    True
    >>> str(audit.verdict.rating)
    'high'
    """
    given = take_options("audit", options, config)
    how, reading = AuditOptions.from_keywords(given), ReadingOptions.from_keywords(given)
    with (
        listening(progress) as told,
        open_audit(events, published, told, how, reading) as (context, warnings),
        open_engine(engine, context.workers.count, cluster) as machinery,
    ):
        needed = [rehearsal_of_audit(context.parts is not None)]
        compile_ahead(needed, context.workers.count, told)
        return run_audit(context, warnings, told, run=_elsewhere(machinery))


def assess(
    events: Any,
    *,
    real: Any = None,
    cell: str = "100m",
    seed: int = 0,
    workers: int | None = None,
    progress: Progress | bool | None = None,
    **reading: Unpack[ReadingKeywords],
) -> Credibility:
    """Say whether events look like people with phones: statistics, held to bands from the literature and real data.

    Parameters
    ----------
    events : path or table
        The events to judge.
    real : path or table, optional
        Real events to measure beside them, in the same cell and otherwise as they come.
    cell : str
        What counts as one place.
    seed : int
        Chooses whose points are drawn for the unicity.
    workers : int, optional
        How many threads read; all cores unless given.
    progress : bool or Progress, optional
        True for a bar, in notebooks and in terminals; or an object that is told of stages and steps.
    **reading
        How events are read, as in anonymize().

    Returns
    -------
    Credibility
        Every statistic with its band.

    Raises
    ------
    InputError
        The events cannot be read, or are of too few users or hours.

    Examples
    --------
    >>> import shoal
    >>> shoal.assess(shoal.make_city(300, seed=1)).credible
    True
    """
    refuse_unknown("assess", reading, ReadingOptions.names())
    how = ReadingOptions.from_keywords(reading)
    n_workers = check_workers(workers)
    seed = check_count(seed, "seed", least=0)
    grid = Grid.parse(cell, "1s")
    with listening(progress) as told:
        told.stage("reading")
        found = read_events(events, grid=grid, options=how, threads=n_workers)
        beside = None if real is None else read_events(real, grid=grid, threads=n_workers)
        told.stage("measuring")
        return assess_events(found, beside, seed=seed)


def warm_up(*, workers: int | None = None, progress: Progress | bool | None = None) -> float:
    """Compile ahead what first runs would compile.

    That is for anonymize(), with all options but ``selector="spectral"``, and for audit(), plan(), sweep() and
    write_report().

    Parameters
    ----------
    workers : int, optional
        In how many processes, 4 at most; as many as there are cores unless given.
    progress : bool or Progress, optional
        True for a bar, in notebooks and in terminals; or an object that is told of stages and steps.

    Returns
    -------
    float
        The seconds it took; 0 where everything was compiled already.

    Raises
    ------
    UnfinishedError
        There is no folder to keep compiled code in.

    Examples
    --------
    >>> import shoal
    >>> seconds = shoal.warm_up(progress=True)  # doctest: +SKIP
    """
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
    with listening(progress) as told:
        compile_side_by_side(needed, n_workers, told)
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
