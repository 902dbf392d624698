"""Who calls from Python is told of arguments, who calls the command of options; and a naive clock is warned of."""

from __future__ import annotations

import json
import warnings
from datetime import timedelta
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import shoal
from shoal.evaluate.check.checking import CheckedEvents
from support.run_command import anonymize, city, run, write

HALF_HOURS: dict[str, Any] = {"k": 2, "tau": "30min", "epsilon": "30min"}


@pytest.fixture(scope="module")
def naive() -> pd.DataFrame:
    """Two days of events on a clock that nobody named."""
    table = city(users=60, days=2).to_pandas()
    return table.assign(time=pd.to_datetime(table["time"], unit="s").dt.tz_localize(None))


@pytest.fixture
def untidy(naive: pd.DataFrame) -> pd.DataFrame:
    """Events with several things to mend: machines, dates years away, users who are nobody, times that are none."""
    events = naive.assign(time=naive["time"].dt.strftime("%d%m%Y-%H-%M"))
    events.loc[events.index[:40], "user"] = "unknown"
    return events


def texts_of(found: CheckedEvents) -> list[str]:
    return [text for each in found.problems for text in (each.what, each.remedy)] + found.next


def test_what_python_hands_out_names_arguments(naive: pd.DataFrame, untidy: pd.DataFrame) -> None:
    release = shoal.anonymize(naive, **HALF_HOURS)
    audit = shoal.audit(naive, release, attacks=20)
    plan = shoal.plan(naive, ks=2, taus="30min")
    checked = [shoal.check(events) for events in (naive, untidy, naive.rename(columns={"user": "who knows"}))]
    told = {
        "summary": release.summary["warnings"],
        "reading": release.events.read_summary.all_warnings,
        "next steps": audit.verdict.next_steps,
        "audit": audit.warnings,
        "plan": plan.warnings,
        **{f"check {number}": texts_of(found) for number, found in enumerate(checked)},
    }
    assert all(told[name] for name in told if name != "audit")
    assert {name: texts for name, texts in told.items() if "--" in "".join(texts)} == {}
    assert any("name the zone with timezone." in text for text in told["summary"])
    assert any("rename_every=" in text for text in told["summary"])


def test_the_command_names_options(naive: pd.DataFrame, tmp_path: Path) -> None:
    events = tmp_path / "events.csv"
    naive.to_csv(events, index=False)
    done = anonymize(events, tmp_path / "out.parquet", "--json", tmp_path / "summary.json")
    assert "name the zone with --timezone." in " ".join(done.err.split())
    assert "UserWarning" not in done.err
    summary = json.loads((tmp_path / "summary.json").read_text())
    assert any("--timezone" in text for text in summary["warnings"])
    assert any("--rename-every" in text for text in summary["warnings"])
    found = json.loads(run("check", events, "--json", "-").out)
    assert any("--timezone" in each["remedy"] for each in found["problems"])
    assert found["next"][0].startswith("shoal plan ")
    assert "shoal.plan('" in shoal.check(events).next[0]  # and Python is Python again behind a command


def test_the_next_calls_can_be_made(naive: pd.DataFrame) -> None:
    found = shoal.check(naive, cell="200m", columns={"user": "user"})
    assert found.next[1] == (
        "shoal.anonymize(events, k=2, tau='30min', epsilon='30min', rename_every='1d', columns={'user': 'user'},"
        " cell='200m', timezone='UTC')"
    )
    again = eval(found.next[0].replace("plan", "check"), {"shoal": shoal, "events": naive})
    assert again.usable
    assert not any("zone" in each.what for each in again.problems)
    without = shoal.check(naive.rename(columns={"user": "xyz"}))
    assert without.next == ["shoal.check(events, columns={'user': 'NAME'})"]


def test_a_next_call_repeats_no_place_and_nobody(naive: pd.DataFrame) -> None:
    somebody = naive["user"].iloc[0]
    found = shoal.check(naive, bbox=[-179, -89, 179, 89], exclude_users=[somebody])
    assert "exclude_users=..., bbox=..." in found.next[0]
    assert "89" not in found.next[0]


