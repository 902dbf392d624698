"""From samples to boxes: a selector decides who is published when, then the fold goes over the epochs.

``anonymize_samples`` is all of hiding in one call; ``open_selector`` is the place where a selector is chosen.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from typing import NamedTuple

import numpy as np

from shoal.core.box_sizes import BoxSizes, box_sizes_of
from shoal.core.boxes import Boxes, BoxSource, concatenate
from shoal.core.compiling import Rehearsal
from shoal.core.disclosure import round_up
from shoal.core.engines import Engine, LocalEngine
from shoal.core.formatting import counted, percent
from shoal.core.option_checks import BoxLimits
from shoal.core.options import HidingOptions, Reuse, SelectorName
from shoal.core.parts import Parts, find_parts
from shoal.core.periods import ONE_PERIOD, Periods
from shoal.core.progress import Progress, SilentProgress
from shoal.core.promise import MOST_SLOTS, Promise
from shoal.core.samples import Samples, samples_from_columns
from shoal.core.workers import Workers
from shoal.errors import InputError, NothingLeftError, UnfinishedError
from shoal.hiding.budget import presence_within_budget, prices_of_samples, samples_of_share
from shoal.hiding.epochs import Timeline
from shoal.hiding.evidence import HiddenMembers, count_services, hidden_members
from shoal.hiding.fold import Fold
from shoal.hiding.journal import Journal, MemoryJournal
from shoal.hiding.limits import above_limits, and_after, look_around, out_of_reach, to_blame, together
from shoal.hiding.matching.selector import MatchingSelector
from shoal.hiding.mutual.selector import MutualSelector
from shoal.hiding.selector import HidingSetup, Selector
from shoal.hiding.spectral.selector import SpectralSelector
from shoal.hiding.suppression import (
    NOBODY_COUNTED,
    NOBODY_MARKED,
    Marked,
    Presence,
    SuppressedCounts,
    count_marked,
    count_unmarked,
)
from shoal.storage.sample_store import SampleStore, store_of
from shoal.utility.read_share import read_share

_SELECTORS: dict[SelectorName, Callable[[HidingSetup], Selector]] = {
    SelectorName.MATCHING: MatchingSelector,
    SelectorName.MUTUAL: MutualSelector,
    SelectorName.SPECTRAL: SpectralSelector,
}

_TOY_PROMISE = Promise(2, 2, 2)

_NOTHING_LEFT = (
    "Everything would be suppressed, as no {k} users come and go alike:"
    " choose a smaller k, a longer epsilon, or add users."
)


@dataclass(frozen=True)
class Outcome:
    """What was made of the samples: where the boxes are, in which parts, how large they are, how long it took.

    source: boxes whose owners are users. epoch_suppressed_samples: samples that people with a record have in no box.
    relaxations: members that served an owner again although the reuse rule forbids it, counted in each of their parts
    where names change; n_members: members that served in all. affected_users: users with samples in no box, the
    recordless among them. read_share: see shoal.utility. hidden: which records were made to hold whose samples, and
    when; secret, read from the journal as often as needed. for_promise, budget, limits: what is suppressed, by
    reason. rounds: how often everything was done until the limits were
    kept. compile_seconds: how long compiling took before, on first use; not among the ``seconds`` of hiding.
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
    read_share: float
    seconds: float
    hidden: Callable[[], Iterator[HiddenMembers]]
    for_promise: SuppressedCounts
    budget: SuppressedCounts = NOBODY_COUNTED
    limits: SuppressedCounts = NOBODY_COUNTED
    rounds: int = 0
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
    limits: BoxLimits | None = None,
) -> Outcome:
    """Publish the samples under the promise; goes on where the journal ends. With each period names change.

    min_spread_cells: how many cells the longer side of every box has at least (options.min_spread, on the grid).
    limits: how large boxes may be at most (options.box_limits).

    The engine decides tasks of windows; without one everything happens here, on the threads of ``workers``.
    """
    began = time.perf_counter()
    progress = progress or SilentProgress()
    journal = MemoryJournal() if journal is None else journal
    check_population(samples.n_users, promise.k)
    store = store_of(samples) if isinstance(samples, Samples) else samples
    _check_span(store, promise)
    timeline = Timeline(store, promise, periods)
    setup = HidingSetup(
        samples.n_users, promise, options, workers, engine or LocalEngine(), min_spread_cells, limits
    )
    hidden = (
        _hide(setup, timeline, journal, progress)
        if limits is None
        else _hide_within_limits(setup, timeline, journal, progress)
    )
    seconds = time.perf_counter() - began
    return _outcome(store, timeline, hidden, journal, promise, options.reuse, seconds)


