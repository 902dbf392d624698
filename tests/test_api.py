"""What Python users call: tables in and out, errors to catch, a surface that grows on purpose only."""

from __future__ import annotations

import inspect
import io
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import shoal
from shoal.errors import InputError, ParameterError, ShoalError, UnfinishedError
from support.progress_listener import Listener
from support.run_command import boxes_in, city, in_metres, left_in, read_table, records_of, write

HALF_HOURS: dict[str, Any] = {"k": 2, "tau": "30min", "epsilon": "30min"}


@pytest.fixture(scope="module")
def published() -> shoal.Published:
    return shoal.anonymize(city(), **HALF_HOURS)


def test_surface() -> None:
    assert sorted(shoal.__all__) == [
        "Audit", "CheckedEvents", "Comparison", "Credibility", "InputError", "ParameterError", "Plan", "Progress",
        "Published", "ShoalError", "Sweep", "UnfinishedError",
        "anonymize", "assess", "audit", "check", "compare", "make_city", "make_region", "plan", "sweep", "utility",
        "warm_up", "write_report",
    ]  # fmt: skip
    assert set(shoal.__all__) <= set(dir(shoal))
    for name in shoal.__all__:
        assert getattr(shoal, name).__doc__
    public = {name for name in vars(shoal.Published) if not name.startswith("_")}
    assert public - set(shoal.Published.__dataclass_fields__) == {
        "key", "manifest", "of", "summary", "verified", "to_arrow", "to_geopandas", "to_pandas", "to_polars", "write",
        "plot",
    }  # fmt: skip
    with pytest.raises(AttributeError):
        _ = shoal.publish_everything
    assert shoal.__version__


def test_arguments_of_anonymize() -> None:
    arguments = list(inspect.signature(shoal.anonymize).parameters)
    assert arguments == [
        "events", "strict", "workers", "engine", "cluster", "output", "key_out", "summary_out", "config",
        "save_config", "force", "resume", "verify", "evidence", "progress", "options",
    ]  # fmt: skip


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow", "reader", "path", "text", "file"])
def test_any_table_will_do(kind: str, published: shoal.Published, tmp_path: Path) -> None:
    table = city()
    path = write(table, tmp_path / "events.parquet")
    events = {
        "pandas": table.to_pandas(),
        "polars": pl.from_arrow(table),
        "arrow": table,
        "reader": table.to_reader(),
        "path": path,
        "text": str(path),
        "file": io.BytesIO(path.read_bytes()),
    }[kind]
    result = shoal.anonymize(events, **HALF_HOURS)
    assert records_of(result.to_arrow()) == records_of(published.to_arrow())


def test_a_table_is_left_as_it_was() -> None:
    frame = in_metres().to_pandas()
    copy = frame.copy()
    shoal.anonymize(frame, **HALF_HOURS)
    pd.testing.assert_frame_equal(frame, copy)


def test_tables_out(published: shoal.Published) -> None:
    table = published.to_arrow()
    assert isinstance(table, pa.Table)
    assert table.column_names[:3] == ["record", "t_start", "t_end"]
    frames = {
        "to_pandas": published.to_pandas(),
        "to_polars": published.to_polars(),
        "polars": pl.DataFrame(published),
        "arrow": pa.table(published),
    }
    assert isinstance(frames["to_pandas"], pd.DataFrame)
    assert isinstance(frames["to_polars"], pl.DataFrame)
    assert str(frames["to_pandas"]["t_start"].dt.tz) == "UTC"
    for name, frame in frames.items():
        assert len(frame) == len(table), name
        again = pa.Table.from_pandas(frame) if name == "to_pandas" else pa.table(frame)
        assert records_of(again) == records_of(table)
    assert published.to_arrow().equals(table)  # names are drawn once a release


