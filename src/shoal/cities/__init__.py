"""Synthetic subscribers: data to try shoal on that concerns nobody."""

from shoal.cities.city import make_city
from shoal.cities.files import write_city

__all__ = ["make_city", "write_city"]
