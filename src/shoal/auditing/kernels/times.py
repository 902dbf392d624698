"""Which records agree with what an attacker knows of when the victim was active (docs/audit.md)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from shoal.auditing.kernels.consistency import BoxIndex, Trajectories, first_box_ending_after, holds_any
from shoal.auditing.kernels.fits import Fits, Knowledge
from shoal.core.arrays import Bools, Int64s
from shoal.core.compiled import jit, jit_inline

Words = npt.NDArray[np.uint64]


class KnownEpochs(NamedTuple):
    """Epochs, counted from ``first``, in which attackers know that their victims were active: those of attack i are
    epoch[ptr[i]] .. epoch[ptr[i + 1] - 1], in order. An epoch has ``slots`` slots. ``complete``: the victims were
    active in no others."""

    ptr: Int64s
    epoch: Int64s
    first: int
    slots: int
    n_epochs: int
    complete: bool


class TimeFits(NamedTuple):
    """For every attack: the most known epochs that a record touches which is not ruled out (-1: all are), how many
    records touch as many, and how many the victim's own record touches (-1: it is ruled out).

    Of the records that touch as many, fewest: the fewest epochs, known or not, that one of them touches in all;
    n_fewest: how many touch so few; own_all: how many the victim's own record touches in all.
    """

    most: Int64s
    n: Int64s
    own: Int64s
    fewest: Int64s
    n_fewest: Int64s
    own_all: Int64s


@jit_inline
def ones(word: np.uint64) -> int:
    """How many bits of a word are set."""
    word -= (word >> np.uint64(1)) & np.uint64(0x5555555555555555)
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return int((word * np.uint64(0x0101010101010101)) >> np.uint64(56))


@jit_inline
def set_bit(words: Words, epoch: int) -> None:
    """Note an epoch among others."""
    words[epoch >> 6] |= np.uint64(1) << np.uint64(epoch & 63)


@jit_inline
def has_bit(words: Words, epoch: int) -> bool:
    """Whether an epoch is noted."""
    return bool((words[epoch >> 6] >> np.uint64(epoch & 63)) & np.uint64(1))


@jit_inline
def longest_record(index: BoxIndex) -> int:
    """The most boxes that a record has."""
    longest = 0
    for record in range(len(index.ptr) - 1):
        longest = max(longest, index.ptr[record + 1] - index.ptr[record])
    return int(longest)


def no_time_fits(n: int) -> TimeFits:
    """Of n attacks, before any record was looked at."""
    none, nothing = (np.full(n, value) for value in (-1, 0))
    return TimeFits(none, nothing, none.copy(), none.copy(), nothing.copy(), none.copy())


@jit_inline
def note_record(found: TimeFits, attack: int, n: int, n_all: int, is_own: bool) -> None:
    """Note a record that touches n known epochs, and n_all epochs in all."""
    if n > found.most[attack]:
        found.most[attack], found.n[attack], found.fewest[attack] = n, 0, -1
    if n == found.most[attack]:
        found.n[attack] += 1
        if found.fewest[attack] < 0 or n_all < found.fewest[attack]:
            found.fewest[attack], found.n_fewest[attack] = n_all, 0
        found.n_fewest[attack] += n_all == found.fewest[attack]
    if is_own:
        found.own[attack], found.own_all[attack] = n, n_all


@jit
def add_time_fits(
    index: BoxIndex, known: KnownEpochs, own: Int64s, begin: int, end: int, found: TimeFits
) -> None:
    """Add records begin .. end - 1 to ``found``, which is as no_time_fits() gives it before."""
    n_attacks, n_words = len(own), (known.n_epochs + 63) >> 6
    active = np.zeros((n_attacks, n_words), np.uint64)
    for attack in range(n_attacks):
        for entry in range(known.ptr[attack], known.ptr[attack + 1]):
            set_bit(active[attack], known.epoch[entry])
    touched, alone = np.zeros(n_words, np.uint64), np.zeros(n_words, np.uint64)
    span = np.empty((longest_record(index), 2), np.int64)
    for record in range(begin, end):
        touched[:], alone[:], n_spans = np.uint64(0), np.uint64(0), 0
        for box in range(index.ptr[record], index.ptr[record + 1]):
            low = index.box[box]["t0"] // known.slots - known.first
            high = index.box[box]["t1"] // known.slots - known.first
            for epoch in range(low, high + 1):
                set_bit(touched, epoch)
            if low == high:
                set_bit(alone, low)
            else:
                span[n_spans, 0], span[n_spans, 1] = low, high
                n_spans += 1
        n_all = 0
        for word in range(n_words):
            n_all += ones(touched[word])
        for attack in range(n_attacks):
            if known.complete and is_ruled_out(active[attack], alone, span, n_spans):
                continue
            n = 0
            for word in range(n_words):
                n += ones(touched[word] & active[attack, word])
            note_record(found, attack, n, n_all, record == own[attack])


@jit_inline
def is_ruled_out(active: Words, alone: Words, span: Int64s, n_spans: int) -> bool:
    """Whether a box touches no active epoch. ``alone``: epochs of boxes that touch one; ``span``: the first and last
    epochs of the others."""
    for word in range(len(alone)):
        if alone[word] & ~active[word]:
            return True
    for i in range(n_spans):
        epoch, last = span[i, 0], span[i, 1]
        while epoch <= last and not has_bit(active, epoch):
            epoch += 1
        if epoch > last:
            return True
    return False


@jit
def add_slot_fits(
    index: BoxIndex, known: KnownEpochs, own: Int64s, begin: int, end: int, found: TimeFits
) -> None:
    """As add_time_fits, for epochs of one slot: there are many, and nearly all records are ruled out at once."""
    for record in range(begin, end):
        n_all = 0
        for box in range(index.ptr[record], index.ptr[record + 1]):
            n_all += index.box[box]["t1"] - index.box[box]["t0"] + 1
        for attack in range(len(own)):
            slots = known.epoch[known.ptr[attack] : known.ptr[attack + 1]]
            if known.complete and has_empty_box(index, record, slots, known.first):
                continue
            n = 0
            for slot in slots:
                n += touches(index, record, known.first + slot)
            note_record(found, attack, n, n_all, record == own[attack])


@jit_inline
def has_empty_box(index: BoxIndex, record: int, slots: Int64s, first: int) -> bool:
    """Whether a record has a box without any of these slots, which are counted from ``first`` and in order."""
    for box in range(index.ptr[record], index.ptr[record + 1]):
        at = np.searchsorted(slots, index.box[box]["t0"] - first)
        if at == len(slots) or slots[at] > index.box[box]["t1"] - first:
            return True
    return False


@jit_inline
def touches(index: BoxIndex, record: int, slot: int) -> bool:
    """Whether a record has a box in a slot."""
    box = first_box_ending_after(index, record, slot)
    while box < index.ptr[record + 1] and index.box[box]["since"] <= slot:
        if index.box[box]["t0"] <= slot:
            return True
        box += 1
    return False


@jit
def match_presence(
    trajectories: Trajectories,
    index: BoxIndex,
    knowledge: Knowledge,
    low: Int64s,
    high: Int64s,
    active: Bools,
    fits: Fits,
    begin: int,
    end: int,
    touched: Int64s,
) -> None:
    """touched[line]: how many of the pieces of time around an attack (slots low[attack, j] .. high[attack, j] - 1, by
    time, with the interval between them) in which the victim was active a record that fits touches; -1 if one of its
    boxes, wholly inside of all this, touches none of them and holds no known sample."""
    n_pieces = low.shape[1]
    for attack in range(begin, end):
        since, until = low[attack, 0], high[attack, n_pieces - 1]
        first, last = knowledge.first[attack], knowledge.last[attack]
        meets = np.empty(n_pieces, np.bool_)
        for line in range(fits.at[attack], fits.at[attack] + fits.n[attack]):
            record, meets[:], wrong = fits.record[line], False, False
            box = first_box_ending_after(index, record, since)
            while box < index.ptr[record + 1] and index.box[box]["since"] < until and not wrong:
                row, explained = index.box[box], False
                for j in range(n_pieces):
                    here = active[attack, j] and row["t0"] < high[attack, j] and row["t1"] >= low[attack, j]
                    meets[j] |= here
                    explained |= here
                if row["t0"] >= since and row["t1"] < until and not explained:
                    wrong = not holds_any(trajectories, index, box, first, last)
                box += 1
            touched[line] = -1 if wrong else meets.sum()
