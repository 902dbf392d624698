"""Events in, samples on the grid out; for audits, published tables and keys are read back as well.

Start with ``events.py``, which calls the rest. ``formats/`` has a file for each format of other people's data, ``geo/``
reads points, ``source.py`` opens files, folders and tables, ``inputs.py`` what must first be copied or unpacked,
``databases.py`` SQLite and DuckDB files, ``times.py``, ``positions.py`` and ``values.py`` parse
columns, ``sorting.py`` makes samples of rows, ``published.py`` (what else a
published table carries: ``published_extras.py`` and ``published_entries.py``), ``key.py``, ``evidence.py`` and
``private_notes.py`` are for audits.
"""

from shoal.core.projection import Plane, Projection, parse_crs
from shoal.reading.databases import database_kind
from shoal.reading.events import Events, read_events, warn_of_assumed_zone
from shoal.reading.evidence import HidingEvidence, evidence_beside, read_evidence
from shoal.reading.formats import FORMAT_NAMES
from shoal.reading.inputs import is_stream
from shoal.reading.key import PartsKey, read_key, read_parts_key
from shoal.reading.private_notes import PrivateNotes, private_notes_beside, read_private_notes
from shoal.reading.published import PublishedRows, PublishedTable, read_published
from shoal.reading.published_extras import Carried
from shoal.reading.published_grid import check_coordinates
from shoal.reading.summary import ReadSummary

__all__ = [
    "FORMAT_NAMES",
    "Carried",
    "Events",
    "HidingEvidence",
    "PartsKey",
    "Plane",
    "Projection",
    "PrivateNotes",
    "PublishedRows",
    "PublishedTable",
    "ReadSummary",
    "check_coordinates",
    "database_kind",
    "evidence_beside",
    "is_stream",
    "parse_crs",
    "private_notes_beside",
    "read_events",
    "read_evidence",
    "read_key",
    "read_parts_key",
    "read_private_notes",
    "read_published",
    "warn_of_assumed_zone",
]
