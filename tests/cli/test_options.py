"""Every option of ``shoal anonymize`` changes what it should, and nothing it should not."""

from __future__ import annotations

import json
import random
import re
import stat
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from support.run_command import (
    HALF_HOURS,
    anonymize,
    audit,
    boxes_in,
    city,
    in_metres,
    published,
    read_table,
    records_of,
    refused,
    run,
    seconds,
    write,
)

Records = Counter[Any]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("options")


@pytest.fixture(scope="module")
def events(folder: Path) -> Path:
    return write(city(), folder / "events.parquet")


@pytest.fixture(scope="module")
def plain(events: Path, folder: Path) -> Records:
    """What comes out without further options."""
    return published(events, folder / "plain.parquet")


def n_boxes(records: Records) -> int:
    return sum(len(boxes) for boxes in records.elements())


# ---- what must not matter ----------------------------------------------------------------------------------------


def test_names_and_order_are_fresh_every_time(events: Path, plain: Records, folder: Path) -> None:
    first, second = folder / "first.parquet", folder / "second.parquet"
    assert published(events, first) == published(events, second) == plain
    names = [read_table(path)["record"].to_pylist() for path in (first, second)]
    assert not set(names[0]) & set(names[1])
    by_record = [list(records_of(read_table(path))) for path in (first, second)]
    assert by_record[0] != by_record[1]


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_workers(workers: int, events: Path, plain: Records, tmp_path: Path) -> None:
    assert published(events, tmp_path / "out.parquet", "--workers", workers) == plain


def wrong(events: Path, folder: Path, *options: object, words: str) -> None:
    output = folder / "no.parquet"
    refused(folder, "anonymize", events, "-o", output, "--k", 2, *HALF_HOURS, *options, words=words)


def test_engine(events: Path, plain: Records, tmp_path: Path) -> None:
    assert published(events, tmp_path / "out.parquet", "--engine", "processes", "--workers", 2) == plain
    wrong(events, tmp_path, "--engine", "steam", words="engine must be one of threads, processes")


def test_cluster(events: Path, tmp_path: Path) -> None:
    """What a cluster does is tested with one, in test_cluster.py."""
    wrong(events, tmp_path, "--cluster", "10.0.0.1", words="No Dask scheduler with workers answers")


def test_shard_size(tmp_path: Path) -> None:
    """The same people and samples, cut smaller: other boxes; too small is refused."""
    events = write(city(900), tmp_path / "events.parquet")
    whole, cut = (
        published(events, tmp_path / f"{size}.parquet", "--shard-size", size, "--to", "2024-01-01T09:00")
        for size in (10_000, 100)
    )
    assert whole != cut
    assert whole.total() == cut.total()
    manifest = json.loads((tmp_path / "100.parquet.manifest.json").read_text())
    assert manifest["parameters"]["shard_size"] == 100
    wrong(events, tmp_path, "--shard-size", 99, words="--shard-size must be a whole number of at least 100")


def test_workers_on_more_than_a_block(tmp_path: Path) -> None:
    events = write(city(400), tmp_path / "events.parquet")
    runs = [
        published(events, tmp_path / "out.parquet", "--workers", workers, "--to", "2024-01-01T12:00", k=3)
        for workers in (1, 3)
    ]
    assert runs[0] == runs[1]


def test_row_order_and_format_of_events(events: Path, plain: Records, tmp_path: Path) -> None:
    table = pa.parquet.read_table(events)
    rows = list(range(len(table)))
    random.Random(3).shuffle(rows)
    shuffled = table.take(rows)
    for name in ("events.parquet", "events.csv"):
        assert published(write(shuffled, tmp_path / name), tmp_path / "out.parquet") == plain


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".geoparquet", ".geojson", ".geojson.gz"])
def test_format_of_the_output(suffix: str, events: Path, plain: Records, tmp_path: Path) -> None:
    assert published(events, tmp_path / f"out{suffix}") == plain


def test_resume_with_nothing_to_resume(events: Path, plain: Records, tmp_path: Path) -> None:
    assert published(events, tmp_path / "out.parquet", "--resume") == plain


