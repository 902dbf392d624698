"""One contract for every format: the same events in, the same samples out, and whatever is left out is counted."""

from __future__ import annotations

import gzip
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pytest

from reading.formats.writers import WRITERS, Event, PlanarEvent, Written, canonical_events, home_of
from reading.refusals import refusal
from shoal.core.options import FORMAT_NAMES as OFFERED
from shoal.core.options import ReadingOptions
from shoal.core.promise import Grid
from shoal.reading import FORMAT_NAMES, Events, read_events
from shoal.reading.formats.registry import FORMATS, recognise

GRID = Grid(cell_m=100.0, step_s=1)

# The writers' reasons in the reader's words, with how many rows of ours each of theirs is: a session is two, a trip
# one per position; what is no track point or no line at all is no row.
REASONS: dict[str, tuple[str, int]] = {
    "unknown antenna": ("unknown site", 1),
    "unknown subprefecture": ("unknown site", 1),
    "not in the table": ("unknown site", 1),
    "masked": ("missing position", 1),
    "0 0": ("position 0/0", 2),
    "0/0": ("position 0/0", 1),
    "empty polyline": ("missing position", 1),
    "missing data": ("missing time", 3),
    "no time": ("missing time", 1),
    "waypoint": ("", 0),
    "route point": ("", 0),
    "empty line": ("", 0),
}
# Of the blank rows of Brightkite one lacks the place, the other the time as well.
BLANK = {"missing position": 1, "missing time": 1}


class Case(NamedTuple):
    """What a writer's layout is called here."""

    format: str
    names_users: bool = True


CASES = {
    "d4d-ivory-set2": Case("d4d-ivory-coast"),
    "d4d-ivory-set2-folder": Case("d4d-ivory-coast"),
    "d4d-ivory-set3": Case("d4d-ivory-coast"),
    "d4d-senegal-set2": Case("d4d-senegal"),
    "d4d-senegal-set3": Case("d4d-senegal"),
    "yjmob100k": Case("yjmob"),
    "geolife": Case("geolife"),
    "tdrive": Case("t-drive"),
    "porto": Case("porto"),
    "snap-gowalla": Case("snap"),
    "snap-brightkite": Case("snap"),
    "foursquare-tsmc2014": Case("foursquare"),
    "cabspotting": Case("cabspotting"),
    "shanghai-telecom": Case("shanghai-telecom"),
    "shanghai-telecom-spreadsheet": Case("shanghai-telecom"),
    "mpat-shenzhen": Case("mpat"),
    "mpat-shenzhen-labelled": Case("mpat"),
    "gpx": Case(
        "gpx", names_users=False
    ),  # the writer takes names of tracks for users, which they seldom are
    "sessions": Case("sessions"),
}


def tracks(events: Events) -> dict[str, set[tuple[int, int, int]]]:
    """Samples by user."""
    found: dict[str, set[tuple[int, int, int]]] = defaultdict(set)
    samples = events.samples
    for user, *sample in zip(samples.user, samples.t, samples.x, samples.y, strict=True):
        found[samples.users[user]].add(tuple(map(int, sample)))
    return dict(found)


def as_table(written: Written) -> pa.Table:
    """What a perfect reader makes of a layout, as a plain table; a session is a sample at either end."""
    expected: list[Any] = list(written.expected)
    if written.ends is not None:
        expected += [e._replace(second=end) for e, end in zip(written.expected, written.ends, strict=True)]
    names = ["user", "time", "lat", "lon"] if written.variant == "degrees" else ["user", "time", "x", "y"]
    assert all(isinstance(e, Event if written.variant == "degrees" else PlanarEvent) for e in expected)
    return pa.table(
        dict(zip(names, map(list, zip(*expected, strict=True)), strict=True)),
    )


def counted(written: Written) -> dict[str, int]:
    """The rows that a writer wants left out, in the reader's words."""
    counts: dict[str, int] = defaultdict(int)
    for reason, rows in written.dropped.items():
        ours = BLANK if reason == "blank" else {REASONS[reason][0]: rows * REASONS[reason][1]}
        for name, number in ours.items():
            counts[name] += number
    return {name: number for name, number in counts.items() if number}


def write(name: str, folder: Path, seed: int = 1) -> Written:
    return WRITERS[name](folder, canonical_events(seed, 3, 40, home_of(name)))


def test_every_layout_and_every_format_has_its_case() -> None:
    assert CASES.keys() == WRITERS.keys()
    assert {case.format for case in CASES.values()} == {known.name for known in FORMATS}
    assert FORMAT_NAMES == OFFERED


@pytest.mark.parametrize("chosen", [False, True], ids=["recognised", "named"])
@pytest.mark.parametrize("name", sorted(CASES))
def test_same_events_in_same_samples_out(name: str, chosen: bool, tmp_path: Path) -> None:
    written, case = write(name, tmp_path), CASES[name]
    found = read_events(
        written.path, grid=GRID, options=ReadingOptions(format=case.format if chosen else None)
    )
    wanted = read_events(as_table(written), grid=GRID, projection=found.projection)
    ours, theirs = tracks(found), tracks(wanted)
    if case.names_users:
        assert ours == theirs
    assert sorted(map(sorted, ours.values())) == sorted(map(sorted, theirs.values()))
    assert found.read_summary.dropped == counted(written)
    assert found.read_summary.format == case.format
    assert found.timezone == written.zone


