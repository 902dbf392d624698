"""Deprecated: ``Grid`` and ``Promise`` are in ``shoal.core.promise``. This name goes with the next version."""

from __future__ import annotations

import warnings

from shoal.core.promise import Grid, Promise

warnings.warn("shoal.promise is now shoal.core.promise: import from there.", DeprecationWarning, stacklevel=2)

__all__ = ["Grid", "Promise"]
