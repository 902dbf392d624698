"""Which records fit what was seen, against the definition spelled out in plain Python."""

from __future__ import annotations

import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from shoal.auditing.truthfulness import held_samples
from shoal.boxes import Boxes
from shoal.promise import Grid, Promise
from shoal.report.story import choose_story, fitting_records
from shoal.samples import Samples, samples_from_columns

Point = tuple[int, int, int]
Span = tuple[int, int, int, int, int, int]


def samples_of(points: list[list[Point]]) -> Samples:
    rows = [(user, *point) for user, listed in enumerate(points) for point in listed]
    names = np.array([f"u{user}" for user in range(len(points))], dtype=object)
    return samples_from_columns(names, *np.array(rows).reshape(-1, 4).T)


def boxes_of(records: list[list[Span]]) -> Boxes:
    rows = [(owner, *span) for owner, listed in enumerate(records) for span in listed]
    columns = np.array(rows, dtype=np.int64).reshape(-1, 7).T
    return Boxes(*(c.astype(np.int64 if i in (1, 2) else np.int32) for i, c in enumerate(columns)))


def inside(point: Point, span: Span) -> bool:
    return all(span[2 * i] <= point[i] <= span[2 * i + 1] for i in range(3))


def fits(seen: list[Point], record: list[Span], begin: int, end: int) -> bool:
    forward = all(any(inside(point, span) for span in record) for point in seen)
    within = [span for span in record if span[0] >= begin and span[1] < end]
    return bool(record) and forward and all(any(inside(point, span) for point in seen) for span in within)


small = st.integers(0, 3)
points = st.lists(st.tuples(st.integers(0, 11), small, small), min_size=1, max_size=5, unique=True)


@st.composite
def spans(draw: st.DrawFn) -> list[Span]:
    """A record: boxes disjoint in time and ordered."""
    cuts = sorted(draw(st.sets(st.integers(0, 12), min_size=2, max_size=5)))
    record = []
    for begin, end in itertools.pairwise(cuts):
        if draw(st.booleans()):
            x, y = sorted([draw(small), draw(small)]), sorted([draw(small), draw(small)])
            record.append((begin, end - 1, x[0], x[1], y[0], y[1]))
    return record


@given(st.lists(st.tuples(points, spans()), min_size=1, max_size=6), st.integers(-2, 12), st.integers(1, 9))
def test_fitting_records_and_published_samples(
    users: list[tuple[list[Point], list[Span]]], begin: int, tau: int
) -> None:
    samples = samples_of([listed for listed, _ in users])
    records = [record for _, record in users]
    boxes = boxes_of(records)
    end = begin + tau
    rows = np.flatnonzero((samples.user == 0) & (samples.t >= begin) & (samples.t < end))
    seen = [(int(samples.t[row]), int(samples.x[row]), int(samples.y[row])) for row in rows]
    expected = [owner for owner, record in enumerate(records) if fits(seen, record, begin, end)]
    assert fitting_records(samples, rows.astype(np.int64), (begin, end), boxes).tolist() == expected

    published = [
        any(inside((int(t), int(x), int(y)), span) for span in records[user])
        for user, t, x, y in zip(samples.user, samples.t, samples.x, samples.y, strict=True)
    ]
    assert held_samples(samples, boxes).tolist() == published


def test_only_boxes_wholly_inside_the_interval_can_contradict() -> None:
    samples = samples_of([[(12, 1, 1)]])
    seen, holds = np.array([0]), (12, 12, 1, 1, 1, 1)
    for span, contradicts in (((10, 11), True), ((9, 11), False), ((13, 19), True), ((13, 20), False)):
        other = (*span, 5, 5, 5, 5)
        boxes = boxes_of([[holds], sorted([holds, other])])
        assert fitting_records(samples, seen, (10, 20), boxes).tolist() == ([0] if contradicts else [0, 1])


def test_own_record_first_then_the_most_precise() -> None:
    walk = [(10, 5, 5), (20, 8, 5), (25, 9, 6)]
    samples = samples_of([walk, walk, walk, [(22, 1, 1)]])
    wide, narrow = (10, 25, 0, 20, 0, 20), (10, 25, 5, 9, 5, 6)
    boxes = boxes_of([[wide], [wide], [narrow], [(22, 22, 1, 1, 1, 1)]])
    for seed in range(8):
        story = choose_story(samples, boxes, Promise(2, 30, 30), Grid(), seed=seed)
        assert story is not None
        if story.user == 0:
            assert story.fitting.tolist() == [0, 2, 1]
            assert story.interval[1] - story.interval[0] == 30
            break
    else:
        raise AssertionError("no seed chose the first user")


def test_no_story_without_boxes_or_where_no_record_fits_its_owner() -> None:
    samples = samples_of([[(5, 1, 1), (6, 2, 2)], [(5, 1, 1)]])
    assert choose_story(samples, boxes_of([]), Promise(2, 30, 30), Grid()) is None
    elsewhere = boxes_of([[(5, 6, 3, 3, 3, 3)], [(5, 6, 3, 3, 3, 3)]])
    assert choose_story(samples, elsewhere, Promise(2, 30, 30), Grid()) is None
