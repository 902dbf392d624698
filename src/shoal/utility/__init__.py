"""What boxes are good for."""

from shoal.utility.granularity import Granularity, Spread, granularity, granularity_of

__all__ = ["Granularity", "Spread", "granularity", "granularity_of"]