def test_key_manifest_and_summary(published: shoal.Published) -> None:
    key = published.key()
    assert key.column_names == ["user", "record"]
    assert key["user"].to_pylist() == sorted(set(city()["user"].to_pylist()))
    assert set(key["record"].to_pylist()) == set(published.to_arrow()["record"].to_pylist())
    assert published.manifest["promise"]["k"] == published.promise.k == 2
    assert published.summary["users"] == 60
    assert published.summary["boxes"] == len(published.to_arrow())


def test_files_hold_what_the_release_holds(tmp_path: Path) -> None:
    output, key, summary = tmp_path / "out.parquet", tmp_path / "key.parquet", tmp_path / "summary.json"
    result = shoal.anonymize(
        in_metres(), **HALF_HOURS, output=str(output), key_out=key, summary_out=summary, workers=1
    )
    assert read_table(output).equals(result.to_arrow())
    assert read_table(key).equals(result.key())
    beside = {"key.parquet", "key.parquet.private.json", "key.parquet.evidence.parquet"}
    assert left_in(tmp_path) == {"out.parquet", "out.parquet.manifest.json", "summary.json", *beside}


def test_options_of_the_command_are_here_too(tmp_path: Path) -> None:
    table = in_metres()
    sites = pa.table({"site": ["a"], "x": [5.0], "y": [5.0]})
    by_site = pa.table({"who": table["user"], "time": table["time"], "site": ["a"] * len(table)})
    result = shoal.anonymize(
        by_site, **HALF_HOURS, sites=sites, columns={"user": "who"}, exclude_users=["u00", "u01"]
    )
    assert result.summary["users"] == 10
    whole = shoal.anonymize(table, k=3, whole=True, output=tmp_path / "whole.csv")
    assert whole.promise.whole
    assert boxes_in(tmp_path / "whole.csv") == records_of(whole.to_arrow())


BAD = {
    "k": {"k": 1},
    "k of a kind": {"k": 2.0},
    "tau": {"tau": "never"},
    "tau of a kind": {"tau": 30},
    "cell": {"cell": "0m"},
    "space_weight": {"space_weight": 5},
    "space_weight of a kind": {"space_weight": "1"},
    "selector": {"selector": "psychic"},
    "reuse": {"reuse": "always"},
    "repair": {"repair": True},
    "seed": {"seed": -1},
    "seed of a kind": {"seed": 1.5},
    "workers": {"workers": 0},
    "workers of a kind": {"workers": True},
    "whole": {"whole": True},
    "key without output": {"key_out": "key.csv"},
    "summary without output": {"summary_out": "summary.json"},
}


@pytest.mark.parametrize("case", BAD)
def test_bad_parameters_are_value_errors(case: str) -> None:
    with pytest.raises(ParameterError) as caught:
        shoal.anonymize(in_metres(), **{**HALF_HOURS, **BAD[case]})
    assert isinstance(caught.value, ValueError)
    assert isinstance(caught.value, InputError)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("events", [None, 7, [1, 2], {"user": ["a"]}, "nowhere.csv", pa.table({"a": [1]})])
def test_what_is_no_events(events: object) -> None:
    with pytest.raises(InputError):
        shoal.anonymize(events, **HALF_HOURS)


def test_tree_of_errors() -> None:
    assert issubclass(InputError, ShoalError)
    assert issubclass(UnfinishedError, ShoalError)
    assert issubclass(ParameterError, InputError)
    assert (InputError.exit_code, ParameterError.exit_code, UnfinishedError.exit_code) == (2, 2, 3)


def test_progress_is_told_stages_and_steps() -> None:
    listener = Listener()
    shoal.anonymize(in_metres(), **HALF_HOURS, progress=listener)
    assert [name for name in listener.names if not name.startswith("compiling")] == [
        "reading",
        "loading the engine",
        "finding who can hide whom",
        "hiding",
        "reading back",
        "loading the check",
        "checking every user and interval",
    ]
    for told in listener.stages:
        assert told.steps is None or told.steps == told.done > 0
