"""Frames and trajectories of other libraries, known by what they can do: none of them is needed to read another."""

from __future__ import annotations

from shoal.reading.geo.frames import is_geoframe, placed_frame, with_columns
from shoal.reading.geo.trajectories import Trajectories, trajectories_of
from shoal.reading.source import Source
from shoal.reading.tables import Table


def open_frame(source: object, *, placed: bool) -> Source | None:
    """What MovingPandas, geopandas or trackintel made, as a table; None for anything else.

    Unless ``placed``, positions do not come from its points, which may then be of any kind.
    """
    trajectories = trajectories_of(source)
    if trajectories is not None:
        return Trajectories(trajectories, placed=placed)
    if is_geoframe(source):
        return Table(placed_frame(source, Table.title) if placed else with_columns(source, {}))
    return None
