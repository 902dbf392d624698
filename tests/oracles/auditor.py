"""What the audit measures, worked out the slow way from docs/audit.md, one attack at a time.

Data as in ``attacker``: samples ``{user: {(t, x, y), ...}}``, records ``{user: [(t0, t1, x0, x1, y0, y1), ...]}``
keyed by the user whose record it is; ``tau`` and ``epsilon`` in slots, None for ``--whole``. An interval or
piece of time is (begin, end), its end left out. A user without boxes has no record. Shares are fractions.
"""

from collections import Counter
from fractions import Fraction
from itertools import combinations
from math import ceil, inf
from typing import NamedTuple

from oracles.attacker import (
    Violation,
    consistent,
    consistent_gap_tolerant,
    covers,
    epoch_of,
    in_box,
    interval_starts,
    knowledge,
)
from oracles.strong_attackers import fits_with_gaps

# --- consistency -------------------------------------------------------------------------------------------


def interval(a: int | None, tau: int | None):
    """[a, a+tau), or all of time for ``--whole``."""
    return (-inf, inf) if tau is None else (a, a + tau)


def inside(t: int, piece) -> bool:
    begin, end = piece
    return begin <= t < end


def wholly_inside(box, piece) -> bool:
    return inside(box[0], piece) and inside(box[1], piece)


def shares_a_slot(box, piece) -> bool:
    return any(inside(t, piece) for t in slots(box))


def slots(box) -> range:
    return range(box[0], box[1] + 1)


def published(records) -> dict:
    return {user: boxes for user, boxes in records.items() if len(boxes) > 0}


def consistent_with_pieces(boxes, samples_of_victim, pieces) -> bool:
    """All samples in the pieces are covered, and a box wholly inside one of the pieces holds one of them.

    Two pieces that touch remain two: a box across the border of both lies wholly inside neither.
    """
    known = {s for s in samples_of_victim if any(inside(s[0], piece) for piece in pieces)}
    to_explain = [box for box in boxes if any(wholly_inside(box, piece) for piece in pieces)]
    return covers(boxes, known) and all(any(in_box(s, box) for s in known) for box in to_explain)


def fitting(samples, records, victim, intervals, epoch_slots: int) -> set:
    """S(K): the users whose records fit what is known in the intervals, gaps of whole epochs forgiven."""
    users = list(published(records))
    pieces = [({s for s in samples.get(victim, ()) if inside(s[0], known)}, *known) for known in intervals]
    return {users[r] for r in fits_with_gaps([records[user] for user in users], pieces, epoch_slots)}


def candidates(samples, records, victim, intervals) -> set:
    """The users whose records are strictly consistent with what is known in each of the intervals."""
    own = samples.get(victim, set())
    return {
        user
        for user, boxes in published(records).items()
        if all(consistent_with_pieces(boxes, own, [known]) for known in intervals)
    }


# --- exact checks ------------------------------------------------------------------------------------------


class Keyless(NamedTuple):
    violations: list[Violation]  # all of them
    without_own: set  # users of whom nothing in the file may be the record
    not_checked: set  # the same users, when the missing records can account for all of them
    n_untrue: int  # how many more of them there are than missing records


def possible_own_records(own_samples, record_list, epsilon: int | None) -> list:
    """The records that are gap-tolerantly consistent with the user's whole trajectory."""
    return [b for b in record_list if consistent_gap_tolerant(b, own_samples, None, None, epsilon)]