def test_seed_zero_matching_once_and_utc_are_the_defaults(
    events: Path, plain: Records, tmp_path: Path
) -> None:
    options = (
        "--seed 0 --selector matching --reuse once --timezone UTC --cell 100m --step 1min --space-weight 1"
    )
    assert published(events, tmp_path / "out.parquet", *options.split()) == plain


# ---- the promise -------------------------------------------------------------------------------------------------


def test_k(events: Path, plain: Records, tmp_path: Path) -> None:
    def mean_span(records: Records) -> float:
        spans = [x1 - x0 + y1 - y0 for boxes in records.elements() for *_, x0, x1, y0, y1 in boxes]
        return sum(spans) / len(spans)

    assert mean_span(published(events, tmp_path / "out.parquet", k=4)) > mean_span(plain)


def test_tau_and_epsilon(events: Path, plain: Records, tmp_path: Path) -> None:
    output = tmp_path / "out.parquet"
    longer_tau = published(events, output, "--tau", "2h", "--epsilon", "30min")
    longer_epsilon = published(events, output, "--tau", "1h", "--epsilon", "1h")
    assert plain != longer_tau != longer_epsilon != plain
    manifest = json.loads(Path(f"{output}.manifest.json").read_text())
    assert manifest["promise"] == {"k": 2, "whole": False, "tau_s": 3600, "epsilon_s": 3600}
    for epsilon_s, records in ((1800, plain), (1800, longer_tau), (3600, longer_epsilon)):
        for boxes in records:
            assert all(start // epsilon_s == (end - 60) // epsilon_s for start, end, *_ in boxes)


def test_whole(events: Path, plain: Records, tmp_path: Path) -> None:
    records = published(events, tmp_path / "out.parquet", "--whole")
    assert records != plain
    assert any(start // 1800 != (end - 60) // 1800 for boxes in records for start, end, *_ in boxes)
    promise = json.loads((tmp_path / "out.parquet.manifest.json").read_text())["promise"]
    assert promise == {"k": 2, "whole": True, "tau_s": None, "epsilon_s": None}


# ---- how it is kept ----------------------------------------------------------------------------------------------


def test_cell(events: Path, plain: Records, tmp_path: Path) -> None:
    records = published(events, tmp_path / "out.parquet", "--cell", "1km")
    assert records != plain
    assert all(edge % 1000 == 0 for boxes in records for box in boxes for edge in box[2:])
    assert any(edge % 1000 for boxes in plain for box in boxes for edge in box[2:])


def test_step(events: Path, plain: Records, tmp_path: Path) -> None:
    records = published(events, tmp_path / "out.parquet", "--step", "10min")
    assert records != plain
    assert all(time % 600 == 0 for boxes in records for box in boxes for time in box[:2])


def test_space_weight(events: Path, plain: Records, tmp_path: Path) -> None:
    def space(records: Records) -> float:
        return sum(x1 - x0 + y1 - y0 for boxes in records.elements() for *_, x0, x1, y0, y1 in boxes)

    records = published(events, tmp_path / "out.parquet", "--space-weight", "3")
    assert space(records) / n_boxes(records) < space(plain) / n_boxes(plain)


def test_seed_breaks_ties(tmp_path: Path) -> None:
    """Sixteen users at one place, a pair at each of eight times: only the seed can tell who hides with whom."""
    rows = [(user, turn) for user in range(16) for turn in range(4)]
    events = write(
        pa.table(
            {
                "user": [f"u{user}" for user, _ in rows],
                "time": [1_700_000_000 + 1800 * turn + 60 * (user * (turn + 3) % 7) for user, turn in rows],
                "x": [0.0] * len(rows),
                "y": [0.0] * len(rows),
            }
        ),
        tmp_path / "events.csv",
    )
    releases = [published(events, tmp_path / "out.parquet", "--seed", seed) for seed in (0, 0, 1, 2, 3, 4)]
    assert releases[0] == releases[1]
    assert any(release != releases[0] for release in releases[2:])
    assert {sum(release.values()) for release in releases} == {16}


def test_reuse(tmp_path: Path) -> None:
    events = write(city(40), tmp_path / "events.parquet")
    releases, guarantees = {}, {}
    for reuse in ("once", "pair", "spaced"):
        releases[reuse] = published(events, tmp_path / "out.parquet", "--reuse", reuse)
        guarantees[reuse] = json.loads((tmp_path / "out.parquet.manifest.json").read_text())["guarantees"]
    assert releases["once"] != releases["pair"] != releases["spaced"] != releases["once"]
    assert guarantees["spaced"]["one_window"].startswith("not given")
    assert not guarantees["once"]["one_window"].startswith("not given")


def test_selector_and_repair(tmp_path: Path) -> None:
    events = write(city(150), tmp_path / "events.parquet")
    releases, manifests = [], []
    for options in ((), ("--selector", "spectral"), ("--selector", "spectral", "--repair")):
        releases.append(published(events, tmp_path / "out.parquet", *options))
        manifests.append(json.loads((tmp_path / "out.parquet.manifest.json").read_text()))
    assert n_boxes(releases[0]) > n_boxes(releases[1]) > n_boxes(releases[2])
    assert [manifest["verified"] for manifest in manifests] == [True, False, True]
    assert [manifest["parameters"]["repair"] for manifest in manifests] == [False, False, True]


def test_selector_mutual(tmp_path: Path) -> None:
    events = write(city(150), tmp_path / "events.parquet")
    plain = published(events, tmp_path / "plain.parquet")
    mutual = published(events, tmp_path / "out.parquet", "--selector", "mutual")
    manifest = json.loads((tmp_path / "out.parquet.manifest.json").read_text())
    assert mutual != plain
    assert manifest["parameters"]["selector"] == "mutual"
    assert manifest["verified"] is True
    assert manifest["guarantees"]["coverage"] == manifest["guarantees"]["matching"] == "given"
    assert "scikit-learn" not in manifest["versions"]


def test_with_whole_the_records_of_a_group_are_identical(tmp_path: Path) -> None:
    """mutual is the selector unless another is given, and the manifest says which it is."""
    events, output = write(city(50), tmp_path / "events.parquet"), tmp_path / "out.parquet"
    found = {}
    for options in ((), ("--selector", "mutual"), ("--selector", "matching")):
        call = ("anonymize", events, "-o", output, "--force", "--k", "3", "--whole", *options)
        assert run(*call).code == 0
        manifest = json.loads((tmp_path / "out.parquet.manifest.json").read_text())
        found[options] = boxes_in(output), manifest["parameters"]["selector"], manifest["verified"]
    records, *told = found[()]
    assert told == ["mutual", True]
    assert all(3 <= n <= 5 for n in records.values())
    assert found["--selector", "mutual"] == found[()]
    other, *told = found["--selector", "matching"]
    assert told == ["matching", True]
    assert min(other.values()) == 1


def test_min_spread(tmp_path: Path) -> None:
    """No box is shorter on its longer side; the manifest says so, and the audit believes the evidence."""
    events, output, key = (
        write(city(50), tmp_path / "events.parquet"),
        tmp_path / "out.parquet",
        tmp_path / "key.csv",
    )
    call = ("anonymize", events, "-o", output, "--force", "--k", "3", "--whole")
    assert run(*call).code == 0
    plain = boxes_in(output)
    assert run(*call, "--min-spread", "4.5km", "--key-out", key).code == 0
    records = boxes_in(output)
    assert min(longer_sides(plain)) < 4500 <= min(longer_sides(records))
    assert all(n >= 3 for n in records.values())
    manifest = json.loads((tmp_path / "out.parquet.manifest.json").read_text())
    assert manifest["parameters"]["min_spread"] == "4500m"
    assert manifest["verified"] is True
    found = audit(events, output, "--key", key, "--json", "-")
    assert found.code == 0
    guarantees = json.loads(found.out)["guarantees"]
    assert {each["state"] for each in guarantees.values() if isinstance(each, dict) and "state" in each} == {
        "kept"
    }
    for options, words in (
        (("--whole", "--min-spread", "900km"), "--min-spread cannot be kept"),
        (
            ("--whole", "--min-spread", "1km", "--selector", "matching"),
            "--min-spread goes with selector mutual",
        ),
        (("--tau", "30min", "--epsilon", "30min", "--min-spread", "1km"), "--min-spread goes with --whole"),
        (("--whole", "--min-spread", "much"), "--min-spread must be a length such as"),
        (("--whole", "--min-spread", "1.0001m"), "--min-spread must be whole millimetres"),
    ):
        refused(
            tmp_path, "anonymize", events, "-o", tmp_path / "no.parquet", "--k", "3", *options, words=words
        )


def longer_sides(records: Records) -> list[float]:
    return [max(x1 - x0, y1 - y0) for boxes in records for *_, x0, x1, y0, y1 in boxes]


# ---- what is read ------------------------------------------------------------------------------------------------


def test_from_and_to(events: Path, plain: Records, tmp_path: Path) -> None:
    noon, evening = "2024-01-01T12:00", "2024-01-01T18:00"
    records = published(events, tmp_path / "out.parquet", "--from", noon, "--to", evening)
    times = [time for boxes in records for start, end, *_ in boxes for time in (start, end)]
    low, high = (datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp() for text in (noon, evening))
    assert low <= min(times) < max(times) <= high
    assert min(start for boxes in plain for start, *_ in boxes) < low


def test_timezone(tmp_path: Path) -> None:
    table = city(30)
    local = table.set_column(1, "time", pc.strftime(table["time"], format="%Y-%m-%d %H:%M:%S"))
    events = write(local, tmp_path / "events.csv")
    utc = published(events, tmp_path / "out.parquet")
    tokyo = published(events, tmp_path / "out.parquet", "--timezone", "Asia/Tokyo")
    assert tokyo == Counter(
        tuple((start - 9 * 3600, end - 9 * 3600, *place) for start, end, *place in boxes)
        for boxes in utc.elements()
    )


def test_the_zone_is_told(tmp_path: Path) -> None:
    """Once on stderr where nobody named it; in summary and manifest always."""
    table, output, summary = in_metres(), tmp_path / "out.parquet", tmp_path / "summary.json"
    local = table.set_column(
        1, "time", pc.strftime(pc.cast(table["time"], pa.timestamp("s")), format="%d.%m.%Y %H:%M:%S")
    )
    events = write(local, tmp_path / "events.csv")
    for options, zone, told, words in (
        ((), "UTC", "assumed", "times without a zone read as UTC (no --timezone)"),
        (("--timezone", "UTC"), "UTC", "given", "times without a zone on the clock of UTC (--timezone)"),
        (("--timezone", "Asia/Tokyo"), "Asia/Tokyo", "given", "on the clock of Asia/Tokyo (--timezone)"),
    ):
        done = anonymize(events, output, *options, "--force", "--json", summary)
        assert done.code == 0
        assert done.err.count("Times come without a zone") == (told == "assumed")
        assert words in done.out
        content = json.loads(summary.read_text())
        assert (content["timezone"], content["timezone_from"]) == (zone, told)
        assert json.loads((tmp_path / "out.parquet.manifest.json").read_text())["reading"]["timezone"] == zone
    done = anonymize(write(table, tmp_path / "unix.csv"), output, "--force")
    assert "times with a zone of their own; days and hours of UTC" in done.out
    assert "zone" not in done.err


def test_time_format(tmp_path: Path) -> None:
    """Any way of writing that the option names gives what Unix seconds give; the manifest does not tell it."""
    table, output, key = in_metres(), tmp_path / "out.parquet", tmp_path / "key.csv"
    moments = pc.cast(table["time"], pa.timestamp("s"))
    expected = published(write(table, tmp_path / "unix.csv"), output)
    for pattern in ("%d-%m-%y %H.%M.%S", "%Y%m%dT%H%M%S", "%H:%M:%S on %m/%d/%Y"):
        times = pc.strftime(moments, format=pattern)
        events = write(table.set_column(1, "time", times), tmp_path / "events.csv")
        found = published(events, output, "--time-format", pattern, "--key-out", key)
        assert found == expected
        assert pattern not in (tmp_path / "out.parquet.manifest.json").read_text()
        assert (
            json.loads((tmp_path / "key.csv.private.json").read_text())["reading"]["time_format"] == pattern
        )
    wrong(events, tmp_path, words="--time-format")
    wrong(events, tmp_path, "--time-format", "%d.%m.", words="time format must tell the year")
    wrong(events, tmp_path, "--time-format", "%d.%m.%Y", words="unparsable time")


def test_missing_user(tmp_path: Path) -> None:
    """Rows of nobody are left out and counted; whoever is somebody after all can be had by another list."""
    table, output, summary = in_metres(), tmp_path / "out.parquet", tmp_path / "summary.json"
    names = ["NULL" if name == "u03" else name for name in table["user"].to_pylist()]
    renamed = table.set_column(0, "user", pa.array(names))
    events = write(renamed, tmp_path / "events.csv")
    expected = published(write(table, tmp_path / "plain.csv"), output)
    assert published(events, output, "--missing-user", "", "--json", summary) == expected
    assert json.loads(summary.read_text())["rows_dropped"] == {}
    assert published(events, output, "--missing-user", "-,n/a") == expected
    others = table.filter(pc.not_equal(table["user"], "u03"))
    without = published(write(others, tmp_path / "others.csv"), output)
    for options in ((), ("--missing-user", "x, null")):
        assert published(events, output, *options, "--json", summary) == without
        assert json.loads(summary.read_text())["rows_dropped"] == {"missing user": len(table) - len(others)}
    wrong(events, tmp_path, "--strict", words="rows cannot be used (8 missing user)")


def test_blank_lines_and_hidden_files_are_told(tmp_path: Path) -> None:
    folder, summary = tmp_path / "events", tmp_path / "summary.json"
    folder.mkdir()
    path = write(in_metres(), folder / "events.csv")
    path.write_text(path.read_text().replace("\n", "\n\n", 3))
    (folder / "_SUCCESS").touch()
    done = anonymize(folder, tmp_path / "out.parquet", "--strict", "--json", summary)
    assert done.code == 0
    assert "3 blank lines passed over" in done.out
    assert "Warning: 1 file whose name begins with . or _ was not read" in done.err
    assert json.loads(summary.read_text())["blank_lines"] == 3


def test_format(tmp_path: Path) -> None:
    """The same events as a plain table in metres and as YJMob's cells: recognised, named, or read as they stand."""
    cells = [
        (user, t, 1 + (user * 7 + t) % 9, 1 + (user * 3 + t) % 9) for user in range(12) for t in range(6)
    ]
    metres = [(user, 1800 * t, 500 * x, 500 * y) for user, t, x, y in cells]
    plain, yjmob, output = tmp_path / "plain.csv", tmp_path / "yjmob.csv", tmp_path / "out.parquet"
    for path, header, rows in (
        (plain, "user,time,x,y", metres),
        (yjmob, "uid,d,t,x,y", [(user, 0, *rest) for user, *rest in cells]),
    ):
        path.write_text("\n".join([header, *(",".join(map(str, row)) for row in rows), ""]))
    expected = published(plain, output)
    assert published(yjmob, output) == published(yjmob, output, "--format", "yjmob") == expected
    assert "read as yjmob" in anonymize(yjmob, output, "--force").out
    assert published(yjmob, output, "--format", "table") != expected
    command = ("anonymize", yjmob, "-o", tmp_path / "no.parquet", "--k", 2, *HALF_HOURS)
    message = refused(
        tmp_path, *command, "--format", "nothing", words="Unknown format 'nothing' for --format"
    )
    assert "expected one of cabspotting, d4d-ivory-coast" in message


def test_bbox(tmp_path: Path) -> None:
    table, output, summary = in_metres(), tmp_path / "out.parquet", tmp_path / "summary.json"
    events = write(table, tmp_path / "events.csv")
    inside = pc.and_(
        pc.and_(pc.greater_equal(table["x"], 0), pc.less_equal(table["x"], 3050)),
        pc.and_(pc.greater_equal(table["y"], 50), pc.less_equal(table["y"], 3000)),
    )
    expected = published(write(table.filter(inside), tmp_path / "inside.csv"), output)
    assert published(events, output, "--bbox", "0,50,3050,3000", "--json", summary) == expected
    assert published(events, output, "--bbox", "-10,50,3050,3000") == expected
    outside = pc.sum(pc.invert(inside)).as_py()
    assert json.loads(summary.read_text())["rows_dropped"] == {"outside --bbox": outside}
    assert outside > 0


def test_min_days_active(tmp_path: Path) -> None:
    """Half of the users come again a day later. In London all are there on two days, since midnight is in between."""
    table, output, summary = in_metres(), tmp_path / "out.parquet", tmp_path / "summary.json"
    again = table.filter(pc.less(table["user"], "u06"))
    both = pa.concat_tables([table, again.set_column(1, "time", pc.add(again["time"], 86_400))])
    events = write(both, tmp_path / "events.csv")
    active = both.filter(pc.less(both["user"], "u06"))
    expected = published(write(active, tmp_path / "active.csv"), output)
    days = ("--min-days-active", 2, "--timezone")
    assert published(events, output, *days, "Asia/Tokyo", "--json", summary) == expected
    reason = "user active on fewer than --min-days-active days"
    assert json.loads(summary.read_text())["rows_dropped"] == {reason: len(both) - len(active)}
    assert published(events, output, *days, "Europe/London") == published(events, output) != expected


def test_resample(tmp_path: Path) -> None:
    table, output, summary = in_metres(), tmp_path / "out.parquet", tmp_path / "summary.json"
    firsts: dict[tuple[str, int], tuple[int, float, float]] = {}
    for user, *sample in zip(*(column.to_pylist() for column in table.columns), strict=True):
        period = user, sample[0] // 1800
        firsts[period] = min(firsts.get(period, tuple(sample)), tuple(sample))
    rows = [(user, *sample) for (user, _), sample in firsts.items()]
    thin = pa.table(dict(zip(table.column_names, zip(*rows, strict=True), strict=True)))
    expected = published(write(thin, tmp_path / "thin.csv"), output)
    events = write(table, tmp_path / "events.csv")
    assert published(events, output, "--resample", "30min", "--json", summary) == expected
    left_out = {"not the first in its --resample period": len(table) - len(thin)}
    assert json.loads(summary.read_text())["rows_dropped"] == left_out
    assert len(thin) < len(table)


def test_exclude_users(events: Path, plain: Records, tmp_path: Path) -> None:
    users = sorted(set(pa.parquet.read_table(events)["user"].to_pylist()))
    excluded = tmp_path / "excluded.txt"
    excluded.write_text("".join(f"{user}\n" for user in users[:5]))
    key = tmp_path / "key.parquet"
    records = published(events, tmp_path / "out.parquet", "--exclude-users", excluded, "--key-out", key)
    assert sum(records.values()) == sum(plain.values()) - 5
    assert set(read_table(key)["user"].to_pylist()) == set(users[5:])
    excluded.write_text("".join(f"{user}\n" for user in (*users[:5], "nobody", "nobody else")))
    wrong(
        events,
        tmp_path,
        "--exclude-users",
        excluded,
        "--strict",
        words="found 2 of its 7 identifiers nowhere there",
    )
    assert published(events, tmp_path / "out.parquet", "--exclude-users", excluded) == records


def test_sites_and_site_column(tmp_path: Path) -> None:
    table = in_metres()
    places = sorted(set(zip(table["x"].to_pylist(), table["y"].to_pylist(), strict=True)))
    names = [
        f"s{places.index(place)}"
        for place in zip(table["x"].to_pylist(), table["y"].to_pylist(), strict=True)
    ]
    sites = write(
        pa.table(
            {
                "site": [f"s{number}" for number in range(len(places))],
                "x": [x for x, _ in places],
                "y": [y for _, y in places],
            }
        ),
        tmp_path / "sites.csv",
    )
    by_site = pa.table({"user": table["user"], "time": table["time"], "mast": names})
    events = write(by_site, tmp_path / "by_site.csv")
    output = tmp_path / "out.parquet"
    expected = published(write(table, tmp_path / "events.csv"), output)
    assert published(events, output, "--sites", sites, "--site-column", "mast") == expected


COLUMN_OPTIONS = {
    "user": ["--user-column", "a"], "time": ["--time-column", "b"],
    "lat": ["--lat-column", "c"], "lon": ["--lon-column", "d"],
}  # fmt: skip


def test_column_options_in_degrees(events: Path, plain: Records, tmp_path: Path) -> None:
    renamed = write(pa.parquet.read_table(events).rename_columns(list("abcd")), tmp_path / "events.parquet")
    every = [option for options in COLUMN_OPTIONS.values() for option in options]
    assert published(renamed, tmp_path / "out.parquet", *every) == plain
    for role in COLUMN_OPTIONS:
        others = [option for other, options in COLUMN_OPTIONS.items() if other != role for option in options]
        assert anonymize(renamed, tmp_path / "lacking.parquet", *others).code == 2


def test_column_options_in_metres(tmp_path: Path) -> None:
    table, output = in_metres(), tmp_path / "out.parquet"
    expected = published(write(table, tmp_path / "events.csv"), output)
    swapped = write(table.rename_columns(["user", "time", "y", "x"]), tmp_path / "swapped.csv")
    assert published(swapped, output, "--x-column", "y", "--y-column", "x") == expected
    assert published(swapped, output) != expected


def test_strict_changes_nothing_about_good_events(events: Path, plain: Records, tmp_path: Path) -> None:
    assert published(events, tmp_path / "out.parquet", "--strict") == plain


# ---- what is written ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["key.csv", "key.parquet"])
def test_key_out(name: str, events: Path, tmp_path: Path) -> None:
    output, key = tmp_path / "out.parquet", tmp_path / name
    assert anonymize(events, output).code == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.parquet", "out.parquet.manifest.json"]
    assert anonymize(events, output, "--key-out", key, "--force").code == 0
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    table = read_table(key)
    assert table.column_names == ["user", "record"]
    assert set(table["record"].to_pylist()) == set(read_table(output)["record"].to_pylist())
    assert table["user"].to_pylist() == sorted(set(pa.parquet.read_table(events)["user"].to_pylist()))


def test_key_tells_who_is_who(tmp_path: Path) -> None:
    """Every box of a record holds a sample of the user that the key names."""
    table = in_metres()
    events, output, key = (
        write(table, tmp_path / "events.csv"),
        tmp_path / "out.parquet",
        tmp_path / "key.csv",
    )
    assert anonymize(events, output, "--key-out", key).code == 0
    users = dict(zip(*(read_table(key)[name].to_pylist() for name in ("record", "user")), strict=True))
    samples: dict[str, list[tuple[float, ...]]] = {}
    for user, *sample in zip(*(column.to_pylist() for column in table.columns), strict=True):
        samples.setdefault(user, []).append(tuple(sample))
    boxes = read_table(output)
    starts, ends = (seconds(boxes[name]) for name in ("t_start", "t_end"))
    edges = [boxes[name].to_pylist() for name in ("x_min", "x_max", "y_min", "y_max")]
    for record, t0, t1, x0, x1, y0, y1 in zip(boxes["record"].to_pylist(), starts, ends, *edges, strict=True):
        assert any(t0 <= t < t1 and x0 <= x < x1 and y0 <= y < y1 for t, x, y in samples[users[record]])


def test_json_to_a_file_and_to_stdout(events: Path, tmp_path: Path) -> None:
    output, summary = tmp_path / "out.parquet", tmp_path / "summary.json"
    told = anonymize(events, output, "--json", summary)
    assert told.code == 0
    assert told.out.startswith("Promise")
    printed = anonymize(events, output, "--json", "-", "--force")
    assert printed.code == 0
    in_file, on_stdout = json.loads(summary.read_text()), json.loads(printed.out)
    for figures in (in_file, on_stdout):
        assert figures.pop("seconds") > 0
        assert figures.pop("compile_seconds") >= 0  # above 0 where it is the first run
    assert in_file == on_stdout
    assert in_file["users"] == in_file["records"] == 60
    assert in_file["samples"] == in_file["rows"] - in_file["duplicates"]


def test_no_verify(events: Path, plain: Records, tmp_path: Path) -> None:
    output, summary = tmp_path / "out.parquet", tmp_path / "summary.json"
    for options, verified in (((), True), (("--no-verify",), False)):
        assert published(events, output, "--json", summary, *options) == plain
        assert json.loads((tmp_path / "out.parquet.manifest.json").read_text())["verified"] is verified
        assert json.loads(summary.read_text())["verified"] is verified


def test_no_evidence(events: Path, tmp_path: Path) -> None:
    key = tmp_path / "key.csv"
    for options, there in (((), True), (("--no-evidence",), False)):
        (tmp_path / "key.csv.evidence.parquet").unlink(missing_ok=True)
        published(events, tmp_path / "out.parquet", "--key-out", key, *options)
        assert (tmp_path / "key.csv.evidence.parquet").exists() is there


def test_effort_makes_boxes_smaller(events: Path, plain: Records, tmp_path: Path) -> None:
    costs = []
    for level in ("1", "2", "3"):
        output, summary = tmp_path / f"{level}.parquet", tmp_path / f"{level}.json"
        records = published(events, output, "--effort", level, "--json", summary)
        assert (records == plain) is (level == "1")
        costs.append(json.loads(summary.read_text())["cost_per_box"])
        manifest = json.loads((tmp_path / f"{level}.parquet.manifest.json").read_text())
        assert manifest["parameters"]["effort"] == int(level)
    assert max(costs[1:]) < costs[0]


def test_harden_pays_for_each_level(events: Path, plain: Records, tmp_path: Path) -> None:
    costs = []
    for level in ("0", "1", "3"):
        output, summary = tmp_path / f"{level}.parquet", tmp_path / f"{level}.json"
        records = published(events, output, "--harden", level, "--json", summary)
        assert (records == plain) is (level == "1")  # the one that is chosen for those who choose none
        costs.append(json.loads(summary.read_text())["cost_per_box"])
        manifest = json.loads((tmp_path / f"{level}.parquet.manifest.json").read_text())
        assert manifest["parameters"]["harden"] == int(level)
    assert costs == sorted(set(costs))
    for options, words in (
        (("--harden", "4"), "harden must be at most 3, got 4: give 0, 1, 2 or 3."),
        (("--harden", "some"), "expected a whole number"),
        (("--harden", "1", "--selector", "mutual"), "harden needs selector matching, got selector mutual"),
    ):
        refused(
            tmp_path,
            "anonymize",
            events,
            "-o",
            tmp_path / "no.parquet",
            "--k",
            "2",
            *HALF_HOURS,
            *options,
            words=words,
        )


def test_rename_every_cuts_records_at_borders(events: Path, plain: Records, tmp_path: Path) -> None:
    output, key = tmp_path / "parts.csv", tmp_path / "key.csv"
    records = published(events, output, "--rename-every", "6h", "--key-out", key)
    assert sum(records.values()) > sum(plain.values())
    for boxes in records:
        assert len({box[0] // (6 * 3600) for box in boxes}) == 1
    rows = read_table(key)
    assert rows.column_names == ["user", "part", "record"]
    assert rows.num_rows == len(set(rows["record"].to_pylist())) == sum(records.values())
    manifest = json.loads((tmp_path / "parts.csv.manifest.json").read_text())
    assert manifest["periods"] == {"rename_every_s": 21600, "timezone": "UTC"}
    assert published(events, tmp_path / "never.parquet", "--rename-every", "never") == plain
    for options, words in (
        (("--rename-every", "5h"), "--rename-every must be never, or a part of a day or whole days"),
        (("--rename-every", "daily"), "--rename-every must be never, or a part of a day or whole days"),
        (("--rename-every", "15min"), "--rename-every must be at least tau, 30 min, got 15 min"),
        (
            ("--rename-every", "6h", "--selector", "spectral"),
            "--rename-every goes with selectors matching and mutual",
        ),
    ):
        target = ("-o", tmp_path / "no.parquet", "--k", "2")
        refused(tmp_path, "anonymize", events, *target, *HALF_HOURS, *options, words=words)


def test_force_replaces_all_files(events: Path, tmp_path: Path) -> None:
    output = tmp_path / "out.csv"
    assert anonymize(events, output).code == 0
    before = output.read_bytes()
    assert anonymize(events, output).code == 2
    assert output.read_bytes() == before
    assert anonymize(events, output, "--force").code == 0
    assert output.read_bytes() != before
    assert boxes_in(output)


@pytest.mark.parametrize(
    ("command", "tests", "n_options"),
    [("anonymize", "test_options.py", 30), ("audit", "test_audit_command.py", 26)],
)
def test_every_option_is_tested(command: str, tests: str, n_options: int) -> None:
    """Whoever adds an option adds a test."""
    text = run(command, "--help").out
    words = text.replace("│", " ").replace("/--", " --").split()
    offered = {word.rstrip(".,") for word in words if word.startswith("--")}
    tested = "".join(
        Path(__file__).with_name(name).read_text()
        for name in (tests, "test_config.py", "test_input_sources.py")
    )
    assert len(offered) > n_options
    for option in offered - {"--help", "--output", "--k"}:
        assert re.search(rf"{option}\b(?!-)", tested), f"{option} has no test"
