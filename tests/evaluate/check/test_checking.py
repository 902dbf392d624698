"""``shoal.check``: the figures are those of a release, problems have counts and remedies, and nothing raw is told."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import shoal
from shoal.core.options import ReadingOptions
from shoal.core.promise import Grid
from shoal.errors import called_by_command
from shoal.evaluate.check.checking import CheckedEvents, check
from shoal.evaluate.check.time_formats import fitting_patterns
from shoal.reading import read_events
from support.dirty_events import FAULTS, N_GOOD, RAW, dirty_text


@pytest.fixture(autouse=True)
def _by_command() -> Iterator[None]:
    """What is found, as the command tells it; tests/end_to_end/test_words_of_python.py has the words of Python."""
    with called_by_command():
        yield


@pytest.fixture
def dirty(tmp_path: Path) -> Path:
    path = tmp_path / "dirty.csv"
    path.write_text(dirty_text())
    return path


def told(found: CheckedEvents, words: str) -> Any:
    """The only problem with some words in it."""
    (problem,) = (each for each in found.problems if words in each.what)
    return problem


def events(n_users: int = 120, **columns: Any) -> pd.DataFrame:
    """Rows of good events in two days."""
    rows = np.arange(n_users * 20)
    frame = pd.DataFrame(
        {
            "user": [f"user-{row % n_users}" for row in rows],
            "time": [f"2024-03-{11 + row % 2}T{row % 24:02d}:15:00Z" for row in rows],
            "lat": 5.3 + rows % 97 / 1000,
            "lon": -4.0 + rows % 89 / 1000,
        }
    )
    return frame.assign(**columns)


# ---- the same as a release ----------------------------------------------------------------------------------------


def test_counts_are_those_of_a_release(dirty: Path) -> None:
    found = check(dirty)
    published = shoal.anonymize(
        dirty, k=2, tau="30min", epsilon="30min", verify=False, end="2024-03-11T02:00"
    )
    limited = check(dirty, end="2024-03-11T02:00")
    summary = published.summary
    assert (limited.rows, limited.samples, limited.users) == (
        summary["rows"],
        summary["samples"],
        summary["users"],
    )
    assert (limited.dropped, limited.duplicates) == (summary["rows_dropped"], summary["duplicates"])
    assert (limited.timezone, limited.timezone_from) == (summary["timezone"], summary["timezone_from"])
    assert limited.columns_not_used == summary["columns_dropped"] == ["Remark"]
    assert limited.blank_lines == summary["blank_lines"] == 1
    assert found.dropped == FAULTS
    assert found.rows == found.samples + found.duplicates + sum(FAULTS.values())


def test_a_grid_and_filters_count_as_in_reading(dirty: Path) -> None:
    options: dict[str, Any] = {"missing_user": "unknown", "min_days_active": 2, "timezone": "Africa/Abidjan"}
    found = check(dirty, cell="1km", step="10min", **options)
    read = read_events(dirty, grid=Grid.parse("1km", "10min"), options=ReadingOptions(**options))
    assert (found.samples, found.users) == (len(read.store), read.store.n_users)
    assert (found.dropped, found.duplicates) == (read.read_summary.dropped, read.read_summary.duplicates)
    assert found.timezone == "Africa/Abidjan"


# ---- what is found ------------------------------------------------------------------------------------------------


def test_dirty_events(dirty: Path) -> None:
    found = check(dirty)
    assert found.usable
    assert found.columns == {"user": "msisdn", "time": "event_time", "lat": "lat", "lon": "lon"}
    assert (found.first_day, found.last_day, found.users) == ("2024-03-11", "2024-03-13", 132)
    assert found.outliers == (3, 4, 1)
    assert 12 < found.samples_a_day < 14
    assert found.repeated >= 5 + 24 * 60 + 29
    assert told(found, "have no user").rows == 7
    assert "--from 2024-03-11 --to 2024-03-14" in told(found, "years away").remedy
    assert told(found, "years away").rows == 3
    assert "--bbox W,S,E,N" in told(found, "3 degrees away").remedy
    assert "--missing-user 'NULL,NA,NaN,None,-,unknown'" in told(found, "nobody?").remedy
    assert told(found, "nobody?").rows == 30
    assert "--exclude-users FILE" in told(found, "machines?").remedy
    assert "--timezone" in told(found, "without a zone").remedy
    assert "written like aaaa" in told(found, "times that cannot be read").what


def test_the_commands_name_what_is_needed(dirty: Path) -> None:
    plan, anonymize = check(dirty, cell="200m").next
    options = "--cell 200m --timezone UTC --from 2024-03-11 --to 2024-03-14 --missing-user NULL,NA,NaN,None,-,unknown"
    assert plan == f"shoal plan {dirty} {options}"
    assert anonymize == (
        f"shoal anonymize {dirty} -o published.parquet --k 2 --tau 30min --epsilon 30min --rename-every 1d {options}"
    )
    again = check(dirty, timezone="Africa/Abidjan", bbox="-5,4,-3,6", columns={"user": "msisdn"}).next[0]
    assert "--user-column msisdn" in again
    assert "--timezone Africa/Abidjan" in again
    assert "--bbox ..." in again  # a place


def test_good_events_have_no_problems() -> None:
    found = check(events())
    assert (found.problems, found.next) == ([], [])  # a table has no name on a command line
    assert found.usable
    assert found.outliers == (0, 0, 0)
    assert found.timezone_from == "written"
    assert found.samples_a_day == pytest.approx(10, rel=0.1)


def test_few_users_and_a_short_time() -> None:
    few = check(events(3, time=[f"2024-03-11T12:{minute:02d}:00Z" for minute in range(60)]))
    assert told(few, "3 users only")
    assert told(few, "1 hour only")
    alone = check(events(1))
    assert not alone.usable
    assert told(alone, "one user only")
    assert alone.next == []


# ---- what cannot be used ------------------------------------------------------------------------------------------


def test_columns_that_are_missing(tmp_path: Path) -> None:
    path = tmp_path / "french.csv"
    path.write_text(dirty_text("abonne;horodatage;latitude_deg;longitude_deg;Remark"))
    found = check(path)
    assert not found.usable
    assert found.columns_not_used == ["abonne", "horodatage", "latitude_deg", "longitude_deg", "Remark"]
    assert found.next == [
        f"shoal check {path} --user-column abonne --time-column horodatage --lat-column latitude_deg"
        " --lon-column longitude_deg"
    ]
    columns = {"user": "abonne", "time": "horodatage", "lat": "latitude_deg", "lon": "longitude_deg"}
    assert check(path, columns=columns).dropped == FAULTS


def test_a_first_row_is_not_shown_for_names(tmp_path: Path) -> None:
    path = tmp_path / "bare.csv"
    path.write_text(dirty_text("").lstrip("\n"))
    found = check(path)
    assert not found.usable
    assert found.columns_not_used == [f"column {place}" for place in range(1, 6)]
    assert not RAW.search(json.dumps(found.to_dict()))


def test_times_that_need_a_format() -> None:
    either = check(events(time=[f"0{1 + row % 9}/05/2024 12:30" for row in range(2400)]))
    assert not either.usable
    assert told(either, "dd/mm/yyyy or mm/dd/yyyy")
    months = [f"{10 + row % 9}-Mar-24 12:3{row % 9}" for row in range(2400)]
    found = check(events(time=months))
    assert found.dropped == {"unparsable time": 2400}
    assert "written like 99-aaa-99 99:99" in found.problems[0].what
    assert "--time-format '%d-%b-%y %H:%M'" in found.problems[0].remedy
    assert [row.read_as for row in found.first_rows] == ["not used: unparsable time"] * 3
    assert check(events(time=months), time_format="%d-%b-%y %H:%M").usable
    mixed = [month if row % 5 else "2024-03-11 12:00" for row, month in enumerate(months)]
    assert "several ways" in told(check(events(time=mixed)), "cannot be read").remedy


@pytest.mark.parametrize(
    ("times", "expected"),
    [
        (["17.05.24 12:30", "01.02.24 00:00"], ["%d.%m.%y %H:%M"]),
        (["05/17/2024 01:30 PM"], ["%m/%d/%Y %I:%M %p"]),
        (["03/04/2024"], ["%d/%m/%Y", "%m/%d/%Y"]),
        (["20240517 123000"], ["%Y%m%d %H%M%S"]),
        (["soon", "2024"], []),
        ([], []),
    ],
)
def test_patterns(times: list[str], expected: list[str]) -> None:
    assert fitting_patterns(times) == expected


def test_several_columns_for_one_role(tmp_path: Path) -> None:
    path = tmp_path / "two.csv"
    events().assign(msisdn=1).rename(columns={"user": "uid"}).to_csv(path, index=False)
    assert check(path).next == [f"shoal check {path} --user-column {name}" for name in ("uid", "msisdn")]
    sites = tmp_path / "sites.csv"
    events()[["user", "time"]].assign(site="a").to_csv(sites, index=False)
    assert "with --sites" in check(sites).problems[0].remedy


def test_degrees_under_the_names_of_metres(tmp_path: Path) -> None:
    path = tmp_path / "xy.csv"
    events().rename(columns={"lat": "y", "lon": "x"}).to_csv(path, index=False)
    found = check(path)
    assert told(found, "look like degrees")
    assert found.next[0] == f"shoal plan {path} --lon-column x --lat-column y"


def test_excluded_users_need_not_be_in_a_sample(dirty: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shoal.reading.sampling.WHOLE_BYTES", 1 << 12)
    monkeypatch.setattr("shoal.reading.sampling._SMALLEST_PIECE", 1 << 9)
    found = check(dirty, exclude_users=["nowhere"])
    assert found.parts == 8
    assert found.usable
    whole = check(dirty, exclude_users=["nowhere"], all_rows=True)
    assert "found none of its 1 identifier" in whole.problems[0].what


def written(
    tmp_path: Path, times: list[str], columns: tuple[str, ...] = ("user", "time", "lat", "lon")
) -> Path:
    """A file with a row for each of some times, of sixty people in turn."""
    rows = [f"u{row % 60},{time},{48 + row % 7 / 100},{2 + row % 11 / 100}" for row, time in enumerate(times)]
    path = tmp_path / "written.csv"
    path.write_text("\n".join([",".join(columns), *rows]))
    return path


AMERICAN = [f"03/{9 + row % 3:02d}/2024 {1 + row % 12:02d}:00 PM" for row in range(240)]


def test_a_choice_of_patterns_is_left_to_people(tmp_path: Path) -> None:
    path = written(tmp_path, AMERICAN)
    patterns = ("%d/%m/%Y %I:%M %p", "%m/%d/%Y %I:%M %p")
    assert check(path).next == [f"shoal check {path} --time-format '{pattern}'" for pattern in patterns]
    for given, other in (patterns, patterns[::-1]):
        found = check(path, time_format=given)
        assert told(found, f"Times fit '{other}' as well as '{given}'")
    days_beyond_twelve = written(tmp_path, [time.replace("03/09", "03/29") for time in AMERICAN])
    sure = check(days_beyond_twelve, time_format=patterns[1])
    assert not any("as well as" in each.what for each in sure.problems)


def test_a_few_times_that_cannot_be_read_need_no_pattern(tmp_path: Path) -> None:
    times = ["n/a" if row < 5 else f"{9 + row % 3:02d}.03.2024 12:{row % 60:02d}:00" for row in range(240)]
    (problem,) = [each for each in check(written(tmp_path, times)).problems if "cannot be read" in each.what]
    assert problem.remedy == "They are left out; mend them in the file if they matter."
    (problem,) = [each for each in check(written(tmp_path, ["soon"] * 240)).problems if "read" in each.what]
    assert "--time-format" in problem.remedy


def test_dates_without_a_clock_lead_to_whole_days(tmp_path: Path) -> None:
    path = written(tmp_path, [f"2024-03-{9 + row % 3:02d}" for row in range(240)])
    plan, anonymize = check(path).next
    assert "--taus 1d,2d --epsilons 1d --step 1d" in plan
    assert "--tau 1d --epsilon 1d --rename-every 1d --step 1d" in anonymize
    for step, tau in (("7min", "35min"), ("45min", "45min"), ("2h", "2h"), ("10min", "30min")):
        assert f"--tau {tau} --epsilon {tau} " in check(path, step=step).next[1]


def test_numbers_that_count_days_are_told(tmp_path: Path) -> None:
    assert told(check(written(tmp_path, [f"{45_362 + row / 100}" for row in range(240)])), "in 1970")
    seconds = check(written(tmp_path, [f"{1_710_000_000 + row}" for row in range(240)]))
    assert not any("1970" in each.what for each in seconds.problems)


def test_the_next_look_names_every_column_and_is_another(tmp_path: Path) -> None:
    path = written(tmp_path, ["2024-03-09T12:00:00Z"] * 60, ("wer", "zeit", "b", "l"))
    (again,) = check(path).next
    options = "--user-column NAME --time-column zeit --lat-column NAME --lon-column NAME"
    assert again == f"shoal check {path} {options}"
    columns = dict.fromkeys(("user", "lat", "lon"), "NAME")
    assert check(path, columns={**columns, "time": "zeit"}).next == []


def test_a_file_is_no_option(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    written(tmp_path, AMERICAN).rename("-x.csv")
    assert check("-x.csv").next[0].startswith("shoal check ./-x.csv ")


def test_swapped_coordinates() -> None:
    swapped = check(events(lat=121.5, lon=31.2))
    assert not swapped.usable
    assert "--lat-column lon --lon-column lat" in swapped.problems[0].remedy


def test_what_cannot_be_opened_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(shoal.InputError, match="No file or folder"):
        check(tmp_path / "nowhere.csv")
    with pytest.raises(TypeError, match="unexpected keyword argument 'k'"):
        check(events(), k=2)  # type: ignore[call-arg]


# ---- nothing raw --------------------------------------------------------------------------------------------------


def test_nothing_raw(dirty: Path) -> None:
    found = check(dirty)
    assert (
        repr(found)
        == "<CheckedEvents: usable, 8,140 rows of 132 users, 10 problems; .to_dict() has the figures>"
    )
    content = json.dumps(found.to_dict()).replace(str(dirty), "")
    assert not RAW.search(content)
    assert found.rows == N_GOOD + 2940


def test_samples_of_large_events(dirty: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shoal.reading.sampling.WHOLE_BYTES", 1 << 17)
    monkeypatch.setattr("shoal.reading.sampling._SMALLEST_PIECE", 1 << 10)
    part, whole = check(dirty), check(dirty, all_rows=True)
    assert (part.parts, whole.parts) == (8, 0)
    assert part.rows < 0.6 * whole.rows
    assert part.rows_in_all == pytest.approx(whole.rows, abs=5)  # lines, blank ones and all
    assert part.users_in_all == pytest.approx(whole.users, rel=0.5)  # rows are by user
    assert part.columns == whole.columns
    assert part.first_rows == whole.first_rows
    assert (part.first_day, part.last_day) == (whole.first_day, whole.last_day)
    assert part.samples_a_day == pytest.approx(whole.samples_a_day, rel=0.1)


def test_samples_a_day_of_rows_in_the_order_of_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A piece then has a little of everybody."""
    path = tmp_path / "by_time.csv"
    frame = events(
        time=[f"2024-03-{10 + row // 200}T{row // 9 % 24:02d}:{row % 60:02d}:00Z" for row in range(2400)]
    )
    frame.to_csv(path, index=False)
    whole = check(path)
    monkeypatch.setattr("shoal.reading.sampling.WHOLE_BYTES", 1 << 15)
    monkeypatch.setattr("shoal.reading.sampling._SMALLEST_PIECE", 1 << 10)
    part = check(path)
    assert (part.parts, part.rows < 0.6 * whole.rows) == (8, True)
    assert part.samples_a_day == pytest.approx(whole.samples_a_day, rel=0.25)
    assert part.users_in_all is None  # nobody knows whether there are others
    assert part.users == whole.users


def test_blocks_do_not_matter(dirty: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """But for how the times are written that cannot be read, which is told of the first block."""
    whole = check(dirty)
    monkeypatch.setattr("shoal.reading.csv_files._BLOCK_BYTES", 1 << 14)
    parts = check(dirty)
    assert parts._replace(problems=[]) == whole._replace(problems=[])
    assert [problem.rows for problem in parts.problems] == [problem.rows for problem in whole.problems]
