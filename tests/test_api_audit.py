"""``shoal.audit``: tables in, a typed result out, errors to catch."""

from __future__ import annotations

import inspect
import json
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pytest

import shoal
from auditing.audits import some_audit
from shoal.auditing.coverage.check import Coverage
from shoal.auditing.measures import NO_KEY, Measure
from shoal.auditing.result import DatasetCounts
from shoal.auditing.truthfulness import Truthfulness
from shoal.core.promise import Grid, Promise
from shoal.core.proportions import Proportion
from shoal.errors import InputError, ParameterError
from support.progress_listener import Listener
from support.run_command import city, in_metres, write

HALF_HOURS: dict[str, Any] = {"k": 2, "tau": "30min", "epsilon": "30min"}
GIVEN: dict[str, Any] = {**HALF_HOURS, "cell": "100m", "step": "1min"}
FEW: dict[str, Any] = {"attacks": 20}


@pytest.fixture(scope="module")
def published() -> shoal.Published:
    return shoal.anonymize(in_metres(), **HALF_HOURS)


@pytest.fixture(scope="module")
def expected(published: shoal.Published) -> dict[str, Any]:
    return content(shoal.audit(in_metres(), published, key=published.key(), **HALF_HOURS, **FEW))


def content(audit: shoal.Audit) -> dict[str, Any]:
    """What was found; whether the events could be checked depends on where the key is, and a table has no name."""
    found = audit.to_dict()
    del found["seconds"], found["events"], found["file"]
    return found


BY_METHOD = ("method", "presence", "everybody")  # attacks that build on how a file says that it was made


def without_method(found: dict[str, Any]) -> dict[str, Any]:
    """A table has no manifest to tell how it was made, so whoever knows the method can count on less."""
    attacks = {name: figures for name, figures in found["attacks"].items() if name not in BY_METHOD}
    told = ("An attacker who knows the method and links windows (chain attack)", "When somebody is active")
    limits = [limit for limit in found["verdict"]["limits"] if limit["what"] not in told]
    assert len(limits) == len(found["verdict"]["limits"]) - 2
    guarantees = {name: judged for name, judged in found["guarantees"].items() if name != "one_window"}
    exposures = [each for each in found["verdict"]["exposures"] if each["name"] not in BY_METHOD]
    assert len(exposures) == len(found["verdict"]["exposures"]) - 2
    changed = {
        "attacks": attacks,
        "verdict": {
            **found["verdict"],
            "limits": limits,
            "exposures": exposures,
            "risks": [risk for risk in found["verdict"]["risks"] if risk["name"] != "Singling out"],
        },
        "guarantees": guarantees,
    }
    return {**found, **changed}


def test_arguments() -> None:
    assert list(inspect.signature(shoal.audit).parameters) == [
        "events", "published", "engine", "cluster", "config", "progress", "options",
    ]  # fmt: skip
    public = {name for name in vars(shoal.Audit) if not name.startswith("_")}
    assert public - set(shoal.Audit.__dataclass_fields__) == {
        "borders_checked", "counterexample", "exit_code", "failed", "figure", "has_key", "is_true", "kept",
        "only_fails_other", "only_weakened", "other", "renamed", "required", "to_dict", "verdict",
    }  # fmt: skip
    assert list(shoal.Audit.__dataclass_fields__) == [
        "promise", "grid", "counts", "coverage", "truthfulness", "figures", "leakage", "findings", "draw",
        "seconds", "warnings", "users", "guarantees", "belonging", "held_apart", "tolerance", "noted",
        "events_checked", "thresholds", "file", "weak_claim", "renaming", "outlooks",
        "naive",
    ]  # fmt: skip


