"""What published boxes are good for.

``precision.py`` says how large they are, ``estimators.py`` and ``home_work.py`` what recipients can estimate from a
published file and nothing else, ``agreement.py`` how near that comes to the raw samples.
"""

from shoal.utility.agreement import Agreement, agreement
from shoal.utility.estimators import Density, Flows, density, flows, gyration
from shoal.utility.home_work import Places, homes, workplaces
from shoal.utility.precision import Precision, Spread, precision_of, precision_of_boxes

__all__ = [
    "Agreement",
    "Density",
    "Flows",
    "Precision",
    "Places",
    "Spread",
    "agreement",
    "density",
    "flows",
    "precision_of_boxes",
    "precision_of",
    "gyration",
    "homes",
    "workplaces",
]
