"""``shoal.compare``: the methods of the paper's comparison on the same k-tuples of users, and on whole datasets."""

from __future__ import annotations

import time
from collections.abc import Sequence
from enum import StrEnum
from typing import Any, NamedTuple, Unpack

import numpy as np
import pyarrow as pa

from shoal.core.arrays import Int32s
from shoal.core.checks import check_count, check_workers, told
from shoal.core.evaluation_options import as_list
from shoal.core.formatting import counted
from shoal.core.option_fields import refuse_unknown
from shoal.core.optional import as_pandas
from shoal.core.options import HidingOptions, ReadingKeywords, ReadingOptions, SelectorName
from shoal.core.progress import Progress, listening
from shoal.core.promise import Duration, Grid, Promise
from shoal.core.samples import Samples
from shoal.core.showing import html_of
from shoal.core.workers import Workers
from shoal.errors import ParameterError
from shoal.evaluate.baselines import PAPER_GRIDS, W4M, Glove, KMerge, Method, Static, draw_tuples, on_tuples
from shoal.evaluate.baselines.tuples import only
from shoal.hiding.epochs import LiveEpoch, Timeline
from shoal.hiding.matching.candidates import nearest_members
from shoal.hiding.pipeline import anonymize_samples, check_population, prepare
from shoal.hiding.window import build_window
from shoal.reading import read_events
from shoal.utility import precision_of

KS = (2, 5, 8)
TUPLES, WHOLE = "tuples", "whole"
OURS = "shoal"
MOST_COMPARED = 1_000  # users: GLOVE and W4M compare all pairs of whole trajectories


class TupleDraw(StrEnum):
    """How tuples are drawn."""

    RANDOM = "random"  # any users
    NEAR = "near"  # a random user with the users cheapest to merge with


class Compared(NamedTuple):
    """A method at one k: on random tuples (means over them), or on a whole dataset. Shares are of the samples.

    ``space_km`` is the paper's column: width plus height of a box, of W4M how far a point was moved.
    """

    on: str
    method: str
    k: int
    success: float
    time_min: float
    space_km: float
    suppressed: float
    trashed: float
    created: float
    deleted: float
    seconds: float


class Comparison(NamedTuple):
    """How other methods fare: all rows, and how many tuples and users they are of. A notebook shows it as tables.

    Attributes
    ----------
    rows : list of Compared
        A method at one k, on tuples or on whole trajectories.
    drawn : TupleDraw
        How tuples were drawn.
    n_tuples, n_users, n_whole_users : int
        How many.
    warnings : list of str
        What was left out, and what looks wrong with the events.

    Examples
    --------
    >>> import shoal
    >>> found = shoal.compare(shoal.make_city(60, seed=1), ks=[2], tuples=3, whole_users=0)
    >>> found
    <Comparison: 6 rows; .to_arrow() has the figures>
    >>> found.to_pandas().columns[:3].tolist()
    ['on', 'method', 'k']
    """

    rows: list[Compared]
    drawn: TupleDraw
    n_tuples: int
    n_users: int
    n_whole_users: int
    warnings: list[str]

    def __repr__(self) -> str:
        return f"<Comparison: {counted(len(self.rows), 'row')}; .to_arrow() has the figures>"

    def _repr_html_(self) -> str:
        return html_of(self)

    def to_arrow(self) -> pa.Table:
        """A row per method, k and kind."""
        return pa.Table.from_pylist([row._asdict() for row in self.rows])

    def to_pandas(self) -> Any:
        """A row per method, k and kind, as a pandas data frame."""
        return as_pandas(self.to_arrow())


def methods_on_tuples(grid: Grid, seed: int) -> dict[str, Method]:
    """The columns of the paper's table. It says that GLOVE merges every tuple, so its suppression is off."""
    return {KMerge.name: KMerge(grid), **_others(grid, seed), Glove.name: Glove(grid, limits=None)}


