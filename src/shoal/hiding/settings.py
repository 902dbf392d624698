"""Names that hiding takes from the options."""

from __future__ import annotations

from shoal.core.options import HARDEN_MOST_REACH as MOST_REACH
from shoal.core.options import HidingOptions as Settings
from shoal.core.options import Reuse, Selector

__all__ = ["MOST_REACH", "Reuse", "Selector", "Settings"]
