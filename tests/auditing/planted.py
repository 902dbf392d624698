"""Small worlds with one fault planted in each: what an audit must find, and the release it must pass.

Every function takes k and returns a ``Planted``. Samples and records are those of ``oracles.attacker``. In the good
release exactly k records fit in an attack that the fault concerns, so the one fault is enough to break it.

Most worlds hold two crowds, A and B, of k people each. A crowd walks together, every member a slot and a cell
behind the one before, and each shares the same box in every epoch: the records of a crowd are equal, and any face of
a box is held by one sample.
"""

from typing import NamedTuple

from oracles.attacker import epoch_of

EPSILON = 4
TAU = 6  # not a multiple: an interval reaches into two or three epochs


class Planted(NamedTuple):
    samples: dict
    good_records: dict
    bad_records: dict
    k: int
    tau: int
    epsilon: int


def crowd(letter: str, k: int, starts, x: int) -> dict:
    """k people; member i has a sample (start + i, x + i, i) for every start."""
    return {f"{letter}{i}": {(start + i, x + i, i) for start in starts} for i in range(k)}


def hull(samples) -> tuple:
    t, x, y = zip(*samples, strict=True)
    return (min(t), max(t), min(x), max(x), min(y), max(y))


def shared_records(samples: dict, epsilon: int) -> dict:
    """The same record for all of them: the hull of all their samples in each epoch."""
    everything = {s for own in samples.values() for s in own}
    epochs = sorted({epoch_of(s[0], epsilon) for s in everything})
    boxes = [hull([s for s in everything if epoch_of(s[0], epsilon) == e]) for e in epochs]
    return {user: list(boxes) for user in samples}


def two_crowds(k: int, starts) -> tuple[dict, dict]:
    """Samples and records of crowds A and B, far apart, at the same times."""
    a, b = crowd("A", k, starts, x=0), crowd("B", k, starts, x=100)
    return a | b, shared_records(a, EPSILON) | shared_records(b, EPSILON)


def copy(records: dict) -> dict:
    return {user: list(boxes) for user, boxes in records.items()}


def in_epoch(boxes, e: int, epsilon: int = EPSILON) -> int:
    """The place in the list of the box that begins in epoch e."""
    (place,) = [i for i, box in enumerate(boxes) if epoch_of(box[0], epsilon) == e]
    return place


def stale_cover(k: int) -> Planted:
    """The last A's epoch 0 was withheld after all of A had counted on it; their boxes still enclose its sample.

    Only the strict attacker sees it: the gap-tolerant one forgives the last A its empty epoch.
    """
    samples, good = two_crowds(k, starts=(-3, 1, 5))
    bad = copy(good)
    del bad[f"A{k - 1}"][in_epoch(good["A0"], 0)]
    return Planted(samples, good, bad, k, TAU, EPSILON)


def shrunk_box(k: int) -> Planted:
    """A0's box in epoch 0 lacks its last column, where the last A's sample lies."""
    samples, good = two_crowds(k, starts=(-3, 1, 5))
    bad = copy(good)
    place = in_epoch(good["A0"], 0)
    t0, t1, x0, x1, y0, y1 = good["A0"][place]
    bad["A0"][place] = (t0, t1, x0, x1 - 1, y0, y1)
    return Planted(samples, good, bad, k, TAU, EPSILON)


def small_pattern_group(k: int) -> Planted:
    """Only the last A was there in epoch 0. Published, its sample leaves k-1 who are absent in that epoch.

    In the good release it is withheld, so that k are. It is backward consistency that breaks: a box where the
    others have nothing. The last A itself is alone with its sample.
    """
    last = f"A{k - 1}"
    a, b = crowd("A", k, (-3, 5), x=0), crowd("B", k, (-3, 1, 5), x=100)
    good = shared_records(a, EPSILON) | shared_records(b, EPSILON)
    lonely = (2, 0, 0)
    samples = a | b | {last: a[last] | {lonely}}
    bad = copy(good)
    bad[last].insert(1, hull([lonely]))
    return Planted(samples, good, bad, k, TAU, EPSILON)


def border_missed(k: int) -> Planted:
    """A0's box in epoch -1 ends a slot before the epoch does, and misses the last A's sample at slot -1."""
    samples, good = two_crowds(k, starts=(-k, EPSILON - k, 2 * EPSILON - k))
    bad = copy(good)
    place = in_epoch(good["A0"], -1)
    t0, t1, *cells = good["A0"][place]
    bad["A0"][place] = (t0, t1 - 1, *cells)
    return Planted(samples, good, bad, k, TAU, EPSILON)


def border_crossed(k: int) -> Planted:
    """A0's box in epoch -1 reaches one slot into epoch 0, so that epoch 0 is no longer a gap of A0's record.

    All of A are withheld in epoch 0, and only the gap-tolerant attacker is held to k there: k gaps in the good
    release, k-1 in the bad one. A0's own record is no longer among those that fit.
    """
    starts = (-k, EPSILON - k, 2 * EPSILON - k)
    samples, good = two_crowds(k, starts)
    for i in range(k):
        del good[f"A{i}"][in_epoch(good[f"A{i}"], 0)]
    bad = copy(good)
    place = in_epoch(good["A0"], -1)
    t0, t1, *cells = good["A0"][place]
    bad["A0"][place] = (t0, t1 + 1, *cells)
    return Planted(samples, good, bad, k, TAU, EPSILON)


