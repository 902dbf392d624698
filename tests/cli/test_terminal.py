"""What people see: a summary in 80 columns, and progress that does not get in the way."""

from __future__ import annotations

import contextlib
import io
import time
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from shoal.cli.terminal import TerminalProgress, say
from shoal.cli.text.anonymize import promise_in_words, summary_lines
from shoal.core import progress_bars
from shoal.core.formatting import duration, short
from shoal.core.promise import Grid, Promise
from shoal.publishing.outputs import Outputs
from support.run_command import CANARY, SECRET_X, anonymize, city, in_metres, write

SUMMARY: dict[str, Any] = {
    "rows": 1_234_567_890,
    "rows_dropped": {"missing time": 1_234_567, "before --from or after --to": 7},
    "users_seldom_seen": 1_234_567,
    "duplicates": 123_456,
    "format": "t-drive",
    "columns_dropped": [f"a_rather_long_column_name_{number}" for number in range(9)],
    "warnings": [],
    "users": 12_345_678,
    "samples": 1_234_567_890,
    "records": 12_345_678,
    "boxes": 987_654_321,
    "suppressed_samples": 123_456_789,
    "suppressed_share": 0.12345,
    "suppressed_rare_presence": 123_456_780,
    "suppressed_by_reason": {"promise": 123_456_789, "budget": 0, "limits": 0},
    "suppressed_users": 9,
    "longer_side_km": {"mean": 12_345.6, "q25": 1_234.5, "median": 12_345.6, "q75": 123_456.7},
    "precision_minutes": {"mean": 12_345.6, "q25": 1_234.5, "median": 12_345.6, "q75": 123_456.7},
    "relaxations": 123_456_789,
    "reuse": "once",
    "hiding_members": 1_234_567_890,
    "verified": True,
    "coverage_given": True,
    "unprotected": None,
    "selector": "matching",
    "rename_every": "never",
    "read_share": 1.0,
    "seconds": 123_456.7,
    "blank_lines": 1_234_567,
    "timezone": "America/Argentina/ComodRivadavia",
    "timezone_from": "given",
    "times_skipped": 1_234_567,
    "times_repeated": 1_234_567,
    "compile_seconds": 1_234.5,
}
LABELS = ["Promise", "In", "Published", "Suppressed", "Precision", "Weakened", "Verified", "Time", "Files"]


def text_of(summary: dict[str, Any], promise: Promise, name: str = "out.parquet") -> str:
    outputs = Outputs(
        Path("folder") / name, Path("key.csv"), Path("figures.json"), settings=Path("release.toml")
    )
    return "\n".join(summary_lines(summary, promise, Grid(), outputs))


@pytest.mark.parametrize(
    "promise", [Promise(2, 30, 30), Promise(100_000, 10_081, 100_001), Promise(7, None, None)]
)
def test_large_numbers_fit_eighty_columns(promise: Promise) -> None:
    text = text_of(SUMMARY, promise, "a_name_that_goes_on_" * 4 + ".parquet")
    lines = [line for line in text.splitlines() if "a_name" not in line]
    assert max(len(line) for line in lines) <= 80
    labels = [line[:12].strip() for line in lines if line[:12].strip()]
    assert labels == LABELS[:-1]  # the last one is on the line with the long name
    assert "\nFiles       a_name" in text
    assert all(line == line.rstrip() for line in lines)


def test_parts_of_the_summary() -> None:
    text = " ".join(text_of(SUMMARY, Promise(2, 30, 30)).split())
    for part in (
        "whoever followed a person for 30 min finds at least 2 records that fit;",
        "each of the others is made to go along with the person for at most 1 h",
        "12,345,678 users, 1,234,567,890 samples from 1,234,567,890 rows",
        "1,234,567 rows not used: missing time",
        "columns not used: a_rather_long_column_name_0, a_rather",
        "123,456,789 samples (12.3 %)",
        "all samples of 9 users, who get no record",
        "space (longer side): median 12,346 km, half of the boxes 1,234 to 123,457 km",
        "k kept; epsilon not: 10 % of members had to serve again (123,456,789 of 1,234,567,890), since too few",
        "Verified yes: read back, every user and every interval checked; at least 2 records fit",
    ):
        assert part in text


