"""Names of records are random, different, and decide the order of publication."""

from __future__ import annotations

import numpy as np

from shoal.boxes import Boxes, concatenate
from shoal.naming import NamedBoxes


def boxes() -> Boxes:
    """Owners 2, 5 and 7 with boxes out of order."""
    owner = np.array([7, 2, 5, 2, 7, 2], np.int32)
    t0 = np.array([30, 20, 5, 0, 10, 40], np.int64)
    place = np.arange(6, dtype=np.int32)
    return Boxes(owner, t0, t0 + 4, place, place, place, place)


def test_records_follow_their_names_and_boxes_their_time() -> None:
    named = NamedBoxes(boxes())
    assert (np.sort(named.name) == named.name).all()
    assert sorted(named.owner.tolist()) == [2, 5, 7]
    assert (np.diff(named.record) >= 0).all()
    assert (named.owner[named.record] == named.boxes.owner).all()
    for record in range(3):
        assert (np.diff(named.boxes.t0[named.record == record]) > 0).all()
    assert sorted(zip(*named.boxes, strict=True)) == sorted(zip(*boxes(), strict=True))


def test_every_order_of_records_occurs() -> None:
    orders = {tuple(NamedBoxes(boxes()).owner.tolist()) for _ in range(200)}
    assert len(orders) == 6


def test_names_never_repeat_and_never_read_as_numbers() -> None:
    names = [name for _ in range(200) for name in NamedBoxes(boxes()).name.tolist()]
    assert len(set(names)) == len(names)
    assert all(name[0] == "r" and len(name) == 17 for name in names)


def test_no_boxes_no_names() -> None:
    assert len(NamedBoxes(concatenate([])).name) == 0
