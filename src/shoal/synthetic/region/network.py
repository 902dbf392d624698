"""Which antenna serves a position, and which others a phone there also hears."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.synthetic.streams import Ints

N_NEIGHBOURS = 3
_SQUARES = 1_024  # along each side
_TILE = 32  # squares along each side of a tile
_ROWS_AT_ONCE = 256
_EARSHOT_M = 5_000
_NEARBY_M = 2_500


class Network(NamedTuple):
    """Antennas in metres; the raster holds the nearest to the middle of every square."""

    x: Ints
    y: Ints
    heard: Ints  # (antennas, N_NEIGHBOURS): the nearest others; the antenna itself in place of those out of earshot
    spacing_m: Ints  # how far the last of the nearest is
    around: Ints  # how many antennas within _NEARBY_M, itself included
    raster: Ints  # (squares, squares), [y, x]
    west: int
    south: int
    square_m: int

    def nearest(self, x: Ints, y: Ints) -> Ints:
        """The antenna that serves a position."""
        column = np.clip((x - self.west) // self.square_m, 0, _SQUARES - 1)
        row = np.clip((y - self.south) // self.square_m, 0, _SQUARES - 1)
        return self.raster[row, column]


def build_network(x: Ints, y: Ints) -> Network:
    """Index antennas that stand at different positions (more than N_NEIGHBOURS of them)."""
    west, south = int(x.min()), int(y.min())
    square_m = max(int(x.max()) - west, int(y.max()) - south) // _SQUARES + 1
    heard = np.empty((len(x), N_NEIGHBOURS), dtype=np.int64)
    spacing_m, around = np.empty(len(x), dtype=np.int64), np.empty(len(x), dtype=np.int64)
    for first in range(0, len(x), _ROWS_AT_ONCE):
        rows = slice(first, first + _ROWS_AT_ONCE)
        apart = (x[rows, None] - x) ** 2 + (y[rows, None] - y) ** 2
        around[rows] = (apart <= _NEARBY_M**2).sum(axis=1)
        ranked = np.argsort(apart, axis=1, kind="stable")[:, 1 : 1 + N_NEIGHBOURS]
        squared = np.take_along_axis(apart, ranked, axis=1)
        heard[rows] = np.where(squared <= _EARSHOT_M**2, ranked, np.arange(len(x))[rows, None])
        spacing_m[rows] = np.sqrt(squared[:, -1].astype(np.float64)).astype(np.int64)
    raster = _raster(x - west, y - south, square_m)
    return Network(x, y, heard, spacing_m, around, raster, west, south, square_m)


def _raster(x: Ints, y: Ints, square_m: int) -> Ints:
    """The nearest antenna of every square: tile by tile, among those that can be nearest anywhere in the tile."""
    raster = np.empty((_SQUARES, _SQUARES), dtype=np.int64)
    middles = np.arange(_SQUARES, dtype=np.int64) * square_m + square_m // 2
    reach_m = (_TILE * square_m * 3) // 2 + 2  # more than from a tile's middle to its corner and back
    for row in range(0, _SQUARES, _TILE):
        for column in range(0, _SQUARES, _TILE):
            tile_x, tile_y = middles[column : column + _TILE], middles[row : row + _TILE]
            apart = (x - tile_x[_TILE // 2]) ** 2 + (y - tile_y[_TILE // 2]) ** 2
            limit = int(np.sqrt(float(apart.min()))) + 1 + reach_m
            near = np.flatnonzero(apart <= limit**2)
            squared = ((tile_x[:, None] - x[near]) ** 2)[None, :, :] + ((tile_y[:, None] - y[near]) ** 2)[
                :, None, :
            ]
            raster[row : row + _TILE, column : column + _TILE] = near[np.argmin(squared, axis=2)]
    return raster
