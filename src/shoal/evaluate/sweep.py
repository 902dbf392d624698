"""``shoal.sweep``: precision and suppression measured under many promises; an interrupted sweep can be resumed."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import replace
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar, Unpack

import pyarrow as pa

from shoal.core.checks import check_workers
from shoal.core.compiling import make_ready
from shoal.core.evaluation_options import GridKeywords, SweepKeywords, SweepOptions, grid_among
from shoal.core.formatting import counted
from shoal.core.interrupts import LeftBehind
from shoal.core.optional import as_pandas
from shoal.core.options import (
    HARDEN_DEFAULT,
    HidingKeywords,
    HidingOptions,
    ReadingKeywords,
    ReadingOptions,
    SelectorName,
)
from shoal.core.progress import Progress, listening
from shoal.core.settings import take_options
from shoal.core.showing import html_of, plot_of
from shoal.core.workers import Workers
from shoal.core.zones import Zone
from shoal.errors import InputError, NothingLeftError, UnfinishedError
from shoal.evaluate.measuring import Hour, Measured, measure, measure_hours, nothing_left
from shoal.evaluate.sweep_points import HOURS, Point, SweepPlan, plan_sweep
from shoal.hiding.pipeline import anonymize_samples, check_population, rehearsal_of
from shoal.reading import Events, read_events
from shoal.storage.files import make_private_folder, reason, write_private
from shoal.storage.locks import is_locked, take_lock

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Row = TypeVar("Row", Measured, Hour)


class Sweep(NamedTuple):
    """Every point measured, and the hours of the week for the points in the middle. A notebook shows it as a table and
    figures.

    Attributes
    ----------
    plan : SweepPlan
        The points of every axis.
    measured : dict of Point to Measured
        Precision, suppression and time of each release.
    hours : list of Hour
        Hour by hour, if asked for.
    warnings : list of str
        What looks wrong with the events.

    Examples
    --------
    >>> import shoal
    >>> found = shoal.sweep(shoal.make_city(100, seed=1), over=["k"], ks=[2], selectors=["matching"])
    >>> found.to_arrow().num_rows
    1
    >>> figure = found.plot(over="k", what="time")
    """

    plan: SweepPlan
    measured: dict[Point, Measured]
    hours: list[Hour]
    warnings: list[str]

    def __repr__(self) -> str:
        return f"<Sweep: {counted(len(self.measured), 'release')}; .to_arrow() has the figures>"

    def _repr_html_(self) -> str:
        return html_of(self)

    def to_arrow(self) -> pa.Table:
        """A row per point."""
        return pa.Table.from_pylist([row._asdict() for row in self.measured.values()])

    def to_pandas(self) -> Any:
        """A row per point, as a pandas data frame."""
        return as_pandas(self.to_arrow())

    def plot(self, over: str | None = None, what: str = "space") -> Figure:
        """Draw what the releases cost over one thing that varied.

        Parameters
        ----------
        over : {"tau", "k", "epsilon", "hours"}, optional
            The first that varied unless given.
        what : {"space", "time", "suppressed"}
            What is drawn.

        Returns
        -------
        matplotlib.figure.Figure
            Shown by notebooks as it is; ``savefig`` writes it.

        Raises
        ------
        ParameterError
            That did not vary, or is not measured.
        """
        return plot_of(self, over=over, what=what)

    def hours_to_arrow(self) -> pa.Table:
        """A row per selector and hour of the week; no rows unless asked for."""
        return pa.Table.from_pylist([row._asdict() for row in self.hours])


class _SweepArguments(SweepKeywords, GridKeywords, HidingKeywords, ReadingKeywords, total=False):
    """Options of sweep(): SweepOptions, the grid, HidingOptions but for NOT_EVALUATED, and ReadingOptions."""


def sweep(
    events: Any,
    *,
    workers: int | None = None,
    checkpoint: str | Path | None = None,
    resume: bool = False,
    config: str | Path | None = None,
    progress: Progress | bool | None = None,
    **options: Unpack[_SweepArguments],
) -> Sweep:
    """Measure precision and suppression as one thing varies: tau (with epsilon = tau), k, epsilon at a fixed ``tau``.

    A release is measured, not published: nothing of it is kept or checked.

    Parameters
    ----------
    events : path or table
        As in anonymize().
    workers : int, optional
        How many threads; all cores unless given.
    checkpoint : path, optional
        A folder in which points are kept, so that an interrupted sweep goes on with ``resume``.
    resume : bool
        Whether to go on with what ``checkpoint`` holds.
    config : path, optional
        A file of settings for all options that are not given.
    progress : bool or Progress, optional
        True for a bar, in notebooks and in terminals; or an object that is told of stages and steps.
    **options
        All that is listed below; ``space_weight``, ``reuse``, ``seed``, how events are read, as in anonymize(), and
        ``harden``, 1 unless given: releases that cannot be hardened have level 0, and every row says which it is; so
        with ``effort``, which is 1 where windows are not decided one by one.

    Other Parameters
    ----------------
    over : iterable of {"tau", "k", "epsilon", "hours"}
        What varies, all of these unless given; "hours" is the week of the release with ``k`` and ``tau`` alone, hour by
        hour.
    k, tau : int, str or timedelta
        What stays while something else varies; 2 and "30min" unless given.
    ks : sequence of int
        Values of k.
    taus, epsilons : sequence of str or timedelta
        Values of tau, and of epsilon, which must divide ``tau``: tau, its half and its third
        unless given.
    selectors : sequence of str, optional
        Ours and the paper's side by side unless given; ours alone where scikit-learn is not installed.
    cell, step : str
        The finest resolution, as in anonymize().

    Returns
    -------
    Sweep
        A row per release.

    Raises
    ------
    ParameterError
        A value makes no promise.
    InputError
        The events, or what the checkpoint holds, cannot be used.

    Examples
    --------
    >>> import shoal
    >>> found = shoal.sweep(shoal.make_city(100, seed=1), over=["k"], ks=[2, 3], selectors=["matching"])
    >>> [row.k for row in found.measured.values()]
    [2, 3]
    """
    given = take_options("sweep", options, config)
    reading = ReadingOptions.from_keywords(given)
    grid, wanted = grid_among(given), SweepOptions.from_keywords(given)
    selectors = _both() if wanted.selectors is None else wanted.selectors
    plan = plan_sweep(
        wanted.over,
        selectors=selectors,
        k=wanted.k,
        tau=wanted.tau,
        ks=wanted.ks,
        taus=wanted.taus,
        epsilons=wanted.epsilons,
        grid=grid,
    )
    hiding = {name: HidingOptions.from_keywords({**given, "selector": name}) for name in selectors}
    _check_level(plan, hiding)
    if given.get("harden") is None:
        hiding = {name: replace(each, harden=HARDEN_DEFAULT) for name, each in hiding.items()}
    n_workers = check_workers(workers)
    folder = None if checkpoint is None else Path(checkpoint)
    _check_resuming(folder, resume=resume)
    with listening(progress) as told, Workers(n_workers) as threads:
        told.stage("reading")
        found = read_events(events, grid=grid, options=reading, threads=n_workers)
        check_population(found.store.n_users, max(point.k for point in plan.points))
        identity = {
            "events": found.store.fingerprint(),
            "grid": [grid.cell_m, grid.step_s],
            "zone": found.timezone,
            "hiding": {name: each.to_dict() for name, each in hiding.items()},
            "version": version("shoal"),
        }
        with open_sweep_store(folder, identity, resume=resume) as store:
            make_ready([rehearsal_of(each) for each in hiding.values()], n_workers, told)
            return run_sweep(found, plan, hiding, threads, store, told)


def _both() -> list[str]:
    """Ours and the paper's selector, as far as they can be run here."""
    return [SelectorName.MATCHING, *([] if find_spec("sklearn") is None else [SelectorName.SPECTRAL])]