def methods_on_datasets(grid: Grid, seed: int, n_users: int) -> dict[str, Method]:
    """The methods as their authors run them, as far as the number of users allows; k-merge chooses no groups."""
    methods = {**_others(grid, seed), Glove.name: Glove(grid)}
    return {
        name: method
        for name, method in methods.items()
        if n_users <= MOST_COMPARED or name not in (W4M.name, Glove.name)
    }


def _others(grid: Grid, seed: int) -> dict[str, Method]:
    statics = {
        f"{Static.name} {time} {space}": Static.parse(time, space, grid) for time, space in PAPER_GRIDS
    }
    return {**statics, W4M.name: W4M(grid, seed=seed)}


def compare(
    events: Any,
    *,
    ks: Sequence[int] = KS,
    tuples: int = 100,
    drawn: str = TupleDraw.RANDOM,
    whole_users: int = 200,
    cell: str = "100m",
    step: Duration = "1min",
    seed: int = 0,
    workers: int | None = None,
    progress: Progress | bool | None = None,
    **reading: Unpack[ReadingKeywords],
) -> Comparison:
    """Hide the same k-tuples of users with every method of the paper's table, and whole trajectories as well.

    Every method runs on one core. k-merge chooses no groups, so for whole trajectories shoal itself stands in its
    place.

    Parameters
    ----------
    events : path or table
        As in anonymize().
    ks : sequence of int
        Values of k.
    tuples : int
        How many tuples for each k.
    drawn : {"random", "near"}
        Tuples of any users; or of a random user with those cheapest to hide among.
    whole_users : int
        Whose whole trajectories to hide, drawn at random; 0 leaves that out. GLOVE and W4M take part up to 1,000.
    cell, step : str
        The finest resolution, as in anonymize().
    seed : int
        Another seed draws other tuples.
    workers : int, optional
        How many threads draw tuples; all cores unless given.
    progress : bool or Progress, optional
        True for a bar, in notebooks and in terminals; or an object that is told of stages and steps.
    **reading
        How events are read, as in anonymize().

    Returns
    -------
    Comparison
        A row per method, k and kind.

    Raises
    ------
    ParameterError
        A value makes no sense.
    InputError
        The events cannot be used as they are.

    Examples
    --------
    >>> import shoal
    >>> found = shoal.compare(shoal.make_city(60, seed=1), ks=[2], tuples=3, whole_users=0)
    >>> sorted({row.method for row in found.rows})
    ['glove', 'k-merge', 'static 2h 4km', 'static 4h 10km', 'static 8h 20km', 'w4m']
    """
    refuse_unknown("compare", reading, ReadingOptions.names())
    how = ReadingOptions.from_keywords(reading)
    grid = Grid.parse(cell, step)
    ks = as_list(ks)
    if not ks:
        raise ParameterError("ks must name at least one k, got none.")
    ks = sorted({Promise(k, None, None).k for k in ks})
    _check_drawn(drawn)
    n_tuples = check_count(tuples, "tuples", least=1)
    n_whole = check_count(whole_users, "--whole-users", least=0)
    if 0 < n_whole < ks[-1]:
        raise ParameterError(f"--whole-users must be at least {ks[-1]}, the largest k, or 0, got {n_whole}.")
    seed = check_count(seed, "seed", least=0)
    n_workers = check_workers(workers)
    rows = []
    with listening(progress) as told, Workers(n_workers) as threads:
        told.stage("reading")
        found = read_events(events, grid=grid, options=how, threads=n_workers)
        samples = found.samples
        check_population(samples.n_users, ks[-1])
        n_whole = min(n_whole, samples.n_users)
        told.stage("drawing tuples")
        tuples_of = draw(TupleDraw(drawn), samples, ks, n_tuples, seed, threads)
        for k, members in tuples_of.items():
            for name, method in methods_on_tuples(grid, seed).items():
                told.stage(f"{name}, {n_tuples} tuples of {k}")
                rows.append(_on_tuples(name, method, members, k))
        if n_whole:
            chosen = np.random.default_rng(seed).choice(samples.n_users, n_whole, replace=False)
            rows += _whole(only(samples, chosen), ks, grid, seed, told)
    warnings = found.read_summary.all_warnings
    if n_whole > MOST_COMPARED:
        warnings.append(
            f"GLOVE and W4M are left out of whole trajectories of more than {MOST_COMPARED:,} users."
        )
    return Comparison(rows, TupleDraw(drawn), n_tuples, samples.n_users, n_whole, warnings)


