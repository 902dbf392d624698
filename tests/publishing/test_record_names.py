"""Names of records are random, different, and decide the order of publication."""

from __future__ import annotations

import random

import numpy as np

import shoal
from shoal.core.boxes import Boxes, concatenate
from shoal.publishing.record_names import named_boxes
from support.run_command import city


def boxes() -> Boxes:
    """Owners 2, 5 and 7 with boxes out of order."""
    owner = np.array([7, 2, 5, 2, 7, 2], np.int32)
    t0 = np.array([30, 20, 5, 0, 10, 40], np.int64)
    place = np.arange(6, dtype=np.int32)
    return Boxes(owner, t0, t0 + 4, place, place, place, place)


def test_records_follow_their_names_and_boxes_their_time() -> None:
    named = named_boxes(boxes())
    assert (np.sort(named.name) == named.name).all()
    assert sorted(named.owner.tolist()) == [2, 5, 7]
    (found,) = named.pieces(6)
    assert (np.diff(found.owner) >= 0).all()
    for record in range(3):
        assert (np.diff(found.t0[found.owner == record]) > 0).all()
    owned = found._replace(owner=named.owner[found.owner])
    assert sorted(zip(*owned, strict=True)) == sorted(zip(*boxes(), strict=True))


def test_every_order_of_records_occurs() -> None:
    orders = {tuple(named_boxes(boxes()).owner.tolist()) for _ in range(200)}
    assert len(orders) == 6


def test_names_never_repeat_and_never_read_as_numbers() -> None:
    names = [name for _ in range(200) for name in named_boxes(boxes()).name.tolist()]
    assert len(set(names)) == len(names)
    assert all(name[0] == "r" and len(name) == 17 for name in names)


def test_no_seed_decides_names() -> None:
    """The same run twice, with every generator that takes a seed set back, and still no name in common."""
    names: set[str] = set()
    for _ in range(2):
        np.random.seed(0)
        random.seed(0)
        names |= set(shoal.anonymize(city(), k=2, tau="30min", epsilon="30min", seed=7).named.name.tolist())
    assert len(names) == 2 * 60


def test_no_boxes_no_names() -> None:
    named = named_boxes(concatenate([]))
    assert len(named.name) == 0
    assert [piece.n_boxes for piece in named.pieces(10)] == [0]