def keyless_violations(samples, records, k: int, tau: int | None, epsilon: int | None) -> Keyless:
    """Coverage of every user when nobody knows whose record is whose. ``records`` may be a plain list."""
    record_list = [b for b in (records.values() if isinstance(records, dict) else records) if len(b) > 0]
    found, without_own = [], set()
    for user, own_samples in samples.items():
        possible = possible_own_records(own_samples, record_list, epsilon)
        if not possible:
            without_own.add(user)
        for a in interval_starts(samples, dict(enumerate(record_list)), tau, epsilon):
            known = knowledge(samples, user, a, tau)
            n_strict = sum(consistent(boxes, known, a, tau) for boxes in record_list)
            if n_strict < k and any(consistent(boxes, known, a, tau) for boxes in possible):
                found.append(Violation(user, a, "strict", n_strict))
            n_tolerant = sum(consistent_gap_tolerant(b, known, a, tau, epsilon) for b in record_list)
            if n_tolerant < k:
                found.append(Violation(user, a, "gap-tolerant", n_tolerant))
    n_missing = max(0, len(samples) - len(record_list))
    n_untrue = max(0, len(without_own) - n_missing)
    return Keyless(found, without_own, set() if n_untrue else without_own, n_untrue)


def boxes_without_own_sample(samples, records) -> list:
    """(user, box) for every box that holds no sample of its own user."""
    return [
        (user, box)
        for user, boxes in records.items()
        for box in boxes
        if not any(in_box(s, box) for s in samples.get(user, ()))
    ]


def overlapping_pairs(records) -> list:
    """(user, box, box) for every two boxes of a record that share a slot, wherever in space they are."""
    return [
        (user, one, other)
        for user, boxes in records.items()
        for one, other in combinations(boxes, 2)
        if set(slots(one)) & set(slots(other))
    ]


def suppressed_samples(samples, records) -> set:
    """(user, sample) for every sample in no box of the user's own record; all samples of those who have none."""
    return {(user, s) for user, own in samples.items() for s in own if not covers(records.get(user, ()), [s])}


# --- rankings ----------------------------------------------------------------------------------------------


def span(low: int, high: int) -> int:
    return high - low + 1


def boxes_with(boxes, known) -> list:
    return [box for box in boxes if any(in_box(s, box) for s in known)]


def smallest_score(boxes, known) -> int:
    """Sum of span_t (span_x + span_y) of the boxes that hold a known sample; the lowest is picked."""
    return sum(
        span(t0, t1) * (span(x0, x1) + span(y0, y1)) for t0, t1, x0, x1, y0, y1 in boxes_with(boxes, known)
    )


def faces_score(boxes, known) -> Fraction:
    """Share of the faces, six of each box with a known sample, that one of these touches; the highest is picked."""
    holding = boxes_with(boxes, known)
    touched = 0
    for box in holding:
        here = [s for s in known if in_box(s, box)]
        for axis in range(3):
            for face in (box[2 * axis], box[2 * axis + 1]):
                touched += any(s[axis] == face for s in here)
    return Fraction(touched, 6 * len(holding))


def central_score(boxes, known) -> Fraction:
    """Mean of |2 s - low - high| / (high - low + 1) over known samples and axes; the lowest is picked.

    Only samples in a box count. The box that counts ends first; of those, begins first; of those, is listed first.
    """
    total, held = Fraction(0), [s for s in known if covers(boxes, [s])]
    for s in held:
        box = min((b for b in boxes if in_box(s, b)), key=lambda b: (b[1], b[0]))
        for axis in range(3):
            low, high = box[2 * axis], box[2 * axis + 1]
            total += Fraction(abs(2 * s[axis] - low - high), span(low, high))
    return total / (3 * len(held))


# --- attacks by whoever knows the method, and what leaks ---------------------------------------------------


def in_common(one, other):
    """The box of the slots and cells in both, or None."""
    lows = [max(one[i], other[i]) for i in (0, 2, 4)]
    highs = [min(one[i], other[i]) for i in (1, 3, 5)]
    if any(low > high for low, high in zip(lows, highs, strict=True)):
        return None
    return tuple(end for pair in zip(lows, highs, strict=True) for end in pair)


def meet(one, other, known, whole) -> bool:
    """Two boxes have a cell and a slot in common, and there is a known sample or a slot outside the interval there."""
    common = in_common(one, other)
    if common is None:
        return False
    return any(in_box(s, common) for s in known) or any(not inside(t, whole) for t in slots(common))


