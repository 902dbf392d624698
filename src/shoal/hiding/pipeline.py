"""From samples to boxes: a selector decides who is published when, then the fold goes over the epochs.

``anonymize_samples`` is all of hiding in one call; ``open_selector`` is the place where a selector is chosen.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from shoal.core.box_sizes import BoxSizes, box_sizes_of
from shoal.core.boxes import Boxes, BoxSource, concatenate
from shoal.core.compiling import Rehearsal
from shoal.core.engines import Engine, LocalEngine
from shoal.core.formatting import counted
from shoal.core.options import HidingOptions, Reuse, SelectorName
from shoal.core.parts import Parts, find_parts
from shoal.core.periods import ONE_PERIOD, Periods
from shoal.core.progress import Progress, SilentProgress
from shoal.core.promise import MOST_SLOTS, Promise
from shoal.core.samples import Samples, samples_from_columns
from shoal.core.workers import Workers
from shoal.errors import InputError, NothingLeftError
from shoal.hiding.epochs import Timeline
from shoal.hiding.evidence import HiddenMembers, count_services, hidden_members
from shoal.hiding.fold import Fold
from shoal.hiding.journal import Journal, MemoryJournal
from shoal.hiding.matching.selector import MatchingSelector
from shoal.hiding.mutual.selector import MutualSelector
from shoal.hiding.selector import HidingSetup, Selector
from shoal.hiding.spectral.selector import SpectralSelector
from shoal.hiding.suppression import Presence
from shoal.storage.sample_store import SampleStore, store_of
from shoal.utility.read_share import read_share

_SELECTORS: dict[SelectorName, Callable[[HidingSetup], Selector]] = {
    SelectorName.MATCHING: MatchingSelector,
    SelectorName.MUTUAL: MutualSelector,
    SelectorName.SPECTRAL: SpectralSelector,
}

_TOY_PROMISE = Promise(2, 2, 2)


@dataclass(frozen=True)
class Outcome:
    """What was made of the samples: where the boxes are, in which parts, how large they are, how long it took.

    source: boxes whose owners are users. epoch_suppressed_samples: samples that people with a record have in no box.
    relaxations: members that served an owner again although the reuse rule forbids it, counted in each of their parts
    where names change; n_members: members that served in all. affected_users: users with samples in no box, the
    recordless among them. estimated_below_k: in which share of attacks somebody who links windows is left with fewer
    than k records, as hardening estimates; None without hardening.
    read_share: see shoal.utility. hidden: which records were made to hold whose samples, and
    when; secret, read from the journal as often as needed. compile_seconds: how long compiling took
    before, on first use; not among the ``seconds`` of hiding.
    """

    source: BoxSource
    parts: Parts
    box_sizes: BoxSizes
    n_samples: int
    n_users: int
    epoch_suppressed_samples: int
    affected_users: int
    recordless_users: int
    recordless_samples: int
    n_members: int
    relaxations: int
    estimated_below_k: float | None
    read_share: float
    seconds: float
    hidden: Callable[[], Iterator[HiddenMembers]]
    compile_seconds: float = 0.0

    def __repr__(self) -> str:
        return f"<Outcome: {counted(self.n_records, 'record')}, {counted(self.n_boxes, 'box', 'boxes')}>"

    @cached_property
    def boxes(self) -> Boxes:
        """All boxes in memory, each owner's together and by time."""
        return concatenate(self.source).by_owner()

    @property
    def n_boxes(self) -> int:
        """Boxes in all records."""
        return self.box_sizes.n_boxes

    @property
    def n_records(self) -> int:
        """Records in the published file: parts, where names change."""
        return len(self.parts)

    @property
    def n_suppressed(self) -> int:
        """Samples that lie in no box."""
        return self.epoch_suppressed_samples + self.recordless_samples


def anonymize_samples(
    samples: Samples | SampleStore,
    promise: Promise,
    options: HidingOptions,
    workers: Workers,
    *,
    journal: Journal | None = None,
    progress: Progress | None = None,
    engine: Engine | None = None,
    periods: Periods = ONE_PERIOD,
    min_spread_cells: int = 1,
) -> Outcome:
    """Publish the samples under the promise; goes on where the journal ends. With each period names change.

    min_spread_cells: how many cells the longer side of every box has at least (options.min_spread, on the grid).

    The engine decides tasks of windows; without one everything happens here, on the threads of ``workers``.
    """
    began = time.perf_counter()
    progress = progress or SilentProgress()
    journal = MemoryJournal() if journal is None else journal
    check_population(samples.n_users, promise.k)
    store = store_of(samples) if isinstance(samples, Samples) else samples
    _check_span(store, promise)
    timeline = Timeline(store, promise, periods)
    turns = list(timeline.turns())
    setup = HidingSetup(samples.n_users, promise, options, workers, engine or LocalEngine(), min_spread_cells)
    selector = open_selector(setup)
    presence = selector.find_presence(timeline, progress)
    if presence.nothing_left:
        raise NothingLeftError(
            f"Everything would be suppressed, as no {promise.k} users come and go alike:"
            " choose a smaller k, a longer epsilon, or add users."
        )
    fold = Fold(setup, timeline, selector)
    progress.stage("hiding", len(turns))
    done = iter(journal)
    resumed = len(journal)
    for number, (epoch, ends_stretch) in enumerate(turns):
        newest = presence.of(timeline.slice(epoch))
        if number < resumed:
            fold.replay(newest, next(done), ends_stretch=ends_stretch)
        else:
            journal.append(fold.advance(newest, ends_stretch=ends_stretch))
        progress.advance()
    seconds = time.perf_counter() - began
    return _outcome(
        store, timeline, presence, journal, promise, options.reuse, fold.estimated_below_k, seconds
    )


