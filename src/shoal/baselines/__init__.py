"""Other ways to publish, to compare with: each turns samples into boxes that an audit can attack."""

from shoal.baselines.fingerprints import Limits
from shoal.baselines.glove import Glove
from shoal.baselines.kmerge import KMerge
from shoal.baselines.method import Anonymized, Counts, Method, Points, Precision
from shoal.baselines.static_grid import PAPER_GRIDS, Static
from shoal.baselines.tuples import TupleFigures, draw_tuples, on_tuples
from shoal.baselines.w4m import W4M

__all__ = [
    "PAPER_GRIDS",
    "Anonymized",
    "Counts",
    "Glove",
    "KMerge",
    "Limits",
    "Method",
    "Points",
    "Precision",
    "Static",
    "TupleFigures",
    "W4M",
    "draw_tuples",
    "on_tuples",
]
