"""What draws people: where they live, where they work, where they go otherwise, where journeys lead."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.synthetic.region.network import Network
from shoal.synthetic.region.wheel import Wheel, flat_wheel, gravity_wheel
from shoal.synthetic.streams import Floats, Ints, Streams, child, heavy

_ERRAND_M = 1_500  # how far people like to go for errands; farther where antennas are far apart


class Pull(NamedTuple):
    """Wheels to pick antennas from."""

    homes: Wheel  # by population
    work: Wheel
    errands: Wheel
    journeys: Wheel


def _uneven(stream: Streams) -> Floats:
    """Heavy-tailed, median 1: a product of two draws."""
    return heavy(child(stream, 0), cap=12.0) * heavy(child(stream, 1), cap=12.0)


def build_pull(network: Network, commute_m: int, journey_m: int, stream: Streams) -> Pull:
    """Operators build where the load is: people per antenna differ little, jobs and shops crowd where antennas do."""
    each = np.arange(len(network.x))
    crowd = np.sqrt(network.around.astype(np.float64))
    people = (0.1 + _uneven(child(child(stream, 0), each))) * crowd
    attraction = (0.1 + _uneven(child(child(stream, 1), each))) * crowd * np.sqrt(crowd)

    pull = (1_000 * attraction).astype(np.int64)

    def gravity(scale_m: Ints, power: int = 2) -> Wheel:
        return gravity_wheel(network.x, network.y, pull, scale_m, power)

    return Pull(
        homes=flat_wheel((1_000 * people).astype(np.int64)),
        work=gravity(commute_m + network.spacing_m, power=6),
        errands=gravity(_ERRAND_M + network.spacing_m, power=4),
        journeys=gravity(np.full(len(each), journey_m)),
    )
