"""Nothing raw leaves by the way: notebooks print what a cell ends with, results are pickled, tracebacks are mailed."""

from __future__ import annotations

import contextlib
import copy
import pickle
import re
import traceback
from collections.abc import Callable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import shoal
from shoal.auditing.opening import open_audit
from shoal.core.options import AuditOptions, ReadingOptions
from shoal.core.progress import SilentProgress
from shoal.core.promise import Grid
from shoal.errors import UnfinishedError
from shoal.evaluate.baselines import Glove, KMerge, Static
from shoal.reading import read_events, read_parts_key, read_published
from shoal.reporting.facts.people import follow_people
from shoal.reporting.facts.precision import measure_precision
from shoal.reporting.facts.usefulness import measure_usefulness
from shoal.synthetic import make_city
from support.run_command import CANARY, in_metres, shrink_boxes, write

HALF_HOURS: dict[str, Any] = {"k": 2, "tau": "30min", "epsilon": "30min"}
# Identifiers, cells and metres of x and y, slots and seconds, names of records: each begins with digits of its own.
# (Not behind a decimal point: 0.28333 is a share.)
NUMBERS = r"(?<![.\d])(?:3141\d\d|2718\d\d|2833\d{4}|17000\d{5})"
RAW = re.compile(rf"{CANARY}|CANARY|{NUMBERS}|\br[0-9a-f]{{16}}\b")


def recognisable() -> pa.Table:
    """Events whose every identifier, coordinate and time RAW finds."""
    table = in_metres(users=24)
    return pa.table(
        {
            "user": [f"{CANARY}-{name}" for name in table["user"].to_pylist()],
            "time": table["time"],
            "x": [x + 31_415_000.0 for x in table["x"].to_pylist()],
            "y": [y + 27_180_000.0 for y in table["y"].to_pylist()],
        }
    )


def reachable(thing: Any, path: str, seen: set[int], depth: int = 0) -> Iterator[tuple[str, Any]]:
    """A result and every object of ours that can be reached from it, with the way there."""
    if id(thing) in seen or depth > 8:
        return
    seen.add(id(thing))
    if isinstance(thing, list | tuple) and not hasattr(thing, "_fields"):
        for number, part in enumerate(thing[:20]):
            yield from reachable(part, f"{path}[{number}]", seen, depth + 1)
    elif isinstance(thing, dict):
        for number, part in enumerate(list(thing.values())[:20]):
            yield from reachable(part, f"{path}{{{number}}}", seen, depth + 1)
    elif type(thing).__module__.split(".")[0] == "shoal":
        yield path, thing
        for name in names_of(thing):
            with contextlib.suppress(
                UnfinishedError
            ):  # samples that went with the checkpoint of a finished run
                yield from reachable(getattr(thing, name), f"{path}.{name}", seen, depth + 1)


def names_of(thing: Any) -> list[str]:
    """Fields, attributes and properties."""
    computed = [
        name
        for kind in type(thing).__mro__
        for name, value in vars(kind).items()
        if isinstance(value, property | cached_property) and not name.startswith("__")
    ]
    return list(dict.fromkeys([*getattr(thing, "_fields", ()), *getattr(thing, "__dict__", {}), *computed]))


