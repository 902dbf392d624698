"""The attackers of docs/audit.md that weigh times and places, worked out the slow way, one attack at a time.

Records are a list, each a list of boxes ``(t0, t1, x0, x1, y0, y1)``, ends included, sorted by their ends, then begins;
a record is known by its place in the list, a box by its place in the record, a cell is ``(x, y)``. What somebody did is
a list of samples ``(t, x, y)``. Lengths of time are in slots; ``epoch_slots`` is epsilon, with ``--whole`` an hour. A
record without boxes is none: it never fits. ``weights`` are those of the features of a place, in order.
"""

from collections.abc import Mapping
from math import exp, log, sqrt

from oracles.attacker import covers, epoch_of, in_box

EQUAL = 1e-9  # scores this near to each other are equal: they are sums of logarithms, in whatever order

# --- equals ------------------------------------------------------------------------------------------------


def as_good_as(score: float, best: float) -> bool:
    return score >= best - EQUAL * max(1.0, abs(best))


def the_best(scores: Mapping) -> list:
    """All candidates with the largest score."""
    top = max(scores.values(), default=0.0)
    return [candidate for candidate, score in scores.items() if as_good_as(score, top)]


def best_share(scores, right) -> float:
    """How many of the best are right: what picking one of them at random achieves; 0 when there is nothing to pick.

    ``scores`` is ``{candidate: score}`` or a list, whose candidates are then 0, 1, 2 ...
    """
    best = the_best(scores if isinstance(scores, Mapping) else dict(enumerate(scores)))
    return sum(candidate in right for candidate in best) / len(best) if best else 0.0


def with_the_most(counts: dict) -> list:
    """The keys of the largest count, in order. Also if that is 0."""
    return sorted(key for key, count in counts.items() if count == max(counts.values()))


# --- what fits ---------------------------------------------------------------------------------------------


def epochs_touched(boxes, epoch_slots: int) -> set:
    """The epochs with which one of the boxes shares a slot."""
    return {
        epoch
        for box in boxes
        for epoch in range(epoch_of(box[0], epoch_slots), epoch_of(box[1], epoch_slots) + 1)
    }


def wholly_inside(box, begin, end) -> bool:
    return begin <= box[0] and box[1] < end


def samples_held(boxes, known) -> int:
    return sum(any(in_box(sample, box) for box in boxes) for sample in known)


def fits_with_gaps(records, pieces, epoch_slots: int) -> list:
    """S(K) of knowledge in pieces ``(samples, begin, end)``: what the victim did in [begin, end), all of it.

    begin == end: these samples are points, and the attacker does not know that there are no others. No box lies wholly
    inside of nothing, so the backward condition asks nothing there. All of time is (-inf, inf).
    """
    known = [sample for samples, _, _ in pieces for sample in samples]

    def explained(boxes) -> bool:
        to_explain = [box for box in boxes if any(wholly_inside(box, begin, end) for _, begin, end in pieces)]
        return all(any(in_box(sample, box) for sample in known) for box in to_explain)

    def not_forgiven(boxes) -> list:
        return [s for s in known if epoch_of(s[0], epoch_slots) in epochs_touched(boxes, epoch_slots)]

    held = {
        r: samples_held(boxes, known)
        for r, boxes in enumerate(records)
        if explained(boxes) and covers(boxes, not_forgiven(boxes))
    }
    return with_the_most({r: n for r, n in held.items() if n > 0})


def times_left(records, known_epochs, epoch_slots: int, all_known: bool) -> list:
    """The records that fit when nothing but active epochs of the victim is known; ``all_known``: every one of them."""

    def ruled_out(boxes) -> bool:
        return all_known and any(not epochs_touched([box], epoch_slots) & set(known_epochs) for box in boxes)

    return with_the_most(
        {
            r: len(epochs_touched(boxes, epoch_slots) & set(known_epochs))
            for r, boxes in enumerate(records)
            if boxes and not ruled_out(boxes)
        }
    )


