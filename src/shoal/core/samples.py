"""Raw samples as a struct of arrays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from shoal.core.arrays import Int32s, Int64s
from shoal.core.formatting import counted
from shoal.core.pickling import NeverPickled


@dataclass(frozen=True)
class Samples(NeverPickled):
    """Who was where when, on the grid: one row per distinct (user, t, x, y), sorted by these four.

    ``users`` holds the names as text in increasing order; ``user`` indexes it. ``t`` counts slots of time from
    1970-01-01T00:00Z, ``x`` and ``y`` count cells from the origin of the coordinates (cell 0 is [0, cell_m)).
    Every user has at least one row.
    """

    users: npt.NDArray[np.object_]
    user: Int32s
    t: Int64s
    x: Int32s
    y: Int32s

    def __repr__(self) -> str:
        return f"<Samples: {len(self):,} of {counted(self.n_users, 'user')}>"

    @property
    def n_users(self) -> int:
        """How many different users there are."""
        return len(self.users)

    def __len__(self) -> int:
        return len(self.user)


def samples_from_columns(
    users: npt.NDArray[np.object_], user: npt.ArrayLike, t: npt.ArrayLike, x: npt.ArrayLike, y: npt.ArrayLike
) -> Samples:
    """Sort and deduplicate columns of integers into Samples (for small data; readers do this while they read)."""
    columns = np.stack([np.asarray(column, dtype=np.int64) for column in (user, t, x, y)], axis=1)
    columns = np.unique(columns.reshape(-1, 4), axis=0)
    present, compact = np.unique(columns[:, 0], return_inverse=True)
    return Samples(
        users=np.asarray(users, dtype=object)[present],
        user=compact.astype(np.int32),
        t=columns[:, 1].copy(),
        x=columns[:, 2].astype(np.int32),
        y=columns[:, 3].astype(np.int32),
    )
