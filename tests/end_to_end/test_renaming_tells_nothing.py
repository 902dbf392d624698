"""What is said about releases with new names: pages, manifests and messages name nobody, and count people."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import shoal
from shoal.auditing.opening import open_audit
from shoal.core.options import AuditOptions, ReadingOptions
from shoal.core.progress import SilentProgress
from shoal.errors import InputError
from shoal.reporting.facts.datasheet import public_suppression
from support.release_worlds import World
from support.renamed import Renamed, boxes_of, events_of, with_boxes
from support.run_command import CANARY

NAME = re.compile(rf"{CANARY}|\br[0-9a-f]{{16}}\b")
HOURS: dict[str, Any] = {"k": 2, "tau": "2h", "epsilon": "1h", "step": "1h", "rename_every": "3h"}
PERIODS = 12
PUBLIC: dict[str, Any] = {"attacks": 30, "tolerance": 1.0}


def with_a_stranger(n: int = 24) -> World:
    """Everybody is always there; the last one is missing an hour in each of twelve periods, alone."""
    rng = random.Random(2)
    world: World = {
        user: {(hour, rng.randrange(9), rng.randrange(9)) for hour in range(3 * PERIODS)} for user in range(n)
    }
    world[n - 1] = {sample for sample in world[n - 1] if sample[0] % 3 != 1}
    return world


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Renamed:
    events = events_of(with_a_stranger())
    named = pa.array([f"{CANARY}-{user}" for user in events["user"].to_pylist()])
    return Renamed(events.set_column(0, "user", named), tmp_path_factory.mktemp("stranger"), **HOURS)


def test_few_people_are_few_however_many_parts_they_have(release: Renamed) -> None:
    """Samples of few are suppressed, in many periods: parts would be many, people are not."""
    summary = release.published.summary
    assert summary["suppressed_samples"] > 0
    people = release.published.outcome.affected_users
    assert 0 < people < 10
    assert release.manifest["suppression"]["share_of_samples"] == "some, of fewer than 10 users"
    audit = release.audit(tolerance=1.0)
    assert audit.exit_code == 0, audit.verdict
    assert audit.belonging.kept


def test_pages_name_nobody(release: Renamed, tmp_path: Path) -> None:
    public, internal = tmp_path / "public.html", tmp_path / "internal.html"
    key = release.key_file
    found = shoal.write_report(release.events, release.output, public, public=True, key=key, **PUBLIC)
    shoal.write_report(release.events, release.output, internal, key=key, **PUBLIC)
    shoal.write_report(release.events, release.output, tmp_path / "keyless.html", **PUBLIC)
    for page in (public, internal, tmp_path / "keyless.html"):
        assert not NAME.search(page.read_text())
    assert "few" in public.read_text()
    assert "new names every 3 hours" in " ".join(public.read_text().split())
    assert not NAME.search(json.dumps(found.to_dict()))
    assert not NAME.search(repr(found))
    assert found.counts.users == 24


def test_suppression_of_few_is_not_told_in_public(release: Renamed) -> None:
    """By hour and by activity: where one person is behind twelve parts, the share is not told."""
    how = AuditOptions.from_keywords({"key": release.key_file, "attacks": 5})
    with open_audit(release.events, release.output, SilentProgress(), how, ReadingOptions()) as (context, _):
        assert context.n_people == 24
        assert context.store.n_users == 24 * PERIODS
        told = public_suppression(context)
    assert told == ([], [], "some, of fewer than 10 users")


def test_json_tells_of_people(release: Renamed) -> None:
    found = release.audit(tolerance=1.0).to_dict()
    assert found["periods"] == {"rename_every_s": 3 * 3600, "timezone": "UTC"}
    assert found["coverage"]["users"] == found["counts"]["users"] == 24
    assert not NAME.search(json.dumps(found))


def test_violations_are_told_of_people(release: Renamed) -> None:
    """Boxes of everybody shrink: no more people are told of than there are, with a key and without."""
    table = release.table
    x_min = table["x_min"].to_pylist()
    place = table.schema.get_field_index("x_max")
    narrow = table.set_column(place, table.schema.field(place), pa.array([x + 100.0 for x in x_min]))
    for with_key in (True, False):
        audit = release.audit_spoilt(narrow, with_key=with_key, evidence=False)
        assert audit.exit_code == 1
        detail = audit.guarantees.coverage.detail
        assert re.fullmatch(r"for (1?\d|2[0-4]) of 24 users", detail), detail
        assert not NAME.search(json.dumps(audit.to_dict()))


def spoilt_key(key: pa.Table, **columns: list[Any]) -> pa.Table:
    for name, column in columns.items():
        key = key.set_column(key.schema.get_field_index(name), name, pa.array(column))
    return key


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("no part", "lacks part among its 2 columns"),
        ("again", "names 1 parts of users again"),
        ("one shifted", "numbers parts otherwise than the periods of the file"),
        ("several users", "names records as parts of several users"),
        ("unknown record", "names 1 of 288 records that the published table does not have"),
        ("missing record", "lacks 1 of the 288 records of the published table"),
        ("unknown user", "users who do not occur in the events"),
    ],
)
def test_bad_keys_are_refused_in_a_line(fault: str, words: str, release: Renamed) -> None:
    key = release.key
    user, part, record = (key[name].to_pylist() for name in ("user", "part", "record"))
    bad = {
        "no part": key.drop_columns(["part"]),
        "again": spoilt_key(key, part=[part[1], *part[1:]]),
        "one shifted": spoilt_key(key, part=[part[0] + PERIODS, *part[1:]]),
        "several users": pa.concat_tables([key, spoilt_key(key.slice(0, 1), user=[user[-1]], part=[99])]),
        "unknown record": spoilt_key(key, record=["r0000000000000000", *record[1:]]),
        "missing record": key.slice(1),
        "unknown user": spoilt_key(key, user=[f"{CANARY}-x", *user[1:]]),
    }[fault]
    with pytest.raises(InputError) as refused:
        release.audit_spoilt(release.table, bad, evidence=False)
    message = str(refused.value)
    assert words in message
    assert "\n" not in message
    assert not NAME.search(message)


def test_a_key_with_two_people_swapped_is_not_believed(release: Renamed) -> None:
    """In one period two people have each other's parts: the boxes are not true of them."""
    lines = release.key.to_pylist()
    first, second = [line for line in lines if line["part"] == 5][:2]
    first["record"], second["record"] = second["record"], first["record"]
    audit = release.audit_spoilt(release.table, pa.Table.from_pylist(lines), evidence=False)
    assert audit.exit_code == 1
    assert audit.truthfulness is not None
    assert audit.truthfulness.n_empty_boxes > 0


def test_boxes_that_were_not_touched_pass(release: Renamed) -> None:
    """What the tests above do to a table does nothing by itself."""
    again = with_boxes(release.table, boxes_of(release.table))
    assert again.equals(release.table)
    assert release.audit_spoilt(again, tolerance=1.0).exit_code == 0