def _check_level(plan: SweepPlan, hiding: Mapping[str, HidingOptions]) -> None:
    """Refuse a level of hardening or effort, if one is given, that applies to no release of the sweep."""
    possible = [hiding[point.selector].hardened_where_possible(point.promise) for point in plan.points]
    first = plan.points[0]
    wanted = hiding[first.selector]
    if not any(options.harden for options in possible):
        replace(wanted, effort=1).for_promise(first.promise)
    if all(options.effort < wanted.effort for options in possible):
        replace(wanted, harden=0).for_promise(first.promise)


def _check_resuming(folder: Path | None, *, resume: bool) -> None:
    """Refuse to resume a sweep of which nothing was kept."""
    if resume and (folder is None or not folder.exists()):
        kept = "checkpoint was given" if folder is None else f"{folder.name} was found"
        raise InputError(
            f"--resume goes on with a sweep that was interrupted, but no {kept}: leave it out to begin one."
        )


def run_sweep(
    events: Events,
    plan: SweepPlan,
    hiding: Mapping[str, HidingOptions],
    workers: Workers,
    store: SweepStore,
    progress: Progress,
) -> Sweep:
    """Measure what the store does not hold yet."""
    by_hour = plan.middle if HOURS in plan.by_axis else []
    found = {point: _held(store, point, by_hour=point in by_hour) for point in plan.points}
    missing = [point for point, held in found.items() if held is None]
    progress.stage(f"making {counted(len(missing), 'release')}", len(missing))
    for point in missing:
        options = hiding[point.selector].hardened_where_possible(point.promise)
        row, hours = _measured(events, point, options, workers)
        store.put(f"{point.name}-hours.json", hours)
        store.put(f"{point.name}.json", row)
        found[point] = row, hours
        progress.advance()
    held = {point: each for point, each in found.items() if each is not None}
    return Sweep(
        plan,
        {point: row for point, (row, _) in held.items()},
        [hour for point in plan.points if point in by_hour for hour in held[point][1]],
        events.read_summary.all_warnings,
    )