def pieces_around(begin: int, tau: int, epsilon: int) -> list:
    """Two epochs before the interval, two after it, and what it leaves of epochs that it cuts, as (begin, end)."""
    outside = [
        t for t in range(begin - 4 * epsilon, begin + tau + 4 * epsilon) if not begin <= t < begin + tau
    ]
    pieces: dict = {}
    for t in outside:
        pieces.setdefault((epoch_of(t, epsilon), t < begin), []).append(t)
    found = []
    for before in (True, False):
        side = [slots for (_, is_before), slots in sorted(pieces.items()) if is_before == before]
        side = [(slots[0], slots[-1] + 1) for slots in (side[::-1] if before else side)]
        nearest = side[0]
        cut = nearest[1] - nearest[0] < epsilon
        wanted = side[: 3 if cut else 2]
        found += wanted[::-1] if before else wanted
    return found


def presence_left(records, victim_samples, begin: int, tau: int, epsilon: int) -> list:
    """The records of S(K) that fit when it is known, too, in which of the pieces around the victim was active."""
    around = pieces_around(begin, tau, epsilon)
    active = [piece for piece in around if any(t in range(*piece) for t, _, _ in victim_samples)]
    known = [s for s in victim_samples if begin <= s[0] < begin + tau]

    def may_be_own(box) -> bool:
        return any(box[0] < end and box[1] >= since for since, end in active) or any(
            in_box(sample, box) for sample in known
        )

    def ruled_out(boxes) -> bool:
        inside = [box for box in boxes if wholly_inside(box, around[0][0], around[-1][1])]
        return not all(may_be_own(box) for box in inside)

    def touched(boxes) -> int:
        return sum(any(box[0] < end and box[1] >= since for box in boxes) for since, end in active)

    return with_the_most(
        {
            r: touched(records[r])
            for r in fits_with_gaps(records, [(known, begin, begin + tau)], epsilon)
            if not ruled_out(records[r])
        }
    )


def everybody(scores: Mapping, people) -> tuple[int, float]:
    """How many people can be matched with records, each record once, and the largest sum of scores of so many.

    ``scores`` is ``{(person, record): score}``; a pair that is not there does not fit. All ways are tried.
    """
    people = list(people)

    def best(i: int, taken: frozenset) -> tuple[int, float]:
        if i == len(people):
            return 0, 0.0
        ways = [best(i + 1, taken)]
        for (person, record), score in scores.items():
            if person == people[i] and record not in taken:
                matched, total = best(i + 1, taken | {record})
                ways.append((matched + 1, total + score))
        return max(ways)

    return best(0, frozenset())


# --- place inside the box ----------------------------------------------------------------------------------

PLACE_FEATURES = (
    "faces",
    "corner",
    "corners_now",
    "corners_near",
    "faces_now",
    "popularity",
    "share",
    "tight",
    "edges",
    "corners",
    "next",
    "off_centre",
)
MOST_SITES = 64


def corners(box) -> set:
    _, _, x0, x1, y0, y1 = box
    return {(x, y) for x in (x0, x1) for y in (y0, y1)}


def holds(box, cell) -> bool:
    _, _, x0, x1, y0, y1 = box
    return x0 <= cell[0] <= x1 and y0 <= cell[1] <= y1


def n_cells(box) -> int:
    _, _, x0, x1, y0, y1 = box
    return (x1 - x0 + 1) * (y1 - y0 + 1)


def on_axes(box, cell) -> int:
    """f: on how many axes of the box the cell, which is inside, lies."""
    _, _, x0, x1, y0, y1 = box
    return (cell[0] in (x0, x1)) + (cell[1] in (y0, y1))


def sites(records) -> list:
    """The cells that are a corner of some box, in order."""
    return sorted({cell for boxes in records for box in boxes for cell in corners(box)})


def other_boxes(records, r: int, b: int) -> list:
    """The boxes of the record but this one. One that is its equal is another."""
    return [box for i, box in enumerate(records[r]) if i != b]


def all_but(records, r: int, b: int) -> list:
    """The boxes of the file but this one."""
    return [box for i, boxes in enumerate(records) for j, box in enumerate(boxes) if (i, j) != (r, b)]