def open_selector(setup: HidingSetup) -> Selector:
    """The selector that the options name, or that goes with the promise."""
    return _SELECTORS[setup.options.selector_for(setup.promise)](setup)


def prepare(options: HidingOptions, promise: Promise = _TOY_PROMISE) -> None:
    """Load the compiled code, or compile it once after installation, by anonymizing five synthetic users.

    They stay for several windows, pairs of them always at one place, so that every kernel is called. Over whole
    trajectories other kernels are, and others again for k = 2.
    """
    n_users, n_slots = 5, 12
    user, t = np.divmod(np.arange(n_users * n_slots), n_slots)
    toy = samples_from_columns(np.array(list("abcde"), object), user, t, (user // 2) * 50, t % 3)
    with Workers(1) as workers:
        toy_promise = Promise(min(promise.k, 3), None, None) if promise.whole else _TOY_PROMISE
        anonymize_samples(toy, toy_promise, options, workers)


def rehearsal_of(options: HidingOptions, promise: Promise = _TOY_PROMISE) -> Rehearsal:
    """What calls the kernels of a run with these options: ``prepare``."""
    kind = f"whole trajectories, k {min(promise.k, 3)}" if promise.whole else "windows"
    chosen = [f"{options.selector_for(promise)}", f"reuse {options.reuse}"]
    chosen += [word for word, yes in (("hardened", options.harden), ("repaired", options.repair)) if yes]
    return Rehearsal(f"hiding: {kind}, {', '.join(chosen)}", partial(prepare, options, promise))


def usual_rehearsals() -> list[Rehearsal]:
    """What calls the kernels of runs of our own selectors, whatever their options are."""
    windows = [
        rehearsal_of(HidingOptions(selector=selector, reuse=reuse, harden=harden).for_promise(_TOY_PROMISE))
        for selector, harden in (
            (SelectorName.MATCHING, 0),
            (SelectorName.MATCHING, 1),
            (SelectorName.MUTUAL, 0),
        )
        for reuse in Reuse
    ]
    whole = [
        rehearsal_of(HidingOptions(selector=selector).for_promise(promise), promise)
        for promise in (Promise(2, None, None), Promise(3, None, None))
        for selector in (SelectorName.MUTUAL, SelectorName.MATCHING)
    ]
    return [*windows, *whole]


def check_population(n_users: int, k: int) -> None:
    """Refuse data in which nobody could be hidden."""
    if n_users < k:
        raise InputError(
            f"k = {k} needs at least {k} users with usable rows, found {n_users}: add users or lower k."
        )


def _check_span(store: SampleStore, promise: Promise) -> None:
    """Refuse data so long, for so short a step, that its slots or epochs cannot be counted."""
    span = int(store.slots[-1] - store.slots[0]) + 1
    if span // (promise.epsilon or 1) > MOST_SLOTS:
        unit = "steps" if promise.epsilon is None else "epochs"
        raise InputError(
            f"The events span {span // (promise.epsilon or 1):,} {unit}, more than {MOST_SLOTS:,}:"
            " leave stray times out with --from and --to, or choose a longer step."
        )


def _outcome(
    samples: SampleStore,
    timeline: Timeline,
    presence: Presence,
    journal: Journal,
    promise: Promise,
    reuse: Reuse,
    estimated_below_k: float | None,
    seconds: float,
) -> Outcome:
    """Sums over all steps; the boxes themselves stay in the journal."""
    n_members, relaxations = 0, 0
    box_sizes = box_sizes_of(concatenate([]))
    for step in journal:
        box_sizes = box_sizes.plus(box_sizes_of(step.boxes))
        if step.hiding_sets is not None:
            n_members += step.hiding_sets.n_members
            relaxations += int(step.hiding_sets.relaxed.sum())
    hidden = partial(hidden_members, journal, timeline, presence)
    if timeline.periods.n_periods > 1:
        window = samples.slots[-1] + 1 - samples.slots[0] if promise.whole else int(promise.window)
        n_members, again = count_services(hidden(), timeline.periods, samples.n_users, int(window))
        relaxations = relaxations if reuse is Reuse.SPACED else again
    source = BoxSource(lambda: (step.boxes for step in journal))
    return Outcome(
        source=source,
        parts=find_parts(source, timeline.periods, samples.n_users),
        box_sizes=box_sizes,
        n_samples=len(samples),
        n_users=samples.n_users,
        epoch_suppressed_samples=presence.epoch_samples,
        affected_users=presence.n_users_affected,
        recordless_users=int(presence.recordless.sum()),
        recordless_samples=presence.recordless_samples,
        n_members=n_members,
        relaxations=relaxations,
        estimated_below_k=estimated_below_k,
        read_share=read_share(samples, timeline.periods),
        seconds=seconds,
        hidden=hidden,
    )