def test_a_naive_clock_is_warned_of_where_it_was_called(naive: pd.DataFrame, tmp_path: Path) -> None:
    release = shoal.anonymize(naive, **HALF_HOURS, verify=False, timezone="UTC")
    release.write(tmp_path / "out.csv")
    (tmp_path / "out.csv.manifest.json").unlink()
    grid = {"cell": "100m", "step": "1min"}
    calls = {
        "anonymize": lambda: shoal.anonymize(naive, **HALF_HOURS, verify=False),
        "plan": lambda: shoal.plan(naive, ks=2, taus="30min"),
        "audit": lambda: shoal.audit(
            naive, tmp_path / "out.csv", **HALF_HOURS, **grid, crs=release.manifest["grid"]["crs"], attacks=5
        ),
    }
    for name, call in calls.items():
        with pytest.warns(UserWarning, match="read as UTC: .* name the zone with timezone") as caught:
            call()
        (warned,) = [each for each in caught if issubclass(each.category, UserWarning)]
        assert warned.filename == __file__, name
    zoned = naive.assign(time=naive["time"].dt.tz_localize("UTC"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        shoal.anonymize(zoned, **HALF_HOURS, verify=False)
        shoal.anonymize(naive, **HALF_HOURS, verify=False, timezone="UTC")


def test_a_value_on_its_own_is_a_list_of_one() -> None:
    events = city()
    alone = shoal.plan(events, ks=2, taus=timedelta(minutes=30), epsilons="30min")
    listed = shoal.plan(events, ks=[2], taus=["30min"], epsilons=["30min"])
    assert [(row.k, row.tau_min, row.epsilon_min) for row in alone.forecasts] == [(2, 30.0, 30.0)]
    assert [row.n_boxes for row in alone.forecasts] == [row.n_boxes for row in listed.forecasts]
    sweep = shoal.sweep(events, over="k", ks=2, selectors="matching", taus="30min")
    assert [(row.selector, row.k) for row in sweep.measured.values()] == [("matching", 2)]
    with pytest.raises(shoal.ParameterError, match="'marching'"):
        shoal.sweep(events, over="k", ks=2, selectors="marching")


def test_a_path_is_read_the_same(tmp_path: Path) -> None:
    path = write(city(), tmp_path / "events.csv")
    assert shoal.check(path).next[0].startswith(f"shoal.plan({str(path)!r}")


# ---- what is refused ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["strict", "force", "resume", "verify", "evidence", "whole", "repair"])
def test_a_text_is_no_yes_or_no(name: str) -> None:
    with pytest.raises(shoal.ParameterError, match=f"{name} must be True or False, got 'no'"):
        shoal.anonymize(city(), **HALF_HOURS, **{name: "no"})


def test_there_is_nothing_to_resume_without_an_output() -> None:
    with pytest.raises(shoal.ParameterError, match="resume goes with output"):
        shoal.anonymize(city(), **HALF_HOURS, resume=True)


def test_a_release_is_written_to_a_path(naive: pd.DataFrame) -> None:
    release = shoal.anonymize(naive, **HALF_HOURS, verify=False, timezone="UTC")
    with pytest.raises(shoal.ParameterError, match=r"path must be a path, such as .*, got None"):
        release.write(None)
    assert "<td>nothing</td>" in release._repr_html_() or release.outcome.n_suppressed


def test_an_index_of_users_is_read(naive: pd.DataFrame) -> None:
    indexed = shoal.check(naive.set_index("user"), timezone="UTC")
    assert (indexed.users, indexed.samples) == (60, shoal.check(naive, timezone="UTC").samples)
    numbered = naive.assign(other=1).set_index("other")
    assert shoal.check(numbered, timezone="UTC").columns == shoal.check(naive, timezone="UTC").columns


def test_tables_that_are_not_understood_get_a_remedy(naive: pd.DataFrame) -> None:
    cases: dict[str, tuple[Any, str]] = {
        "periods": (naive.assign(time=naive["time"].dt.to_period("h")), r"\.dt\.to_timestamp\(\)"),
        "one column": (naive[["user"]], "in the table, and few of its 1 column have names"),
        "numbers as names": (
            naive.rename(columns={"user": "2024-05"}),
            "names of columns that look like data",
        ),
    }
    for table, words in cases.values():
        with pytest.raises(shoal.InputError, match=words):
            shoal.anonymize(table, **HALF_HOURS)
    with pytest.raises(shoal.ParameterError, match="give a text or a timedelta"):
        shoal.anonymize(naive, k=2, tau=pd.NaT, epsilon="30min")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        shoal.check(
            naive.assign(time=naive["time"].dt.tz_localize("UTC"), **{"1": 1}).rename(columns={"1": 1})
        )
