"""One fault planted in a release with new names: the audit fails for that reason, and the release without it passes."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from oracles.parts import parts_errors
from shoal.auditing.faults import faults_of
from shoal.auditing.guarantees.judgement import State
from shoal.auditing.result import Audit
from shoal.errors import UnfinishedError
from shoal.hiding import suppression
from support.release_worlds import World
from support.renamed import Case, Renamed, boxes_of, events_of, key_of, parts_of, with_boxes

Rows = list[tuple[str, tuple[int, ...]]]
Owners = dict[str, tuple[str, int]]
N_USERS, PERIODS = 20, 4
HIDDEN: dict[str, Any] = {"k": 2, "tau": "2h", "epsilon": "1h", "step": "1h", "rename_every": "6h"}


def busy() -> World:
    """People who walk about all day, each on a way of its own."""
    rng = random.Random(5)
    return {
        user: {(hour, rng.randrange(12), rng.randrange(12)) for hour in range(6 * PERIODS)}
        for user in range(N_USERS)
    }


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Renamed:
    """A release that passes, with a key and without, as it was written and copied."""
    made = Renamed(events_of(busy()), tmp_path_factory.mktemp("parts"), **HIDDEN)
    for audit in (
        made.audit(),
        made.audit(key=False),
        made.audit_spoilt(made.table),
        made.audit_spoilt(made.table, with_key=False),
    ):
        assert audit.exit_code == 0, audit.verdict
        assert faults_of(audit) == []
    return made


@pytest.fixture
def rows(release: Renamed) -> Rows:
    return boxes_of(release.table)


@pytest.fixture
def owners(release: Renamed) -> Owners:
    """Whose part, and of which period, every record is."""
    return {line["record"]: (line["user"], line["part"]) for line in release.key.to_pylist()}


def record_of(owners: Owners, user: int, part: int) -> str:
    return next(name for name, owner in owners.items() if owner == (f"u{user}", part))


def key_from(owners: Owners) -> pa.Table:
    lines = [(user, part, record) for record, (user, part) in owners.items()]
    return pa.table(dict(zip(("user", "part", "record"), zip(*lines, strict=True), strict=True)))


def renamed(rows: Rows, names: dict[str, str]) -> Rows:
    """Boxes of records under other names, in the order of these."""
    return sorted((names.get(record, record), box) for record, box in rows)


def clauses(audit: Audit) -> str:
    return "; ".join(fault.clause for fault in faults_of(audit))


def test_a_name_that_lives_on(release: Renamed, rows: Rows, owners: Owners) -> None:
    first, second = (record_of(owners, 3, part) for part in (1, 2))
    table = with_boxes(release.table, renamed(rows, {second: first}))
    both = release.key.set_column(
        2,
        "record",
        pa.array([first if name == second else name for name in release.key["record"].to_pylist()]),
    )
    once = key_from({name: owner for name, owner in owners.items() if name != second})
    for audit in (
        release.audit_spoilt(table, both, evidence=False),
        release.audit_spoilt(table, once, evidence=False),
        release.audit_spoilt(table, with_key=False),
    ):
        assert audit.exit_code == 1
        assert audit.belonging.n_living_on == 1
        assert "1 record goes on beyond a border at which names should change" in clauses(audit)


def test_a_box_across_a_border(release: Renamed, rows: Rows) -> None:
    place, (record, (t0, t1, *cells)) = next(
        (place, row) for place, row in enumerate(rows) if row[1][1] == 5
    )  # the last slot of the first period
    table = with_boxes(release.table, [*rows[:place], (record, (t0, t1 + 1, *cells)), *rows[place + 1 :]])
    for with_key in (True, False):
        audit = release.audit_spoilt(table, with_key=with_key, evidence=False)
        assert audit.exit_code == 1
        assert audit.belonging.n_living_on == 1
        assert "beyond a border" in clauses(audit)


@pytest.mark.parametrize("backwards", [False, True])
def test_parts_in_the_order_of_people(release: Renamed, rows: Rows, owners: Owners, backwards: bool) -> None:
    """In every period the records stand in the order of the list of users; their names are random."""
    in_order = sorted(rows, key=lambda row: (owners[row[0]][1], owners[row[0]][0]), reverse=backwards)
    audit = release.audit_spoilt(with_boxes(release.table, in_order))
    assert audit.exit_code == 1
    assert audit.belonging.parts_tied
    assert "the names or the order of records tie the parts of one person together" in clauses(audit)


def in_each_period(owners: Owners, seed: int, *, by_user: bool = False) -> list[list[str]]:
    """The records of every period, in the same order of people, which is a random one."""
    users = sorted({user for user, _ in owners.values()})
    if not by_user:
        random.Random(seed).shuffle(users)
    return [
        [name for user in users for name, owner in owners.items() if owner == (user, part)]
        for part in range(1, PERIODS + 1)
    ]


def test_parts_at_like_places_in_every_period(release: Renamed, rows: Rows, owners: Owners) -> None:
    """Nobody stands where the list of users has them, but everybody where they stood in the period before."""
    place = {name: place for period in in_each_period(owners, 1) for place, name in enumerate(period)}
    in_order = sorted(rows, key=lambda row: (owners[row[0]][1], place[row[0]]))
    audit = release.audit_spoilt(with_boxes(release.table, in_order))
    assert audit.exit_code == 1
    assert not audit.belonging.in_user_order
    assert audit.belonging.parts_tied


@pytest.mark.parametrize(
    "form",
    ["p{period}-{secret}", "{secret}-{period}", "r{secret}{salt}", "{salt}{secret}", "r{salt}{secret}{tail}"],
)
def test_parts_with_like_names(release: Renamed, rows: Rows, owners: Owners, form: str) -> None:
    """Names that hold something of a person that is random, but the same in every period."""
    rng = random.Random(9)
    secret = {user: f"{rng.getrandbits(40):010x}" for user in sorted({user for user, _ in owners.values()})}
    names = {
        name: form.format(
            period=part, secret=secret[user], salt=f"{rng.getrandbits(32):08x}", tail=rng.getrandbits(32)
        )
        for name, (user, part) in owners.items()
    }
    key = key_from({names[name]: owner for name, owner in owners.items()})
    audit = release.audit_spoilt(with_boxes(release.table, renamed(rows, names)), key, evidence=False)
    assert audit.exit_code == 1
    assert audit.belonging.parts_tied
    assert "the names or the order of records tie" in clauses(audit)


def test_names_that_count_on_from_period_to_period(release: Renamed, rows: Rows, owners: Owners) -> None:
    """Record 27 is the part of whoever has record 7, of twenty people."""
    names = {
        name: str(number)
        for number, name in enumerate(name for period in in_each_period(owners, 2) for name in period)
    }
    key = key_from({names[name]: owner for name, owner in owners.items()})
    audit = release.audit_spoilt(with_boxes(release.table, renamed(rows, names)), key, evidence=False)
    assert audit.exit_code == 1
    assert audit.belonging.parts_tied


def test_fresh_random_names_and_orders_tie_nothing(release: Renamed, rows: Rows, owners: Owners) -> None:
    """However often they are drawn anew: nobody is accused."""
    rng = random.Random(11)
    for _ in range(10):
        names = {name: f"r{rng.getrandbits(64):016x}" for name in owners}
        key = key_from({names[name]: owner for name, owner in owners.items()})
        table = with_boxes(release.table, renamed(rows, names))
        audit = release.audit_spoilt(table, key, evidence=False, attacks=1)
        assert not audit.belonging.parts_tied
        assert not audit.belonging.in_user_order


def test_a_part_that_holds_two_people(release: Renamed, rows: Rows, owners: Owners) -> None:
    """The boxes of two people of a period under one name: whose it is, the key can say of one of them only."""
    one, other = (record_of(owners, user, 2) for user in (4, 5))
    table = with_boxes(release.table, renamed(rows, {other: one}))
    key = key_from({name: owner for name, owner in owners.items() if name != other})
    with_key = release.audit_spoilt(table, key, evidence=False)
    without = release.audit_spoilt(table, with_key=False)
    for audit in (with_key, without):
        assert audit.exit_code == 1
        assert audit.belonging.n_overlapping_boxes >= 6
        assert "boxes overlap with another of the same record in time" in clauses(audit)
    assert with_key.truthfulness is not None
    assert with_key.truthfulness.n_empty_boxes > 0
    assert "hold no sample of their own user" in clauses(with_key)


def test_two_people_who_take_turns_in_a_part(release: Renamed, rows: Rows, owners: Owners) -> None:
    """The second half of a period is somebody else's: no boxes overlap, but they hold no sample of their user."""
    one, other = (record_of(owners, user, 2) for user in (4, 5))
    swapped = [
        ({one: other, other: one}.get(record, record) if box[0] in (9, 10, 11) else record, box)
        for record, box in rows
    ]
    audit = release.audit_spoilt(with_boxes(release.table, sorted(swapped)), evidence=False)
    assert audit.exit_code == 1
    assert audit.truthfulness is not None
    assert audit.truthfulness.n_empty_boxes > 0
    assert "hold no sample of their own user" in clauses(audit)


