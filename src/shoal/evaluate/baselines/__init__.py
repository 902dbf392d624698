"""Other published methods to compare with: each turns samples into boxes that an audit can attack (docs/baselines.md).

- ``method.py``: what every method takes and gives
- ``static_grid.py``, ``glove.py``, ``w4m.py``, ``k_merge.py``: a method each; compiled loops in ``kernels/``
- ``tuples.py``: k-tuples of users, each anonymized on its own
"""

from shoal.evaluate.baselines.glove import Glove, Limits
from shoal.evaluate.baselines.k_merge import KMerge
from shoal.evaluate.baselines.method import Anonymized, BaselinePrecision, Method, Points, SampleCounts
from shoal.evaluate.baselines.static_grid import PAPER_GRIDS, Static
from shoal.evaluate.baselines.tuples import TupleFigures, draw_tuples, on_tuples
from shoal.evaluate.baselines.w4m import W4M

__all__ = [
    "PAPER_GRIDS",
    "Anonymized",
    "SampleCounts",
    "Glove",
    "KMerge",
    "Limits",
    "Method",
    "Points",
    "BaselinePrecision",
    "Static",
    "TupleFigures",
    "W4M",
    "draw_tuples",
    "on_tuples",
]
