"""Every table of the command in 80 columns, whatever it holds: huge numbers, long words, columns that do not touch."""

from __future__ import annotations

from itertools import takewhile
from pathlib import Path

import pytest

from auditing.audits import HUGE, TIMED, broken, some_audit
from shoal.cli.text.audit import report_lines
from shoal.cli.text.plan import plan_lines
from shoal.cli.text.sweep import comparison_lines, sweep_lines
from shoal.evaluate.compare import TUPLES, WHOLE, Compared, Comparison, TupleDraw
from shoal.evaluate.measuring import Measured
from shoal.evaluate.plan.forecasting import Forecast
from shoal.evaluate.plan.planning import Plan
from shoal.evaluate.sweep import Sweep
from shoal.evaluate.sweep_points import Point, SweepPlan
from support.run_command import city, run, write


def check(lines: list[str], head: str, row: str) -> None:
    """No line is too long, and every row below a head has these cells, with at least one space between two of them."""
    assert max(len(line) for line in lines) <= 80
    assert all(line == line.rstrip() for line in lines)
    heads = [number for number, line in enumerate(lines) if " ".join(line.split()) == head]
    assert heads
    for number in heads:
        rows = list(takewhile(bool, lines[number + 1 :]))
        assert [" ".join(cells.split()) for cells in rows] == [row]


def test_the_sweeps_table() -> None:
    row = Measured("matching", 100, 1_440.0, 1_440.0, 1, 1, 9, 0.9996, *[123.4] * 12, 1.0, 0.5, 99_999.9)
    point = Point("matching", 100, 1_440, 1_440)
    check(
        sweep_lines(Sweep(SweepPlan([point], {}), {point: row}, [], [])),
        "selector k tau epsilon space km time min suppressed seconds",
        "matching 1 100 24 h 24 h 123 (123-123) 123 (123-123) over 99.9 % 99999.9",
    )


def test_the_table_of_a_comparison() -> None:
    rows = [
        Compared(kind, "static 8h 20km", 50, 1.0, 1_440.0, 1_234.0, 1.0, 1.0, 1.0, 1.0, 9_999.9)
        for kind in (TUPLES, WHOLE)
    ]
    lines = comparison_lines(Comparison(rows, TupleDraw.NEAR, HUGE, HUGE, HUGE, []))
    check(
        lines,
        "method k success min km suppr. trashed created deleted seconds",
        "static 8h 20km 50 100 % 1,440 1,234 100 % 100 % 100 % 100 % 9999.9",
    )


def test_the_table_of_a_plan() -> None:
    row = Forecast(
        100, 1_440.0, 1_440.0, 1, 1_234.5, 1_234.5, 0.9996, 0.9996, 9, 360_000.0, 1.0, 99 * 10**9, True, 1
    )
    check(
        plan_lines(Plan([row], HUGE, HUGE, [], [])),
        "k tau epsilon space km time min suppressed reused takes memory",
        "100 24 h 24 h 1,234 1,234 over 99.9 % over 99.9 % 100 h 99.0 GB",
    )


@pytest.mark.parametrize("public", [False, True])
@pytest.mark.parametrize("kept", [False, True])
def test_what_a_report_says_in_the_end(public: bool, kept: bool) -> None:
    audit = some_audit(TIMED) if kept else some_audit(TIMED, coverage=broken(0, 1, 2, n_unchecked=HUGE))
    lines = report_lines(audit, Path("report.html"), public=public)
    assert max(len(line) for line in lines) <= 80
    text = " ".join(lines)
    assert text.startswith("Guarantee 1 KEPT" if kept else "BROKEN")
    assert ("No datasheet was written" in text) == (public and not kept)
    assert ("it shows raw data" in text) == (not public)


def test_a_pipe_gets_no_colours_and_no_bars(tmp_path: Path) -> None:
    events = write(city(110), tmp_path / "events.parquet")
    out, key = tmp_path / "out.parquet", tmp_path / "key.csv"
    options = ("--k", 2, "--tau", "30min", "--epsilon", "30min")
    for command in (
        ("anonymize", events, "-o", out, *options, "--key-out", key),
        ("audit", events, out, "--key", key, "--attacks", 20),
        ("compare", events, "--tuples", 3, "--whole-users", 0),
        ("plan", events, "--ks", "2", "--taus", "30min"),
        ("credibility", events),
        ("synth", "city", "-o", tmp_path / "more.csv", "--users", 20),
    ):
        done = run(*command)
        assert done.code in (0, 1), done.err
        assert "\x1b" not in done.out + done.err
        assert "\r" not in done.out + done.err
        assert not set("━╸█▏▕") & set(done.out + done.err)
        shown = [line for line in done.out.splitlines() if str(tmp_path) not in line]
        assert max((len(line) for line in shown), default=0) <= 80, command[0]