def test_more_parts_than_people_in_a_period(release: Renamed, rows: Rows, owners: Owners) -> None:
    """A clone in one period does not go unseen because somebody has no part in another."""
    gone, cloned = record_of(owners, 6, 1), record_of(owners, 7, 3)
    kept = [row for row in rows if row[0] != gone]
    clone = [("r0123456789abcdef", box) for record, box in rows if record == cloned]
    table = with_boxes(release.table, sorted([*kept, *clone]))
    key = key_from({name: owner for name, owner in owners.items() if name != gone})
    for audit in (
        release.audit_spoilt(table, with_key=False),
        release.audit_spoilt(table, key, evidence=False),
    ):
        assert audit.exit_code == 1
        assert audit.belonging.n_surplus_records == 1
        assert "there are 1 record more than users" in clauses(audit)


def test_a_record_where_nobody_is(tmp_path: Path) -> None:
    """A period without anybody's events: a record there can be nobody's."""
    world = {
        user: {(hour, (3 * user + hour) % 5, 0) for hour in (*range(6), *range(13, 18))} for user in range(8)
    }
    made = Renamed(events_of(world), tmp_path, **HIDDEN)
    assert set(made.key["part"].to_pylist()) == {1, 3}
    assert made.audit().exit_code == made.audit(key=False).exit_code == 0
    rows = [*boxes_of(made.table), ("rffffffffffffffff", (8, 8, 0, 0, 0, 0))]
    audit = made.audit_spoilt(with_boxes(made.table, rows), with_key=False)
    assert audit.exit_code == 1
    assert audit.belonging.n_surplus_records == 1
    assert made.audit_spoilt(with_boxes(made.table, rows)).exit_code == 1


