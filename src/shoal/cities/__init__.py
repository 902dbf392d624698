"""Synthetic subscribers: data to try shoal on that concerns nobody."""

from __future__ import annotations

from shoal.cities.city import make_city

__all__ = ["make_city"]