def test_a_release_knows_its_promise_and_grid(published: shoal.Published) -> None:
    audit = shoal.audit(in_metres(), published, key=published.key(), **FEW)
    assert isinstance(audit, shoal.Audit)
    assert audit.kept is audit.has_key is True
    assert audit.promise == published.promise == Promise(2, 30, 30)
    assert audit.grid == Grid()
    assert audit.counts == DatasetCounts(users=12, samples=96, records=12, boxes=published.summary["boxes"])
    assert isinstance(audit.coverage, Coverage)
    assert audit.coverage.n_users == 12
    assert isinstance(audit.truthfulness, Truthfulness)
    assert audit.truthfulness.suppressed.n_suppressed == published.summary["suppressed_samples"]
    assert all(isinstance(figure, Measure) for figure in audit.figures)
    linkage = audit.figure("linkage", "success")
    assert linkage is not None
    assert isinstance(linkage.published, Proportion)
    assert linkage.published.n == 20
    assert linkage.published.low <= linkage.published.value <= linkage.published.high
    assert audit.figure("linkage", "success", "of nobody") is None
    assert audit.leakage is not None
    assert audit.seconds > 0
    assert json.loads(json.dumps(audit.to_dict())) == audit.to_dict()


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow", "path", "text"])
def test_any_table_will_do(
    kind: str, published: shoal.Published, expected: dict[str, Any], tmp_path: Path
) -> None:
    def as_kind(table: pa.Table, name: str) -> Any:
        path = write(table, tmp_path / f"{name}.parquet")
        kinds = {"pandas": table.to_pandas, "polars": lambda: pl.from_arrow(table), "arrow": lambda: table,
                 "path": lambda: path, "text": lambda: str(path)}  # fmt: skip
        return kinds[kind]()

    audit = shoal.audit(
        as_kind(in_metres(), "events"),
        as_kind(published.to_arrow(), "out"),
        key=as_kind(published.key(), "key"),
        **GIVEN,
        **FEW,
    )
    assert without_method(content(audit)) == without_method(expected)


def test_frames_that_a_release_gives(published: shoal.Published, expected: dict[str, Any]) -> None:
    for frame in (published.to_pandas(), published.to_polars(), published.to_arrow()):
        audit = shoal.audit(in_metres(), frame, key=published.key(), **GIVEN, **FEW)
        assert without_method(content(audit)) == without_method(expected)


def test_degrees(tmp_path: Path) -> None:
    events, output = city(40), tmp_path / "out.parquet"
    published = shoal.anonymize(events, **HALF_HOURS, output=output)
    in_memory, from_file = (
        shoal.audit(events, source, key=published.key(), tolerance=1, **FEW) for source in (published, output)
    )
    assert in_memory.kept
    assert content(in_memory) == content(from_file)
    crs = published.manifest["grid"]["crs"]
    assert shoal.audit(events.to_pandas(), published.to_pandas(), crs=crs, **GIVEN, **FEW).exit_code == 4
    with pytest.raises(InputError, match="give crs"):
        shoal.audit(events, published.to_pandas(), **GIVEN, **FEW)


def test_whole_trajectories_and_no_key() -> None:
    published = shoal.anonymize(in_metres(), k=3, whole=True)
    audit = shoal.audit(in_metres(), published, **FEW)
    assert audit.kept
    assert not audit.has_key
    assert audit.promise == Promise(3, None, None)
    assert audit.truthfulness is audit.leakage is None
    ranking = audit.figure("rankings", "smallest")
    assert ranking is not None
    assert ranking.published == NO_KEY
    assert audit.figure("method", "single") is None


def test_a_stronger_promise_is_broken_and_names_are_told_on_demand(published: shoal.Published) -> None:
    audit = shoal.audit(in_metres(), published, k=9, tau="2h", epsilon="30min", key=published.key(), **FEW)
    assert not audit.kept
    worst = audit.coverage.worst[0]
    assert worst.n_records < 9
    assert "user" not in audit.counterexample(worst)
    assert audit.counterexample(worst, show_users=True)["user"].startswith("u")
    assert "'u0" not in str(audit.to_dict())
    assert "'u0" in str(audit.to_dict(show_users=True))


