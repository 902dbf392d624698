"""Synthetic subscribers: data to try shoal on that concerns nobody (docs/synthetic.md).

- ``city.py``, ``city_places.py``: the small city of the demo, ``make_city``
- ``region/``: regions after the datasets of the paper, ``make_region``
- ``files.py``: ``shoal synth``, a preset written to a file
- ``random_streams.py``: random numbers that are the same on every platform
- ``credibility/``: how much events look like those of real people
"""

from shoal.synthetic.city import make_city
from shoal.synthetic.files import write_city
from shoal.synthetic.region.making import make_region

__all__ = ["make_city", "make_region", "write_city"]
