"""One file of settings for all commands: a release can be repeated with it, and the command line wins over it."""

from __future__ import annotations

import json
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import shoal
from support.run_command import (
    CANARY,
    HALF_HOURS,
    anonymize,
    boxes_in,
    city,
    in_metres,
    left_in,
    published,
    refused,
    run,
    write,
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("config")


@pytest.fixture(scope="module")
def events(folder: Path) -> Path:
    return write(in_metres(), folder / "events.csv")


@pytest.fixture(scope="module")
def plain(events: Path, folder: Path) -> Counter[Any]:
    return published(events, folder / "plain.parquet", "--key-out", folder / "key.csv")


def write_config(folder: Path, content: str) -> Path:
    path = folder / "release.toml"
    path.write_text(content)
    return path


PROMISE = '[promise]\nk = 2\ntau = "30min"\nepsilon = "30min"\n'


# ---- a release is repeated ----------------------------------------------------------------------------------------

RUNS = {
    "plain": HALF_HOURS,
    "many options": (
        "--tau", "1h", "--epsilon", "30min", "--cell", "200m", "--step", "5min", "--reuse", "pair", "--seed", 5,
        "--space-weight", 2, "--harden", 2, "--user-column", "user", "--timezone", "Asia/Tokyo", "--resample", "5min",
        "--bbox=-1,0,90000,90000.5", "--from", "2023-11-14", "--rename-every", "6h", "--shard-size", 100,
    ),
    "whole": ("--whole", "--min-spread", "1km", "--rename-every", "12h"),
    "other selector": (*HALF_HOURS, "--selector", "mutual"),
}  # fmt: skip


@pytest.mark.parametrize("name", RUNS)
def test_a_release_is_repeated_from_its_settings(name: str, events: Path, tmp_path: Path) -> None:
    """The boxes, and what the manifest says, but for names, which are fresh every time."""
    first, again, saved = (tmp_path / each for each in ("first.parquet", "again.parquet", "release.toml"))
    done = run("anonymize", events, "-o", first, "--k", 2, *RUNS[name], "--save-config", saved)
    assert done.code == 0, done.err
    done = run("anonymize", events, "-o", again, "--config", saved, "--save-config", tmp_path / "twice.toml")
    assert done.code == 0, done.err
    assert boxes_in(again) == boxes_in(first)
    assert (tmp_path / "twice.toml").read_text() == saved.read_text()
    manifests = [json.loads(Path(f"{path}.manifest.json").read_text()) for path in (first, again)]
    assert manifests[0] == manifests[1]
    in_python = shoal.anonymize(events, config=saved)
    assert in_python.manifest["granularity"] == manifests[0]["granularity"]


def test_saved_settings_hold_no_path_and_nobody(events: Path, tmp_path: Path) -> None:
    saved, excluded = tmp_path / "release.toml", tmp_path / "left-out.txt"
    excluded.write_text("u01\nu02\n")
    options = (
        "--save-config",
        saved,
        "--key-out",
        tmp_path / "secret.csv",
        "--json",
        tmp_path / "summary.json",
    )
    done = anonymize(events, tmp_path / "out.parquet", *options, "--exclude-users", excluded, "--workers", 2)
    assert done.code == 0, done.err
    text = saved.read_text()
    for unwanted in ("/", "u01", "left-out", "secret", "summary", "events.csv", "out.parquet", "workers"):
        assert unwanted not in text
    assert tomllib.loads(text)["needs"] == ["reading.exclude_users"]
    again = ("anonymize", events, "-o", tmp_path / "again.parquet", "--config", saved)
    refused(tmp_path, *again, words="was saved from a run with --exclude-users")
    assert run(*again, "--exclude-users", excluded).code == 0
    assert boxes_in(tmp_path / "again.parquet") == boxes_in(tmp_path / "out.parquet")


# ---- who wins -----------------------------------------------------------------------------------------------------


def test_the_command_line_wins_over_the_file_and_the_file_over_defaults(
    events: Path, plain: Counter[Any], tmp_path: Path
) -> None:
    output = tmp_path / "out.parquet"
    config = write_config(
        tmp_path, PROMISE.replace("k = 2", "k = 4") + '[hiding]\nselector = "mutual"\nharden = 0\n'
    )
    done = run("anonymize", events, "-o", output, "--config", config)
    assert done.code == 0, done.err
    assert boxes_in(output) == published(
        events, tmp_path / "said.parquet", "--selector", "mutual", "--harden", 0, k=4
    )
    given = ("--k", 2, "--selector", "matching", "--harden", 1, "--force")
    assert run("anonymize", events, "-o", output, *given, "--config", config).code == 0
    assert boxes_in(output) == plain
    assert run("anonymize", events, "-o", output, "--config", config, *given).code == 0  # wherever it stands
    assert boxes_in(output) == plain


def test_a_flag_of_the_file_can_be_taken_back(events: Path, plain: Counter[Any], tmp_path: Path) -> None:
    config = write_config(tmp_path, "[promise]\nk = 2\nwhole = true\n")
    output = tmp_path / "out.parquet"
    refused(
        tmp_path, "anonymize", events, "-o", output, "--config", config, *HALF_HOURS, words="takes no tau"
    )
    assert run("anonymize", events, "-o", output, "--config", config, "--no-whole", *HALF_HOURS).code == 0
    assert boxes_in(output) == plain
    config.write_text("[promise]\nk = 2\n[hiding]\nrepair = true\n")
    given = ("anonymize", events, "-o", output, "--config", config, *HALF_HOURS, "--force")
    refused(tmp_path, *given, words="repair goes with selector spectral")
    assert run(*given, "--no-repair").code == 0
    assert boxes_in(output) == plain


# ---- every command ------------------------------------------------------------------------------------------------

EVERYTHING = (
    PROMISE
    + '[hiding]\nharden = 0\nselector = "mutual"\n[audit]\nattacks = 30\ntolerance = 0.5\nseed = 3\n'
    + '[plan]\nks = [2]\ntaus = ["30min", "1h"]\n[sweep]\nover = ["k"]\nks = [2, 3]\nselectors = ["matching"]\n'
)


def test_one_file_serves_every_command(
    events: Path, folder: Path, plain: Counter[Any], tmp_path: Path
) -> None:
    """Each takes its own sections and leaves the others alone; what it saves says the same."""
    assert plain
    config = write_config(tmp_path, EVERYTHING)
    saved = {name: tmp_path / f"{name}.toml" for name in ("audit", "report", "plan", "sweep")}
    release = (events, folder / "plain.parquet")
    audited = ("--key", folder / "key.csv", "--config", config)
    done = run(
        "audit", *release, *audited, "--json", tmp_path / "audit.json", "--save-config", saved["audit"]
    )
    assert done.code in (0, 1), done.err
    found = json.loads((tmp_path / "audit.json").read_text())
    assert (found["draw"]["attacks"], found["draw"]["seed"], found["guarantees"]["tolerance"]) == (30, 3, 0.5)
    done = run("report", *release, "-o", tmp_path / "page.html", *audited, "--save-config", saved["report"])
    assert done.code in (0, 1), done.err
    assert saved["report"].read_text() == saved["audit"].read_text()
    for turn, settings in enumerate((config, saved["plan"])):
        more = () if turn else ("--save-config", saved["plan"])
        done = run("plan", events, "--config", settings, "--json", tmp_path / f"plan-{turn}.json", *more)
        assert done.code == 0, done.err
        rows = json.loads((tmp_path / f"plan-{turn}.json").read_text())["forecasts"]
        assert [(row["k"], row["tau_min"]) for row in rows] == [(2, 30), (2, 60)]
    done = run("sweep", events, "-o", tmp_path / "sweep", "--config", config, "--save-config", saved["sweep"])
    assert done.code == 0, done.err
    assert len((tmp_path / "sweep" / "sweep.csv").read_text().splitlines()) == 1 + 2
    assert {name: set(tomllib.loads(path.read_text())) - {"format"} for name, path in saved.items()} == {
        "audit": {"audit", "reading", "needs"}, "report": {"audit", "reading", "needs"},
        "plan": {"plan", "promise", "hiding", "reading"}, "sweep": {"sweep", "promise", "hiding", "reading"},
    }  # fmt: skip
    refused(tmp_path, "audit", *release, "--config", saved["audit"], words="from a run with --key")


def test_in_python(tmp_path: Path) -> None:
    config = write_config(tmp_path, EVERYTHING)
    events = city(users=40)
    assert [row.k for row in shoal.plan(events, config=config, taus=["30min"]).forecasts] == [2]
    assert len(shoal.sweep(events, config=config, ks=[2]).measured) == 1
    release = shoal.anonymize(events, config=config, selector="matching")
    assert (release.promise.k, release.options.selector, release.options.harden) == (2, "matching", 0)
    audited = shoal.audit(events, release, key=release.key(), config=config)
    assert audited.to_dict()["draw"]["attacks"] == 30


# ---- refusals -----------------------------------------------------------------------------------------------------


def test_refusals(events: Path, tmp_path: Path) -> None:
    output, config = tmp_path / "out.parquet", write_config(tmp_path, PROMISE)
    base = ("anonymize", events, "-o", output)
    refused(tmp_path, *base, "--config", tmp_path / "none.toml", words="No readable file")
    refused(
        tmp_path,
        *base,
        "--config",
        config,
        "--save-config",
        config,
        words="would overwrite or join the input",
    )
    with_force = ("--config", config, "--save-config", config, "--force")
    refused(tmp_path, *base, *with_force, words="would overwrite or join the input")
    refused(tmp_path, *base, "--config", config, "--save-config", output, words="must be different files")
    refused(
        tmp_path,
        *base,
        "--config",
        config,
        "--save-config",
        tmp_path / "no" / "a.toml",
        words="does not exist",
    )
    for command in (("plan", events), ("sweep", events, "-o", tmp_path / "swept"), ("audit", events, output)):
        refused(tmp_path, *command, "--save-config", config, words="release.toml exists already: add --force")
    config.write_text('[promise]\ntau = "30min"\nepsilon = "30min"\n')
    refused(tmp_path, *base, "--config", config, words="Missing option '--k'")
    config.write_text(f"[promise]\nk = '{CANARY}'\n")
    refused(tmp_path, *base, "--config", config, words="k in [promise] must be a whole number, found a text")
    config.write_text("[promise]\nk = 2\nepsilon = '20min'\ntau = '30min'\n")
    refused(tmp_path, *base, "--config", config, words="epsilon must divide tau")
    config.write_text("[plan]\nks = []\n")
    refused(tmp_path, "plan", events, "--config", config, words="ks must name at least one value")


def test_a_run_that_fails_saves_nothing(events: Path, tmp_path: Path) -> None:
    before = left_in(tmp_path)
    done = anonymize(events, tmp_path / "out.parquet", "--save-config", tmp_path / "release.toml", k=13)
    assert done.code == 2
    assert left_in(tmp_path) == before


def test_an_unsaveable_name_is_refused_before_the_work(events: Path, tmp_path: Path) -> None:
    done = anonymize(
        events, tmp_path / "out.parquet", "--save-config", tmp_path / "a.toml", "--user-column", "\udc80"
    )
    assert (done.code, "UTF-8 to be saved" in done.err) == (2, True)
