"""Events in, samples on the grid out: tables in files or memory, columns, times, positions and users."""

from shoal.reading.events import Events, read_events
from shoal.reading.intake import Intake
from shoal.reading.projection import Projection

__all__ = ["Events", "Intake", "Projection", "read_events"]
