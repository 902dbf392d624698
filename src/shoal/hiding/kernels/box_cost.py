"""The cost of a box: c = span_t * (span_x + span_y)^p, spans in slots and cells with ends included.

p is the space weight (docs/how-it-works.md, "k-merge: the cheapest boxes"). Arguments are the span in slots and the sum
of the two spans in cells; costs are float64, and whole numbers where p is.
"""

from __future__ import annotations

from shoal.core.compiled import jit_inline


@jit_inline
def linear_box_cost(slots: float, cells: float, weight: float) -> float:  # noqa: ARG001
    """The cost of a box for p = 1."""
    return float(slots * float(cells))


@jit_inline
def power_box_cost(slots: float, cells: float, weight: float) -> float:
    """The cost of a box for any p, without a choice: for loops that go several boxes at a time."""
    return float(slots * float(cells) ** weight)


@jit_inline
def box_cost(slots: float, cells: float, weight: float) -> float:
    """The cost of a box for any p; the usual ones are spared the power."""
    if weight == 1.0:
        return linear_box_cost(slots, cells, weight)
    if weight == 2.0:
        return float(slots * (float(cells) * float(cells)))
    return power_box_cost(slots, cells, weight)