def shown(thing: Any) -> str:
    """Whatever a terminal, a notebook or a format string makes of a thing."""
    html = getattr(thing, "_repr_html_", str)
    return "\n".join([repr(thing), str(thing), f"{thing}", html()])


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What every public call gives, and what is made on the way."""
    folder = tmp_path_factory.mktemp("reprs")
    events = write(recognisable(), folder / "events.csv")
    output, key = folder / "release.parquet", folder / "key.csv"
    published = shoal.anonymize(events, **HALF_HOURS, output=output, key_out=key)
    broken = shrink_boxes(output, folder / "broken.parquet", most=40)
    parts, parts_key = folder / "parts.parquet", folder / "parts.csv"
    renamed = shoal.anonymize(events, **HALF_HOURS, output=parts, key_out=parts_key, rename_every="1h")
    broken_parts = shrink_boxes(parts, folder / "broken-parts.parquet", most=40)
    found: dict[str, Any] = {
        "published": published,
        "in memory": shoal.anonymize(recognisable(), **HALF_HOURS, verify=False),
        "spectral": shoal.anonymize(recognisable(), **HALF_HOURS, selector="spectral"),
        "audit": shoal.audit(events, output, attacks=40),
        "audit with key": shoal.audit(events, output, key=key, attacks=40),
        "broken": shoal.audit(events, broken, attacks=40),
        "report": shoal.write_report(events, output, folder / "page.html", key=key, attacks=40),
        "renamed": renamed,
        "parts of": renamed.outcome.parts,
        "audit of parts": shoal.audit(events, parts, attacks=40),
        "audit of parts with key": shoal.audit(events, parts, key=parts_key, attacks=40),
        "broken parts": shoal.audit(events, broken_parts, key=parts_key, attacks=40),
        "report on parts": shoal.write_report(
            events, parts, folder / "parts.html", key=parts_key, attacks=40, tolerance=1.0
        ),
        "sweep": shoal.sweep(events, over=["k", "hours"], ks=[2], selectors=["matching"]),
        "check": shoal.check(events),
        "plan": shoal.plan(events, ks=[2], taus=["30min"]),
        "compare": shoal.compare(events, ks=[2], tuples=2, whole_users=10),
        "credibility": shoal.assess(make_city(users=120, days=2, seed=1)),
        "density": shoal.utility.density(output),
        "flows": shoal.utility.flows(output),
        "homes": shoal.utility.homes(output),
        "workplaces": shoal.utility.workplaces(output),
        "agreement": shoal.utility.agreement(events, output),
        "table": read_published(output),
        "options": ReadingOptions(exclude_users=[f"{CANARY}-1"], bbox="31415000,27180000,31420000,27190000"),
    }
    assert found["broken"].coverage.worst
    read = read_events(events, grid=Grid(), options=ReadingOptions())
    found["events"], found["rows"] = read, read.store.between(0, 1 << 40)
    for method in (Static.parse("60min", "5km", Grid()), Glove(Grid()), KMerge(Grid())):
        found[method.name] = method(read.samples, 2)
    how = AuditOptions.from_keywords({"key": key, "attacks": 20})
    with open_audit(events, output, SilentProgress(), how, ReadingOptions()) as (context, _):
        found["context"] = context
        found["people"] = follow_people(context)
        boxes = context.published.records.boxes
        found["precision"] = measure_precision(boxes, context.grid, context.zone, 2)
        found["usefulness"] = measure_usefulness(context, public=False)
        list(reachable(context, "context", set()))
    how = AuditOptions.from_keywords({"key": parts_key, "attacks": 20})
    with open_audit(events, parts, SilentProgress(), how, ReadingOptions()) as (context, _):
        found["context of parts"], found["context of a period"] = context, context.by_period()[0]
        found["people in parts"] = follow_people(context)
        found["usefulness of parts"] = measure_usefulness(context, public=False)
        found["key of parts"] = read_parts_key(parts_key, context.parts.people.users, names_in(parts))
        list(reachable(context, "context of parts", set()))
    return found


def names_in(published: Path) -> Any:
    return read_published(published).names


def test_no_repr_shows_raw_data(results: dict[str, Any]) -> None:
    seen: set[int] = set()
    visited = [found for name, thing in results.items() for found in reachable(thing, name, seen)]
    kinds = {type(thing).__name__ for _, thing in visited}
    assert {
        "Published",
        "Audit",
        "Events",
        "SampleStore",
        "Samples",
        "Boxes",
        "NamedBoxes",
        "Violation",
        "Parts",
        "AuditedParts",
        "PartsKey",
    } <= kinds
    leaking = sorted({type(thing).__name__ for _, thing in visited if RAW.search(shown(thing))})
    assert leaking == []


def test_results_introduce_themselves_in_a_line(results: dict[str, Any]) -> None:
    half_hours = "k = 2, tau = 30 min, epsilon = 30 min"
    assert repr(results["published"]) == f"<Published: 24 records, 192 boxes, {half_hours}, verified>"
    assert repr(results["in memory"]) == f"<Published: 24 records, 192 boxes, {half_hours}, not verified>"
    assert repr(results["events"]) == "<Events: 192 samples of 24 users>"
    assert repr(results["audit"]).startswith(
        f"<Audit: 24 records, 192 boxes, {half_hours}, guarantee 1 kept;"
    )
    assert "guarantee 1 not kept" in repr(results["broken"])
    assert "guarantee 1 not kept" in repr(results["broken parts"])
    for name in (
        "published",
        "audit",
        "report",
        "sweep",
        "check",
        "plan",
        "compare",
        "credibility",
        "density",
        "homes",
    ):
        assert len(repr(results[name])) <= 120, name


def test_what_a_cell_shows_tells_nothing_raw(results: dict[str, Any]) -> None:
    """(That no repr does is tested above for everything that can be reached; here for what people look at.)"""
    shown_as_html = {
        name: thing._repr_html_() for name, thing in results.items() if hasattr(thing, "_repr_html_")
    }
    assert {
        "published",
        "in memory",
        "renamed",
        "audit with key",
        "broken parts",
        "sweep",
        "plan",
        "compare",
    } <= set(shown_as_html)
    assert "credibility" in shown_as_html
    for name, html in shown_as_html.items():
        assert not RAW.search(html), name
        assert "--" not in re.sub(r"<style>.*?</style>", "", html, flags=re.DOTALL), name  # words of Python


# ---- pickles --------------------------------------------------------------------------------------------------------

PICKLED = (
    "audit", "audit with key", "broken", "report", "audit of parts", "audit of parts with key", "broken parts",
    "report on parts", "sweep", "plan", "compare", "credibility", "agreement",
)  # fmt: skip


def leaves(thing: Any, seen: set[int]) -> Iterator[Any]:
    """Every text and number in what a pickle brought back."""
    if id(thing) in seen:
        return
    seen.add(id(thing))
    if isinstance(thing, np.ndarray):
        yield from thing.ravel().tolist()
    elif isinstance(thing, dict):
        for part in [*thing, *thing.values()]:
            yield from leaves(part, seen)
    elif isinstance(thing, list | tuple | set | frozenset):
        for part in thing:
            yield from leaves(part, seen)
    elif hasattr(thing, "__dict__") and not isinstance(thing, type):
        yield from leaves(vars(thing), seen)
    else:
        yield thing


def is_raw(leaf: Any) -> bool:
    """Whether a leaf is an identifier or a name of a record, or a coordinate of the events in metres or in cells."""
    if isinstance(leaf, str | bytes):
        return bool(RAW.search(leaf if isinstance(leaf, str) else leaf.decode("latin-1")))
    if isinstance(leaf, bool) or not isinstance(leaf, int | float):
        return False
    ranges = ((31_415_000, 31_420_000), (27_180_000, 27_185_000), (314_150, 314_200), (271_800, 271_850))
    return any(low <= leaf < high for low, high in ranges)


def test_the_scanner_finds_what_is_planted() -> None:
    table = recognisable()
    for column in ("user", "x", "y"):
        assert all(map(is_raw, table[column].to_pylist())), column
        held = {"a": [(1, {"b": np.array(table[column].to_pylist(), object)})]}
        assert any(map(is_raw, leaves(held, set())))
    assert is_raw(314_153)


@pytest.mark.parametrize("name", PICKLED)
def test_pickles_hold_nothing_raw(name: str, results: dict[str, Any]) -> None:
    result = results[name]
    content = pickle.dumps(result)
    assert CANARY.encode() not in content
    again = pickle.loads(content)
    assert [leaf for leaf in leaves(again, set()) if is_raw(leaf)] == []
    if isinstance(result, shoal.Audit):
        assert again.to_dict() == result.to_dict()
        assert len(result.users) == 24  # whoever holds the audit itself can still see them
        assert copy.deepcopy(result) is copy.copy(result) is result
    else:
        assert again.to_dict() == result.to_dict() if hasattr(result, "to_dict") else True


def test_an_audit_that_was_pickled_names_nobody(results: dict[str, Any]) -> None:
    broken = results["broken"]
    assert CANARY in str(broken.to_dict(show_users=True))
    with pytest.raises(shoal.InputError, match="audit again to see them"):
        pickle.loads(pickle.dumps(broken)).to_dict(show_users=True)


def test_nothing_that_a_result_holds_takes_people_into_a_pickle(results: dict[str, Any]) -> None:
    """Nothing with an identifier can be pickled. (What engines send about has cells and numbers of users.)"""
    users = recognisable()["user"].to_pylist()
    reading = {"exclude_users": users[:1], "missing_user": users[-1:]}
    kept = {**results, "some": shoal.anonymize(recognisable(), **HALF_HOURS, **reading, verify=False)}
    visited, seen = [], set[int]()
    for name, thing in kept.items():
        visited += reachable(thing, name, seen)
    leaking = set()
    for _, thing in visited:
        kind = type(thing).__name__
        try:
            content = pickle.dumps(thing)
        except (TypeError, AttributeError, pickle.PicklingError):
            continue
        if CANARY.encode() in content:
            leaking.add(kind)
    assert leaking == set()
    held = {type(thing).__name__: thing for _, thing in visited}
    for kind in ("SampleStore", "Samples", "MemoryColumn"):
        with pytest.raises(TypeError, match="must not be pickled"):
            pickle.dumps(held[kind])
        assert copy.deepcopy(held[kind]) is held[kind]
    assert "ReadingOptions" in held


def test_options_that_were_pickled_name_nobody() -> None:
    options = ReadingOptions(
        exclude_users=[f"{CANARY}-1"], missing_user=[f"{CANARY}-2"], sites=f"{CANARY}.csv", bbox="1,2,3,4"
    )
    assert CANARY not in repr(options)
    assert copy.deepcopy(options) is copy.copy(options) is options
    assert pickle.loads(pickle.dumps(options)) == ReadingOptions()
    chosen = ReadingOptions(timezone="Asia/Tokyo", columns={"user": "who"})
    assert pickle.loads(pickle.dumps(chosen)) == chosen


@pytest.mark.parametrize("name", ["published", "in memory", "renamed", "events"])
def test_what_holds_raw_data_is_not_pickled(name: str, results: dict[str, Any]) -> None:
    held = results[name]
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        with pytest.raises(
            TypeError, match=r"^(Published|Events) holds raw data, which must not be pickled: .*\.$"
        ):
            pickle.dumps({"release": held}, protocol)
    assert copy.deepcopy([held])[0] is copy.copy(held) is held


# ---- tracebacks -----------------------------------------------------------------------------------------------------


def test_tracebacks_of_failures_show_nothing(results: dict[str, Any]) -> None:
    release = results["published"]
    for wrong in (
        {"k": 99},
        {"k": 2, "bbox": "31415000,27180000,1"},
        {"k": 2, "exclude_users": [CANARY] * 3},
    ):
        with pytest.raises(shoal.ShoalError) as failed:
            shoal.anonymize(recognisable(), **HALF_HOURS | wrong)
        assert not RAW.search("".join(traceback.format_exception(failed.value)))
    with pytest.raises(UnfinishedError) as gone:
        _ = release.events.samples
    assert not RAW.search("".join(traceback.format_exception(gone.value)))


def spoilt() -> dict[str, Any]:
    """Tables that cannot be read, full of what must not be repeated."""
    good = recognisable().to_pandas()
    wrong: dict[str, Any] = {
        "times that are none": good.assign(time=[f"{CANARY}-{row}" for row in range(len(good))]),
        "places that are none": good.assign(x=[f"{CANARY} 31415{row}" for row in range(len(good))]),
        "mixed users": good.assign(user=[f"{CANARY}-1", 314159, *([object()] * (len(good) - 2))]),
        "mixed times": good.assign(time=[CANARY, 1_700_000_000, *([None] * (len(good) - 2))]),
        "lists": good.assign(x=[[31_415_000.0, CANARY]] * len(good)),
        "infinite places": good.assign(x=np.inf),
        "far places": good.assign(x=3.1415e300),
        "twice": pd.concat([good, good[["user"]]], axis=1),
        "no time": good.drop(columns="time"),
        "values as names": good.rename(columns={"user": f"{CANARY}-1", "x": "31415000.5"}),
        "index of users": good.set_index("user"),
        "nobody": good[:0],
        "degrees and metres": good.assign(lat=good["x"], lon=good["y"]),
        "list of rows": good.to_dict("records"),
        "dictionary": good.to_dict("list"),
        "array": good.to_numpy(),
        "series": good["user"],
        "users as columns": good.pivot_table(index="time", columns="user", values="x").reset_index(),
        "few digits": pd.DataFrame({"time": [1], **{f"CANARY-{row}": [31415000.0] for row in range(24)}}),
        "names": pd.DataFrame({"time": [1], **{f"CANARY {chr(97 + row)}": [1.5] for row in range(24)}}),
        "CSV": good.to_csv(index=False),
        "a line of CSV": good[:1].to_csv(index=False, header=False).strip(),
        "a short line": f"{CANARY}-1,31415000",
        "identifiers": "\n".join(good["user"]),
        "an identifier and nothing": f"{CANARY}-1\0",
    }
    return wrong


@pytest.mark.parametrize("case", spoilt())
def test_tracebacks_of_tables_that_cannot_be_read_show_nothing(
    case: str, results: dict[str, Any], tmp_path: Path
) -> None:
    table, release = spoilt()[case], results["in memory"]
    calls = {
        "anonymize": lambda: shoal.anonymize(table, **HALF_HOURS),
        "plan": lambda: shoal.plan(table, ks=[2], taus=["30min"]),
        "audit": lambda: shoal.audit(table, release, attacks=5),
        "audited": lambda: shoal.audit(recognisable(), table, attacks=5, **HALF_HOURS),
        "key": lambda: shoal.audit(recognisable(), release, key=table, attacks=5),
        "sites": lambda: shoal.anonymize(recognisable(), **HALF_HOURS, sites=table),
        "excluded": lambda: shoal.anonymize(recognisable(), **HALF_HOURS, exclude_users=table),
        "k": lambda: shoal.anonymize(recognisable(), **HALF_HOURS | {"k": table}),
        "tau": lambda: shoal.anonymize(recognisable(), **HALF_HOURS | {"tau": table}),
        "bbox": lambda: shoal.anonymize(recognisable(), **HALF_HOURS, bbox=table),
        "selector": lambda: shoal.anonymize(recognisable(), **HALF_HOURS, selector=table),
        "columns": lambda: shoal.anonymize(recognisable(), **HALF_HOURS, columns=table),
        "progress": lambda: shoal.anonymize(recognisable(), **HALF_HOURS, progress=table),
        "check": lambda: shoal.check(table),
        "report": lambda: shoal.write_report(table, release, tmp_path / "page.html", attacks=5),
        "cell": lambda: shoal.anonymize(recognisable(), **HALF_HOURS, cell=table),
        "format": lambda: shoal.anonymize(recognisable(), **HALF_HOURS, format=table),
        "timezone": lambda: shoal.anonymize(recognisable(), **HALF_HOURS, timezone=table),
        "time_format": lambda: shoal.anonymize(recognisable(), **HALF_HOURS, time_format=table),
        "start": lambda: shoal.anonymize(recognisable(), **HALF_HOURS, start=table),
        "config": lambda: shoal.anonymize(recognisable(), **HALF_HOURS, config=table),
    }
    leaking = [name for name, call in calls.items() if RAW.search(traceback_of(call))]
    assert leaking == []


def traceback_of(call: Callable[[], object]) -> str:
    """What Python prints of a call that fails; nothing of one that does not."""
    try:
        call()
    except Exception as error:
        return "".join(traceback.format_exception(error))
    return ""
