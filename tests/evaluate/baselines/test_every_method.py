"""What holds for every method to compare with, on small worlds of many shapes."""

from __future__ import annotations

import random

import numpy as np
import pyarrow as pa
import pytest

import shoal
from oracles.casual_worlds import random_world
from oracles.merge import inside
from shoal.core.promise import Grid
from shoal.core.samples import Samples
from shoal.errors import InputError, ParameterError
from shoal.evaluate.baselines import W4M, Anonymized, Glove, KMerge, Limits, Method, Static
from shoal.publishing.record_names import named_boxes
from shoal.publishing.tables import key_table, published_batches
from shoal.reading import read_events
from shoal.storage.sample_store import store_of
from support.baseline_worlds import records_of, samples_of, trajectories_of
from support.progress_listener import Listener
from support.release_worlds import as_samples

METHODS = {
    "static": Static(cells=40, slots=120),
    "static, finest": Static(cells=1, slots=1),
    "glove": Glove(),
    "glove, merge only": Glove(limits=None, reshape=False),
    "glove, strict": Glove(limits=Limits(space_m=500, time_s=300)),
    "w4m": W4M(),
    "w4m, narrow": W4M(delta_m=10.0, trash_share=0.4, seed=3),
    "k-merge": KMerge(),
}

every_method = pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)
generalizing = pytest.mark.parametrize(
    "method",
    [method for method in METHODS.values() if not isinstance(method, W4M)],
    ids=[name for name in METHODS if not name.startswith("w4m")],
)


def cases(seed: int = 0, count: int = 60) -> list[tuple[Samples, int]]:
    """Worlds with a k that their population allows."""
    rng = random.Random(seed)
    worlds = [
        as_samples({f"{user:02}": own for user, own in random_world(rng).items()}) for _ in range(count)
    ]
    return [(samples, rng.randint(2, min(5, samples.n_users))) for samples in worlds]


def same(one: Anonymized, other: Anonymized) -> bool:
    columns = zip((*one.boxes, one.group), (*other.boxes, other.group), strict=True)
    return one.counts == other.counts and all(np.array_equal(mine, theirs) for mine, theirs in columns)


@every_method
def test_counts_add_up(method: Method) -> None:
    for samples, k in cases():
        counts = method(samples, k).counts
        assert min(counts) >= 0
        assert counts.samples == len(samples)
        assert counts.samples + counts.created == (
            counts.published + counts.suppressed + counts.trashed + counts.deleted
        )


@every_method
def test_groups_have_records_that_look_alike(method: Method) -> None:
    for samples, k in cases():
        result = method(samples, k)
        records = records_of(result)
        assert sorted(records) == np.flatnonzero(result.group >= 0).tolist()
        assert result.boxes.owner.tolist() == sorted(result.boxes.owner.tolist())
        for group in set(result.group[result.group >= 0].tolist()):
            members = np.flatnonzero(result.group == group).tolist()
            if result.points is None:
                assert len({tuple(records[member]) for member in members}) == 1
            assert len({tuple(box[:2] for box in records[member]) for member in members}) == 1
            if method.name != "static":
                assert len(members) >= k
            assert result.hidden[members].all() == (len(members) >= k)


@generalizing
def test_what_counts_as_published_lies_in_a_box_of_its_own_user(method: Method) -> None:
    for samples, k in cases():
        result = method(samples, k)
        records = records_of(result)
        covered = sum(
            any(inside(sample, box) for box in records.get(user, []))
            for user, own in enumerate(trajectories_of(samples))
            for sample in own
        )
        assert covered == result.counts.published
        if getattr(method, "limits", None) is None:
            assert covered == len(samples)


@every_method
def test_boxes_come_by_time(method: Method) -> None:
    for samples, k in cases(count=20):
        for boxes in records_of(method(samples, k)).values():
            begins = [box[0] for box in boxes]
            assert begins == sorted(begins)
            assert all(box[0] <= box[1] and box[2] <= box[3] and box[4] <= box[5] for box in boxes)


@every_method
def test_the_same_again_and_nothing_given_is_changed(method: Method) -> None:
    for samples, k in cases(seed=1, count=15):
        before = store_of(samples).fingerprint()
        assert same(method(samples, k), method(samples, k))
        assert store_of(samples).fingerprint() == before


@every_method
def test_users_of_a_single_sample(method: Method) -> None:
    samples = samples_of([[(5, 0, 0)], [(5, 1, 0)], [(6, 0, 0)], [(90, 3, 3)]])
    for k in (2, 3, 4):
        result = method(samples, k)
        assert result.counts.samples == 4
        assert result.counts.created == result.counts.deleted == 0


@every_method
def test_people_who_do_the_same_are_hidden_at_no_cost(method: Method) -> None:
    samples = samples_of([[(0, 3, 4), (7, 5, 4), (60, 3, 4)]] * 3)
    result = method(samples, 3)
    assert result.succeeded
    assert result.counts == (9, 9, 0, 0, 0, 0)


@every_method
def test_more_than_there_are_is_one_clear_error(method: Method) -> None:
    samples = samples_of([[(0, 0, 0)], [(1, 1, 1)]])
    with pytest.raises(InputError, match="k = 3 needs at least 3 users with usable rows, found 2"):
        method(samples, 3)


@every_method
@pytest.mark.parametrize("k", [1, 0, 2.5, True])
def test_a_k_that_promises_nothing_is_refused(method: Method, k: object) -> None:
    with pytest.raises(ParameterError, match="k must be a whole number of at least 2"):
        method(samples_of([[(0, 0, 0)], [(1, 1, 1)]]), k)


@every_method
def test_progress_never_exceeds_what_was_announced(method: Method) -> None:
    for samples, k in cases(seed=2, count=10):
        listener = Listener()
        assert same(method(samples, k, listener), method(samples, k))
        assert all(listener.names)
        for told in listener.stages:
            assert told.steps is None or told.done <= told.steps


@pytest.mark.parametrize(
    ("method", "kept"),
    [
        (Glove(limits=None, reshape=False), True),
        (KMerge(), True),
        (W4M(), False),
        (Static(cells=40, slots=120), False),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_an_audit_agrees_on_who_is_hidden(method: Method, kept: bool) -> None:
    """Held to k among whole trajectories: merges keep it; W4M moves samples away, a grid leaves people alone."""
    city = shoal.make_city(60)
    events = read_events(city, grid=Grid())
    named = named_boxes(method(events.samples, 3).boxes)
    audit = shoal.audit(
        city, pa.Table.from_batches(published_batches(named, events.grid, events.projection)), k=3, whole=True,
        cell="100m", step="1min", crs=events.projection.crs, key=key_table(named, events.samples.users), attacks=20,
    )  # fmt: skip
    assert audit.coverage.kept == kept


def test_names_are_what_users_say() -> None:
    assert {method.name for method in METHODS.values()} == {"static", "glove", "w4m", "k-merge"}
