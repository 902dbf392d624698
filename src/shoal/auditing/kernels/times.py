"""Which records agree with what an attacker knows of when the victim was active (docs/audit.md)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.auditing.kernels.consistency import BoxIndex, first_box_ending_after
from shoal.auditing.kernels.fits import Fits
from shoal.core.arrays import Bools, Int64s
from shoal.core.compiled import jit, jit_inline


class KnownEpochs(NamedTuple):
    """Epochs, counted from ``first``, in which attackers know that their victims were active: those of attack i are
    epoch[ptr[i]] .. epoch[ptr[i + 1] - 1], in order. ``complete``: the victims were active in no others."""

    ptr: Int64s
    epoch: Int64s
    first: int
    slots: int
    n_epochs: int
    complete: bool


class TimeFits(NamedTuple):
    """For every attack: the most known epochs that a record touches which is not ruled out (-1: all are), how many
    records touch as many, and how many the victim's own record touches (-1: it is ruled out)."""

    most: Int64s
    n: Int64s
    own: Int64s


@jit_inline
def touches_known(active: Bools, low: int, high: int) -> bool:
    """Whether one of epochs low .. high is known to be active."""
    epoch, last = max(low, 0), min(high, len(active) - 1)
    while epoch <= last and not active[epoch]:
        epoch += 1
    return epoch <= last


@jit_inline
def longest_record(index: BoxIndex) -> int:
    """The most boxes that a record has."""
    longest = 0
    for record in range(len(index.ptr) - 1):
        longest = max(longest, index.ptr[record + 1] - index.ptr[record])
    return int(longest)


@jit
def add_time_fits(
    index: BoxIndex, known: KnownEpochs, own: Int64s, begin: int, end: int, found: TimeFits
) -> None:
    """Add records begin .. end - 1 to ``found``, which has -1, 0 and -1 everywhere before."""
    n_attacks = len(own)
    active = np.zeros((n_attacks if known.complete else 0, known.n_epochs), np.bool_)
    if known.complete:
        for attack in range(n_attacks):
            for entry in range(known.ptr[attack], known.ptr[attack + 1]):
                active[attack, known.epoch[entry]] = True
    touched, span = np.zeros(known.n_epochs, np.bool_), np.empty((longest_record(index), 2), np.int64)
    for record in range(begin, end):
        touched[:], n_spans = False, 0
        for box in range(index.ptr[record], index.ptr[record + 1]):
            low = index.box[box]["t0"] // known.slots - known.first
            high = index.box[box]["t1"] // known.slots - known.first
            touched[max(low, 0) : high + 1] = True
            if n_spans == 0 or span[n_spans - 1, 0] != low or span[n_spans - 1, 1] != high:
                span[n_spans, 0], span[n_spans, 1] = low, high
                n_spans += 1
        for attack in range(n_attacks):
            ruled_out = False
            if known.complete:
                for i in range(n_spans):
                    if not touches_known(active[attack], span[i, 0], span[i, 1]):
                        ruled_out = True
                        break
            if ruled_out:
                continue
            n = 0
            for entry in range(known.ptr[attack], known.ptr[attack + 1]):
                n += touched[known.epoch[entry]]
            if n > found.most[attack]:
                found.most[attack], found.n[attack] = n, 0
            found.n[attack] += n == found.most[attack]
            if record == own[attack]:
                found.own[attack] = n


@jit
def match_presence(
    index: BoxIndex,
    low: Int64s,
    high: Int64s,
    active: Bools,
    fits: Fits,
    begin: int,
    end: int,
    touched: Int64s,
) -> None:
    """touched[line]: how many of the pieces of time around an attack (slots low[attack, j] .. high[attack, j] - 1) in
    which the victim was active a record that fits touches; -1 if one of its boxes lies inside one of the others."""
    for attack in range(begin, end):
        for line in range(fits.at[attack], fits.at[attack] + fits.n[attack]):
            record, touched[line] = fits.record[line], 0
            for j in range(low.shape[1]):
                since, until = low[attack, j], high[attack, j]
                meets = inside = False
                box = first_box_ending_after(index, record, since)
                while box < index.ptr[record + 1] and index.box[box]["since"] < until:
                    row = index.box[box]
                    meets |= row["t0"] < until
                    inside |= row["t0"] >= since and row["t1"] < until
                    box += 1
                if active[attack, j]:
                    touched[line] += meets
                elif inside:
                    touched[line] = -1
                    break
