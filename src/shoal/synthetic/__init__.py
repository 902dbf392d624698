"""Synthetic subscribers: data to try shoal on that concerns nobody."""

from shoal.synthetic.city import make_city
from shoal.synthetic.files import write_city
from shoal.synthetic.region.making import make_region

__all__ = ["make_city", "make_region", "write_city"]
