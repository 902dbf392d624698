"""What boxes are good for: how precise they are, what a recipient can estimate from them, and how well.

Estimators see a published file or table, and nothing else.
"""

from shoal.utility.agreement import Agreement, agreement
from shoal.utility.estimators import Density, Flows, density, flows, gyration
from shoal.utility.home_work import Places, homes, workplaces
from shoal.utility.precision import Granularity, Spread, granularity, granularity_of

__all__ = [
    "Agreement",
    "Density",
    "Flows",
    "Granularity",
    "Places",
    "Spread",
    "agreement",
    "density",
    "flows",
    "granularity",
    "granularity_of",
    "gyration",
    "homes",
    "workplaces",
]