def test_quiet_parts_are_left_out() -> None:
    calm = {
        **SUMMARY,
        "rows_dropped": {},
        "format": None,
        "duplicates": 0,
        "columns_dropped": [],
        "relaxations": 0,
    }
    text = text_of({**calm, "suppressed_samples": 0}, Promise(2, None, None))
    assert "Suppressed  nothing" in text
    assert "Verified    yes" in text
    assert "not used" not in text
    assert "repeat another" not in text
    assert "Relaxed" not in text
    assert "whoever knows all places and times" in text


def test_new_names_in_the_summary() -> None:
    renamed = {**SUMMARY, "rename_every": "6h", "read_share": 0.173}
    timed, whole = (
        " ".join(text_of(renamed, promise).split())
        for promise in (Promise(2, 30, 30), Promise(2, None, None))
    )
    assert (
        "Promise in every period on its own, whoever followed a person for 30 min finds at least 2" in timed
    )
    assert (
        "Promise whoever knows all places and times of a person in a period finds at least 2 records that fit; nothing"
        " is promised to whoever knows something of two periods In"
    ) in whole
    for text in (timed, whole):
        assert (
            "lead to parts with at most 17.3 % of the person's samples on average, instead of all of them"
            in text
        )


def test_a_period_in_which_nobody_is_cut_makes_no_parts() -> None:
    text = text_of({**SUMMARY, "rename_every": "100000d", "read_share": 1.0}, Promise(2, 30, 30))
    assert "period" not in text
    assert "parts of" not in text


def test_a_release_that_was_not_verified_says_so() -> None:
    text = text_of({**SUMMARY, "verified": False}, Promise(2, 30, 30))
    assert "Verified    no, as asked (--no-verify)" in text
    assert "every interval checked" not in text


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0, "0"),
        (0.0123, "0.012"),
        (0.5, "0.5"),
        (1, "1"),
        (14.06, "14.1"),
        (99.94, "99.9"),
        (12345.6, "12,346"),
    ],
)
def test_short_numbers(number: float, text: str) -> None:
    assert short(number) == text


def test_durations() -> None:
    assert [duration(seconds) for seconds in (5, 60, 90, 1800, 3600, 5400)] == [
        "5 s", "1 min", "90 s", "30 min", "1 h", "90 min",
    ]  # fmt: skip


# ---- through the command -----------------------------------------------------------------------------------------


def test_a_run_that_suppresses_relaxes_and_drops(tmp_path: Path) -> None:
    """Four who are always there, three who come once and alone, rows without a time, a column too many."""
    rows = [
        (f"u{user}", str(1_700_001_000 + 1800 * turn + 60 * user)) for user in range(4) for turn in range(12)
    ]
    rows += [(f"c{comer}", str(1_700_001_000 + 86_400 * (comer + 2))) for comer in range(3)]
    rows += [("u0", ""), ("u1", "")]
    table = pa.table(
        {
            "user": [user for user, _ in rows],
            "time": [second for _, second in rows],
            "x": [500.0 * (row % 7) for row in range(len(rows))],
            "y": [500.0 * (row % 5) for row in range(len(rows))],
            "salary": [1] * len(rows),
        }
    )
    done = anonymize(write(table, tmp_path / "events.csv"), tmp_path / "out.parquet")
    assert done.code == 0
    assert done.err.startswith("Warning: 2 of 53 rows of the events were not used (2 missing time).\n")
    assert "Warning: Guarantee 2 is weakened: k kept; epsilon not: " in done.err
    assert "Warning: Names never change: whoever finds somebody's record" in done.err
    assert done.err.count("\n") == 3
    for part in (
        "7 users, 51 samples from 53 rows",
        "2 rows not used: missing time",
        "columns not used: salary",
        "4 records with",
        "3 samples (5.9 %)",
        "all samples of 3 users, who get no record",
        "of members had to serve again",
    ):
        assert part in " ".join(done.out.split())
    told, _, _ = done.out.partition("Next")  # what follows has paths as they were typed
    assert max(len(line) for line in told.splitlines()) <= 80
    assert "\x1b" not in done.out


