"""What boxes are good for: how precise they are, what a recipient can estimate from them, and how well.

Estimators see a published file or table, and nothing else.
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
