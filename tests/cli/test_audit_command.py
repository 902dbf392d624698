"""``shoal audit``: the verdict and its exit code, what it never tells, its JSON, its options and its refusals."""

from __future__ import annotations

import errno
import json
import re
import shutil
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from support.paths import PROJECT
from support.run_command import (
    CANARY,
    HALF_HOURS,
    anonymize,
    audit,
    city,
    in_metres,
    left_in,
    read_table,
    refused,
    run,
    shrink_boxes,
    write,
)

NO_KEY = "not checked: no key"
OTHER_FILE = "Warning: The published file is not, byte for byte, the one that was written with this key.\n"


class World(NamedTuple):
    """Events and a release of them; every user's name holds the canary."""

    folder: Path
    events: Path
    output: Path
    key: Path
    broken: Path


def release(folder: Path, table: pa.Table, *options: object, shrunk: int = 1) -> World:
    """Make a release and, beside it, one with some boxes too small."""
    users = pa.array([f"{CANARY}-{user}" for user in table["user"].to_pylist()])
    events = write(table.set_column(0, "user", users), folder / "events.parquet")
    world = World(folder, events, folder / "out.parquet", folder / "key.csv", folder / "broken.parquet")
    done = anonymize(world.events, world.output, "--key-out", world.key, *options)
    assert done.code == 0, done.err
    shrink_boxes(world.output, world.broken, shrunk)
    return world


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    """In degrees; many can hide there, so one box does not break the promise, and hardly anybody serves again."""
    return release(tmp_path_factory.mktemp("city"), city(120), shrunk=150)


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> World:
    """In metres."""
    return release(tmp_path_factory.mktemp("metres"), in_metres())


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> World:
    """Over whole trajectories."""
    return release(tmp_path_factory.mktemp("whole"), city(40), "--whole")


def figures(*arguments: object, attacks: int = 40, code: int = 0) -> dict[str, Any]:
    """What an audit finds, without its duration."""
    done = audit(*arguments, "--json", "-", attacks=attacks)
    assert (done.code, done.err) == (code, ""), done
    found: dict[str, Any] = json.loads(done.out)
    assert found.pop("seconds") > 0
    return found


def one_line(text: str) -> str:
    return " ".join(text.split())


# ---- the verdict -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["world", "plain", "whole"])
def test_kept(kind: str, request: pytest.FixtureRequest) -> None:
    world = request.getfixturevalue(kind)
    done = audit(world.events, world.output, "--key", world.key)
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("Verdict       Guarantee 1 KEPT, 2 ")
    assert ": whoever knows everything that anybody did" in one_line(done.out)
    assert "finds at least 2 records that fit" in one_line(done.out)
    for text in (NO_KEY, "BROKEN", CANARY, "what somebody did"):
        assert text not in one_line(done.out)
    assert max(len(line) for line in done.out.splitlines()) <= 80


