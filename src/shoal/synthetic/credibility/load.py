"""How unevenly samples fall on antennas."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.synthetic.credibility.curves import Curve
from shoal.synthetic.credibility.traces import Traces

_DRAWN = 100


class Load(NamedTuple):
    """Share of the samples at the busiest share of the antennas; Gini's coefficient; the share of the busiest tenth.

    Antennas without any sample are not known of.
    """

    busiest: Curve
    gini: float
    top_tenth: float
    per_antenna: float


def measure_load(traces: Traces) -> Load:
    """Every place counts as an antenna."""
    load = np.sort(np.bincount(traces.place, minlength=traces.n_places))[::-1]
    share = np.concatenate([[0.0], np.cumsum(load) / load.sum()])
    of_antennas = np.arange(len(share)) / len(load)
    x = np.linspace(0, 1, _DRAWN + 1)
    gini = 2 * float(np.trapezoid(share, of_antennas)) - 1
    return Load(
        busiest=Curve(x, np.interp(x, of_antennas, share)),
        gini=gini,
        top_tenth=float(np.interp(0.1, of_antennas, share)),
        per_antenna=float(load.mean()),
    )