def as_other_programs_save(raw: bytes) -> bytes:
    """With a mark of UTF-8 in front, CRLF, and no line break after the last line."""
    return b"\xef\xbb\xbf" + raw.replace(b"\r\n", b"\n").rstrip(b"\n").replace(b"\n", b"\r\n")


def as_hurried_people_do(raw: bytes) -> bytes:
    """With blank lines at the end."""
    return raw + b"\n\n\n"


@pytest.mark.parametrize("save", [as_other_programs_save, as_hurried_people_do])
@pytest.mark.parametrize("name", sorted(CASES))
def test_ends_of_lines_and_marks_do_not_matter(
    name: str, save: Callable[[bytes], bytes], tmp_path: Path
) -> None:
    written = write(name, tmp_path)
    as_is = read_events(written.path, grid=GRID)
    for path in (path for path in tmp_path.rglob("*") if path.is_file()):
        packed = path.suffix == ".gz"
        raw = save(gzip.decompress(path.read_bytes()) if packed else path.read_bytes())
        path.write_bytes(gzip.compress(raw) if packed else raw)
    (tmp_path / ".DS_Store").write_bytes(b"\0\1")
    saved = read_events(written.path, grid=GRID)
    assert tracks(saved) == tracks(as_is)
    assert saved.read_summary.dropped == as_is.read_summary.dropped


@pytest.mark.parametrize("name", sorted(CASES))
def test_nothing_is_lost_silently(name: str, tmp_path: Path) -> None:
    read_summary = (found := read_events(write(name, tmp_path).path, grid=GRID)).read_summary
    assert read_summary.rows_read == len(found.samples) + read_summary.duplicates + sum(
        read_summary.dropped.values()
    )


@pytest.mark.parametrize("name", sorted(CASES))
def test_one_format_only_is_recognised(name: str, tmp_path: Path) -> None:
    recognised = recognise(write(name, tmp_path).path)  # which refuses where there are several
    assert recognised is not None
    assert recognised.name == CASES[name].format


@pytest.mark.parametrize("name", sorted(name for name in CASES if name.startswith("d4d")))
def test_sites_beside_the_data_or_given(name: str, tmp_path: Path) -> None:
    written = write(name, tmp_path / "data")
    assert written.sites is not None
    (tmp_path / "elsewhere").mkdir()
    elsewhere = written.sites.rename(tmp_path / "elsewhere" / written.sites.name)
    assert "--sites" in refusal(lambda: read_events(written.path, grid=GRID), ())
    given = read_events(written.path, grid=GRID, options=ReadingOptions(sites=elsewhere))
    assert given.read_summary.dropped == counted(written)


@pytest.mark.parametrize("name", sorted(CASES))
def test_small_batches_and_threads_change_nothing(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(name, tmp_path).path
    whole = read_events(path, grid=GRID, threads=1)
    monkeypatch.setattr("shoal.reading.csv_files._BLOCK_BYTES", 1 << 11)
    monkeypatch.setattr("shoal.reading.source.BATCH_ROWS", 7)
    monkeypatch.setattr("shoal.reading.formats.gpx._PIECE_BYTES", 50)
    pieces = read_events(path, grid=GRID, threads=3)
    assert tracks(pieces) == tracks(whole)
    assert (pieces.read_summary.dropped, pieces.read_summary.rows_read) == (
        whole.read_summary.dropped,
        whole.read_summary.rows_read,
    )


@pytest.mark.parametrize("name", sorted(CASES))
def test_what_holds_no_events_is_refused(name: str, tmp_path: Path) -> None:
    for path in write(name, tmp_path).not_events:
        for chosen in (None, CASES[name].format):
            refusal(
                lambda path=path, chosen=chosen: read_events(
                    path, grid=GRID, options=ReadingOptions(format=chosen)
                ),
                (),
            )


@pytest.mark.parametrize("name", sorted(CASES))
def test_only_clocks_without_a_zone_listen_to_timezone(name: str, tmp_path: Path) -> None:
    written = write(name, tmp_path)
    as_is, tokyo = (
        read_events(written.path, grid=GRID, options=ReadingOptions(timezone=zone))
        for zone in (None, "Asia/Tokyo")
    )
    moved = np.unique(as_is.samples.t - tokyo.samples.t).tolist()
    local = name.startswith(("d4d", "tdrive", "shanghai", "mpat", "yjmob"))
    assert moved == [(1 if written.zone == "Asia/Shanghai" else 9) * 3600 if local else 0]


HEADERS = {
    "tdrive": "user,time,lon,lat",
    "mpat-shenzhen": "user,time,lon,lat",
    "snap-gowalla": "user\ttime\tlat\tlon\tplace",
    "d4d-ivory-set2": "user\ttime\tsite",
    "d4d-senegal-set2": "user,time,site",
}


@pytest.mark.parametrize("name", sorted(HEADERS))
def test_a_table_with_a_header_is_a_table(name: str, tmp_path: Path) -> None:
    """Rows like those of a format below a header stay a plain table: no zone of theirs, no row lost."""
    written = write(name, tmp_path)
    path = min(written.path.glob("*.txt")) if written.path.is_dir() else written.path
    raw = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    plain = path.with_name(path.name.removesuffix(".gz"))
    plain.write_bytes(f"{HEADERS[name]}\n".encode() + raw)
    assert recognise(plain) is None
