"""Events in, samples on the grid out: tables in files or memory, columns, times, positions and users.

For audits, published tables and keys are read back as well.
"""

from shoal.core.projection import Plane, Projection, parse_crs
from shoal.reading.events import Events, read_events
from shoal.reading.formats import FORMAT_NAMES
from shoal.reading.key import read_key
from shoal.reading.published import PublishedRows, PublishedTable, read_published
from shoal.reading.published_grid import check_coordinates
from shoal.reading.summary import ReadSummary

__all__ = [
    "FORMAT_NAMES",
    "Events",
    "ReadSummary",
    "Plane",
    "Projection",
    "PublishedRows",
    "PublishedTable",
    "check_coordinates",
    "parse_crs",
    "read_events",
    "read_key",
    "read_published",
]