def test_rare_presence_is_told(tmp_path: Path) -> None:
    done = anonymize(write(city(150), tmp_path / "events.parquet"), tmp_path / "out.parquet", k=3)
    assert "of users who came and went unlike anybody else" in done.out


def test_rows_that_cannot_be_used_are_a_warning(tmp_path: Path) -> None:
    events = write(in_metres(), tmp_path / "events.csv")
    events.write_text(events.read_text() + f",1700000000,{SECRET_X},1\n{CANARY},never,1,1\n")
    done = anonymize(events, tmp_path / "out.csv")
    assert done.code == 0
    assert done.err == (
        "Warning: 2 of 98 rows of the events were not used (1 missing user, 1 unparsable time).\n"
    )
    assert anonymize(events, tmp_path / "part.csv", "--bbox", "0,0,3000,3000").err.count("were not used") == 1


def test_warnings_go_to_stderr(tmp_path: Path) -> None:
    (tmp_path / "left_out.txt").write_text("u00\nnobody\n")
    events = write(in_metres(), tmp_path / "events.csv")
    done = anonymize(events, tmp_path / "out.csv", "--exclude-users", tmp_path / "left_out.txt")
    assert done.code == 0
    assert done.err == "Warning: 1 of 2 users to exclude (50 %) do not occur in the events.\n"
    assert "Warning" not in done.out


# ---- progress ----------------------------------------------------------------------------------------------------


class Screen(io.StringIO):
    """A terminal that remembers."""

    def isatty(self) -> bool:
        return True


def stages(progress: TerminalProgress, pause: float) -> None:
    with progress:
        progress.stage("reading")
        progress.stage("hiding", 3)
        for _ in range(3):
            time.sleep(pause)
            progress.advance()


def test_quick_stages_are_not_mentioned(capsys: pytest.CaptureFixture[str]) -> None:
    stages(TerminalProgress(), 0.0)
    time.sleep(0.05)
    assert capsys.readouterr() == ("", "")


def test_slow_stages_are_lines(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress_bars, "_SECONDS_OF_SILENCE", 0.05)
    monkeypatch.setattr(progress_bars, "_SECONDS_BETWEEN_LINES", 0.15)
    stages(TerminalProgress(), 0.3)
    out, err = capsys.readouterr()
    assert out == ""
    assert err.splitlines()[0] == "hiding ..."
    assert err.splitlines()[1].startswith("hiding: 1 of 3, about ")
    assert len(err.splitlines()) == 4


def test_a_terminal_gets_bars_that_go_away() -> None:
    screen = Screen()
    with contextlib.redirect_stderr(screen):
        stages(TerminalProgress(), 0.15)
    drawn = screen.getvalue()
    assert "hiding" in drawn
    assert "2 of 3" in drawn
    assert drawn.rstrip("\r\n").endswith("\x1b[2K")  # the last thing is to clear the line


def test_nobody_watches() -> None:
    with contextlib.redirect_stderr(io.StringIO()) as gone:
        gone.close()
        say("still fine")


def test_spaced_reuse_is_said() -> None:
    words = promise_in_words(Promise(2, 30, 30), Grid(), once=False)
    assert words.endswith("for at most 1 h at a time, but may do so again later")


def test_an_epsilon_that_does_not_divide_tau_is_not_made_to_look_smaller() -> None:
    """tau 5 min, epsilon 2 h: the window is 4 h long."""
    assert "at most 4 h" in promise_in_words(Promise(2, 5, 120), Grid())