def test_options_of_the_command_are_here_too() -> None:
    table = in_metres()
    sites = pa.table({"site": ["a"], "x": [5.0], "y": [5.0]})
    by_site = pa.table({"who": table["user"], "time": table["time"], "site": ["a"] * len(table)})
    options: dict[str, Any] = {
        "sites": sites, "columns": {"user": "who"}, "exclude_users": ["u00"], "start": "2023-11-14T22:30",
        "end": "2023-11-14T23:30", "timezone": "UTC",
    }  # fmt: skip
    made = shoal.anonymize(by_site, **HALF_HOURS, **options)
    audit = shoal.audit(by_site, made, key=made.key(), workers=2, seed=3, **options, **FEW)
    assert audit.kept
    assert audit.counts.users == 11


def test_progress_is_told_stages_and_steps(published: shoal.Published) -> None:
    listener = Listener()
    shoal.audit(in_metres(), published, **FEW, progress=listener)
    assert [name for name in listener.names if not name.startswith("compiling")] == [
        "reading", "loading the check", "checking every user and interval",
        "judging the guarantees", "attacking",
    ]  # fmt: skip
    for told in listener.stages:
        assert told.steps is None or told.steps == told.done > 0


BAD: dict[str, dict[str, Any]] = {
    "k": {"k": 1, "tau": "30min", "epsilon": "30min"},
    "k of a kind": {"k": 2.0, "tau": "30min", "epsilon": "30min"},
    "k alone": {"k": 2},
    "tau alone": {"tau": "30min"},
    "tau": {"k": 2, "tau": "never", "epsilon": "30min"},
    "whole without k": {"whole": True},
    "whole and tau": {"k": 2, "whole": True, "tau": "30min"},
    "cell alone": {"cell": "100m"},
    "step alone": {"step": "1min"},
    "cell": {"cell": "0m", "step": "1min"},
    "attacks": {"attacks": 0},
    "attacks of a kind": {"attacks": 10.0},
    "seed": {"seed": -1},
    "workers": {"workers": 0},
}


@pytest.mark.parametrize("case", BAD)
def test_bad_parameters_are_value_errors(case: str, published: shoal.Published) -> None:
    with pytest.raises(ParameterError) as caught:
        shoal.audit(in_metres(), published, **{**FEW, **BAD[case]})
    assert isinstance(caught.value, ValueError)
    assert "\n" not in str(caught.value)


def test_bad_inputs(published: shoal.Published) -> None:
    for events in (None, 7, "nowhere.csv", pa.table({"a": [1]})):
        with pytest.raises(InputError):
            shoal.audit(events, published, **FEW)
    for boxes in (None, 7, "nowhere.parquet", pa.table({"a": [1]}), published.to_arrow()):
        with pytest.raises(InputError):  # the last one: a bare table does not tell its grid
            shoal.audit(in_metres(), boxes, **FEW)
    with pytest.raises(InputError, match="does not tell its promise"):
        shoal.audit(in_metres(), published.to_arrow(), cell="100m", step="1min", **FEW)
    for key in (7, pa.table({"a": [1]}), shoal.anonymize(in_metres(), **HALF_HOURS).key()):
        with pytest.raises(InputError):
            shoal.audit(in_metres(), published, key=key, **FEW)
    with pytest.raises(InputError, match="coordinate system"):
        shoal.audit(in_metres(), published, crs="flat", **FEW)
    with pytest.raises(InputError, match="time zone"):
        shoal.audit(in_metres(), published, timezone="Mars/Olympus", **FEW)


def test_leakage_is_told_in_minutes() -> None:
    audit = some_audit(grid=Grid(100.0, 120))  # slots of two minutes
    assert audit.to_dict()["leakage_minutes"] == {
        "mean": 2.0, "median": 0.0, "q95": 10.0, "q99": 18.0, "largest": 200.0,
    }  # fmt: skip
