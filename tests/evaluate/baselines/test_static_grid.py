"""Static generalization snaps every sample to its part of the coarse grid, and an audit breaks it."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

import shoal
from shoal.auditing.box_index import pseudonymized
from shoal.core.promise import Grid
from shoal.evaluate.baselines.static_grid import publish_on_grid
from shoal.publishing.record_names import named_boxes
from shoal.publishing.tables import key_table, published_batches
from shoal.reading import read_events
from support.release_worlds import as_samples


def rows(boxes) -> set:
    return set(zip(*(column.tolist() for column in boxes), strict=True))


def test_every_sample_lies_in_the_box_of_its_part_of_the_grid() -> None:
    samples = as_samples({0: {(-1, -1, 5), (0, 3, 5), (3, 2, 5)}, 1: {(7, 0, 0)}})
    # Cells in threes, slots in fours: slots -4..-1, 0..3, 4..7; columns -3..-1, 0..2, 3..5; row 5 is in 3..5.
    assert rows(publish_on_grid(samples, cells=3, slots=4)) == {
        (0, -4, -1, -3, -1, 3, 5), (0, 0, 3, 3, 5, 3, 5), (0, 0, 3, 0, 2, 3, 5), (1, 4, 7, 0, 2, 0, 2),
    }  # fmt: skip


def test_the_finest_grid_is_pseudonyms_only() -> None:
    samples = as_samples({0: {(0, 0, 0), (0, 1, 0), (5, 2, 2)}, 1: {(0, 0, 0)}})
    assert rows(publish_on_grid(samples)) == rows(pseudonymized(samples).boxes)


def test_samples_in_one_part_share_a_box() -> None:
    samples = as_samples({0: {(0, 0, 0), (1, 1, 1), (2, 0, 1)}})
    assert publish_on_grid(samples, cells=2, slots=3).n_boxes == 1


def test_an_audit_breaks_it() -> None:
    events = read_events(shoal.make_city(300), grid=Grid())
    boxes = publish_on_grid(events.samples, cells=20, slots=30)
    named = named_boxes(boxes)
    table = pa.Table.from_batches(published_batches(named, events.grid, events.projection))
    found = shoal.audit(
        shoal.make_city(300), table, k=2, tau="30min", epsilon="30min", cell="100m", step="1min",
        crs=events.projection.crs, key=key_table(named, events.samples.users), attacks=100,
    )  # fmt: skip
    assert not found.coverage.kept
    assert found.truthfulness.n_empty_boxes == 0
    assert found.truthfulness.suppressed.n_suppressed == 0
    assert np.all([violation.n_records < 2 for violation in found.coverage.worst])