@pytest.mark.parametrize("with_key", [False, True])
@pytest.mark.parametrize("kind", ["world", "plain", "whole"])
def test_broken(kind: str, with_key: bool, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    world = request.getfixturevalue(kind)
    summary = tmp_path / "audit.json"
    key = ("--key", world.key) if with_key else ()
    done = audit(world.events, world.broken, *key, "--json", summary)
    assert (done.code, done.err) == (1, OTHER_FILE if with_key else "")
    assert done.out.startswith("Verdict       BROKEN: ")
    assert "not hidden among 2 records; at worst only 1 fits" in one_line(done.out)
    interval = (
        "" if kind == "whole" else r" from 20\d\d-\d\d-\d\dT\d\d:\d\d:00Z to 20\d\d-\d\d-\d\dT\d\d:\d\d:00Z"
    )
    assert re.search(rf"1 record fits what somebody did{interval} \(", one_line(done.out))
    content = json.loads(summary.read_text())
    assert content["kept"] is content["coverage"]["kept"] is False
    assert content["coverage"]["violations_strict"] + content["coverage"]["violations_gap_tolerant"] > 0
    example = content["coverage"]["counterexamples"][0]
    assert example["records"] == 1
    if kind == "whole":
        assert example["begin_s"] is example["end_s"] is None
    else:
        assert example["end_s"] - example["begin_s"] == 1800
    assert CANARY not in done.out + done.err + summary.read_text()


def test_show_users_names_those_of_counterexamples(world: World, tmp_path: Path) -> None:
    summary = tmp_path / "audit.json"
    done = audit(world.events, world.broken, "--key", world.key, "--show-users", "--json", summary)
    assert done.code == 1
    named = {example["user"] for example in json.loads(summary.read_text())["coverage"]["counterexamples"]}
    assert named <= set(read_table(world.key)["user"].to_pylist())
    assert f"what user {CANARY}-" in one_line(done.out)
    assert "--show-users" not in done.out
    assert "(--show-users tells who they are)" in audit(world.events, world.broken).out


def test_untrue_boxes_break_a_promise_whose_coverage_holds(plain: World, tmp_path: Path) -> None:
    """A box hours later, where the user is not; it is longer than tau, so that no attacker can rule it out."""
    table = read_table(plain.output)
    row = table.slice(0, 1)
    for name, hours in (("t_start", 240), ("t_end", 250)):
        moment = pa.array([row["t_start"][0].value + hours * 3600 * 10**3], pa.int64()).cast(
            table.schema.field(name).type
        )
        row = row.set_column(row.column_names.index(name), table.schema.field(name), moment)
    untrue = tmp_path / "untrue.parquet"
    pa.parquet.write_table(
        pa.concat_tables([table, row]).replace_schema_metadata(table.schema.metadata), untrue
    )
    done = audit(plain.events, untrue, "--key", plain.key, "--json", "-")
    content = json.loads(done.out)
    assert done.code == 1
    assert content["kept"] is False
    assert content["coverage"]["kept"] is True
    assert content["truthfulness"]["boxes_without_own_sample"] == 1
    text = one_line(audit(plain.events, untrue, "--key", plain.key).out)
    assert "boxes hold no sample of their own user" in text
    keyless = audit(plain.events, untrue)  # with such a box the record can be nobody's
    assert keyless.code == 1
    assert "at least 1 record can be nobody's" in one_line(keyless.out)


def test_without_a_key_what_needs_one_is_not_checked(world: World) -> None:
    done = audit(world.events, world.output)
    assert done.code == 0
    assert done.out.startswith("Verdict       Guarantee 1 KEPT as far as can be checked without a key, 2")
    lines = done.out.splitlines()
    for label in ("Truthful", "Suppressed"):
        assert f"{label:<14}{NO_KEY}" in lines
    for start in ("ranks them by", "finds home", "finds work"):
        assert {line[39:] for line in lines if line.startswith(start)} == {NO_KEY}
    assert f"known to be somebody's: {NO_KEY}." in one_line(done.out)
    content = figures(world.events, world.output)
    assert content["truthfulness"] == NO_KEY
    attacks = content["attacks"]
    unknown = [
        *attacks["rankings"].values(),
        *attacks["home_and_work"]["home"].values(),
        *attacks["home_and_work"]["work"].values(),
        *(attacks["top_locations"][n]["pick"] for n in "123"),
    ]
    assert len(unknown) == 12
    assert {figure["published"] for figure in unknown} == {NO_KEY}
    assert content["findings"] == []
    text = json.dumps(figures(world.events, world.output, "--key", world.key))
    assert NO_KEY not in text


def test_thresholds_of_ratings(world: World, tmp_path: Path) -> None:
    command = (world.events, world.output, "--key", world.key)
    usual = figures(*command)["verdict"]
    assert (usual["rating"], usual["thresholds"]) == ("high", {"moderate": 0.09, "high": 0.33})
    own = figures(*command, "--moderate", 1, "--high", 1)["verdict"]
    assert own["thresholds"] == {"moderate": 1, "high": 1}
    assert own["exposures"][0]["rating"] == "low"
    text = one_line(audit(*command, "--moderate", 0.5, "--high", 1).out)
    assert "(an attack is rated moderate from 50 % on, high from 100 % on, by the upper end of" in text
    wrong = ("--moderate", 0.5, "--high", 0.4)
    refused(
        tmp_path,
        "audit",
        *command,
        *wrong,
        words="the first not above the second, got 0.5 and 0.4: 0.09 is 9 %",
    )


def test_tolerance(tmp_path: Path) -> None:
    """Of 40 people over a day, one in ten members has to serve again."""
    few = release(tmp_path, city(40))
    command = (few.events, few.output, "--key", few.key)
    assert audit(*command).code == 1
    assert audit(*command, "--tolerance", 0.5).code == 0
    for wrong in ("-0.1", "1.5"):
        refused(
            tmp_path, "audit", *command, "--tolerance", wrong, words="tolerance must be a share from 0 to 1"
        )


# ---- JSON --------------------------------------------------------------------------------------------------------

SHARE = dict.fromkeys(("value", "low", "high", "n", "victims"))
FIGURE = {"words": None, "published": SHARE, "raw": SHARE, "guessing": None}
UNKNOWN_FIGURE = {**FIGURE, "published": None}
NOBODY = dict.fromkeys(FIGURE)
PART = dict.fromkeys(("samples", "suppressed", "share"))
LINKED = {"success": FIGURE, "below_k": FIGURE, "single": FIGURE, "pick": FIGURE}
UNPICKED = {**LINKED, "pick": UNKNOWN_FIGURE}
PLACES = {
    place: {"within_500m": FIGURE, "within_1km": FIGURE, "within_2km": FIGURE} for place in ("home", "work")
}
IN_BOX = dict.fromkeys(("exact", "transfer", "learnt", "feature", "commonest", "candidate"), FIGURE)
KEYS: dict[str, Any] = {
    "format": None,
    "kept": None,
    "exit_code": None,
    "guarantees": {
        **dict.fromkeys(
            ("coverage", "one_window", "matching"),
            dict.fromkeys(("state", "basis", "detail", "asked", "part", "whole", "share")),
        ),
        "tolerance": None,
        "held_in_epochs_apart": {"published": SHARE, "accident": SHARE, "again": SHARE},
    },
    "belonging": dict.fromkeys(
        (
            "kept",
            "records_beyond_users",
            "boxes_overlapping",
            "boxes_outside_period",
            "records_named_after_users",
            "records_in_order_of_users",
            "records_across_borders",
            "parts_tied_together",
            "boxes_with_other_places",
            "columns_not_checked",
            "entries_not_checked",
            "key_not_used",
            "disagreements",
            "hint",
        )
    ),
    "promise": {"k": None, "whole": None, "tau_s": None, "epsilon_s": None, "beyond_tau_s": None},
    "periods": None,
    "new_names": {"outlooks": {"rename_every": None, "read_share": None}, "recommended": None},
    "file": dict.fromkeys(("name", "sha256", "first", "last", "audited", "version")),
    "grid": {"cell_m": None, "step_s": None},
    "draw": {"attacks": None, "seed": None, "timezone": None},
    "counts": {"users": None, "samples": None, "records": None, "boxes": None},
    "events": {"checked": None, "note": None, "hint": None, "doubtful": None},
    "verdict": {
        "headline": None,
        "warning": None,
        "rating": None,
        "thresholds": {"moderate": None, "high": None},
        "exposures": {
            "name": None, "sentence": None, "share": SHARE, "raw": SHARE, "guessing": None, "rating": None,
        },
        "next_steps": None,
        "risks": {"name": None, "share": SHARE, "attacker": None, "meaning": None},
        "limits": {"what": None, "measured": None},
    },
    "coverage": {
        "kept": None, "users": None, "intervals": None, "violations_strict": None, "violations_gap_tolerant": None,
        "borders_checked": None, "users_unprotected": None, "users_not_checked": None, "records_untrue": None,
        "counterexamples": None,
    },
    "truthfulness": {
        "kept": None, "boxes": None, "boxes_without_own_sample": None, "boxes_overlapping": None,
        "suppressed": PART, "users_without_record": None, "suppressed_by_activity": PART, "suppressed_by_hour": PART,
    },
    "attacks": {
        "linkage": LINKED,
        "rankings": {"smallest": FIGURE, "faces": FIGURE, "central": FIGURE},
        "method": {**LINKED, "above": FIGURE, "ruled_out": FIGURE},
        "presence": LINKED,
        "everybody": {"success": FIGURE},
        "longer": {"1_tau": LINKED, "2_tau": LINKED, "4_tau": LINKED, "8_tau": LINKED},
        "intervals": {"1": LINKED, "2": LINKED, "3": LINKED, "4": LINKED},
        "points": dict.fromkeys("12345678", LINKED),
        "times": dict.fromkeys(("all", "1", "2", "4", "8", "16", "all_slots"), LINKED),
        "place": dict.fromkeys(("all", "above_1km2"), IN_BOX),
        "top_locations": dict.fromkeys("123", LINKED),
        "home_and_work": PLACES,
        "homogeneity": {"one_cell": FIGURE, "within_500m": FIGURE, "within_1km": FIGURE},
        "leakage": {"above_epsilon": FIGURE, "any": FIGURE},
    },
    "leakage_minutes": {"mean": None, "median": None, "q95": None, "q99": None, "largest": None},
    "findings": None,
    "warnings": None,
    "seconds": None,
}  # fmt: skip
TIMED_ATTACKS = ("method", "presence", "everybody", "longer", "intervals", "leakage")


def keys_of(content: Any) -> Any:
    """The keys of nested objects; a list is like its first element, and anything else is None."""
    if isinstance(content, list):
        return keys_of(content[0]) if content else None
    if not isinstance(content, dict):
        return None
    return {name: keys_of(value) for name, value in content.items()}


def frozen(keys: dict[str, Any], *, with_key: bool, timed: bool) -> dict[str, Any]:
    """The keys to expect."""
    attacks = dict(keys["attacks"])
    if not timed:
        attacks = {name: measures for name, measures in attacks.items() if name not in TIMED_ATTACKS}
        attacks["times"] = {**attacks["times"], "16": dict.fromkeys(LINKED, NOBODY)}  # is active in 16 hours
    if not with_key:
        attacks["rankings"] = dict.fromkeys(attacks["rankings"], UNKNOWN_FIGURE)
        attacks["home_and_work"] = {
            place: dict.fromkeys(measures, UNKNOWN_FIGURE) for place, measures in PLACES.items()
        }
        attacks["linkage"] = UNPICKED
        for name in ("top_locations", "points", "times", *(("longer", "intervals") if timed else ())):
            attacks[name] = {n: UNPICKED if n_of == LINKED else n_of for n, n_of in attacks[name].items()}
        attacks["place"] = dict.fromkeys(attacks["place"], dict.fromkeys(IN_BOX, UNKNOWN_FIGURE))
        if timed:
            attacks["everybody"], attacks["presence"] = {"success": UNKNOWN_FIGURE}, UNPICKED
            unknown = dict.fromkeys(("pick", "success", "above", "ruled_out"), UNKNOWN_FIGURE)
            attacks["method"] = {**attacks["method"], **unknown}
    if not timed:  # records of a group are the same
        twins = {"same": FIGURE, "read": FIGURE if with_key else UNKNOWN_FIGURE}
        attacks["linkage"] = {**attacks["linkage"], **twins}
        attacks["points"] = {n: {**of, **twins} for n, of in attacks["points"].items()}
    measured = keys["guarantees"]["held_in_epochs_apart"] if with_key and timed else None
    return {
        **keys,
        "guarantees": {**keys["guarantees"], "held_in_epochs_apart": measured},
        "attacks": attacks,
        "truthfulness": keys["truthfulness"] if with_key else None,
        "leakage_minutes": keys["leakage_minutes"] if timed else None,
    }


@pytest.mark.parametrize("with_key", [False, True])
@pytest.mark.parametrize("timed", [False, True])
def test_keys_of_the_json(timed: bool, with_key: bool, request: pytest.FixtureRequest) -> None:
    """They are promised in docs/formats.md: whoever changes one changes "format"."""
    world = request.getfixturevalue("world" if timed else "whole")
    key = ("--key", world.key) if with_key else ()
    done = audit(world.events, world.output, *key, "--json", "-")
    content = json.loads(done.out)
    assert content["format"] == 2
    assert content["promise"]["whole"] is not timed
    assert content["warnings"] == []
    assert keys_of(content) == frozen(KEYS, with_key=with_key, timed=timed)


def test_every_key_is_documented() -> None:
    def names(keys: dict[str, Any]) -> set[str]:
        return set(keys).union(*(names(inner) for inner in keys.values() if inner is not None))

    text = (PROJECT / "docs" / "formats.md").read_text(encoding="utf-8")
    section = text[text.index("## The audit's JSON") : text.index("## Exit codes")]
    documented = set(re.findall(r"`(\w+)`", section))
    ranges = set("1234567")  # "`1` to `8`"
    assert names(KEYS) - documented - ranges == set()
    assert {"user", "attacker", "begin_s", "end_s", "ranking", "success", "bound", "p_value"} <= documented
    assert f'"{NO_KEY}"' in section


def test_keys_of_counterexamples_and_of_findings(world: World) -> None:
    command = (world.events, world.broken, "--key", world.key, "--k", 30, *HALF_HOURS, "--json", "-")
    content = json.loads(audit(*command, attacks=200).out)
    assert 1 <= len(content["coverage"]["counterexamples"]) <= 10
    example = dict.fromkeys(("attacker", "begin_s", "end_s", "records"))
    assert keys_of(content["coverage"]["counterexamples"]) == example
    assert keys_of(content["findings"]) == {"ranking": None, "success": SHARE, "bound": None, "p_value": None}
    named = json.loads(audit(*command, "--show-users").out)["coverage"]["counterexamples"]
    assert keys_of(named) == {**example, "user": None}


def test_json_to_a_file_and_to_stdout(world: World, tmp_path: Path) -> None:
    summary = tmp_path / "audit.json"
    told = audit(world.events, world.output, "--key", world.key, "--json", summary)
    assert told.code == 0
    assert told.out.startswith("Verdict")
    in_file = json.loads(summary.read_text())
    assert in_file.pop("seconds") > 0
    assert in_file == figures(world.events, world.output, "--key", world.key)
    assert summary.read_text().endswith("}\n")
    assert left_in(tmp_path) == {"audit.json"}


def test_json_replaces_nothing_without_force(world: World, tmp_path: Path) -> None:
    summary = tmp_path / "audit.json"
    summary.write_text("precious")
    command = ("audit", world.events, world.output, "--attacks", 10, "--json", summary)
    refused(tmp_path, *command, words="audit.json exists already: add --force")
    assert summary.read_text() == "precious"
    assert run(*command, "--force").code == 0
    assert json.loads(summary.read_text())["kept"] is True


def test_json_never_takes_the_place_of_an_input(plain: World, tmp_path: Path) -> None:
    folder = shutil.copytree(plain.folder, tmp_path / "world")
    events, output, key = folder / "events.parquet", folder / "out.parquet", folder / "key.csv"
    (folder / "left_out.txt").write_text("nobody\n")
    (folder / "sites.csv").write_text("site,x,y\na,1,2\n")
    options = (
        "--key",
        key,
        "--exclude-users",
        folder / "left_out.txt",
        "--sites",
        folder / "sites.csv",
        "--force",
    )
    inputs = (
        "events.parquet",
        "out.parquet",
        "out.parquet.manifest.json",
        "key.csv",
        "left_out.txt",
        "sites.csv",
    )
    before = {name: (folder / name).read_bytes() for name in inputs}
    for name in inputs:
        command = ("audit", events, output, *options, "--json", folder / name)
        refused(tmp_path, *command, words="overwrite or join the input")
    refused(tmp_path, "audit", events, output, "--json", folder / "no" / "a.json", words="does not exist")
    refused(tmp_path, "audit", events, output, "--json", folder, words="is a folder")
    assert before == {name: (folder / name).read_bytes() for name in inputs}


def test_a_full_disk_leaves_no_half_of_a_file(
    plain: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    done = audit(plain.events, plain.output, "--json", tmp_path / "audit.json")
    assert (done.code, done.out) == (3, "")
    assert done.err.endswith("make room or mend that, then try again.\n")
    assert done.err.count("\n") == 1
    assert left_in(tmp_path) == set()


def test_unforeseen_failures_tell_no_data(
    plain: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError(f"cannot attack {CANARY}")

    monkeypatch.setattr("shoal.api.run_audit", fail)
    done = audit(plain.events, plain.output, "--json", tmp_path / "audit.json")
    assert (done.code, done.out) == (3, "")
    assert done.err.startswith("shoal: Internal error (RuntimeError in test_audit_command.py:")
    assert CANARY not in done.err
    assert left_in(tmp_path) == set()


# ---- the promise -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", [".parquet", ".csv"])
def test_the_promise_is_the_files_own_unless_given(suffix: str, plain: World, tmp_path: Path) -> None:
    output = tmp_path / f"out{suffix}"
    assert anonymize(plain.events, output, "--tau", "20min", "--epsilon", "20min", k=3).code == 0
    if suffix == ".parquet":
        (tmp_path / "out.parquet.manifest.json").unlink()  # its metadata tell
    own = {"k": 3, "whole": False, "tau_s": 1200, "epsilon_s": 1200, "beyond_tau_s": 1200}
    weakened = (plain.events, output, "--tolerance", 1)  # a fifth of the members had to serve again
    assert figures(*weakened)["promise"] == own
    # What the manifest admits is tolerated, but only the evidence could show that it is no more.
    weaker = figures(*weakened, "--k", 2, "--tau", "20min", "--epsilon", "20min", code=4)
    assert weaker["promise"] == {**own, "k": 2}
    for stronger in (("--k", 9, "--tau", "20min", "--epsilon", "1h"), ("--k", 3, "--whole")):
        done = audit(*weakened, *stronger)
        assert done.code == 1
        assert "FAILS a promise that is not its own" in one_line(done.out)
        assert "; made for k = 3, tau = 20 min, epsilon = 20 min" in one_line(done.out)
        assert "BROKEN" not in done.out


def test_a_file_whose_epsilon_does_not_divide_tau_is_judged_with_its_true_bound(
    plain: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    output, key = tmp_path / "out.parquet", tmp_path / "key.csv"
    promise = ("--tau", "30min", "--epsilon", "20min")
    with monkeypatch.context() as patched:
        patched.setattr("shoal.core.options.check_epsilon", lambda *_: None)  # as before 0.2
        assert anonymize(plain.events, output, *promise, "--key-out", key).code == 0
    done = audit(plain.events, output, "--key", key)
    assert done.code == 0
    assert "epsilon = 20 min (does not divide tau: a window holds 30 min beyond it)" in one_line(done.out)
    own = {"k": 2, "whole": False, "tau_s": 1800, "epsilon_s": 1200, "beyond_tau_s": 1800}
    assert figures(plain.events, output, "--key", key)["promise"] == own


def test_the_promise_is_told(plain: World, whole: World) -> None:
    claim = "Promise       the file's own claim: "
    assert f"{claim}k = 2, tau = 30 min, epsilon = 30 min\n" in audit(plain.events, plain.output).out
    assert f"{claim}k = 2 over whole trajectories\n" in audit(whole.events, whole.output).out
    required = audit(plain.events, plain.output, "--k", 2, *HALF_HOURS).out
    assert "Promise       required: k = 2, tau = 30 min, epsilon = 30 min\n" in required


# ---- what must not matter, and what must -------------------------------------------------------------------------


def test_seed_attacks_and_workers(world: World) -> None:
    """Enough attacks for two threads to share."""
    command = (world.events, world.output, "--key", world.key)
    one, two = (figures(*command, "--workers", n, attacks=150) for n in (1, 2))
    assert one == two == figures(*command, "--seed", 0, attacks=150)
    assert one == figures(*command, "--engine", "processes", "--workers", 2, attacks=150)
    other = figures(*command, "--seed", 1, attacks=150)
    assert other["attacks"] != one["attacks"]
    for exact in ("coverage", "truthfulness", "counts"):
        assert other[exact] == one[exact]
    assert one["attacks"]["linkage"]["success"]["published"]["n"] == 150
    assert figures(*command, attacks=7)["attacks"]["linkage"]["success"]["published"]["n"] == 7


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".geoparquet", ".geojson", ".geojson.gz"])
def test_format_of_the_published_file(
    suffix: str, world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import numpy as np

    monkeypatch.setattr(
        "shoal.publishing.record_names._fresh_names",
        lambda n: np.array([f"r{row:03d}" for row in np.random.default_rng(1).permutation(n)]),
    )
    found = []
    for name in ("out.parquet", f"out{suffix}"):
        key = tmp_path / f"{name}.key.csv"
        assert anonymize(world.events, tmp_path / name, "--key-out", key).code == 0
        found.append(figures(world.events, tmp_path / name, "--key", key))
        assert found[-1].pop("file")["name"] == name
    assert found[0] == found[1]


def test_format_and_order_of_events(plain: World, tmp_path: Path) -> None:
    table = read_table(plain.events)
    events = write(table.take(list(reversed(range(len(table))))), tmp_path / "events.csv")
    assert figures(events, plain.output) == figures(plain.events, plain.output)


def test_a_part_of_the_events(world: World, tmp_path: Path) -> None:
    users = sorted(set(read_table(world.events)["user"].to_pylist()))
    (tmp_path / "left_out.txt").write_text("".join(f"{user}\n" for user in users[:3]))
    key = tmp_path / "key.parquet"
    part = (
        *("--from", "2024-01-01T09:00", "--to", "2024-01-01T18:00"),
        *("--exclude-users", tmp_path / "left_out.txt"),
    )
    assert anonymize(world.events, tmp_path / "out.parquet", *part, "--key-out", key).code == 0
    content = figures(world.events, tmp_path / "out.parquet", "--key", key, *part)
    assert content["kept"] is True
    assert content["counts"]["users"] == len(read_table(key)) < len(users)
    assert figures(world.events, tmp_path / "out.parquet", "--key", key)["counts"] == content["counts"]
    for beside in ("private.json", "evidence.parquet"):
        (tmp_path / f"key.parquet.{beside}").unlink()
    everything = figures(world.events, tmp_path / "out.parquet", "--key", key, code=4)["truthfulness"]
    assert everything["users_without_record"] == len(users) - len(read_table(key))
    assert everything["suppressed"]["share"] > content["truthfulness"]["suppressed"]["share"] + 0.2


def test_the_audit_sees_what_anonymize_saw(plain: World, tmp_path: Path) -> None:
    """With other --bbox, --min-days-active and --resample than those of the release there are other samples."""
    output, key = tmp_path / "out.parquet", tmp_path / "key.csv"
    part = (
        *("--bbox", "0,0,3500,3500"),
        *("--min-days-active", 2),
        *("--resample", "30min"),
    )
    hours = (
        "--tau",
        "1h",
        "--epsilon",
        "30min",
    )  # of one sample every 30 min, half hours would be a weak claim
    assert anonymize(plain.events, output, *part, *hours, "--key-out", key).code == 0
    same = figures(plain.events, output, "--key", key, *part, "--tolerance", 1)
    assert same["kept"] is True
    assert same["truthfulness"]["users_without_record"] == 0
    for left_out in ("--bbox", "--resample"):
        place = part.index(left_out)
        others = (
            *part[:place],
            left_out,
            {"--bbox": "0,0,9000,9000", "--resample": "1s"}[left_out],
            *part[place + 2 :],
        )
        content = json.loads(audit(plain.events, output, "--key", key, *others, "--json", "-").out)
        assert content["counts"]["samples"] > same["counts"]["samples"]


def test_format_and_its_timezone(tmp_path: Path) -> None:
    """A folder of T-Drive is read as such, in Beijing's time, unless told otherwise."""
    folder, output, key = tmp_path / "taxis", tmp_path / "out.parquet", tmp_path / "key.csv"
    folder.mkdir()
    for taxi in range(1, 9):
        rows = [
            f"{taxi},2008-02-02 {hour:02d}:{taxi:02d}:00,116.{taxi}{hour % 4}1,39.9{taxi}"
            for hour in range(8, 14)
        ]
        (folder / f"{taxi}.txt").write_text("\n".join([*rows, ""]))
    assert anonymize(folder, output, "--tau", "2h", "--epsilon", "2h", "--key-out", key).code == 0
    beijing = figures(folder, output, "--key", key)
    assert beijing == figures(folder, output, "--key", key, "--format", "t-drive")
    assert beijing["draw"]["timezone"] == "Asia/Shanghai"
    assert audit(folder, output, "--key", key, "--timezone", "UTC").code == 1


def test_rows_that_were_not_used_are_told(plain: World, tmp_path: Path) -> None:
    table = read_table(plain.events)
    odd = table.slice(0, 3).set_column(0, "user", pa.nulls(3, pa.string()))
    events = write(pa.concat_tables([table, odd.cast(table.schema)]), tmp_path / "events.parquet")
    done = audit(events, plain.output)
    rows = f"{len(table) + 3:,}"
    assert done.code == 0
    assert done.err == f"Warning: 3 of {rows} rows of the events were not used (3 missing user).\n"


def test_warnings_go_to_stderr_and_into_the_json(plain: World, tmp_path: Path) -> None:
    (tmp_path / "left_out.txt").write_text("\n")
    done = audit(
        plain.events,
        plain.output,
        "--exclude-users",
        tmp_path / "left_out.txt",
        "--json",
        tmp_path / "a.json",
    )
    assert done.code == 0
    assert done.err == "Warning: The list of users to exclude is empty: nobody was excluded.\n"
    assert json.loads((tmp_path / "a.json").read_text())["warnings"] == [done.err[9:-1]]


def test_timezone(world: World, tmp_path: Path) -> None:
    table = read_table(world.events)
    local = table.set_column(1, "time", pc.strftime(table["time"], format="%Y-%m-%d %H:%M:%S"))
    events, output, key = write(local, tmp_path / "events.csv"), tmp_path / "out.csv", tmp_path / "key.csv"
    tokyo = ("--timezone", "Asia/Tokyo")
    assert anonymize(events, output, *tokyo, "--key-out", key).code == 0
    assert audit(events, output, *tokyo, "--key", key).code == 0
    assert audit(events, output, "--key", key).code == 0
    assert audit(events, output, "--key", key, "--timezone", "UTC").code == 1


def test_times_and_users_are_read_as_for_the_release(plain: World, tmp_path: Path) -> None:
    """With --time-format and --missing-user from the private notes, or given; without them there are other events."""
    table = read_table(plain.events)
    moments = pc.cast(table["time"], pa.timestamp("s"))
    times = pc.strftime(moments, format="%d/%m/%Y %H.%M")
    users = table["user"].to_pylist()
    names = ["None" if name == users[0] else name for name in users]
    odd = table.set_column(1, "time", times).set_column(0, "user", pa.array(names))
    events, output, key = write(odd, tmp_path / "events.csv"), tmp_path / "out.csv", tmp_path / "key.csv"
    options = ("--time-format", "%d/%m/%Y %H.%M", "--missing-user", "n/a,")
    assert anonymize(events, output, *options, "--key-out", key).code == 0
    same = figures(events, output, "--key", key, "--tolerance", 1)
    assert same["events"]["checked"] == "same"
    assert "--time-format" in same["events"]["note"]
    spelled = ("--missing-user", "N/A")
    assert figures(events, output, "--key", key, *spelled, "--tolerance", 1)["events"]["checked"] == "same"
    refused(
        tmp_path, "audit", events, output, "--key", key, "--missing-user", "none",
        words="who do not occur in the events",
    )  # fmt: skip
    (tmp_path / "key.csv.private.json").unlink()
    refused(tmp_path, "audit", events, output, "--key", key, words="--time-format")


def test_rename_every(world: World, tmp_path: Path) -> None:
    """Of a file that does not tell how often names change, somebody may say it; one that tells is believed."""
    output, key = tmp_path / "out.csv", tmp_path / "key.csv"
    assert anonymize(world.events, output, "--rename-every", "6h", "--key-out", key).code == 0
    told = figures(world.events, output, "--key", key)
    assert told["periods"] == {"rename_every_s": 21600, "timezone": "UTC"}
    assert told["exit_code"] == 0
    refused(
        tmp_path, "audit", world.events, output, "--rename-every", "12h",
        words="gives records new names every 6 h, got --rename-every 12h: leave it out",
    )  # fmt: skip
    manifest = tmp_path / "out.csv.manifest.json"
    rest = json.loads(manifest.read_text())
    del rest["periods"]
    manifest.write_text(json.dumps(rest))
    assert figures(world.events, output, "--rename-every", "6h")["periods"] == told["periods"]
    assert figures(world.events, output, code=1)["belonging"]["records_beyond_users"] > 0


def test_the_hours_are_those_of_the_timezone(world: World) -> None:
    utc, tokyo = (
        figures(world.events, world.output, "--key", world.key, "--timezone", zone)["truthfulness"]
        for zone in ("UTC", "Asia/Tokyo")
    )
    by_hour = utc["suppressed_by_hour"]
    assert tokyo["suppressed_by_hour"] == by_hour[-9:] + by_hour[:-9] != by_hour


def test_sites(tmp_path: Path) -> None:
    table = in_metres()
    names = [f"s{x:.0f}-{y:.0f}" for x, y in zip(*(table[name].to_pylist() for name in "xy"), strict=True)]
    by_site = pa.table({"user": table["user"], "time": table["time"], "mast": names})
    sites = pa.table({"site": names, "x": table["x"], "y": table["y"]})
    events = write(by_site, tmp_path / "events.csv")
    options = ("--sites", write(sites, tmp_path / "sites.csv"), "--site-column", "mast")
    assert anonymize(events, tmp_path / "out.parquet", *options).code == 0
    assert figures(events, tmp_path / "out.parquet", *options)["counts"]["users"] == 12
    refused(tmp_path, "audit", events, tmp_path / "out.parquet", *options[:2], words="site")


def test_columns(world: World, plain: World, tmp_path: Path) -> None:
    renamed = write(read_table(world.events).rename_columns(list("abcd")), tmp_path / "renamed.parquet")
    roles = [("--user-column", "a"), ("--time-column", "b"), ("--lat-column", "c"), ("--lon-column", "d")]
    every = [word for option in roles for word in option]
    assert figures(renamed, world.output, *every) == figures(world.events, world.output)
    for lacking in roles:
        others = [word for option in roles for word in option if option != lacking]
        refused(
            tmp_path, "audit", renamed, world.output, *others, words=lacking[0].split("-column")[0].strip("-")
        )
    swapped = write(
        read_table(plain.events).rename_columns(["user", "time", "y", "x"]), tmp_path / "swapped.csv"
    )
    assert audit(swapped, plain.output, "--x-column", "y", "--y-column", "x").code == 0
    assert audit(swapped, plain.output).code == 1


# ---- refusals ----------------------------------------------------------------------------------------------------

OPTIONS = {
    "k without tau": (["--k", "2"], "tau and epsilon missing"),
    "k without epsilon": (["--k", "2", "--tau", "30min"], "epsilon missing"),
    "tau without k": (["--tau", "30min"], "k missing: give --k as well"),
    "epsilon without k": (["--epsilon", "30min"], "k missing"),
    "whole without k": (["--whole"], "k missing"),
    "whole and tau": (["--k", "2", "--whole", "--tau", "30min"], "--whole takes no tau"),
    "k one": (["--k", "1", *HALF_HOURS], "at least 2, got 1"),
    "k no number": (["--k", "two", *HALF_HOURS], "expected a whole number, got 'two'"),
    "tau no whole steps": (["--k", "2", "--tau", "90s", "--epsilon", "30min"], "whole number of steps of 60 s"),
    "cell without step": (["--cell", "100m"], "cell and step go together"),
    "step without cell": (["--step", "1min"], "cell and step go together"),
    "cell unparsable": (["--cell", "small", "--step", "1min"], "cell must be a length"),
    "another cell": (["--cell", "300m", "--step", "1min"], "cells of 100 m and steps of 60 s"),
    "another step": (["--cell", "100m", "--step", "5min"], "correct one of them"),
    "a plane for metres": (["--crs", "EPSG:3035"], "The events are in metres"),
    "no plane at all": (["--crs", "flat"], "coordinate system"),
    "attacks": (["--attacks", "0"], "attacks must be a whole number of at least 1, got 0"),
    "seed": (["--seed=-1"], "seed must be a whole number of at least 0"),
    "workers": (["--workers", "0"], "workers must be a whole number of at least 1"),
    "engine": (["--engine", "steam"], "engine must be one of threads, processes"),
    "cluster": (["--cluster", "10.0.0.1"], "No Dask scheduler with workers answers"),
    "timezone": (["--timezone", "Mars/Olympus"], "Unknown time zone"),
    "time format": (["--time-format", "%d.%m"], "time format must tell the year"),
    "format": (["--format", "nothing"], "Unknown format 'nothing' for --format: expected one of"),
    "bbox": (["--bbox", "1,2,3"], "bbox must be four numbers W,S,E,N"),
    "days": (["--min-days-active", "0"], "--min-days-active must be a whole number of at least 1, got 0"),
    "resample": (["--resample", "5"], "resample must be a duration such as 30min"),
    "period": (["--to", "1999-01-01"], "widen --from and --to"),
    "no such key": (["--key", "nowhere.csv"], "nowhere.csv"),
    "no such option": (["--bogus"], "No such option"),
}  # fmt: skip


@pytest.mark.parametrize("case", OPTIONS)
def test_bad_options(case: str, plain: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    options, words = OPTIONS[case]
    command = ("audit", plain.events, plain.output, "--json", "audit.json", *options)
    refused(tmp_path, *command, words=words)


def test_missing_files(plain: World, tmp_path: Path) -> None:
    refused(tmp_path, "audit", plain.events, tmp_path / "none.parquet", words="none.parquet")
    refused(tmp_path, "audit", tmp_path / "none.csv", plain.output, words="none.csv")
    refused(tmp_path, "audit", plain.events, words="PUBLISHED")
    (tmp_path / "parts").mkdir()
    shutil.copy(plain.output, tmp_path / "parts")
    refused(tmp_path, "audit", plain.events, tmp_path / "parts", words="name a file")


def test_wrong_columns(plain: World, tmp_path: Path) -> None:
    refused(tmp_path, "audit", plain.output, plain.events, words="check which file is which")
    lacking = read_table(plain.output).drop_columns(["x_max"])
    pa.parquet.write_table(lacking, tmp_path / "lacking.parquet")
    refused(tmp_path, "audit", plain.events, tmp_path / "lacking.parquet", words="lacks x_max")
    command = ("audit", plain.events, plain.output)
    refused(tmp_path, *command, "--user-column", "who", words="--user-column")
    refused(tmp_path, *command, "--key", plain.output, words="lacks user")
    refused(tmp_path, *command, "--key", plain.events, words="check which file is which")
    refused(tmp_path, "audit", plain.events, plain.key, words="check which file is which")


def test_wrong_keys(world: World, plain: World, tmp_path: Path) -> None:
    command = ("audit", plain.events, plain.output, "--key")
    refused(tmp_path, *command, world.key, words="records that the published table does not have")
    lines = plain.key.read_text().splitlines(keepends=True)
    (tmp_path / "half.csv").write_text("".join(lines[:6]))
    refused(tmp_path, *command, tmp_path / "half.csv", words="lacks 7 of the 12 records")
    (tmp_path / "others.csv").write_text("".join(lines).replace(CANARY, f"{CANARY}-other"))
    refused(tmp_path, *command, tmp_path / "others.csv", words="users who do not occur in the events")


def test_metres_and_degrees_do_not_mix(world: World, plain: World, tmp_path: Path) -> None:
    refused(tmp_path, "audit", plain.events, world.output, words="made from degrees")
    refused(tmp_path, "audit", world.events, plain.output, words="names no coordinate system")


@pytest.mark.parametrize("kind", ["world", "plain"])
def test_a_file_of_somebody_else(kind: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    """A table of boxes without metadata or manifest needs the promise and the grid; from degrees, the plane as well."""
    world = request.getfixturevalue(kind)
    foreign = tmp_path / "boxes.parquet"
    pa.parquet.write_table(read_table(world.output).select(range(7)).replace_schema_metadata(None), foreign)
    command = ("audit", world.events, foreign, "--attacks", 10)
    promise, grid = ("--k", 2, *HALF_HOURS), ("--cell", "100m", "--step", "1min")
    refused(tmp_path, *command, *promise, words="give its cell and step with --cell and --step")
    refused(tmp_path, *command, *grid, words="does not tell its promise: give --k")
    wrong = ("--cell", "70m", "--step", "1min")
    refused(tmp_path, *command, *promise, *wrong, words="edges that are not whole cells of 70 m")
    if kind == "world":
        refused(tmp_path, *command, *promise, *grid, words="give --crs")
        manifest = json.loads((world.folder / "out.parquet.manifest.json").read_text())
        grid = (*grid, "--crs", manifest["grid"]["crs"])
    done = run(*command, *promise, *grid, "--key", world.key)
    assert (done.code, done.err) == (0, OTHER_FILE)
    assert "KEPT" in done.out


def test_a_file_that_fits_nobody_is_broken_without_a_key(tmp_path: Path, plain: World) -> None:
    """Everything moved by one cell: no attacker finds anything, since nothing in it is true."""
    table = read_table(plain.output)
    for name in ("x_min", "x_max"):
        place = table.schema.get_field_index(name)
        moved = pa.compute.add(table[name], 100_000.0)
        table = table.set_column(place, table.schema.field(name), moved)
    moved_file = tmp_path / "moved.parquet"
    pa.parquet.write_table(table, moved_file)
    done = audit(plain.events, moved_file, "--json", "-")
    content = json.loads(done.out)
    assert done.code == 1
    assert content["coverage"]["records_untrue"] == content["counts"]["records"]
    assert content["coverage"]["users_not_checked"] == 0


def test_names_in_the_json_are_for_the_owner_only(tmp_path: Path, world: World) -> None:
    for option, mode in (("--show-users", 0o600), ("--force", None)):
        report = tmp_path / f"report{option}.json"
        audit(world.events, world.broken, "--json", report, option)
        assert mode is None or report.stat().st_mode & 0o777 == mode


def test_absurd_numbers_are_no_hang(plain: World) -> None:
    assert audit(plain.events, plain.output, "--attacks", "100000000000").code == 2
    done = audit(plain.events, plain.output, "--k", "100000000000", "--tau", "365000d", "--epsilon", "20min")
    assert done.code == 1