def _held(store: SweepStore, point: Point, *, by_hour: bool) -> tuple[Measured, list[Hour]] | None:
    """What the store holds of a release; None where that is not all that is wanted."""
    row = _kept(store.get(f"{point.name}.json"), Measured)
    hours = _kept_all(store.get(f"{point.name}-hours.json"), Hour)
    if row is None or (by_hour and hours is None):
        return None
    return row, hours or []


def _measured(
    events: Events, point: Point, hiding: HidingOptions, workers: Workers
) -> tuple[Measured, list[Hour]]:
    """Make one release and measure it, hour by hour as well; a release of which nothing would be left counts, too."""
    try:
        outcome = anonymize_samples(events.samples, point.promise, hiding, workers)
    except NothingLeftError:
        return nothing_left(point, hiding, events.grid), []
    hours = measure_hours(events.samples, outcome, hiding, events.grid, Zone(events.timezone))
    return measure(outcome, point, hiding, events.grid), hours


def _kept(noted: Any, kind: type[Row]) -> Row | None:
    """A row from what the store has, or None if that is no row of this kind."""
    return kind(*noted) if isinstance(noted, list) and len(noted) == len(kind._fields) else None


def _kept_all(noted: Any, kind: type[Row]) -> list[Row] | None:
    rows = [_kept(row, kind) for row in noted] if isinstance(noted, list) else [None]
    return None if None in rows else [row for row in rows if row is not None]


# ---- points that are measured already -----------------------------------------------------------------------------

_HEADER, _LOCK = "sweep.json", "lock"
_FORMAT = 2  # of the folder of an unfinished sweep; 1 had no number


class SweepStore(Protocol):
    """Where a sweep keeps what it has measured, by name."""

    def get(self, name: str) -> Any:
        """What was kept under a name, or None."""

    def put(self, name: str, value: Any) -> None:
        """Keep a value."""


