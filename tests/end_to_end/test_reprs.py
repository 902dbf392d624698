"""No repr shows raw data: notebooks print what a cell ends with, and people send their notebooks around."""

from __future__ import annotations

import contextlib
import re
import traceback
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

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
RAW = re.compile(rf"{CANARY}|{NUMBERS}|\br[0-9a-f]{{16}}\b")


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
