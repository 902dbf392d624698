"""k-merge of whole trajectories, in the form of the methods it is compared with."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from shoal.core.boxes import Boxes
from shoal.core.progress import Progress
from shoal.core.promise import Grid
from shoal.core.samples import Samples
from shoal.core.workers import Workers
from shoal.evaluate.baselines.method import Anonymized, check_k, generalized, records_of_groups
from shoal.hiding.epochs import EpochSlice, LiveEpoch
from shoal.hiding.kernels.pools import Pools, collapsed
from shoal.hiding.merging import publish, with_members

_SPACE_WEIGHT = 1.0  # the paper's cost


@dataclass(frozen=True)
class KMerge:
    """The cheapest merge of all given users into one record (docs/how-it-works.md, p = 1): made for k-tuples.

    It chooses no groups. Whole datasets are what ``shoal anonymize --whole`` is for.
    """

    name: ClassVar[str] = "k-merge"
    grid: Grid = field(default_factory=Grid)

    def __call__(self, samples: Samples, k: int, progress: Progress | None = None) -> Anonymized:
        """Merge everybody."""
        check_k(samples, k)
        if progress is not None:
            progress.stage("merging", samples.n_users - 1)
        record = merge_everybody(samples, progress)
        everybody = np.arange(samples.n_users, dtype=np.int32)
        boxes, group = records_of_groups([everybody], [record], samples.n_users)
        return generalized(samples, k, boxes, group, self.grid)


def merge_everybody(samples: Samples, progress: Progress | None = None) -> Boxes:
    """The one record in which all users of these samples are merged, optimally."""
    origin = int(samples.t.min())
    users, counts, raw = collapsed(samples.user, samples.t, samples.x, samples.y, origin)
    with Workers(1) as alone:
        pool = _first_row(raw)
        for member in range(1, len(users)):
            pool = with_members(pool, raw, np.array([member]), alone)
            if progress is not None:
                progress.advance()
        epoch = EpochSlice(0, origin, users[:1], counts[:1], raw)
        return publish(LiveEpoch(epoch, pool), _SPACE_WEIGHT, alone)


def _first_row(pools: Pools) -> Pools:
    return Pools(pools.ptr[:2], pools.slot[: pools.ptr[1]], pools.touch[:1])