def fits_in_window(boxes, known, whole, window) -> bool:
    """Condition 1 of the chain attack."""
    to_explain = [box for box in boxes if wholly_inside(box, whole) and wholly_inside(box, window)]
    return covers(boxes, [s for s in known if inside(s[0], window)]) and all(
        any(in_box(s, box) for s in known) for box in to_explain
    )


def all_meet(boxes, others, known, whole, window) -> bool:
    """One half of condition 2. The box that is met may be any of the other record, in the window or not."""
    to_meet = [box for box in boxes if shares_a_slot(box, window) and not wholly_inside(box, whole)]
    return all(any(meet(box, other, known, whole) for other in others) for box in to_meet)


def windows_that_exist(records, tau: int, epsilon: int) -> list:
    """Runs of r+1 epochs inside a stretch of epochs with boxes that never lack more than r-1 in a row; a stretch that
    is shorter than such a run is one."""
    r = ceil(Fraction(tau, epsilon))
    shown = sorted({epoch_of(box[0], epsilon) for boxes in records.values() for box in boxes})
    stretches = [[shown[0], shown[0]]]
    for e in shown[1:]:
        if e - stretches[-1][1] <= r:
            stretches[-1][1] = e
        else:
            stretches.append([e, e])
    runs = [
        (m, min(m + r, last))
        for first, last in stretches
        for m in range(first, last + 1)
        if m + r <= last or m == first
    ]
    return [(first * epsilon, (last + 1) * epsilon) for first, last in runs]


def can_share_out(choices: list, wanted: int, taken=frozenset()) -> bool:
    """Whether every list of choices can be given so many of its own that nobody is given twice: all ways are tried."""
    if not choices:
        return True
    return any(
        can_share_out(choices[1:], wanted, taken | set(some))
        for some in combinations(sorted(set(choices[0]) - taken), wanted)
    )


def chain_survivors(
    samples, records, victim, a: int, k: int, tau: int, epsilon: int, distinct: bool = False, windows=None
) -> set:
    """The users whose records fit K as they are and at least k-1 others may cover, in every window that shares a slot
    with I and where they have boxes; ``distinct``: others in each. Where gaps are forgiven nobody is ruled out.
    ``windows``: if not those of tau and epsilon."""
    whole = interval(a, tau)
    known = knowledge(samples, victim, a, tau)
    files = published(records)
    existing = windows_that_exist(files, tau, epsilon) if windows is None else windows
    windows = [w for w in existing if w[0] < a + tau and w[1] > a]

    def may_cover(c, d, window) -> bool:
        return (
            fits_in_window(files[d], known, whole, window)
            and all_meet(files[c], files[d], known, whole, window)
            and all_meet(files[d], files[c], known, whole, window)
        )

    def survives(c) -> bool:
        there = [w for w in windows if any(shares_a_slot(box, w) for box in files[c])]
        covers = [[d for d in files if d != c and may_cover(c, d, w)] for w in there]
        if any(len(some) < k - 1 for some in covers):
            return False
        return not distinct or can_share_out(covers, k - 1)

    return {c for c in candidates(samples, records, victim, [whole]) if survives(c)}


def pieces_outside(e: int, epsilon: int, a: int, tau: int) -> list:
    """P: what epoch e has outside [a, a+tau), up to two pieces."""
    begin, end = e * epsilon, (e + 1) * epsilon
    before, after = (begin, min(end, a)), (max(begin, a + tau), end)
    return [piece for piece in (before, after) if piece[0] < piece[1]]


