"""The attacker of the promise, played out in full (docs/promise.md), and what a truthful file must look like.

Samples are ``{user: {(t, x, y), ...}}``, records ``{user: [(t0, t1, x0, x1, y0, y1), ...]}`` keyed by the
user whose record it is, ends included. A user without boxes has no record, listed or not. ``tau`` and
``epsilon`` are in slots of time; both None means ``--whole``: one interval and one epoch, all of time.
"""

from itertools import pairwise
from numbers import Integral
from typing import NamedTuple


class Violation(NamedTuple):
    user: object
    a: int | None
    attacker: str  # "strict" or "gap-tolerant"
    n_consistent: int


class Reuse(NamedTuple):
    owner: object
    member: object
    earlier_window: int
    later_window: int


def epoch_of(t: int, epsilon: int | None) -> int:
    """Epoch e is [e epsilon, (e+1) epsilon); rounding goes downwards before 1970, too."""
    return 0 if epsilon is None else t // epsilon


def in_box(sample, box) -> bool:
    t, x, y = sample
    t0, t1, x0, x1, y0, y1 = box
    return t0 <= t <= t1 and x0 <= x <= x1 and y0 <= y <= y1


def knowledge(samples, user, a: int | None, tau: int | None) -> set:
    """All samples of the user in [a, a+tau)."""
    return {s for s in samples.get(user, ()) if tau is None or a <= s[0] < a + tau}


def covers(boxes, known) -> bool:
    """Forward: every known sample lies in one of the boxes."""
    return all(any(in_box(sample, box) for box in boxes) for sample in known)


def explained(boxes, known, a: int | None, tau: int | None) -> bool:
    """Backward: every box wholly inside [a, a+tau) contains a known sample."""
    wholly_inside = [box for box in boxes if tau is None or (a <= box[0] and box[1] <= a + tau - 1)]
    return all(any(in_box(sample, box) for sample in known) for box in wholly_inside)


def consistent(boxes, known, a: int | None, tau: int | None) -> bool:
    """Whether the strict attacker keeps this record as a candidate."""
    return covers(boxes, known) and explained(boxes, known, a, tau)


def consistent_gap_tolerant(boxes, known, a: int | None, tau: int | None, epsilon: int | None) -> bool:
    """Whether the gap-tolerant attacker keeps this record as a candidate.

    The reading taken: an epoch [e epsilon, (e+1) epsilon) is a gap of the record when no box of the record
    overlaps any slot of it, inside the interval or out. Known samples in a gap need not be covered. The
    epoch need not lie wholly inside the interval: an attacker who knows only part of an epoch sees all of
    the published file, so can tell that the whole epoch is empty. A record with a box anywhere in the
    epoch, even outside the interval, is not forgiven there. Nothing is forgiven backward: a box wholly
    inside the interval must contain a known sample.
    """
    if epsilon is None:
        gaps = set() if boxes else {0}
    else:
        with_boxes = {e for box in boxes for e in range(box[0] // epsilon, box[1] // epsilon + 1)}
        gaps = {epoch_of(sample[0], epsilon) for sample in known} - with_boxes
    must_be_covered = {sample for sample in known if epoch_of(sample[0], epsilon) not in gaps}
    return covers(boxes, must_be_covered) and explained(boxes, known, a, tau)


def interval_starts(samples, records, tau: int | None, epsilon: int | None) -> list:
    """Every whole-slot a that could matter, and some on either side where nothing at all is known."""
    if tau is None:
        return [None]
    times = [sample[0] for own in samples.values() for sample in own]
    times += [end for boxes in records.values() for box in boxes for end in box[:2]]
    if not times:
        return [0]
    margin = tau + epsilon + 1
    return list(range(min(times) - margin, max(times) + margin + 1))


def violations(samples, records, k: int, tau: int | None, epsilon: int | None) -> list[Violation]:
    """Every attack that guarantee 1 forbids: every user with a record, every a, empty knowledge included.

    The strict attacker is held to k candidates where the victim's own record is one of them; the
    gap-tolerant one always. A dataset published in shards is one dataset here.
    """
    published = {user: boxes for user, boxes in records.items() if len(boxes) > 0}
    found = []
    for user in published:
        for a in interval_starts(samples, published, tau, epsilon):
            known = knowledge(samples, user, a, tau)
            strict = [other for other, boxes in published.items() if consistent(boxes, known, a, tau)]
            if user in strict and len(strict) < k:
                found.append(Violation(user, a, "strict", len(strict)))
            tolerant = [
                other
                for other, boxes in published.items()
                if consistent_gap_tolerant(boxes, known, a, tau, epsilon)
            ]
            if len(tolerant) < k:
                found.append(Violation(user, a, "gap-tolerant", len(tolerant)))
    return found


def box_errors(user, box, epsilon: int | None) -> list[str]:
    if len(box) != 6 or not all(isinstance(end, Integral) for end in box):
        return [f"{user}: {box} is not six whole numbers"]
    errors = []
    if box[0] > box[1] or box[2] > box[3] or box[4] > box[5]:
        errors.append(f"{user}: {box} ends before it begins")
    if epoch_of(box[0], epsilon) != epoch_of(box[1], epsilon):
        errors.append(f"{user}: {box} crosses an epoch border")
    return errors


def truthfulness_errors(samples, records, suppressed, epsilon: int | None) -> list[str]:
    """What is untrue or missing in the records; empty when they are as section 1 says.

    ``suppressed`` is a set of (user, epoch), with epoch 0 for ``--whole``. A suppressed epoch is withheld
    whole, so a box of its user there is an error as much as an uncovered sample elsewhere.
    """
    errors = []
    for user in {**samples, **records}:
        boxes = list(records.get(user, ()))
        own = samples.get(user, set())
        malformed = [error for box in boxes for error in box_errors(user, box, epsilon)]
        errors += malformed
        if malformed:
            continue
        for earlier, later in pairwise(boxes):
            if later[0] <= earlier[1]:
                errors.append(f"{user}: {earlier} and {later} are out of order or overlap in time")
        for box in boxes:
            if not any(in_box(sample, box) for sample in own):
                errors.append(f"{user}: {box} holds no sample of its own user")
            if (user, epoch_of(box[0], epsilon)) in suppressed:
                errors.append(f"{user}: {box} stands in a suppressed epoch")
        for sample in sorted(own):
            n_boxes = sum(in_box(sample, box) for box in boxes)
            if n_boxes != 1 and (user, epoch_of(sample[0], epsilon)) not in suppressed:
                errors.append(f"{user}: {sample} is in {n_boxes} boxes")
    return errors


def reuse_errors(hiding_sets, reuse: str, r: int) -> list[Reuse]:
    """Pairs that serve again too soon, one entry for each window and the pair's previous one.

    ``hiding_sets`` is ``{window: {owner: members}}``.
    ``once``: an ordered pair (owner, member) serves in one window only.
    ``pair``: an unordered pair serves in one window only; in that window it may serve both ways.
    ``spaced``: an ordered pair that serves in window m may serve again from window m + 2r + 1 on.
    """
    if reuse not in ("once", "pair", "spaced"):
        raise ValueError(f"reuse must be once, pair or spaced, got {reuse!r}")
    last_served = {}
    errors = []
    for window in sorted(hiding_sets):
        for owner, members in hiding_sets[window].items():
            for member in members:
                pair = frozenset([owner, member]) if reuse == "pair" else (owner, member)
                before = last_served.get(pair)
                if before is not None and (
                    window - before < 2 * r + 1 if reuse == "spaced" else window > before
                ):
                    errors.append(Reuse(owner, member, before, window))
                last_served[pair] = window
    return errors
