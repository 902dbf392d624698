"""Files that readers would take for safe: none of them is KEPT, and none gets exit code 0 (one test for each)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from shoal.auditing.opening import open_audit
from shoal.core.options import AuditOptions, ReadingOptions
from shoal.core.progress import SilentProgress
from support.run_command import HALF_HOURS, Run, anonymize, audit, city, in_metres, read_table, run, write

REQUIRED = ("--k", 2, *HALF_HOURS)
GRID = ("--cell", "100m", "--step", "1min")


class Made:
    """Events and a release of them, with its key."""

    def __init__(
        self, folder: Path, events: pa.Table, *options: object, k: int = 2, output: str = "out.parquet"
    ) -> None:
        self.folder, self.events = folder, write(events, folder / "events.parquet")
        self.output, self.key = folder / output, folder / "key.csv"
        self.run = anonymize(self.events, self.output, "--key-out", self.key, *options, k=k)
        assert self.run.code == 0, self.run

    @property
    def manifest(self) -> Path:
        return self.output.with_name(f"{self.output.name}.manifest.json")

    def told(self) -> dict[str, Any]:
        return json.loads(self.manifest.read_text())

    def audit(self, *options: object) -> Run:
        return audit(self.events, self.output, *options)


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Made:
    return Made(tmp_path_factory.mktemp("good"), in_metres(users=40, samples=4))


def published(rows: list[tuple[str, int, int, int, int]], path: Path) -> Path:
    """A table of boxes: record, first and last minute, first and last cell in x."""
    columns = list(zip(*rows, strict=True))
    when = [
        pa.array([60 * (t + more) for t in columns[1 + more]], pa.timestamp("s", "UTC")) for more in (0, 1)
    ]
    x = [[100.0 * (cell + more) for cell in columns[3 + more]] for more in (0, 1)]
    zero, hundred = [0.0] * len(rows), [100.0] * len(rows)
    names = ("record", "t_start", "t_end", "x_min", "x_max", "y_min", "y_max")
    return write(pa.table(dict(zip(names, (columns[0], *when, *x, zero, hundred), strict=True))), path)


def moments(rows: list[tuple[str, int, int]], path: Path) -> Path:
    """Events: user, minute, cell in x."""
    user, t, x = zip(*rows, strict=True)
    table = {
        "user": user,
        "time": [60 * m for m in t],
        "x": [100.0 * c + 50 for c in x],
        "y": [50.0] * len(x),
    }
    return write(pa.table(table), path)


def test_a_good_release_is_kept_and_says_of_each_guarantee_how_it_is_known(good: Made) -> None:
    for options in ((), REQUIRED):
        done = good.audit("--key", good.key, *options)
        assert done.code == 0, done.out
        assert "Guarantee 1 KEPT, 2 kept, 3 kept on" in " ".join(done.out.split())
        assert "from the private evidence" in " ".join(done.out.split())
    claimed, required = good.audit(), good.audit(*REQUIRED)
    assert (claimed.code, required.code) == (0, 4)
    assert "2 not checked" in " ".join(claimed.out.split())


def test_raw_data_with_every_record_cloned(tmp_path: Path) -> None:
    events = [(f"u{i}", 10 * t + i, 7 * i + t) for i in range(5) for t in range(4)]
    source = moments(events, tmp_path / "events.parquet")
    rows = [(f"{user}-{clone}", t, t, x, x) for clone in "ab" for user, t, x in events]
    output = published(rows, tmp_path / "out.parquet")
    key = write(
        pa.table({"user": [f"u{i}" for i in range(5)], "record": [f"u{i}-a" for i in range(5)]}),
        tmp_path / "key.csv",
    )
    for options in ((), ("--key", key)):
        done = audit(source, output, *REQUIRED, *GRID, *options)
        assert done.code == 1, done
        assert "BROKEN: there are 5 records more than users" in " ".join(done.out.split())
        assert "KEPT" not in done.out


def test_three_people_for_whom_guarantee_3_is_broken(tmp_path: Path) -> None:
    source = moments([("a", 0, 0), ("b", 0, 1), ("c", 0, 9)], tmp_path / "events.parquet")
    output = published([("r1", 0, 0, 0, 9), ("r2", 0, 0, 0, 1), ("r3", 0, 0, 9, 9)], tmp_path / "out.parquet")
    key = write(pa.table({"user": ["a", "b", "c"], "record": ["r1", "r2", "r3"]}), tmp_path / "key.csv")
    for options in ((), ("--key", key)):
        done = audit(source, output, *REQUIRED, *GRID, *options)
        assert done.code == 1, done
        assert "BROKEN: guarantee 1 KEPT" in done.out
        assert "3 broken on 1 of 1 windows" in " ".join(done.out.split())


def test_whole_trajectories_held_to_half_hours(tmp_path: Path) -> None:
    made = Made(tmp_path, in_metres(), "--whole")
    assert made.audit("--key", made.key).code == made.audit().code == 0
    by_evidence = made.audit("--key", made.key, *REQUIRED)
    assert by_evidence.code == 1
    assert "100 % of members stay longer than 1 h" in " ".join(by_evidence.out.split())
    by_own_account = made.audit(*REQUIRED)
    assert by_own_account.code == 1
    assert "FAILS a promise that is not its own" in " ".join(by_own_account.out.split())
    stripped = tmp_path / "stripped.parquet"
    write(read_table(made.output).replace_schema_metadata(None), stripped)
    unknown = audit(made.events, stripped, *REQUIRED, *GRID)
    assert unknown.code == 4
    assert "2 not checked" in " ".join(unknown.out.split())


def test_members_who_had_to_serve_again(tmp_path: Path) -> None:
    made = Made(tmp_path, in_metres(users=12, samples=8), "--tau", "30min", "--epsilon", "10min", k=4)
    summary = " ".join(made.run.out.split())
    share = summary.split("k kept; epsilon not: ")[1].split(" of members had to serve again")[0]
    assert f"k kept; epsilon not: {share} of members had to serve again" in made.run.err
    assert made.told()["guarantees"]["one_window"].startswith("weakened: k kept; epsilon not: up to ")
    exact, admitted = made.audit("--key", made.key), made.audit()
    assert (exact.code, admitted.code) == (1, 1)
    assert f"2 weakened ({share} of members had to serve again, from the private" in " ".join(
        exact.out.split()
    )
    assert "by the file's own account" in " ".join(admitted.out.split())
    for done in (exact, admitted):
        assert done.out.startswith("Verdict       WEAKENED: guarantee 1 KEPT")
    assert made.audit("--key", made.key, "--tolerance", 1).code == 0


@pytest.mark.parametrize("key", [True, False])
@pytest.mark.parametrize(
    ("section", "name", "value", "words"),
    [
        ("promise", "k", 3, "k is 2 in the file's metadata, 3 in the manifest"),
        ("counts", "records", 41, "the manifest tells of 41 records, the file has 40"),
    ],
)
def test_metadata_and_manifest_that_disagree(
    good: Made, section: str, name: str, value: int, words: str, key: bool
) -> None:
    before, told = good.manifest.read_text(), good.told()
    told[section][name] = value
    good.manifest.write_text(json.dumps(told))
    try:
        done = good.audit(*(("--key", good.key) if key else ()))
    finally:
        good.manifest.write_text(before)
    assert done.code == 1
    assert f"BROKEN: {words}" in " ".join(done.out.split())


def test_claiming_less_is_not_rewarded(tmp_path: Path) -> None:
    events = moments(
        [(f"u{i}", 15 * t, (31 * i + 17 * t * i) % 97) for i in range(40) for t in range(4)],
        tmp_path / "in.parquet",
    )
    made = Made(tmp_path, read_table(events), "--tau", "1min", "--epsilon", "1min")
    claimed = made.audit("--key", made.key)
    assert claimed.code == 4
    words = " ".join(claimed.out.split())
    assert words.startswith("Verdict WEAK CLAIM: guarantee 1 kept")
    assert "as the file claims (k 2 and 1 min)" in words
    assert "the file's own claim: k = 2, tau = 1 min" in words
    assert "KEPT" not in words
    required = made.audit("--key", made.key, *REQUIRED)
    assert required.code == 1
    assert "FAILS a promise that is not its own" in " ".join(required.out.split())


@pytest.mark.parametrize("shift", [0, 60 * 10**5])
@pytest.mark.parametrize("key", [True, False])
def test_boxes_that_overlap_or_lie_outside_the_period(
    good: Made, shift: int, key: bool, tmp_path: Path
) -> None:
    table = read_table(good.output)
    row = table.slice(0, 1)
    if shift:
        for name in ("t_start", "t_end"):
            place = row.column_names.index(name)
            later = pa.array([row[name][0].value + 1000 * shift], row.schema.field(place).type)
            row = row.set_column(place, row.schema.field(place), later)
    planted = tmp_path / "planted.parquet"
    write(pa.concat_tables([table, row]), planted)
    done = audit(good.events, planted, *(("--key", good.key) if key else ()))
    assert done.code == 1
    words = "lies before the first or after the last" if shift else "with another of the same record in time"
    assert words in " ".join(done.out.split())


def test_json_and_report_say_the_same(good: Made, tmp_path: Path) -> None:
    done = good.audit("--key", good.key, *REQUIRED, "--json", "-")
    found = json.loads(done.out)
    assert (found["kept"], found["exit_code"], found["belonging"]["kept"]) == (True, 0, True)
    states = {name: found["guarantees"][name]["state"] for name in ("coverage", "one_window", "matching")}
    assert set(states.values()) == {"kept"}
    assert found["guarantees"]["one_window"]["asked"] == "required"
    page = tmp_path / "page.html"
    for options, code in ((("--key", good.key), 0), ((), 4)):
        done = run(
            "report", good.events, good.output, "-o", page, "--force", "--attacks", 40, *REQUIRED, *options
        )
        assert done.code == code, done
        assert "Guarantee 1 KEPT" in page.read_text()
        assert ("Each of the other records stays with the person" in page.read_text()) is (code == 0)
        assert ("but guarantee 2 could not be checked" in page.read_text()) is (code == 4)


def test_a_city_of_few_is_weakened_by_its_own_account(tmp_path: Path) -> None:
    made = Made(tmp_path, city(60), "--tau", "2h", "--epsilon", "10min", "--harden", 0, k=10)
    assert "k kept; epsilon not" in made.run.err
    assert made.audit().code == 1


def forget_evidence(made: Made) -> None:
    """Take the checksum of the evidence out of the private notes, as in older ones: then it must speak for itself."""
    notes = made.folder / "key.csv.private.json"
    content = json.loads(notes.read_text())
    del content["evidence"]
    notes.write_text(json.dumps(content))


def test_evidence_that_cannot_be_used_does_not_hide_what_the_file_admits(tmp_path: Path) -> None:
    made = Made(tmp_path, city(60), "--tau", "2h", "--epsilon", "10min", "--harden", 0, k=10)
    evidence = tmp_path / "key.csv.evidence.parquet"
    rows = read_table(evidence)
    place = rows.column_names.index("record")
    turned = pa.concat_arrays([rows["record"].combine_chunks()[1:], rows["record"].combine_chunks()[:1]])
    pq.write_table(rows.set_column(place, rows.schema.field(place), turned), evidence)
    forget_evidence(made)
    done = made.audit("--key", made.key)
    assert done.code == 1
    words = " ".join(done.out.split())
    assert " lines of the evidence " in words
    assert "WEAKENED" in words


def test_evidence_that_repeats_its_lines_does_not_water_down_what_is_weakened(tmp_path: Path) -> None:
    made = Made(tmp_path, city(60), "--tau", "2h", "--epsilon", "10min", "--harden", 0, k=10)
    evidence = tmp_path / "key.csv.evidence.parquet"
    rows = read_table(evidence)
    pq.write_table(pa.concat_tables([rows, *[rows.slice(0, 100)] * 5000]), evidence)
    forget_evidence(made)
    for manifest in (True, False):
        if not manifest:
            made.manifest.unlink()
        words = " ".join(made.audit("--key", made.key).out.split())
        assert "lines of the evidence stand there twice" in words
        assert "0.1 % of members" not in words
        assert ("WEAKENED" in words) is manifest


def account(words: str, again: object, members: object) -> dict[str, Any]:
    """What a manifest says of guarantee 2."""
    return {"one_window": words, "relaxations": again, "members": members}


def copy(made: Made, folder: Path, told: dict[str, Any]) -> Path:
    """The published file with another account of guarantee 2 in its manifest."""
    output, content = folder / "out.parquet", made.told()
    output.write_bytes(made.output.read_bytes())
    content["guarantees"]["one_window"] = told.pop("one_window")
    Path(f"{output}.manifest.json").write_text(json.dumps({**content, **told}))
    return output


BY_HAND = "weakened: k kept; epsilon not: up to 5 of about 150,000 members had to serve again"


@pytest.mark.parametrize(
    ("told", "words"),
    [
        (
            account(BY_HAND, 5, 150_000),
            "the number of members is 140,001 to 150,000 by the",
        ),
        (
            {"one_window": "given", "relaxations": 0},
            "the number of members that had to serve again is 0 by the",
        ),
        (
            {"one_window": BY_HAND},
            "the manifest says of guarantee 2 in words what it does not say in numbers",
        ),
    ],
)
def test_an_account_by_hand_does_not_overrule_the_evidence(
    told: dict[str, Any], words: str, tmp_path: Path
) -> None:
    made = Made(tmp_path, in_metres(users=12, samples=8), "--tau", "30min", "--epsilon", "10min", k=4)
    (tmp_path / "by hand").mkdir()
    output = copy(made, tmp_path / "by hand", told)
    for options in ((), ("--tolerance", 1)):
        done = audit(made.events, output, "--key", made.key, *options)
        assert done.code == 1
        assert f"BROKEN: {words}" in " ".join(done.out.split())


ADMITTED = "weakened: k kept; epsilon not: up to 1 of about 1,000 members had to serve again"


def test_a_file_that_admits_a_little_proves_nothing(good: Made, tmp_path: Path) -> None:
    output = copy(good, tmp_path, account(ADMITTED, 1, 1_000))
    claimed, required = audit(good.events, output), audit(good.events, output, *REQUIRED)
    assert (claimed.code, required.code) == (0, 4)
    admits = "not checked: the file admits that up to 0.2 % of members had to serve again"
    key = tmp_path / "key.csv"
    key.write_bytes(good.key.read_bytes())  # without its evidence
    with_key = audit(good.events, output, *REQUIRED, "--key", key)
    assert with_key.code == 4
    for done in (claimed, required, with_key):
        assert admits in " ".join(done.out.split())


def relabelled(made: Made) -> None:
    """Say of a CSV file over whole trajectories that it was made for half hours, and that nobody served again."""
    told = made.told()
    told["promise"] = {"k": 2, "whole": False, "tau_s": 1800, "epsilon_s": 1800}
    made.manifest.write_text(json.dumps(told))


def test_an_audit_knows_whether_the_file_is_the_one_written(good: Made, tmp_path: Path) -> None:
    changed, unnoted = tmp_path / "changed.parquet", tmp_path / "key.csv"
    table = read_table(good.output)
    write(table, changed)
    unnoted.write_bytes(good.key.read_bytes())
    for published, key, as_written in (
        (good.output, good.key, True),
        (changed, good.key, False),
        (table, good.key, False),  # no bytes to compare
        (good.output, unnoted, False),
    ):
        options = AuditOptions(key=key)
        with open_audit(good.events, published, SilentProgress(), options, ReadingOptions()) as (context, _):
            assert context.as_written is as_written


def test_a_mislabelled_file_with_its_key_gets_a_verdict(tmp_path: Path) -> None:
    made = Made(tmp_path, city(60), "--whole", output="out.csv")
    relabelled(made)
    (tmp_path / "key.csv.evidence.parquet").unlink()
    done = made.audit("--key", made.key)
    words = "the manifest says that the file was made by shoal, but true records do not look like it"
    assert done.code == 1, done
    assert f"BROKEN: {words}" in " ".join(done.out.split())


@pytest.mark.parametrize("told", ["weakened: , of , members", "weakened: 5 of 0 members"])
def test_a_manifest_that_counts_nothing_is_no_fault(good: Made, told: str, tmp_path: Path) -> None:
    output = tmp_path / "out.parquet"
    output.write_bytes(good.output.read_bytes())
    content = good.told()
    content["guarantees"]["one_window"] = told
    Path(f"{output}.manifest.json").write_text(json.dumps(content))
    assert audit(good.events, output).code in (0, 1)


@pytest.mark.parametrize("times", [("25min", "25min"), ("20min", "20min")])
def test_windows_that_begin_elsewhere_are_another_promise(good: Made, times: tuple[str, str]) -> None:
    done = good.audit("--key", good.key, "--k", 2, "--tau", times[0], "--epsilon", times[1])
    words = " ".join(done.out.split())
    assert "BROKEN" not in words
    assert done.code == 0 or "FAILS a promise that is not its own" in words


def test_evidence_that_is_not_the_one_written_with_the_key(tmp_path: Path) -> None:
    made = Made(tmp_path, in_metres(users=40, samples=4))
    evidence, notes = (tmp_path / f"key.csv{end}" for end in (".evidence.parquet", ".private.json"))
    assert made.audit("--key", made.key, *REQUIRED).code == 0
    lines = pq.read_table(evidence)
    pq.write_table(
        lines.take(pa.array(range(len(lines))[::-1])), evidence
    )  # as true as the other, but changed
    for _ in range(2):
        done = made.audit("--key", made.key, *REQUIRED)
        assert done.code == 4
        assert "not checked: the evidence is not the one written with the key" in " ".join(done.out.split())
        content = json.loads(notes.read_text())
        notes.write_text(json.dumps({**content, "evidence": {"sha256": None}}))  # none was written at all
    forget_evidence(made)
    done = made.audit("--key", made.key, *REQUIRED)
    assert (done.code, "Nothing beside the key says whether the evidence" in done.err) == (0, True)


def test_a_page_about_an_extra_column_says_so(good: Made, tmp_path: Path) -> None:
    table, output, page = read_table(good.output), tmp_path / "out.parquet", tmp_path / "page.html"
    write(table.append_column("note", pa.array([0] * len(table))), output)
    done = run("report", good.events, output, "-o", page, "--attacks", 20, "--key", good.key)
    assert done.code == 1
    html = page.read_text()
    assert (
        '<p class="headline">The file holds columns that were not checked: do not publish this file.</p>'
        in html
    )
    assert "This file says more than its boxes, in columns that were not checked." in html
    assert "but the file holds columns that were not checked" in html
    assert "stay with a person for longer" not in html
