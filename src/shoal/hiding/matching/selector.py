"""The selector ``matching``: in every window, the cheapest permutations of the users of each presence pattern."""

from __future__ import annotations

from typing import ClassVar

from shoal.core.progress import Progress
from shoal.hiding.epochs import Timeline
from shoal.hiding.selector import HidingSetup, OpenWindow
from shoal.hiding.suppression import Presence, decide_presence
from shoal.hiding.window import HidingSets, cut_into_shards
from shoal.hiding.window_tasks import WindowTask, decide_window


class MatchingSelector:
    """Decides each window on its own, in shards, on threads or on the engine."""

    weighs_leakage: ClassVar[bool] = True
    takes_witnesses: ClassVar[bool] = True

    def __init__(self, setup: HidingSetup) -> None:
        self._setup = setup

    def find_presence(self, timeline: Timeline, progress: Progress) -> Presence:
        """Decide who is published when, by causal suppression."""
        setup = self._setup
        weight = setup.options.space_weight
        return decide_presence(timeline, setup.n_users, setup.promise, weight, setup.workers, progress)

    def choose(self, window: OpenWindow) -> HidingSets:
        """The cheapest permutations of every shard of the window."""
        setup, k = self._setup, self._setup.promise.k
        arrays = cut_into_shards(setup.window_arrays(window.epochs), setup.options.shard_size, k)
        task = WindowTask(window.number, k, arrays, window.rule, window.leakage)
        return decide_window(task, setup.workers, setup.engine)

    def check_earlier(self, first_epoch: int, earlier: HidingSets) -> None:
        """Nothing to refuse: whatever was decided earlier can be gone on from."""
