"""What published boxes are good for; recipients call most of it on the file alone (docs/recipients.md).

``precision.py`` says how large they are, ``estimators.py`` and ``home_work.py`` what recipients can estimate from a
published file and nothing else, ``agreement.py`` how near that comes to the raw samples, and ``read_share.py`` what
new names leave to be read.
"""

from __future__ import annotations

import warnings

from shoal.utility.agreement import Agreement, agreement
from shoal.utility.estimators import Density, Flows, density, flows, gyration
from shoal.utility.home_work import Places, homes, workplaces
from shoal.utility.precision import Precision, Spread, precision_of, precision_of_boxes

__all__ = [
    "Agreement",
    "Density",
    "Flows",
    "Places",
    "Precision",
    "Spread",
    "agreement",
    "density",
    "flows",
    "gyration",
    "homes",
    "precision_of",
    "precision_of_boxes",
    "workplaces",
]

# Names of version 0.1, to go in 0.3.
_FORMER = {"Granularity": "Precision", "granularity": "precision_of_boxes", "granularity_of": "precision_of"}


def __getattr__(name: str) -> object:
    if name not in _FORMER:
        raise AttributeError(f"module 'shoal.utility' has no attribute {name!r}")
    warnings.warn(
        f"shoal.utility.{name} is now shoal.utility.{_FORMER[name]}", DeprecationWarning, stacklevel=2
    )
    return globals()[_FORMER[name]]
