"""Engines: who does tasks that do not depend on each other. They move tasks about and know nothing of privacy.

Tasks and results can be pickled, and a task gives the same result wherever and however often it is done; so a task
whose worker was lost is simply done again.
"""

from shoal.core.engines.choosing import Kind, open_engine
from shoal.core.engines.interface import Engine
from shoal.core.engines.local import Inline
from shoal.core.engines.processes import Processes

__all__ = ["Engine", "Inline", "Kind", "Processes", "open_engine"]
