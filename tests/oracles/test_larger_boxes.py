"""Larger boxes lose no record that fits (docs/decisions/0026): held against the attacker of the promise, played out."""

from itertools import chain

from hypothesis import given, settings
from hypothesis import strategies as st

from oracles.attacker import consistent, consistent_gap_tolerant, interval_starts, knowledge

EPSILON, N_EPOCHS, CELLS = 3, 3, 4


@st.composite
def epoch_boxes(draw, epoch: int) -> list:
    """Disjoint boxes in an epoch, none to three, by time."""
    slots = range(epoch * EPSILON, (epoch + 1) * EPSILON)
    times = sorted(draw(st.sets(st.sampled_from(slots), max_size=EPSILON)))
    boxes = []
    while times:
        n = draw(st.integers(1, len(times)))
        x, y = (
            sorted(draw(st.tuples(st.integers(0, CELLS - 1), st.integers(0, CELLS - 1)))) for _ in range(2)
        )
        boxes.append((times[0], times[n - 1], *x, *y))
        times = times[n:]
    return boxes


@st.composite
def enlarged(draw, boxes: list, epoch: int) -> list:
    """The boxes of an epoch made larger, or joined, where they stay apart from each other and inside the epoch."""
    groups: list[list] = []
    for box in boxes:
        if groups and draw(st.booleans()):
            groups[-1].append(box)
        else:
            groups.append([box])
    larger, free = [], epoch * EPSILON
    for number, group in enumerate(groups):
        following = groups[number + 1][0][0] if number + 1 < len(groups) else (epoch + 1) * EPSILON
        t0 = draw(st.integers(free, group[0][0]))
        t1 = draw(st.integers(group[-1][1], following - 1))
        sides = []
        for low, high in ((2, 3), (4, 5)):
            sides.append(min(box[low] for box in group) - draw(st.integers(0, 2)))
            sides.append(max(box[high] for box in group) + draw(st.integers(0, 2)))
        larger.append((t0, t1, *sides))
        free = t1 + 1
    return larger


@st.composite
def record_and_larger(draw) -> tuple[list, list]:
    per_epoch = [draw(epoch_boxes(epoch)) for epoch in range(N_EPOCHS)]
    larger = [draw(enlarged(boxes, epoch)) for epoch, boxes in enumerate(per_epoch)]
    return list(chain.from_iterable(per_epoch)), list(chain.from_iterable(larger))


def on_lattice(box: tuple, step: int) -> tuple:
    """A box with its faces in space moved outwards to a lattice."""
    t0, t1, *faces = box
    return (t0, t1, *(face // step * step + (step - 1) * (at % 2) for at, face in enumerate(faces)))


def fits_lost(before: list, after: list, samples: set, tau: int, epsilon: int = EPSILON) -> list:
    """Which attackers, and from when on, lose a record because its boxes changed."""
    world = {"victim": samples}
    lost = []
    for a in interval_starts(world, {"record": before, "larger": after}, tau, epsilon):
        known = knowledge(world, "victim", a, tau)
        if consistent(before, known, a, tau) and not consistent(after, known, a, tau):
            lost.append(("strict", a))
        fitted, fits = (consistent_gap_tolerant(each, known, a, tau, epsilon) for each in (before, after))
        if fitted and not fits:
            lost.append(("gap-tolerant", a))
    return lost


victims = st.sets(
    st.tuples(st.integers(0, N_EPOCHS * EPSILON - 1), st.integers(0, CELLS - 1), st.integers(0, CELLS - 1)),
    max_size=5,
)


def meeting(samples: set, boxes: list, some: list) -> set:
    """Samples, and one in each of some boxes, so that records fit now and then."""
    return samples | {(box[0], box[2], box[4]) for box, there in zip(boxes, some, strict=False) if there}


@settings(max_examples=150, deadline=None)
@given(record_and_larger(), victims, st.lists(st.booleans(), min_size=9, max_size=9), st.integers(1, 7))
def test_a_record_that_fits_fits_with_larger_boxes(records, samples, some, tau) -> None:
    before, after = records
    assert fits_lost(before, after, meeting(samples if tau % 2 else set(), before, some), tau) == []


@settings(max_examples=50, deadline=None)
@given(record_and_larger(), victims, st.integers(1, 7), st.integers(1, 5))
def test_a_record_that_fits_fits_on_a_lattice(records, samples, tau, step) -> None:
    before, _ = records
    after = [on_lattice(box, step) for box in before]
    for box, larger in zip(before, after, strict=True):
        assert all(low <= face for low, face in zip(larger[2::2], box[2::2], strict=True))
        assert all(high >= face for high, face in zip(larger[3::2], box[3::2], strict=True))
    assert fits_lost(before, after, meeting(samples, before, [True] * 9), tau) == []


def test_a_box_that_leaves_its_epoch_can_lose_a_record() -> None:
    """The gap-tolerant attacker forgave an epoch in which the record has no box any more."""
    before, after, known = [(2, 2, 0, 0, 0, 0)], [(2, 3, 0, 0, 0, 0)], {(2, 0, 0), (4, 0, 0)}
    assert ("gap-tolerant", 2) in fits_lost(before, after, known, 3)


def test_a_box_added_can_lose_a_record() -> None:
    """Larger boxes are not more boxes: one that holds no known sample contradicts what is known."""
    before, after = [(0, 0, 0, 0, 0, 0)], [(0, 0, 0, 0, 0, 0), (1, 1, 0, 0, 0, 0)]
    assert fits_lost(before, after, {(0, 0, 0)}, 3)