# --- the lone absent part -----------------------------------------------------------------------------------------


def lone() -> Case:
    """Border at 06:00. Two of seven are always there, two until 06:00, two but for 09:00 to 11:00; v until 06:00 and
    from 11:00 on: of those with a part behind the border, only v has no box until 09:00."""
    hours = {0: range(18), 1: range(18), 2: range(6), 3: range(6)}
    hours |= dict.fromkeys((4, 5), (*range(9), *range(11, 18))) | {6: (*range(6), *range(11, 18))}
    return Case({user: {(hour, 0, 0) for hour in own} for user, own in hours.items()}, 2, 2, 1, 6)


def absent_before_nine(release: Renamed) -> int:
    """How many parts of the second period have no box before 09:00."""
    parts = parts_of(release.table, release.key)
    return sum(period == 1 and min(box[0] for box in boxes) >= 9 for _, period, boxes in parts)


def everybody_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """The old rule: whoever is absent shares the absence of others, with a part in the period or without."""
    choose = suppression.choose_suppressed

    def old(newest: Any, patterns: Any, cover: Any, k: int, price: Any) -> Any:
        everybody = suppression.Cover(np.ones_like(cover.counted), cover.has_part, across_border=False)
        return choose(newest, patterns, everybody, k, price)

    monkeypatch.setattr(suppression, "choose_suppressed", old)


def test_the_lone_absent_part_is_not_published(tmp_path: Path) -> None:
    case = lone()
    release = Renamed(events_of(case.world), tmp_path, **case.options)
    assert absent_before_nine(release) != 1
    parts = parts_of(release.table, release.key)
    assert parts_errors(case.world, parts, case.borders, 2, 2, 1) == []
    audit = release.audit()
    assert audit.guarantees.coverage.state is State.KEPT
    assert audit.guarantees.matching.state is State.KEPT


def test_the_lone_absent_part_is_refused_by_the_self_check(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = lone()
    everybody_counts(monkeypatch)
    with pytest.raises(UnfinishedError, match="would be hidden among fewer than k = 2 records"):
        Renamed(events_of(case.world), tmp_path, **case.options)
    assert not (tmp_path / "out.parquet").exists()
    assert not (tmp_path / "key.csv").exists()


def test_the_lone_absent_part_breaks_guarantee_1(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    case = lone()
    everybody_counts(monkeypatch)
    release = Renamed(events_of(case.world), tmp_path, verify=False, **case.options)
    assert absent_before_nine(release) == 1
    for key in (True, False):
        audit = release.audit(key=key)
        assert audit.exit_code == 1
        assert audit.guarantees.coverage.state is State.BROKEN
        assert {(str(audit.users[each.user]), each.n_records) for each in audit.coverage.worst} == {("u6", 1)}
        assert "not hidden among 2 records; at worst only 1 fits" in clauses(audit)


def test_the_lone_absent_part_by_hand(tmp_path: Path) -> None:
    """The boxes as the old rule would have them, in a file made by hand."""
    case = lone()
    release = Renamed(events_of(case.world), tmp_path, **case.options)
    parts = [
        (user, period, boxes)
        for user, own in case.world.items()
        for period in range(3)
        if (boxes := [(t, t, 0, 0, 0, 0) for t, *_ in sorted(own) if (t >= 6) + (t >= 12) == period])
    ]
    names = {(user, period): f"r{17 * user + 5 * period:016x}" for user, period, _ in parts}
    table = with_boxes(
        release.table, sorted((names[user, period], box) for user, period, boxes in parts for box in boxes)
    )
    audit = release.audit_spoilt(table, key_of(parts, names), evidence=False)
    assert audit.exit_code == 1
    assert audit.guarantees.coverage.state is State.BROKEN
    assert {str(audit.users[each.user]) for each in audit.coverage.worst} == {"u6"}
