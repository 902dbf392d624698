"""Files of settings: what is written comes back, what is unknown, wrong or private is refused in one line."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from reading import refusals
from shoal.core.evaluation_options import PlanOptions, SweepOptions
from shoal.core.options import (
    AuditOptions,
    HidingOptions,
    PromiseOptions,
    ReadingOptions,
)
from shoal.core.settings import SECTIONS, TAKEN, read_settings, settings_text, take_options
from shoal.errors import ParameterError
from support.paths import PROJECT

CANARIES = ("canary", "sesame", "4711")


@pytest.fixture
def write(tmp_path: Path) -> Any:
    def to_file(content: str) -> Path:
        path = tmp_path / "release.toml"
        path.write_text(content, encoding="utf-8")
        return path

    return to_file


RELEASE = {
    "k": 3,
    "tau": "1h",
    "epsilon": "30min",
    "cell": "200m",
    "reuse": HidingOptions(reuse="pair").reuse,  # type: ignore[arg-type]
    "space_weight": 2,
    "seed": 7,
    "harden": 2,
    "effort": 2,
    "columns": {"user": 'a "quoted" \\ name\t', "time": "Zeit ü 🐟"},
    "bbox": (0, 1.5, 2, 3),
    "timezone": "Asia/Tokyo",
    "min_days_active": 2,
    "start": "2024-03-11",
}


def test_what_is_saved_comes_back(write: Any) -> None:
    saved = write(settings_text("anonymize", RELEASE))
    back = read_settings(saved).keywords("anonymize")
    assert back["bbox"] == list(RELEASE["bbox"])  # type: ignore[call-overload]
    assert {name: back[name] for name in RELEASE if name != "bbox"} == {
        name: value for name, value in RELEASE.items() if name != "bbox"
    }
    for kind in (PromiseOptions, HidingOptions, ReadingOptions):
        assert (
            kind.from_keywords(back).to_dict()
            == kind.from_keywords(RELEASE | {"bbox": back["bbox"]}).to_dict()
        )


@pytest.mark.parametrize("function", sorted(TAKEN))
def test_defaults_are_saved_as_well_so_that_they_may_change(function: str, write: Any) -> None:
    """Whatever is not None; what no file holds is not there."""
    content = tomllib.loads(settings_text(function, {"k": 2}))
    assert content.pop("format") == 1
    assert set(content) == set(TAKEN[function])
    for section, names in TAKEN[function].items():
        kind = SECTIONS[section]
        assert all(name in names and not kind.kept_out(name) for name in content[section])
    if function == "plan":
        assert content["plan"]["ks"] == list(PlanOptions().ks)
        assert set(content["promise"]) == {"cell", "step"}
        assert "selector" not in content["hiding"]
    if function == "sweep":
        assert content["sweep"]["over"] == list(SweepOptions().over)
    read_settings(write(settings_text(function, {"k": 2}))).keywords(function)


@given(
    st.text(st.characters(exclude_categories=["Cs"])),
    st.floats(allow_nan=False),
    st.integers(-(2**63), 2**63 - 1),
)
def test_plain_values_survive_toml(text: str, number: float, whole: int) -> None:
    keywords = {
        "k": whole,
        "space_weight": number,
        "columns": {"user": text},
        "bbox": [number, whole],
        "whole": True,
    }
    content = tomllib.loads(settings_text("anonymize", keywords))
    assert content["promise"] | content["hiding"] | content["reading"] == {
        **content["promise"], **content["hiding"], **content["reading"], **keywords,
    }  # fmt: skip


def test_names_that_are_no_text_are_refused() -> None:
    for value in ("\udc80", object()):
        with pytest.raises(ParameterError, match="to be saved"):
            settings_text("anonymize", {"k": 2, "columns": {"user": value}})


PRIVATE = {
    "anonymize": {"sites": Path("canary.csv"), "exclude_users": ["canary"], "query": "SELECT canary"},
    "audit": {"key": pa.table({"user": ["canary"]}), "exclude_users": "canary.txt", "workers": 4711},
}


@pytest.mark.parametrize("function", sorted(PRIVATE))
def test_paths_people_and_queries_are_not_saved_but_needed(function: str, write: Any) -> None:
    """Or a run with the same file would silently publish people who asked to be left out."""
    text = settings_text(function, {"k": 2, "tau": "1h", "epsilon": "1h", **PRIVATE[function]})
    assert not any(canary in text for canary in CANARIES)
    path = write(text)
    given = {name: value for name, value in PRIVATE[function].items() if name != "workers"}
    assert len(tomllib.loads(text)["needs"]) == len(given)
    take_options(function, given, path)
    for name in given:
        fewer = {other: value for other, value in given.items() if other != name}
        if function == "audit" and name == "exclude_users":
            take_options(function, fewer, path)  # found beside the key
            continue
        message = refusals.refusal(lambda fewer=fewer: take_options(function, fewer, path), CANARIES)
        option = f"--{name.replace('_', '-')}"
        assert f"'release.toml' was saved from a run with {option}, which is not kept in files" in message


def test_an_audit_without_a_key_needs_what_the_release_needed(write: Any) -> None:
    path = write('needs = ["reading.exclude_users"]\n')
    assert "--exclude-users" in refusals.refusal(lambda: take_options("audit", {}, path), ())
    take_options("audit", {"key": "key.csv"}, path)
    take_options("audit", {"exclude_users": ["a"]}, path)


def test_keywords_win_over_the_file_and_the_file_over_defaults(write: Any) -> None:
    path = write(
        '[promise]\nk = 3\ncell = "200m"\n[reading]\ntimezone = "Asia/Tokyo"\ncolumns = { user = "a", time = "b" }\n'
    )
    given = take_options("anonymize", {"k": 5, "timezone": None, "columns": {"time": "c"}}, path)
    assert given == {"k": 5, "cell": "200m", "timezone": None, "columns": {"user": "a", "time": "c"}}
    assert take_options("plan", {}, path) == {"cell": "200m", **take_options("audit", {}, path)}
    assert take_options("audit", {}, path)["columns"] == {"user": "a", "time": "b"}


def test_dates_need_no_quotation_marks(write: Any) -> None:
    path = write("[reading]\nstart = 2024-03-11\nend = 2024-03-12T06:30:00+02:00\n")
    read = read_settings(path).keywords("audit")
    assert read == {"start": "2024-03-11", "end": "2024-03-12T06:30:00+02:00"}


SECTION_NAMES = "promise, hiding, reading, audit, plan, sweep"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("[promise]\nk = 'canary'", "'release.toml': k in [promise] must be a whole number, found a text: correct it."),
        ("[promise]\nk = 4711.5", "k in [promise] must be a whole number, found a number"),
        ("[promise]\nk = true", "k in [promise] must be a whole number, found true or false"),
        ("[promise]\ntau = 4711", "tau in [promise] must be a text, found a whole number"),
        ("[promise]\nwhole = 'yes'", "whole in [promise] must be true or false, found a text"),
        ("[promise]\ncell = []", "cell in [promise] must be a text, found a list"),
        ("[hiding]\nspace_weight = 'x'", "space_weight in [hiding] must be a number, found a text"),
        ("[hiding]\nselector = 4711", "selector in [hiding] must be a text, found a whole number"),
        ("[hiding.seed]\na = 1", "seed in [hiding] must be a whole number, found a table"),
        ("[reading]\nbbox = ['canary']", "bbox in [reading] must be a text or a list of numbers, found a list"),
        ("[reading]\ncolumns = 'canary'", "columns in [reading] must be a table of texts, found a text"),
        ("[reading]\ncolumns = { user = 4711 }", "columns in [reading] must be a table of texts, found a table"),
        ("[reading]\ncolumns = { who = 'a' }", "[reading.columns] knows user, time, lat, lon, x, y, site, found who"),
        ("[reading]\nstart = 06:30:00", "start in [reading] must be a text, found a time"),
        ("[plan]\nks = '2,3'", "ks in [plan] must be a list of whole numbers, found a text"),
        ("[plan]\nks = [2, 'canary']", "ks in [plan] must be a list of whole numbers, found a list"),
        ("[sweep]\nover = [1]", "over in [sweep] must be a list of texts, found a list"),
        ("[audit]\ntolerance = 'x'", "tolerance in [audit] must be a number, found a text"),
        ("[promise]\nkay = 2", "[promise] knows k, tau, epsilon, whole, cell, step, found kay: rename or remove it."),
        ("[audit]\nmore = 1", "[audit] knows k, tau, epsilon, whole, rename_every, cell, step, crs, tolerance"),
        ("[hidding]\nseed = 1", f"'release.toml' has the sections {SECTION_NAMES}, found hidding"),
        ("k = 2", f"has the sections {SECTION_NAMES}, found k: rename it, remove it, or put it into a section."),
        ("promise = 2", "promise must be a section, found a whole number: write [promise]."),
        ("[reading]\nexclude_users = ['canary']", "exclude_users in [reading] is a list of people, or a path to one,"
         " which no file of settings holds: give --exclude-users with the command."),
        ("[reading]\nsites = 'canary.csv'", "sites in [reading] is a path"),
        ("[reading]\nquery = 'SELECT canary'", "query in [reading] is a query, which may name people"),
        ("[audit]\nkey = 'canary.csv'", "key in [audit] is a path to a secret"),
        ("[audit]\nworkers = 4711", "workers in [audit] is a matter of the machine"),
        ("format = 2\n[promise]\nk = 2", "must be of format 1, found another: update shoal"),
        ("needs = 'reading.sites'", "needs must be a list of some of reading.sites, reading.exclude_users"),
        ("needs = ['canary']", "needs must be a list of some of"),
        ("[promise]\nk = 2\ncanary 4711\n", "'release.toml' is no TOML: there is a mistake in line 3;"),
        ("[promise]\nk = 2\nk = 4711\n", "is no TOML: there is a mistake in line 3"),
        ("a = " + "[" * 100_000, "is no TOML"),
    ],
)  # fmt: skip
def test_refused_in_a_line(content: str, words: str, write: Any) -> None:
    message = refusals.refusal(lambda: read_settings(write(content)), CANARIES)
    assert words in message


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    binary = tmp_path / "binary.toml"
    binary.write_bytes(b"\xff\xfe\x00canary")
    assert "is no TOML" in refusals.refusal(lambda: read_settings(binary), CANARIES)
    for path in (tmp_path / "none.toml", tmp_path):
        message = refusals.refusal(lambda path=path: read_settings(path), CANARIES)
        assert re.search(
            r"No readable file '.*' for --config: expected TOML, as --save-config writes it\.", message
        )


def test_a_file_of_notepad_is_read(tmp_path: Path) -> None:
    path = tmp_path / "release.toml"
    path.write_bytes(b"\xef\xbb\xbf[promise]\r\nk = 2\r\n")
    assert read_settings(path).keywords("anonymize") == {"k": 2}


def test_wrong_values_are_told_as_those_of_the_command(write: Any) -> None:
    with pytest.raises(ParameterError, match="harden must be at most 3, got 9"):
        shoal.anonymize(object(), k=2, whole=True, config=write("[hiding]\nharden = 9\n"))
    with pytest.raises(TypeError, match=r"anonymize\(\) missing 1 required keyword-only argument: 'k'"):
        shoal.anonymize(object(), config=write("[promise]\nwhole = true\n"))


def test_every_field_says_whether_a_file_may_hold_it() -> None:
    """What is hidden in reprs because it may hold people or paths is in no file either, but for a part of the map."""
    for kind in (ReadingOptions, AuditOptions):
        for field in kind.__dataclass_fields__.values():
            assert field.repr or kind.kept_out(field.name) or field.name in ("bbox", "missing_user")


def test_the_docs_tell_of_every_section_and_name(write: Any) -> None:
    page = (PROJECT / "docs/formats.md").read_text(encoding="utf-8")
    part = page[page.index("## Settings") : page.index("## Boxes out")]
    rows = dict(re.findall(r"^\| `(\w+)` \| (.*?) \|", part, re.MULTILINE))
    assert list(rows) == list(SECTIONS)
    for section, kind in SECTIONS.items():
        allowed = [name for name in kind.names() if not kind.kept_out(name)]
        assert re.findall(r"`(\w+)`", rows[section]) == allowed
    (example,) = re.findall(r"```toml\n(.*?)```", part, re.DOTALL)
    assert list(read_settings(write(example)).sections) == list(SECTIONS)
