"""Where the project and the real data beside it lie."""

from __future__ import annotations

import os
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
DATA = Path(os.environ.get("SHOAL_DATA", PROJECT.parent / "shared" / "data"))