def n_corners_of_others(records, r: int, cell) -> int:
    """Boxes of other records with a corner there."""
    return sum(cell in corners(box) for i, boxes in enumerate(records) if i != r for box in boxes)


def promise_of_a_site(records, r: int, b: int, cell) -> int:
    """By how much a site is kept where a box has more of them than may count."""
    elsewhere = sum(on_axes(box, cell) for box in other_boxes(records, r, b) if holds(box, cell))
    return (
        (1 + n_corners_of_others(records, r, cell)) * 4 ** on_axes(records[r][b], cell) * (1 + 2 * elsewhere)
    )


def place_candidates(records, r: int, b: int) -> list:
    """The sites inside the box, the most promising 64 of them, in order of (x, y)."""
    here = [cell for cell in sites(records) if holds(records[r][b], cell)]
    if len(here) > MOST_SITES:
        here = sorted(here, key=lambda cell: (-promise_of_a_site(records, r, b, cell), cell))[:MOST_SITES]
    return sorted(here)


def neighbours(records, r: int, b: int) -> list:
    """The box before and the box after in the record, where there is one."""
    return [records[r][i] for i in (b - 1, b + 1) if 0 <= i < len(records[r])]


def place_features(records, r: int, b: int, cell, epoch_slots: int) -> list:
    """The twelve features of a cell inside a box, in the order of ``PLACE_FEATURES``."""
    box = records[r][b]
    x, y = cell
    _, _, x0, x1, y0, y1 = box
    epoch = epoch_of(box[0], epoch_slots)
    now = [o for o in all_but(records, r, b) if epoch_of(o[0], epoch_slots) == epoch]
    near = [o for o in all_but(records, r, b) if epoch_of(o[0], epoch_slots) in (epoch - 1, epoch + 1)]
    others = other_boxes(records, r, b)
    holding = [o for o in others if holds(o, cell)]
    return [
        on_axes(box, cell),
        1 if on_axes(box, cell) == 2 else 0,
        log(1 + sum(cell in corners(o) for o in now)),
        log(1 + sum(cell in corners(o) for o in near)),
        log(1 + sum(x in (o[2], o[3]) for o in now)) + log(1 + sum(y in (o[4], o[5]) for o in now)),
        log(0.5 + n_corners_of_others(records, r, cell)),
        len(holding) / max(len(records[r]) - 1, 1),
        log(0.02 + sum(1 / sqrt(n_cells(o)) for o in holding)),
        log(0.1 + sum(on_axes(o, cell) for o in holding) / 2),
        log(0.1 + sum(cell in corners(o) for o in others)),
        sum(holds(o, cell) for o in neighbours(records, r, b)),
        abs(2 * x - x0 - x1) / (x1 - x0 + 1) + abs(2 * y - y0 - y1) / (y1 - y0 + 1),
    ]


def weighed(features: Mapping, weights) -> dict:
    """The score of each candidate: weights . features, these less their mean among the candidates."""
    columns = list(zip(*features.values(), strict=True))
    means = [sum(column) / len(column) for column in columns]
    return {
        candidate: sum(w * (value - mean) for w, value, mean in zip(weights, values, means, strict=True))
        for candidate, values in features.items()
    }


def chances(scores: Mapping) -> dict:
    """A conditional logit: chances proportional to exp(score)."""
    top = max(scores.values())
    odds = {candidate: exp(score - top) for candidate, score in scores.items()}
    return {candidate: some / sum(odds.values()) for candidate, some in odds.items()}


def place_chances(records, r: int, b: int, weights, epoch_slots: int, extra_cell=None) -> dict:
    """``{cell: chance}`` of the candidates of a box; ``extra_cell`` is one of them whether or not it is a site."""
    cells = place_candidates(records, r, b)
    if extra_cell is not None and extra_cell not in cells:
        cells = sorted([*cells, extra_cell])
    features = {cell: place_features(records, r, b, cell, epoch_slots) for cell in cells}
    return chances(weighed(features, weights))


