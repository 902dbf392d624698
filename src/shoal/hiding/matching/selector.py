"""The selector ``matching``: in every window, the cheapest permutations of the users of each presence pattern."""

from __future__ import annotations

from typing import ClassVar

from shoal.hiding.selector import CausalSelector, OpenWindow
from shoal.hiding.window import HidingSets
from shoal.hiding.window_tasks import WindowTask, decide_window


class MatchingSelector(CausalSelector):
    """Decides each window on its own, in shards, on threads or on the engine."""

    takes_witnesses: ClassVar[bool] = True

    def choose(self, window: OpenWindow) -> HidingSets:
        """The cheapest permutations of every shard of the window."""
        setup, arrays = self._setup, self.shards_of(window)
        task = WindowTask(window.number, setup.promise.k, arrays, window.rule, window.leakage)
        return decide_window(task, setup.workers, setup.engine)