def recordless_cover(k: int) -> Planted:
    """The last A has no record at all; k-1 records enclose its samples and count it as one of k."""
    samples, good = two_crowds(k, starts=(-3, 1, 5))
    bad = copy(good)
    del bad[f"A{k - 1}"]
    return Planted(samples, good, bad, k, TAU, EPSILON)


def invented_box(k: int) -> Planted:
    """A0's record has a box in epoch 1, in which A0 (like all of A) has no sample.

    The box is longer than tau: it never lies wholly inside an interval, so it takes no record from any attacker,
    and coverage holds as before. Only truthfulness is broken.
    """
    tau, epsilon = 4, 8
    a, b = crowd("A", k, (1, 17), x=0), crowd("B", k, (1, 9, 17), x=100)
    good = shared_records(a, epsilon) | shared_records(b, epsilon)
    bad = copy(good)
    bad["A0"].insert(1, (8, 15, 0, k - 1, 0, k - 1))
    return Planted(a | b, good, bad, k, tau, epsilon)


def swapped_records(k: int) -> Planted:
    """From epoch 1 on, A0's boxes stand in B0's record and B0's in A0's.

    Within an epoch k records still enclose every sample. Whoever knows something on both sides of slot 4 finds k-1.
    """
    samples, good = two_crowds(k, starts=(-3, 1, 5, 9))
    bad = copy(good)
    place = in_epoch(good["A0"], 1)
    bad["A0"][place:], bad["B0"][place:] = good["B0"][place:], good["A0"][place:]
    return Planted(samples, good, bad, k, TAU, EPSILON)


# --- hiding sets reused ------------------------------------------------------------------------------------

CROSS = ((-2, 0), (2, 0), (0, -2), (0, 2))


def busy_square(k: int, n_slots: int) -> dict:
    """k^2 people, (row, column), each with a sample in every slot; in turns, four stand out, the others in the middle.

    Who stands out lies in no hull of others. Everybody does in one of any ceil(k^2 / 4) slots in a row.
    """
    n_turns = -(-k * k // 4)

    def place(user, t):
        number = user[0] * k + user[1]
        return CROSS[number % 4] if number // 4 == t % n_turns else (0, 0)

    users = [(row, column) for row in range(k) for column in range(k)]
    return {user: {(t, *place(user, t)) for t in range(n_slots)} for user in users}


def line(user, direction: int, k: int) -> set:
    """The k people of the square on one line with the user; k prime: two lines have at most one in common.

    Directions 0 .. k-1 go so many columns to the right in every row; direction k is the user's row.
    """
    row, column = user
    if direction == k:
        return {(row, c) for c in range(k)}
    return {((row + step) % k, (column + step * direction) % k) for step in range(k)}


def slot_by_slot(samples: dict, members, begin: int, end: int) -> list:
    """One box for every slot of [begin, end): the hull of the members' samples in it."""
    return [hull([s for user in members for s in samples[user] if s[0] == t]) for t in range(begin, end)]


def reused_hiding_sets(k: int) -> Planted:
    """k^2 people in three epochs, tau = epsilon = 4: four windows, from epochs -1..0 to epochs 2..3.

    Good: in every window the other people of another line, as in docs/how-it-works.md: epoch e shows the hulls of the
    lines of windows e-1 and e. (A square of side 2 has three directions; the last window takes that of the first,
    which it shares no epoch with.) Bad: the same line throughout. Coverage holds in both, exactly k where somebody
    stands out in two epochs; in the bad release whoever hides somebody does so all the time, and everything leaks.
    """
    tau = epsilon = 4
    samples = busy_square(k, 3 * epsilon)

    def records(direction_of_window) -> dict:
        return {
            user: [
                box
                for e in range(3)
                for box in slot_by_slot(
                    samples,
                    line(user, direction_of_window(e - 1), k) | line(user, direction_of_window(e), k),
                    e * epsilon,
                    (e + 1) * epsilon,
                )
            ]
            for user in samples
        }

    changing = records(lambda window: (window + 1) % (k + 1))
    return Planted(samples, changing, records(lambda _: 0), k, tau, epsilon)


COVERAGE_FAULTS = {
    # name of the fault: the world, and the attackers who see it
    "stale cover": (stale_cover, {"strict"}),
    "shrunk box": (shrunk_box, {"strict", "gap-tolerant"}),
    "small pattern group": (small_pattern_group, {"strict", "gap-tolerant"}),
    "border missed": (border_missed, {"strict", "gap-tolerant"}),
    "border crossed": (border_crossed, {"gap-tolerant"}),
    "recordless cover": (recordless_cover, {"strict", "gap-tolerant"}),
    "swapped records": (swapped_records, {"strict", "gap-tolerant"}),
}