class MemorySweepStore:
    """What was measured, kept in memory: it ends with the process."""

    def __init__(self) -> None:
        self._kept: dict[str, Any] = {}

    def get(self, name: str) -> Any:
        """What was kept under a name, or None."""
        return self._kept.get(name)

    def put(self, name: str, value: Any) -> None:
        """Keep a value."""
        self._kept[name] = value


class FolderSweepStore:
    """A folder with a file per point. Its header identifies the sweep; the folder is private like the events (0700)."""

    def __init__(self, folder: Path, identity: dict[str, Any], *, resume: bool) -> None:
        self._folder = folder
        try:
            make_private_folder(folder, exist_ok=resume)
        except FileExistsError:
            if not folder.is_dir():
                raise InputError(
                    f"{folder.name} must become a folder but is a file: rename or remove it."
                ) from None
            raise InputError(
                f"Found {folder.name} of an unfinished sweep: add --resume to go on with it, or remove it."
            ) from None
        except OSError as error:
            raise _unwritable(error) from error
        noted, identity = self.get(_HEADER), {"format": _FORMAT, **identity}
        if not isinstance(noted, dict):
            self._clear()
            self.put(_HEADER, identity)
        elif noted.get("format") != _FORMAT:
            kind = "an older one" if "format" not in noted else f"format {noted['format']!r}"
            raise InputError(
                f"{folder.name} must be of format {_FORMAT}, found {kind}: resume it with the version of shoal that"
                " made it, or remove it."
            )
        elif noted != identity:
            raise InputError(
                f"{folder.name} belongs to a sweep of other events or settings:"
                " resume with the same, or remove it."
            )

    @property
    def is_empty(self) -> bool:
        """Whether nothing was measured so far."""
        return all(path.name == _HEADER for path in self._folder.glob("*.json"))

    def _clear(self) -> None:
        """Remove points that no readable header identifies."""
        try:
            for stale in self._folder.glob("*.json"):
                stale.unlink()
        except OSError as error:
            raise _unwritable(error) from error

    def get(self, name: str) -> Any:
        """What was kept under a name, or None."""
        try:
            return json.loads((self._folder / name).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None

    def put(self, name: str, value: Any) -> None:
        """Keep a value; it appears whole or not at all."""
        try:
            unfinished = self._folder / f"{name}.part"
            with write_private(unfinished) as file:
                file.write(json.dumps(value).encode())
            unfinished.replace(self._folder / name)
        except OSError as error:
            raise _unwritable(error) from error


@contextlib.contextmanager
def open_sweep_store(folder: Path | None, identity: dict[str, Any], *, resume: bool) -> Iterator[SweepStore]:
    """Where a sweep with this identity keeps what it has measured: a folder, or memory where there is none."""
    if folder is None:
        yield MemorySweepStore()
        return
    busy = InputError(
        f"Another sweep is still at work on {folder.name}: wait for it, or choose another output."
    )
    if is_locked(folder / _LOCK):
        raise busy
    store = FolderSweepStore(folder, identity, resume=resume)
    lock = take_lock(folder / _LOCK)
    if lock is None:
        raise busy
    try:
        yield store
    except BaseException as error:
        if store.is_empty:
            remove(folder)
        else:
            error.add_note(
                LeftBehind(
                    f"{folder.name} is left, readable by you alone, with what was measured: go on with --resume, or"
                    " remove it."
                )
            )
        raise
    finally:
        os.close(lock)


def checkpoint_of(output: Path) -> Path:
    """Where a sweep into a folder keeps what it has measured."""
    return output.with_name(output.name + ".checkpoint")


def remove(checkpoint: Path) -> None:
    """Remove what an unfinished sweep kept."""
    shutil.rmtree(checkpoint, ignore_errors=True)


def _unwritable(error: OSError) -> UnfinishedError:
    return UnfinishedError(
        f"Could not keep what was measured ({reason(error)}): make room or mend that, then go on with --resume."
    )
