"""The shape of a selector: it decides who is published when, and then, window by window, who hides whom.

matching/selector.py, mutual/selector.py and spectral/selector.py implement it; ``open_selector`` in pipeline.py opens
the one that the options name. What every selector must keep to is in tests/hiding/test_selector_contract.py.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar, NamedTuple, Protocol

import numpy as np

from shoal.core.arrays import Int32s
from shoal.core.engines import Engine, LocalEngine
from shoal.core.option_checks import BoxLimits
from shoal.core.options import HidingOptions
from shoal.core.progress import Progress
from shoal.core.promise import Promise
from shoal.core.workers import Workers
from shoal.hiding.epochs import LiveEpoch, Timeline
from shoal.hiding.kernels.merge import CostRule, LimitedCost
from shoal.hiding.kernels.reuse import ReuseRule
from shoal.hiding.kernels.window import WindowArrays
from shoal.hiding.leakage.surcharge import LeakageContext
from shoal.hiding.suppression import NOBODY_MARKED, Marked, Presence, decide_presence
from shoal.hiding.window import HidingSets, build_window, cut_into_shards

ABOVE_LIMITS = 1024.0  # times as much a box above the limits costs: dearer than nearly any within them


@dataclass(frozen=True)
class HidingSetup:
    """What stays the same throughout a run: how many users there are, the promise, how to keep it, and who works.

    min_spread_cells: how many cells the longer side of every box has at least; only mutual over whole trajectories
    knows more than 1. limits: how large boxes may be at most, None without limits; hiding.limits keeps them.
    """

    n_users: int
    promise: Promise
    options: HidingOptions
    workers: Workers
    engine: Engine = field(default_factory=LocalEngine)
    min_spread_cells: int = 1
    limits: BoxLimits | None = None

    @property
    def cost_rule(self) -> CostRule:
        """How boxes cost where hiding sets are chosen: those above the limits so much that they are avoided."""
        weight = self.options.space_weight
        return weight if self.limits is None else LimitedCost(weight, *self.limits, ABOVE_LIMITS)

    @cached_property
    def rank(self) -> Int32s:
        """A random order of all users, by seed: it decides between users who are at the same place."""
        return np.random.default_rng(self.options.seed).permutation(self.n_users).astype(np.int32)

    def window_arrays(self, epochs: list[LiveEpoch], workers: Workers | None = None) -> WindowArrays:
        """A window as kernels read it, built on these threads or those of the run."""
        return build_window(epochs, self.n_users, self.rank, self.cost_rule, workers or self.workers)


class OpenWindow(NamedTuple):
    """A window that is to be decided, by its number, counted from the first epoch of the data.

    epochs: the window's epochs with what each record holds in them so far. rule: who may not serve whom. leakage: what
    the surcharge on leaking members goes by, None where there is no surcharge.
    """

    number: int
    epochs: list[LiveEpoch]
    rule: ReuseRule
    leakage: LeakageContext | None


class Selector(Protocol):
    """Decides who is published when, and who hides whom.

    weighs_leakage: whether ``choose`` makes leaking members dearer. takes_witnesses: whether records may hold one more
    person in an epoch than the hiding sets say (hiding.hardening).
    """

    weighs_leakage: ClassVar[bool]
    takes_witnesses: ClassVar[bool]

    def find_presence(
        self, timeline: Timeline, progress: Progress, marked: Marked = NOBODY_MARKED
    ) -> Presence:
        """Decide who is published when, without the marked; comes before the first ``choose``."""
        ...

    def choose(self, window: OpenWindow) -> HidingSets:
        """The hiding sets of a window in which somebody is published; windows come in order of time.

        Everybody published in the window has k - 1 different others of equal presence pattern, and is in the sets of
        k - 1 others; over whole trajectories of as many others as it has, which may be more. A member whom the rule
        forbids is counted in ``relaxed``. The number of workers changes nothing.
        """
        ...

    def check_earlier(self, first_epoch: int, earlier: HidingSets) -> None:
        """Refuse to go on from an earlier run that chose other sets for the window that begins with ``first_epoch``."""
        ...


class CausalSelector:
    """What matching and mutual share: presence by causal suppression, and windows that are decided each on its own."""

    weighs_leakage: ClassVar[bool] = True

    def __init__(self, setup: HidingSetup) -> None:
        self._setup = setup

    def find_presence(
        self, timeline: Timeline, progress: Progress, marked: Marked = NOBODY_MARKED
    ) -> Presence:
        """Decide who is published when, without the marked, by causal suppression."""
        setup = self._setup
        weight = setup.options.space_weight
        return decide_presence(
            timeline, setup.n_users, setup.promise, weight, setup.workers, progress, marked
        )

    def shards_of(self, window: OpenWindow) -> WindowArrays:
        """A window as kernels read it, its groups cut into shards."""
        setup = self._setup
        return cut_into_shards(setup.window_arrays(window.epochs), setup.options.shard_size, setup.promise.k)

    def check_earlier(self, first_epoch: int, earlier: HidingSets) -> None:
        """Nothing to refuse: a run can go on from any earlier decisions."""