def leakage(samples, records, victim, a: int, tau: int, epsilon: int) -> int | None:
    """Slots outside [a, a+tau) of the epochs that leak; None when no record fits K."""
    still_there = fitting(samples, records, victim, [interval(a, tau)], epsilon)
    if not still_there:
        return None
    own = samples[victim]
    leaked = 0
    for e in {epoch_of(s[0], epsilon) for s in own}:
        pieces = pieces_outside(e, epsilon, a, tau)
        present = any(inside(s[0], piece) for s in own for piece in pieces)
        if present and all(consistent_with_pieces(records[user], own, pieces) for user in still_there):
            leaked += sum(end - begin for begin, end in pieces)
    return leaked


# --- points and places -------------------------------------------------------------------------------------


def points_fit(records, points, epoch_slots: int = 1) -> set:
    """The users whose records hold the most points, all but those in gaps; boxes without a point do not matter."""
    users = list(published(records))
    fit = fits_with_gaps([records[user] for user in users], [(points, 0, 0)], epoch_slots)
    return {users[r] for r in fit}


def cells_of(box) -> set:
    return {(x, y) for x in range(box[2], box[3] + 1) for y in range(box[4], box[5] + 1)}


def most_frequent(cells) -> list:
    """The cells by falling frequency; of equally frequent ones the smaller x, then y, first."""
    counts = Counter(cells)
    return sorted(counts, key=lambda cell: (-counts[cell], cell))


def top_cells(samples_of_user, n: int) -> list:
    return most_frequent((x, y) for _, x, y in samples_of_user)[:n]


def cells_fit(records, cells) -> set:
    """The users whose records hold the most of the cells, at least one, whenever."""
    held = {
        user: sum(any(cell in cells_of(box) for box in boxes) for cell in cells)
        for user, boxes in published(records).items()
    }
    return {user for user, n in held.items() if n == max(held.values()) > 0}


def share_on_cells(boxes, cells) -> Fraction:
    """Mean over the boxes of (known cells inside) / (cells inside)."""
    shares = [Fraction(len(cells_of(box) & set(cells)), len(cells_of(box))) for box in boxes]
    return sum(shares) / len(boxes)


def true_place(samples_of_user, hours):
    """The cell with the most samples in slots for which ``hours(t)``, or None without such samples."""
    places = most_frequent((x, y) for t, x, y in samples_of_user if hours(t))
    return places[0] if places else None


def guessed_place(boxes, hours):
    """Twice the centre, in cells, of the box that begins in those hours and whose middle cell weighs most.

    A box weighs 1/(cells inside) on each of its cells. Of the heaviest the earliest to begin; of those the first by its
    end, then as listed. None when no box begins in those hours.
    """
    beginning = [box for box in sorted(boxes, key=lambda b: (b[1], b[0])) if hours(box[0])]
    if not beginning:
        return None

    def weight(box) -> Fraction:
        middle = ((box[2] + box[3]) // 2, (box[4] + box[5]) // 2)
        return sum(Fraction(1, len(cells_of(other))) for other in beginning if middle in cells_of(other))

    _, _, x0, x1, y0, y1 = min(beginning, key=lambda box: (-weight(box), box[0]))
    return x0 + x1 + 1, y0 + y1 + 1


def homogeneity(samples, records, victim, a: int | None, tau: int | None, epoch_slots: int = 1) -> int | None:
    """The smallest longer side, in cells, of the hull of S(K)'s boxes in a slot outside the interval.

    Only slots in which every record of S(K) has a box; None when there are none, or no record fits.
    ``--whole``: any slot.
    """
    whole = interval(a, tau)
    group = [records[user] for user in fitting(samples, records, victim, [whole], epoch_slots)]
    sides = []
    for t in {t for boxes in group for box in boxes for t in slots(box)}:
        present = [[box for box in boxes if t in slots(box)] for boxes in group]
        if all(present) and (tau is None or not inside(t, whole)):
            here = [box for boxes in present for box in boxes]
            width = span(min(box[2] for box in here), max(box[3] for box in here))
            height = span(min(box[4] for box in here), max(box[5] for box in here))
            sides.append(max(width, height))
    return min(sides, default=None)
