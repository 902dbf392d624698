"""Synthetic subscribers: data to try shoal on that concerns nobody."""

from shoal.cities.city import make_city
from shoal.cities.files import write_city
from shoal.cities.region.making import make_region

__all__ = ["make_city", "make_region", "write_city"]