def _whole(samples: Samples, ks: Sequence[int], grid: Grid, seed: int, progress: Progress) -> list[Compared]:
    rows = []
    for k in ks:
        progress.stage(f"{OURS}, {samples.n_users} users, k {k}")
        rows.append(_ours(samples, k, grid, seed))
        for name, method in methods_on_datasets(grid, seed, samples.n_users).items():
            progress.stage(f"{name}, {samples.n_users} users, k {k}")
            rows.append(_on_dataset(name, method, samples, k, progress))
    return rows


def _on_tuples(name: str, method: Method, members: Sequence[Samples], k: int) -> Compared:
    began = time.perf_counter()
    found = on_tuples(method, members, k)
    return Compared(TUPLES, name, k, *found, time.perf_counter() - began)


def _on_dataset(name: str, method: Method, samples: Samples, k: int, progress: Progress) -> Compared:
    began = time.perf_counter()
    result = method(samples, k, progress)
    seconds, n = time.perf_counter() - began, len(samples)
    return Compared(
        WHOLE,
        name,
        k,
        float(result.hidden.mean()),
        result.precision.time_minutes,
        result.precision.space_km,
        suppressed=result.counts.suppressed / n,
        trashed=result.counts.trashed / n,
        created=result.counts.created / n,
        deleted=result.counts.deleted / n,
        seconds=seconds,
    )


def _ours(samples: Samples, k: int, grid: Grid, seed: int) -> Compared:
    hiding = HidingOptions(selector=SelectorName.MATCHING, seed=seed)
    prepare(hiding)
    with Workers(1) as alone:
        outcome = anonymize_samples(samples, Promise(k, None, None), hiding, alone)
    spread = precision_of(outcome.box_sizes, grid)
    return Compared(
        WHOLE,
        OURS,
        k,
        outcome.n_records / outcome.n_users,
        spread.time_minutes.mean,
        spread.width_plus_height_km.mean,
        outcome.n_suppressed / outcome.n_samples,
        trashed=0.0,
        created=0.0,
        deleted=0.0,
        seconds=outcome.seconds,
    )


# ---- tuples -------------------------------------------------------------------------------------------------------


def draw(
    how: TupleDraw, samples: Samples, ks: Sequence[int], count: int, seed: int, workers: Workers
) -> dict[int, list[Samples]]:
    """``count`` tuples for every k; the same seed gives the same tuples."""
    if how is TupleDraw.RANDOM:
        return {k: draw_tuples(samples, k, count, seed) for k in ks}
    ranked = _random_users_with_their_nearest(samples, max(ks) - 1, count, seed, workers)
    return {k: [only(samples, users[:k].astype(np.int64)) for users in ranked] for k in ks}


def _random_users_with_their_nearest(
    samples: Samples, width: int, count: int, seed: int, workers: Workers
) -> Int32s:
    """A line per tuple: a user, then the users whose whole trajectories merge with this user's at the least cost."""
    timeline = Timeline(samples, Promise(2, None, None))
    everything = timeline.slice(int(timeline.epochs[0]))
    rank = np.arange(samples.n_users, dtype=np.int32)
    arrays = build_window([LiveEpoch(everything, everything.raw)], samples.n_users, rank, 1.0, workers)
    rng = np.random.default_rng(seed)
    drawn = np.concatenate([rng.permutation(samples.n_users) for _ in range(-(-count // samples.n_users))])[
        :count
    ]
    owners = arrays.place[drawn]
    members, _ = nearest_members(arrays, owners, width, workers)
    users: Int32s = arrays.user[np.column_stack([owners, members])]
    return users


def _check_drawn(drawn: object) -> None:
    if drawn not in set(TupleDraw):
        raise ParameterError(f"drawn must be one of {', '.join(TupleDraw)}, got {told(drawn)}.")