class _Hidden(NamedTuple):
    """Who is published when, who was marked for a budget or for limits, and how often everything began anew."""

    presence: Presence
    budget: Marked = NOBODY_MARKED
    limits: Marked = NOBODY_MARKED
    rounds: int = 0


def _hide(setup: HidingSetup, timeline: Timeline, journal: Journal, progress: Progress) -> _Hidden:
    """Decide who is published when, within the budget if there is one; then fold."""
    selector = open_selector(setup)
    share = setup.options.suppress_at_most
    presence, marked = find_presence_within(share, setup, timeline, selector, progress)
    if presence.nothing_left:
        raise NothingLeftError(_NOTHING_LEFT.format(k=setup.promise.k))
    _fold(setup, timeline, selector, presence, journal, progress)
    return _Hidden(presence, budget=marked)


def find_presence_within(
    share: float, setup: HidingSetup, timeline: Timeline, selector: Selector, progress: Progress
) -> tuple[Presence, Marked]:
    """Who is published when if a share of the samples may be suppressed, and who is marked for it."""
    weight, k = setup.options.space_weight, setup.promise.k
    return presence_within_budget(
        share,
        timeline,
        lambda marked: selector.find_presence(timeline, progress, marked),
        lambda part: prices_of_samples(part, setup.n_users, k, weight, setup.workers),
    )


def _hide_within_limits(
    setup: HidingSetup, timeline: Timeline, journal: Journal, progress: Progress
) -> _Hidden:
    """Fold again and again, each time without those who are to blame for boxes above the limits, until there are none.

    What that takes is only known at the end, so a share that is too small is refused then.
    """
    surroundings = look_around(timeline, setup)
    if not len(journal) and not journal.marked:
        marked = out_of_reach(surroundings, setup.promise.k)
        if marked:
            journal.begin_anew(marked)
    for round_number in itertools.count(1):  # noqa: B007
        selector = open_selector(setup)
        presence = selector.find_presence(timeline, progress, journal.marked)
        if presence.nothing_left:
            raise NothingLeftError(
                "Everything would be suppressed to keep the limits: choose a longer --max-space or --max-time, or a"
                " smaller k, or add users."
            )
        _fold(setup, timeline, selector, presence, journal, progress)
        blamed = to_blame(journal, timeline, presence, setup)
        if not blamed:
            break
        journal.begin_anew(together(journal.marked, and_after(blamed, surroundings)))
    _check_limits(journal, setup)
    _check_share(presence, timeline, setup.options)
    return _Hidden(presence, limits=journal.marked, rounds=round_number)


def _check_limits(journal: Journal, setup: HidingSetup) -> None:
    """Look at all boxes once more: a limit is a limit."""
    assert setup.limits is not None
    if any(above_limits(step.boxes, setup.limits).any() for step in journal):
        raise UnfinishedError("Self-check failed: a box is above the limits.")


def _check_share(presence: Presence, timeline: Timeline, options: HidingOptions) -> None:
    """Refuse limits that need more suppression than is allowed, and say how much they need."""
    allowed = samples_of_share(options.suppress_at_most, timeline.n_samples)
    if presence.n_suppressed <= allowed or not presence.n_suppressed:
        return
    needed = round_up(presence.n_suppressed, timeline.n_samples, digits=4)
    given = (
        "--suppress-at-most is not given"
        if not options.suppress_at_most
        else f"--suppress-at-most is {options.suppress_at_most:g}"
    )
    raise InputError(
        f"The limits need {percent(needed)} of the samples suppressed, and {given}: give --suppress-at-most {needed:g},"
        " or a longer --max-space or --max-time."
    )


def _fold(
    setup: HidingSetup,
    timeline: Timeline,
    selector: Selector,
    presence: Presence,
    journal: Journal,
    progress: Progress,
) -> None:
    """Go over all epochs; from where the journal ends, note what each brings."""
    turns = list(timeline.turns())
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
    hidden_by: _Hidden,
    journal: Journal,
    promise: Promise,
    reuse: Reuse,
    seconds: float,
) -> Outcome:
    """Sums over all steps; the boxes themselves stay in the journal."""
    presence = hidden_by.presence
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
        read_share=read_share(samples, timeline.periods),
        seconds=seconds,
        hidden=hidden,
        for_promise=_for_promise(timeline, hidden_by),
        budget=count_marked(timeline, hidden_by.budget),
        limits=count_marked(timeline, hidden_by.limits),
        rounds=hidden_by.rounds,
    )


def _for_promise(timeline: Timeline, hidden_by: _Hidden) -> SuppressedCounts:
    """What is suppressed because the promise needs it."""
    presence, marked = hidden_by.presence, together(hidden_by.budget, hidden_by.limits)
    if not marked:
        return SuppressedCounts(presence.n_suppressed, presence.n_users_affected)
    return count_unmarked(timeline, presence, marked)
