"""Coordinates of any system that is tied to the Earth, as longitude and latitude."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyproj
from pyproj.exceptions import CRSError, ProjError

from shoal.core.projection import Floats
from shoal.errors import InputError

_LON_LAT = "OGC:CRS84"


def as_degrees(x: npt.ArrayLike, y: npt.ArrayLike, crs: Any, title: str) -> tuple[Floats, Floats]:
    """Longitudes and latitudes (WGS84) of coordinates in a CRS; infinite where that has no such place."""
    if crs is None:
        raise InputError(
            f"{title} does not tell the coordinate system (CRS) of its points: set it, in geopandas with"
            " set_crs('EPSG:4326') or whichever it is; or name columns of x and y in metres."
        )
    x, y = np.asarray(x, float), np.asarray(y, float)
    try:
        known = pyproj.CRS.from_user_input(crs)
        if not (known.is_geographic or known.is_projected):
            raise CRSError("neither degrees nor a plane")
        if known.equals(pyproj.CRS(_LON_LAT), ignore_axis_order=True):
            return x, y
        road = pyproj.Transformer.from_crs(known, _LON_LAT, always_xy=True)
        lon, lat = road.transform(x, y)  # NaN stays NaN
    except (CRSError, ProjError):
        raise InputError(
            f"The coordinate system (CRS) of {title[0].lower() + title[1:]} leads to no place on Earth:"
            " expected one with longitude and latitude, or a projection of them; correct it, or name columns of x"
            " and y in metres."
        ) from None
    return np.asarray(lon, float), np.asarray(lat, float)
