"""Records that change their names, by the whole way: files of every format, borders by the clock, what is told."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

import shoal
from oracles.parts import borders, period_of
from shoal.auditing.result import Audit
from shoal.cli.text.audit import audit_lines
from shoal.reporting.page.sentences import renamed_in_words
from support.renamed import Renamed, read_key
from support.run_command import CANARY, anonymize, read_table, records_of, refused, run, seconds, write

pytestmark = pytest.mark.usefixtures("by_command")

NOON = 1_700_049_600  # 2023-11-15T12:00Z
MINUTE_S, HOUR_S, DAY_S = 60, 3600, 86_400
SPRING, AUTUMN = 1_711_756_800, 1_729_900_800  # the days before both changes of clocks of 2024 in Europe
FEW = {"tolerance": 1.0}  # of members that serve again: so few people have too few partners
HALF_HOURS: dict[str, Any] = {"k": 2, "tau": "30min", "epsilon": "30min"}


def wanderers(
    begin_s: int = NOON, hours: float = 14, n: int = 14, every_min: int = 20, **present: range
) -> pa.Table:
    """People about the equator, a sample every so many minutes; some only in a range of hours."""
    rows = [
        (f"{CANARY}-{user}", begin_s + turn * every_min * MINUTE_S + 3 * user, user, turn)
        for user in range(n)
        for turn in range(round(hours * 60 / every_min))
        if turn * every_min // 60 in present.get(f"u{user}", range(10**6))
    ]
    user, time, number, turn = zip(*rows, strict=True)
    places = list(zip(number, turn, strict=True))
    return pa.table(
        {
            "user": user,
            "time": time,
            "lat": [0.31 + 0.002 * ((7 * who + 3 * when) % 11) for who, when in places],
            "lon": [36.2 + 0.002 * ((5 * who + 2 * when) % 13) for who, when in places],
        }
    )


def periods_in(table: pa.Table, edges: list[int], step_s: int = MINUTE_S) -> dict[str, set[int]]:
    """The periods that each record of a file touches; ``edges`` are slots."""
    found: dict[str, set[int]] = {}
    times = zip(seconds(table["t_start"]), seconds(table["t_end"]), strict=True)
    for record, (begin, end) in zip(table["record"].to_pylist(), times, strict=True):
        touched = {period_of(slot, edges) for slot in (begin // step_s, end // step_s - 1)}
        found[record] = found.get(record, set()) | touched
    return found


def six_hours(table: pa.Table, timezone: str = "UTC", epsilon: int | None = 30) -> list[int]:
    times = table["time"].to_pylist()
    return borders(min(times) // MINUTE_S, max(times) // MINUTE_S, 6 * HOUR_S, timezone, epsilon, MINUTE_S)


@pytest.fixture(scope="module")
def events() -> pa.Table:
    return wanderers()


@pytest.fixture(scope="module")
def release(events: pa.Table, tmp_path_factory: pytest.TempPathFactory) -> Renamed:
    return Renamed(events, tmp_path_factory.mktemp("renamed"), **HALF_HOURS, rename_every="6h")


# --- files --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".geoparquet", ".geojson"])
def test_every_format_has_the_same_parts(
    suffix: str, events: pa.Table, release: Renamed, tmp_path: Path
) -> None:
    made = Renamed(events, tmp_path, suffix, **HALF_HOURS, rename_every="6h")
    table = read_table(made.output)
    assert records_of(table) == records_of(release.table)
    assert made.manifest["periods"] == {"rename_every_s": 6 * HOUR_S, "timezone": "UTC"}
    assert table["record"].to_pylist() == sorted(table["record"].to_pylist())
    with_key, without = made.audit(**FEW), made.audit(key=False, **FEW)
    assert (with_key.exit_code, without.exit_code) == (0, 0), with_key.verdict
    assert with_key.renaming == without.renaming
    assert with_key.guarantees.one_window.shown_by_evidence


def test_parts_are_those_of_people_and_periods(events: pa.Table, release: Renamed) -> None:
    edges = six_hours(events)
    touched = periods_in(release.table, edges)
    assert all(len(periods) == 1 for periods in touched.values())
    assert release.key.schema.names == ["user", "part", "record"]
    assert len(release.key) == len(touched)
    for line in release.key.to_pylist():
        assert touched[line["record"]] == {line["part"] - 1}
    users = set(events["user"].to_pylist())
    assert Counter(release.key["user"].to_pylist()) == dict.fromkeys(users, len(edges) + 1)
    assert release.key.to_pylist() == sorted(
        release.key.to_pylist(), key=lambda line: (line["user"], line["part"])
    )


def test_names_come_from_the_system_and_boxes_from_the_seed(
    events: pa.Table, release: Renamed, tmp_path: Path
) -> None:
    again = Renamed(events, tmp_path, **HALF_HOURS, rename_every="6h")
    assert records_of(again.table) == records_of(release.table)
    names = [set(made.table["record"].to_pylist()) for made in (release, again)]
    assert not names[0] & names[1]
    assert all(re.fullmatch("r[0-9a-f]{16}", name) for name in names[0])
    orders = [
        [place for place, _ in sorted(enumerate(made.key["record"].to_pylist()), key=lambda pair: pair[1])]
        for made in (release, again)
    ]
    assert orders[0] != orders[1]


def test_names_of_a_person_share_no_piece(release: Renamed) -> None:
    """Five characters in common are rarer than one in a thousand pairs."""
    by_user: dict[str, list[str]] = {}
    for line in release.key.to_pylist():
        by_user.setdefault(line["user"], []).append(line["record"])
    shared = [
        piece
        for names in by_user.values()
        for one in names
        for other in names
        if one < other
        for piece in {one[at : at + 5] for at in range(1, 13)} & {other[at : at + 5] for at in range(1, 13)}
    ]
    assert len(shared) <= 2


def test_nothing_beside_the_boxes_ties_parts(release: Renamed) -> None:
    """Metadata, row groups, statistics and manifest are about the whole file."""
    file = pq.ParquetFile(release.output)
    assert set(file.schema_arrow.metadata) == {b"shoal"}
    notes = json.loads(file.schema_arrow.metadata[b"shoal"])
    assert set(notes) == {"format", "promise", "grid", "periods"}
    assert set(notes["periods"]) == {"rename_every_s", "timezone"}
    assert file.metadata.num_row_groups == 1
    names = release.table["record"].to_pylist()
    assert names == sorted(names)
    assert all(not field.metadata for field in file.schema_arrow)
    told = json.dumps(release.manifest)
    assert CANARY not in told
    assert not re.search("r[0-9a-f]{16}", told)
    assert release.manifest["counts"] == {
        "records": len(set(names)),
        "boxes": len(names),
        "rows_dropped": {},
    }
    assert release.manifest["parameters"].get("rename_every") is None
    assert "seed" not in told
    assert release.manifest["guarantees"]["relinking"].startswith("not given")


def test_rows_of_a_part_stand_together_by_time(release: Renamed) -> None:
    rows = list(zip(release.table["record"].to_pylist(), seconds(release.table["t_start"]), strict=True))
    assert rows == sorted(rows)


# --- who has parts ------------------------------------------------------------------------------------------------


def test_a_period_longer_than_the_data_changes_nothing_but_the_key(events: pa.Table, tmp_path: Path) -> None:
    (tmp_path / "long").mkdir()
    made = Renamed(events, tmp_path / "long", **HALF_HOURS, rename_every="30d")
    plain = shoal.anonymize(events, **HALF_HOURS)
    assert records_of(made.table) == records_of(plain.table())
    assert set(made.key["part"].to_pylist()) == {1}
    assert made.audit(**FEW).exit_code == made.audit(key=False, **FEW).exit_code == 0


def test_never_is_what_comes_without_the_option(events: pa.Table, tmp_path: Path) -> None:
    made = Renamed(events, tmp_path, **HALF_HOURS, rename_every="never")
    assert made.key.schema.names == ["user", "record"]
    assert "periods" not in made.manifest
    assert "relinking" not in made.manifest["guarantees"]
    assert b"periods" not in pq.read_schema(made.output).metadata[b"shoal"]
    assert made.audit().renaming is None


def test_who_is_there_in_one_period_has_one_part(tmp_path: Path) -> None:
    """Three people come for the first period only, one of them with somebody of the last: no empty parts."""
    present = {"u0": range(6), "u1": range(6), "u2": range(6), "u3": range(12, 14), "u4": range(12, 14)}
    made = Renamed(wanderers(**present), tmp_path, **HALF_HOURS, rename_every="6h")
    parts: dict[str, list[int]] = {}
    for line in made.key.to_pylist():
        parts.setdefault(line["user"], []).append(line["part"])
    assert [parts[f"{CANARY}-{user}"] for user in range(5)] == [[1]] * 3 + [[3]] * 2
    assert parts[f"{CANARY}-9"] == [1, 2, 3]
    for key in (True, False):
        audit = made.audit(key=key, **FEW)
        assert audit.exit_code == 0, audit.verdict
        assert audit.counts.users == 14


def test_whole_parts(events: pa.Table, tmp_path: Path) -> None:
    made = Renamed(events, tmp_path, k=2, whole=True, rename_every="6h")
    touched = periods_in(made.table, six_hours(events, epsilon=None))
    assert len(touched) == 14 * 3
    assert all(len(periods) == 1 for periods in touched.values())
    audit = made.audit()
    assert audit.exit_code == 0, audit.verdict
    assert audit.guarantees.one_window.detail == "one window spans a period"
    assert made.audit(key=False).exit_code == 0


def test_fewer_than_k_people_in_a_period_have_no_part_in_it(tmp_path: Path) -> None:
    """Two people stay until the last period, and k is 3: what they did there is suppressed and counted."""
    leaving = {f"u{user}": range(12) for user in range(12)}
    events = wanderers(**leaving)
    made = Renamed(events, tmp_path, k=3, tau="30min", epsilon="30min", rename_every="6h")
    assert set(made.key["part"].to_pylist()) == {1, 2}
    lost = sum(time >= NOON + 12 * HOUR_S for time in events["time"].to_pylist())
    assert made.published.summary["suppressed_samples"] >= lost > 0
    assert made.manifest["suppression"]["share_of_samples"] == "some, of fewer than 10 users"
    assert made.manifest["suppression"]["users_without_record"] == 0
    audit = made.audit(**FEW)
    assert audit.exit_code == 0, audit.verdict
    assert audit.truthfulness is not None
    assert audit.truthfulness.suppressed.n_suppressed == made.published.summary["suppressed_samples"]
    assert audit.truthfulness.n_users_without_record == 0


def test_longer_data_without_new_names_say_what_that_means(tmp_path: Path) -> None:
    for hours, every, warned in ((24, None, False), (25, None, True), (25, "1d", False), (49, None, True)):
        events = write(wanderers(hours=hours, every_min=30, n=5), tmp_path / "events.parquet")
        options = () if every is None else ("--rename-every", every)
        done = anonymize(events, tmp_path / "out.parquet", "--force", *options)
        assert done.code == 0, done
        lines = [line for line in done.err.splitlines() if "Names never change" in line]
        assert len(lines) == warned, (hours, done.err)
        assert (
            not warned
            or f"reads all {2 if hours < 48 else 3} days of it. With --rename-every 3h " in lines[0]
        )


@pytest.mark.parametrize("whole", [False, True])
def test_the_warning_recommends_what_the_plan_does(whole: bool) -> None:
    """The longest period that leaves a fifth or less, with what it leaves."""
    events = wanderers(hours=30 * 24, every_min=200, n=5)
    promise = {"k": 2, "whole": True} if whole else HALF_HOURS
    planned = shoal.plan(events, ks=[2], taus=["30min"], epsilons=["30min"]).periods
    chosen = next(outlook for outlook in planned if outlook.read_share <= 0.2)
    assert chosen.rename_every == "1d"
    (warning,) = [
        text
        for text in shoal.anonymize(events, **promise).summary["warnings"]
        if text.startswith("Names never")
    ]
    share = f"{100 * chosen.read_share:.1f} % of a person's samples on average"
    assert (
        f"With --rename-every 1d four known moments, at any times, lead to at most {share}, as long as"
        in warning
    )
    assert ("somebody's group reads all 30 days" in warning) == whole
    assert ("as four known moments mostly allow" in warning) != whole
    assert ("nothing is promised across borders then" in warning) == whole
    longer = shoal.anonymize(events, **promise, rename_every="1000d").summary["warnings"]
    (told,) = [text for text in longer if text.startswith("--rename-every is longer")]
    assert "no record gets a new name. With --rename-every 1d four known moments" in told
    short = shoal.anonymize(events, **promise, rename_every="12h").summary["warnings"]
    assert not [text for text in short if "--rename-every" in text]


# --- borders by the clock -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("zone", "begin_s", "period", "epsilon"),
    [
        ("Asia/Kolkata", NOON, "6h", 7),
        ("Asia/Kolkata", NOON, "1d", 50),
        ("Asia/Kolkata", NOON, "90min", None),
        ("Europe/Paris", SPRING, "6h", 50),
        ("Europe/Paris", SPRING, "1d", 7),
        ("Europe/Paris", SPRING, "1d", None),
        ("Europe/Paris", AUTUMN, "12h", 50),
        ("Europe/Paris", AUTUMN, "1d", 30),
        ("Europe/Paris", AUTUMN, "2d", 7),
    ],
)
def test_every_box_lies_in_its_period_by_the_clock(
    zone: str, begin_s: int, period: str, epsilon: int | None, tmp_path: Path
) -> None:
    """Half-hour zones, epsilons that do not divide a day, and days of 23 and 25 hours."""
    table = wanderers(begin_s + 11 * MINUTE_S, hours=56, n=5, every_min=41)
    timed = {"whole": True} if epsilon is None else {"tau": f"{epsilon}min", "epsilon": f"{epsilon}min"}
    made = Renamed(table, tmp_path, k=2, **timed, rename_every=period, timezone=zone)
    times = table["time"].to_pylist()
    period_s = {"90min": 5400, "6h": 6 * HOUR_S, "12h": 12 * HOUR_S, "1d": DAY_S, "2d": 2 * DAY_S}[period]
    edges = borders(min(times) // MINUTE_S, max(times) // MINUTE_S, period_s, zone, epsilon, MINUTE_S)
    touched = periods_in(made.table, edges)
    assert all(len(periods) == 1 for periods in touched.values())
    assert {line["record"]: {line["part"] - 1} for line in made.key.to_pylist()} == touched
    parts = {(line["user"], line["part"]) for line in made.key.to_pylist()}
    assert len(parts) == len(touched)  # one part for a person and a period
    assert {period for _, period in parts} >= set(range(2, len(edges) + 1))
    audit = made.audit(attacks=5)
    assert audit.renaming == shoal.core.periods.Renaming(period_s, zone)
    assert audit.guarantees.coverage.state.value == audit.guarantees.matching.state.value == "kept"
    assert audit.belonging.kept, audit.belonging


def test_another_clock_cuts_elsewhere(events: pa.Table, tmp_path: Path) -> None:
    cuts = []
    for zone in ("UTC", "Asia/Kolkata"):
        (tmp_path / zone[:3]).mkdir()
        made = Renamed(events, tmp_path / zone[:3], **HALF_HOURS, rename_every="6h", timezone=zone)
        assert made.audit(attacks=5, **FEW).exit_code == 0
        cuts.append(records_of(made.table))
    assert cuts[0] != cuts[1]


# --- what is refused ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("period", ["5h", "0h", "1.5d", "daily", "36h", "-1d", "", "1", "Never"])
def test_bad_periods_are_refused(period: str, tmp_path: Path) -> None:
    events = write(wanderers(hours=3, n=4), tmp_path / "events.parquet")
    command = ("anonymize", events, "-o", tmp_path / "out.parquet", "--k", 2, "--tau", "30min")
    rename = f"--rename-every={period}"
    refused(tmp_path, *command, "--epsilon", "30min", rename, words="--rename-every must be ")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--tau", "2h", "--epsilon", "1h", "--rename-every", "90min"), "must be at least tau, 2 h"),
        (
            ("--tau", "1h", "--epsilon", "1h", "--rename-every", "6h", "--selector", "spectral"),
            "--rename-every goes with selectors matching and mutual, got spectral",
        ),
    ],
)
def test_periods_that_do_not_go_with_the_rest(options: tuple[str, ...], words: str, tmp_path: Path) -> None:
    events = write(wanderers(hours=3, n=4), tmp_path / "events.parquet")
    refused(tmp_path, "anonymize", events, "-o", tmp_path / "out.parquet", "--k", 2, *options, words=words)


def test_a_period_of_90_minutes_is_fine(tmp_path: Path) -> None:
    events = write(wanderers(hours=5, n=4), tmp_path / "events.parquet")
    done = anonymize(
        events, tmp_path / "out.parquet", "--rename-every", "90min", "--key-out", tmp_path / "key.csv"
    )
    assert done.code == 0, done
    assert set(read_key(tmp_path / "key.csv")["part"].to_pylist()) == {1, 2, 3, 4}
    assert "parts of 4 people, new names every" in " ".join(done.out.split())


def test_an_audit_takes_the_period_from_the_file(release: Renamed, events: pa.Table, tmp_path: Path) -> None:
    source = write(events, tmp_path / "events.parquet")
    refused(tmp_path, "audit", source, release.output, "--rename-every", "1d", words="new names every 6 h")
    stripped = tmp_path / "stripped.parquet"
    pq.write_table(release.table.replace_schema_metadata(None), stripped)
    asked = ("--k", 2, "--tau", "30min", "--epsilon", "30min", "--cell", "100m", "--step", "1min")
    asked += ("--crs", release.manifest["grid"]["crs"])
    told = run(
        "audit", source, stripped, *asked, "--rename-every", "6h", "--key", release.key_file, "--tolerance", 1
    )
    assert told.code == 0, told
    untold = run("audit", source, stripped, *asked)
    assert untold.code == 1  # parts are no records of people: more of them than users
    words = " ".join(untold.out.split())
    assert "records more than users" in words
    assert words.count("if they do, audit again with --rename-every 6h") == 2  # what to do, and why
    keyed = ("--key", release.key_file)
    refused(
        tmp_path, "audit", source, stripped, *asked, *keyed, words="or say --rename-every if records get new"
    )


# --- files that do not tell their periods -------------------------------------------------------------------------


def audit_untold(made: Renamed, **options: Any) -> Audit:
    """An audit, without a key, of the file without its notes; the promise is that of half hours unless given."""
    promise = {} if "whole" in options else HALF_HOURS
    grid = {"cell": "100m", "step": "1min", "crs": made.manifest["grid"]["crs"]}
    table = made.table.replace_schema_metadata(None)
    return shoal.audit(made.events, table, attacks=5, **{**promise, **grid, **options})


@pytest.mark.parametrize(
    ("period", "zone", "asked", "hint"),
    [
        ("6h", "UTC", {}, "every 6 hours on the clock of UTC,"),
        ("90min", "UTC", {}, "every 1 hour 30 minutes on the clock of UTC,"),
        ("1d", "UTC", {}, "every day on the clock of UTC,"),
        ("6h", "UTC", {"rename_every": "12h"}, "every 6 hours on the clock of UTC,"),
        ("6h", "Asia/Kolkata", {"timezone": "Asia/Kolkata"}, "every 6 hours on the clock of Asia/Kolkata,"),
        ("6h", "Asia/Kolkata", {}, "every 6 hours on another clock than UTC (from 00:30 UTC on),"),
        ("6h", "Asia/Kolkata", {"rename_every": "6h"}, "on another clock than UTC (from 00:30 UTC on),"),
        ("1d", "America/New_York", {}, "every day on another clock than UTC (from 05:00 UTC on),"),
        ("6h", "UTC", {"timezone": "Asia/Kolkata"}, "another clock than Asia/Kolkata (from 00:00 UTC on),"),
    ],
)
def test_records_that_end_at_borders_are_hinted_at(
    period: str, zone: str, asked: dict[str, str], hint: str, tmp_path: Path
) -> None:
    made = Renamed(wanderers(hours=44, n=6), tmp_path, **HALF_HOURS, rename_every=period, timezone=zone)
    audit = audit_untold(made, **asked)
    told = audit.belonging.hint
    assert audit.exit_code == 1
    assert told is not None
    assert told.startswith("no record goes on beyond borders ")
    assert hint in told
    assert f"audit again with --rename-every {period}" in told
    assert ("--timezone" in told) == ("another clock" in told)
    assert audit.verdict.next_steps[-2] == f"Do records get new names? Look there first: {told}."
    assert audit.to_dict()["belonging"]["hint"] == told
    told_all = audit_untold(made, rename_every=period, timezone=zone, tolerance=1.0)
    assert told_all.belonging.hint is None
    assert told_all.belonging.kept


@pytest.mark.parametrize(
    ("whole", "with_key", "checked"),
    [(False, True, True), (False, False, False), (True, True, None), (True, False, None)],
)
def test_an_audit_says_whether_it_looked_across_borders(
    whole: bool, with_key: bool, checked: bool | None, tmp_path: Path
) -> None:
    promised = {"k": 2, "whole": True} if whole else HALF_HOURS
    made = Renamed(wanderers(), tmp_path, **promised, rename_every="6h")
    audit = made.audit(key=with_key, **FEW)
    text = " ".join(" ".join(audit_lines(audit, made.output, show_users=False)).split())
    assert audit.borders_checked is checked
    assert audit.to_dict()["coverage"]["borders_checked"] is checked
    assert ("where names change: checked" in text) == (checked is True)
    assert ("where names change: not checked: no key" in text) == (checked is False)
    assert ("(across borders it cannot)" in audit.verdict.headline) == (checked is False)
    assert ("was not checked" in (renamed_in_words(audit) or "")) == (checked is False)


def test_whole_parts_are_hinted_at(events: pa.Table, tmp_path: Path) -> None:
    made = Renamed(events, tmp_path, k=2, whole=True, rename_every="3h")
    hint = audit_untold(made, k=2, whole=True).belonging.hint
    assert hint is not None
    assert "--rename-every 3h" in hint


@pytest.mark.parametrize("period", ["6h", "30d"])
def test_records_that_are_too_many_for_another_reason_are_not(
    period: str, events: pa.Table, tmp_path: Path
) -> None:
    """Some people are not in the events: as many records are too many, whether they end at borders or not."""
    made = Renamed(events, tmp_path, **HALF_HOURS, rename_every=period)
    made.events = events.filter(pc.less(pc.utf8_length(events["user"]), len(f"{CANARY}-10")))
    audit = audit_untold(made)
    assert audit.belonging.n_surplus_records > 0
    assert audit.belonging.hint is None


def test_a_file_that_tells_its_periods_is_not_hinted_at(release: Renamed) -> None:
    """One record too many in a period, under the notes of the release."""
    boxes = release.table.to_pylist()
    more = [{**box, "record": "r0123456789abcdef"} for box in boxes if box["record"] == boxes[0]["record"]]
    table = pa.Table.from_pylist([*boxes, *more], schema=release.table.schema)
    audit = release.audit_spoilt(table, with_key=False)
    assert audit.belonging.n_surplus_records == 1
    assert audit.belonging.hint is None