def home_posterior(records, r: int, boxes_in_hours, weights, epoch_slots: int) -> dict:
    """``{cell: sum of its chances}`` over those boxes of the record (their places in it) that begin in the hours."""
    total = {}
    for b in boxes_in_hours:
        for cell, chance in place_chances(records, r, b, weights, epoch_slots).items():
            total[cell] = total.get(cell, 0.0) + chance
    return total


def home_guess_by_posterior(records, r: int, boxes_in_hours, weights, epoch_slots: int):
    """The cell with the largest sum of chances, of equals the smaller x, then y; None without such a box."""
    return min(the_best(home_posterior(records, r, boxes_in_hours, weights, epoch_slots)), default=None)


# --- top locations -----------------------------------------------------------------------------------------


def cells_held(boxes, cells) -> int:
    return sum(any(holds(box, cell) for box in boxes) for cell in cells)


def top_fits(records, cells) -> list:
    """The records that hold all of the cells, whenever; where none does, those that hold the most, if any holds one."""
    held = {r: cells_held(boxes, cells) for r, boxes in enumerate(records)}
    return with_the_most({r: n for r, n in held.items() if n > 0})


def tight_on(boxes, cells) -> float:
    return sum(
        log(0.01 + sum(1 / sqrt(n_cells(box)) for box in boxes if holds(box, cell)) / len(boxes))
        for cell in cells
    )


def edges_on(boxes, cells) -> float:
    return sum(
        log(0.02 + sum(on_axes(box, cell) for box in boxes if holds(box, cell)) / (2 * len(boxes)))
        for cell in cells
    )


def mass_on(records, r: int, cells, weights, epoch_slots: int) -> float:
    of_boxes = [place_chances(records, r, b, weights, epoch_slots) for b in range(len(records[r]))]
    return sum(log(0.01 + sum(of.get(cell, 0.0) for of in of_boxes) / len(of_boxes)) for cell in cells)


def top_features(records, r: int, cells, weights, epoch_slots: int) -> tuple:
    """(tight, edges, either, mass) of a record for known cells."""
    boxes = records[r]
    either = sum(cells_held([box], cells) > 0 for box in boxes) / len(boxes)
    mass = mass_on(records, r, cells, weights, epoch_slots)
    return tight_on(boxes, cells), edges_on(boxes, cells), either, mass


def top_candidates(records, cells, most: int = 50) -> list:
    """Of the records over one of the cells those with the largest tight + edges, the best first, of equals the first in
    the file."""
    left = {
        r: tight_on(boxes, cells) + edges_on(boxes, cells)
        for r, boxes in enumerate(records)
        if cells_held(boxes, cells) > 0
    }
    chosen = []
    while left and len(chosen) < most:
        chosen.append(min(the_best(left)))
        del left[chosen[-1]]
    return chosen


def share_on(boxes, cells) -> float:
    """Which share a record spends on known cells: the mean over its boxes of known cells inside / cells inside."""
    return sum(sum(holds(box, cell) for cell in cells) / n_cells(box) for box in boxes) / len(boxes)


# --- what is likelier, for who knows the method ------------------------------------------------------------


def first_holding(boxes, sample):
    """The place in the record of the first box, by its end, then begin, that holds the sample; None if none does."""
    holding = [(box[1], box[0], b) for b, box in enumerate(boxes) if in_box(sample, box)]
    return min(holding)[2] if holding else None


def method_place_features(records, r: int, known_samples, weights, epoch_slots: int) -> tuple:
    """(place, tight, edges) of a record of S(K): means over the known samples, those apart that it does not hold."""
    place, tight, edges = [], [], []
    for sample in known_samples:
        b, cell = first_holding(records[r], sample), sample[1:]
        if b is not None:
            place.append(log(place_chances(records, r, b, weights, epoch_slots, extra_cell=cell)[cell]))
            features = place_features(records, r, b, cell, epoch_slots)
            tight.append(features[PLACE_FEATURES.index("tight")])
            edges.append(features[PLACE_FEATURES.index("edges")])
    return sum(place) / len(place), sum(tight) / len(tight), sum(edges) / len(edges)
