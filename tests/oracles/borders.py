"""Whoever watched somebody across a border (docs/audit.md): which pairs of parts are left, the slow way.

Parts are users here: samples ``{part: {(t, x, y), ...}}`` are what a person did in a period, records ``{part: [(t0, t1,
x0, x1, y0, y1), ...]}`` what was published of it. ``watched``: for how many slots, from slot ``a`` on.
"""

from itertools import product

from oracles.auditor import candidates, chain_survivors, fitting, published


def windows_of_periods(records, period_of) -> list:
    """With ``--whole`` each period is a window: from the first slot of its boxes to the last."""
    boxes: dict = {}
    for box in (box for own in records.values() for box in own):
        boxes.setdefault(period_of(box[0]), []).append(box)
    return [(min(box[0] for box in own), max(box[1] for box in own) + 1) for own in boxes.values()]


def parts_left(samples, records, victim, a: int, watched: int, k: int, epoch_slots: int, windows=None) -> set:
    """The parts that fit, without those that the chain attack rules out; where that is all of them, none."""
    fit = fitting(samples, records, victim, [(a, a + watched)], epoch_slots)
    if not candidates(samples, records, victim, [(a, a + watched)]):
        return fit  # gaps were forgiven
    return chain_survivors(samples, records, victim, a, k, watched, epoch_slots, windows=windows) or fit


def pairs_left(samples, records, before, after, *known) -> set:
    """All pairs of a part that is left for what was seen before the border, and one for what was seen after it."""
    return set(product(*(parts_left(samples, records, victim, *known) for victim in (before, after))))


def twins(records, part) -> set:
    """The parts with the same boxes, this one among them."""
    return {
        other for other, boxes in published(records).items() if sorted(boxes) == sorted(records.get(part, ()))
    }
