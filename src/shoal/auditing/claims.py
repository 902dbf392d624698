"""The windows in which whoever made a file must have hidden people, as its recipients can tell."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from shoal.core.arrays import Int64s
from shoal.core.boxes import Boxes
from shoal.core.promise import Promise


def windows_of(boxes: Boxes, promise: Promise) -> tuple[Int64s, Int64s]:
    """First slots of windows and first slots behind them, by time.

    Epochs with boxes that have fewer than r empty ones between them belong to one stretch; windows lie inside of
    stretches, and one that is shorter than a window is one itself. There may be more epochs with samples than with
    boxes: then there were more windows, these among them. Over whole trajectories there is one window.
    """
    if promise.epsilon is None:
        return np.array([boxes.t0.min()]), np.array([boxes.t1.max() + 1])
    epsilon, reach = promise.epsilon, promise.reach
    epochs = np.unique(boxes.t0 // epsilon)
    ends = np.flatnonzero(np.diff(epochs) > reach)
    first, last = epochs[np.append(0, ends + 1)], epochs[np.append(ends, len(epochs) - 1)]
    windows = [
        np.arange(begin, max(begin, end - reach) + 1)
        for begin, end in zip(first.tolist(), last.tolist(), strict=True)
    ]
    low = np.concatenate(windows)
    shorter = np.minimum(low + reach, np.repeat(last, [len(part) for part in windows]))
    return low * epsilon, (shorter + 1) * epsilon


_ALWAYS = ("once", "pair")  # nobody is covered by the same record twice
_SPACED = "spaced"  # not within what overlaps one tau
_COVERING = ("matching", "mutual")  # selectors that cover everybody; the paper's does once repaired


class MethodClaim(NamedTuple):
    """A file is made for a promise, and everybody covered by k - 1 others in every window of it.

    distinct: nobody is covered by the same record in two windows that overlap what an attacker saw. certain: the file
    is known to be made that way, so the attacker cannot be wrong about it.
    """

    promise: Promise
    distinct: bool
    certain: bool


def claimed_method(
    manifest: Mapping[str, Any] | None, noted: Promise | None, described: object, held_to: Promise
) -> MethodClaim:
    """What the manifest of a file tells, if it is about this file.

    ``noted`` is the promise that the file makes, as ``described`` in its own metadata or else in its manifest.
    ``held_to`` is what it is audited for, which is all there is to go by where it tells nothing.
    """
    if manifest is None or noted is None or manifest.get("promise") != described:
        return MethodClaim(noted or held_to, distinct=False, certain=False)
    parameters = manifest.get("parameters")
    told = parameters if isinstance(parameters, dict) else {}
    certain = told.get("selector") in _COVERING or told.get("repair") is True
    nobody_again = type(manifest.get("relaxations")) is int and manifest["relaxations"] == 0
    kept_apart = told.get("reuse") in _ALWAYS or (
        told.get("reuse") == _SPACED and (held_to.tau or 0) <= (noted.tau or 0)
    )
    return MethodClaim(noted, certain and nobody_again and kept_apart, certain)
