"""Deprecated: the methods to compare with are in ``shoal.evaluate.baselines``. This name goes with the next version."""

from __future__ import annotations

import warnings

from shoal.evaluate.baselines import (
    PAPER_GRIDS,
    W4M,
    Anonymized,
    Glove,
    KMerge,
    Limits,
    Method,
    Points,
    Static,
    TupleFigures,
    draw_tuples,
    on_tuples,
)
from shoal.evaluate.baselines import BaselinePrecision as Precision
from shoal.evaluate.baselines import SampleCounts as Counts

warnings.warn(
    "shoal.baselines is now shoal.evaluate.baselines: import the methods from there.",
    DeprecationWarning,
    stacklevel=2,
)

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
