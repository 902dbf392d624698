"""The whole reader: against the oracle, between formats, under shuffles and threads."""

from __future__ import annotations

import gzip
import io
import os
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import shoal.reading
from reading import oracle
from shoal.core.options import ReadingOptions
from shoal.core.promise import Grid
from shoal.errors import InputError
from shoal.reading import read_events, source

USERS = (
    "alice", "bob", " bob ", "Zoé", "12", "12.0", "0012", "", "  ", "a,b", 'say "hi"', "-3", "12.50", "NULL", "na",
    " NaN ", "none", "-", "nullo", "n/a",
)  # fmt: skip
TIMES = (
    "2024-03-31T01:30:00", "2024-03-31 02:30", "2024-03-31T03:00:00.999", "2024-10-27 02:30:00", "2024-10-27",
    "2024-03-31T01:30:00Z", "2024-03-31 02:30:10.5+02:00", "2024-03-31T02:30-0330", "2024-03-31T02:30:59 UTC",
    "2024-02-30", "2024-13-01", "2024-03-31T24:00", "2024-03-31T10:61", "yesterday", "", " 2024-03-31 ",
    "0000-01-01", "1711848600", "1711848600.75", "1711848600000", "-5", "1e9", "99999999999999999999", "nan",
    "2024-03-31T10:00:", "2024-03-31T10:00.5", "2024-03-31T10:00:00.", "9999-12-31T23:59:59-10:00",
    "2024-3-1", "2024-03-31Z", "31.03.2024 02:30", "1.3.2024", "31.02.2024", "2024/03/31 2:30:00.5", "2024.3.31",
    "31.03.2024 24:00", "31.03.2024T10:00", "31.03-2024", "031.3.2024", "1711848600,75", "1,711", "17,5",
    "20240331023000",
)  # fmt: skip
CLOCK_NUMBERS = (
    "20240331023000", "20240331033000", "20241027023000", "20240331013000", "20240101000000", "20240230023000",
    "20240331246000", "1711848600", "soon",
)  # fmt: skip
DAYS_FIRST = (
    "31/03/2024 02:30",
    "1/4/2024",
    "27-10-2024 02:30:00",
    "5/5/2024 7:05",
    "31/02/2024",
    "12/31/24",
)
MONTHS_FIRST = (
    "03/31/2024 02:30",
    "1/4/2024",
    "10-27-2024 02:30:00",
    "5/5/2024 7:05",
    "02/31/2024",
    "3/4/2024 9:5",
)
DEGREES = (
    "48.85", "48.8501", "2.35", "-0.0", "0", "90", "-90.01", "180", "-179.999", "", "nan", "inf", "north",
    " 7.5 ", "1e1", "48,85", "12.",
)  # fmt: skip
METRES = (
    "0", "-0.5", "99.99", "100", "-100", "1e12", "650000", "6860000.5", "", "x", "inf", "214748364700", "1,234",
    "1,234,567",
)  # fmt: skip
COMMAS = (*METRES, "650000,5", "0,500", "-12,345")


def table_text(rng: random.Random, rows: int, position: tuple[str, str], values: tuple[str, ...]) -> str:
    """A CSV text of random good and bad rows, with times that are written in many ways or in one."""
    out = io.StringIO()
    columns = ["user", "time", *position, "note"]
    times = rng.choice((TIMES, TIMES, CLOCK_NUMBERS, TIMES + DAYS_FIRST, TIMES + MONTHS_FIRST))
    rng.shuffle(columns)
    out.write(",".join(columns) + "\n")
    for _ in range(rows):
        row = {"user": rng.choice(USERS), "time": rng.choice(times), "note": rng.choice(("", "x", "a, b"))}
        row |= {role: rng.choice(values) for role in position}
        fields = [
            '"' + row[name].replace('"', '""') + '"' if set(row[name]) & set(',"') else row[name]
            for name in columns
        ]
        if rng.random() < 0.05:
            fields = fields[: rng.choice((2, 3))] if rng.random() < 0.5 else [*fields, "extra"]
        out.write(",".join(fields) + "\n" * rng.choice((1, 1, 1, 1, 1, 2)))
    return out.getvalue()


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize("kind", ["degrees", "metres"])
def test_agrees_with_the_oracle(tmp_path: Path, seed: int, kind: str) -> None:
    rng = random.Random(f"{seed}-{kind}")
    position, values = (("lat", "lon"), DEGREES) if kind == "degrees" else (("x", "y"), METRES)
    if kind == "metres" and rng.random() < 0.5:
        values = COMMAS
    text = table_text(rng, rng.choice((60, 200)), position, values)
    zone = rng.choice(("UTC", "Europe/Paris", "America/St_Johns", "Asia/Kathmandu"))
    period = rng.choice(((None, None), ("2024-03-31", None), ("2001-01-01T12:00:30Z", "2024-10-27T02:30")))
    exclude = rng.choice(((), ("bob", "12")))
    grid = Grid(cell_m=rng.choice((1.0, 100.0, 2500.0)), step_s=rng.choice((1, 60, 3600)))
    path = tmp_path / "events.csv"
    path.write_text(text, encoding="utf-8", newline="")
    start, end = period
    options = ReadingOptions(timezone=zone, start=start, end=end, exclude_users=exclude or None)
    refused = None
    try:
        events = read_events(path, grid=grid, options=options)
    except InputError as error:
        refused = str(error)
    if refused is not None:
        assert "time_format" in refused
        with pytest.raises(oracle.DoubtfulDatesError):
            oracle.read(text, grid=grid, zone=zone)
        return
    expected, dropped, duplicates, rows = oracle.read(
        text, grid=grid, zone=zone, start=start, end=end, exclude=exclude, projection=events.projection
    )
    assert oracle.rows_of(events.samples) == expected
    assert events.read_summary.dropped == dropped
    assert (events.read_summary.duplicates, events.read_summary.rows_read) == (duplicates, rows)
    assert events.read_summary.columns_dropped == ["note"]
    assert events.read_summary.blank_lines == text.count("\n\n")
    assert events.samples.user.dtype == np.int32
    assert events.samples.t.dtype == np.int64
    assert events.samples.x.dtype == events.samples.y.dtype == np.int32
    assert set(events.samples.user.tolist()) == set(range(events.samples.n_users))


def clean_rows(n: int = 300, seed: int = 1) -> list[tuple[int, int, float, float]]:
    rng = random.Random(seed)
    return [
        (
            rng.randrange(20),
            1_711_839_000 + rng.randrange(20_000),
            rng.uniform(-23, -22),
            rng.choice((178.5, 179.5, -179.5)),
        )
        for _ in range(n)
    ]


def same(left: shoal.reading.Events, right: shoal.reading.Events) -> bool:
    return (
        left.store.fingerprint() == right.store.fingerprint()
        and left.projection == right.projection
        and left.read_summary.duplicates == right.read_summary.duplicates
        and left.read_summary.rows_read == right.read_summary.rows_read
    )


def csv_text(rows: list[tuple[int, int, float, float]], separator: str = ",", end: str = "\n") -> str:
    return end.join(separator.join(map(str, row)) for row in [("user", "time", "lat", "lon"), *rows]) + end


def variants(tmp_path: Path, rows: list[tuple[int, int, float, float]]) -> dict[str, object]:
    """The same rows in every form that can be read."""
    user, when, lat, lon = zip(*rows, strict=True)
    utc = pd.to_datetime(pd.Series(when), unit="s", utc=True)
    frame = pd.DataFrame({"user": user, "time": utc, "lat": lat, "lon": lon})
    polars = pl.DataFrame({"uid": [str(u) for u in user], "ts": list(when), "latitude": lat, "LNG": lon})
    table = pa.table({"user": user, "time": pa.array(when, pa.int64()), "lat": lat, "lon": lon})
    forms: dict[str, object] = {}
    for name, text in {
        "plain.csv": csv_text(rows),
        "tabs.tsv": csv_text(rows, "\t"),
        "semicolons.csv": csv_text(rows, ";"),
        "bars.csv": csv_text(rows, "|"),
        "windows.csv": csv_text(rows, end="\r\n"),
        "bom.csv": "\ufeff" + csv_text(rows),
        "NO_LAST_END.CSV": csv_text(rows).rstrip("\n"),
        "iso.csv": csv_text([(u, str(utc[i]), a, b) for i, (u, _, a, b) in enumerate(rows)]),
        "millis.csv": csv_text([(u, w * 1000 + 999, a, b) for u, w, a, b in rows]),
        "quoted.csv": csv_text([(f'"{u}"', f'" {w}"', a, f'"{b}"') for u, w, a, b in rows]),
    }.items():
        forms[name] = tmp_path / name
        (tmp_path / name).write_text(text, encoding="utf-8", newline="")
    for name in ("plain.csv", "tabs.tsv"):
        forms[name + ".gz"] = tmp_path / (name + ".gz")
        (tmp_path / (name + ".gz")).write_bytes(gzip.compress((tmp_path / name).read_bytes()))
    for name, content in {
        "ints": table,
        "frame": pa.Table.from_pandas(frame),
        "strings": pa.Table.from_pandas(frame.assign(user=frame["user"].astype(str))),
        "floats": pa.Table.from_pandas(frame.assign(user=frame["user"].astype(float))),
        "naive": pa.Table.from_pandas(frame.assign(time=frame["time"].dt.tz_localize(None))),
        "zoned": pa.Table.from_pandas(frame.assign(time=frame["time"].dt.tz_convert("Asia/Tokyo"))),
        "float_seconds": table.set_column(1, "time", pa.array([w + 0.5 for w in when])),
        "micros": table.set_column(1, "time", pa.array([w * 10**6 for w in when])),
        "nanos": table.set_column(1, "time", pa.array([w * 10**9 for w in when])),
    }.items():
        forms[name + ".parquet"] = tmp_path / (name + ".parquet")
        pq.write_table(content, tmp_path / (name + ".parquet"), row_group_size=77)
    forms |= {
        "pandas": frame,
        "pandas objects": frame.assign(
            user=pd.Series([str(u) for u in user], dtype=object), extra=[object()] * len(rows)
        ),
        "pandas datetimes": frame.assign(time=pd.Series(list(utc.dt.to_pydatetime()), dtype=object)),
        "pandas categories": frame.assign(
            user=frame["user"].astype("category"), lon=frame["lon"].astype("category")
        ),
        "polars": polars,
        "polars categories": polars.with_columns(pl.col("uid").cast(pl.Categorical)),
        "pyarrow": table,
        "pyarrow views": table.set_column(0, "user", pa.array([str(u) for u in user], pa.string_view())),
        "pyarrow large": table.set_column(0, "user", pa.array([f" {u}" for u in user], pa.large_string())),
        "pyarrow decimals": table.set_column(1, "time", table["time"].cast(pa.decimal128(21, 2))),
        "reader": table.to_reader(max_chunksize=11),
    }
    return forms


def test_every_form_gives_the_same(tmp_path: Path) -> None:
    rows = clean_rows()
    forms = variants(tmp_path, [*rows, rows[0], rows[1]])
    reference = read_events(forms["plain.csv"], grid=Grid())
    assert reference.read_summary.duplicates >= 2
    for name, form in forms.items():
        assert same(read_events(form, grid=Grid()), reference), name


def test_order_batches_and_threads_do_not_matter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = clean_rows(2000)
    reference = read_events(pd.DataFrame(rows, columns=["user", "time", "lat", "lon"]), grid=Grid())
    for seed, batch_rows in enumerate((3, 64, 1999)):
        monkeypatch.setattr("shoal.reading.tables.BATCH_ROWS", batch_rows)
        random.Random(seed).shuffle(rows)
        frame = pd.DataFrame(rows, columns=["user", "time", "lat", "lon"])
        path = tmp_path / f"{seed}.parquet"
        frame.to_parquet(path)
        for threads in (1, 4):
            assert same(read_events(frame, grid=Grid(), threads=threads), reference)
            assert same(read_events(path, grid=Grid(), threads=threads), reference)
    assert source.BATCH_ROWS > 10_000


def test_small_blocks_of_csv(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = clean_rows(500)
    path = tmp_path / "events.csv"
    path.write_text(csv_text(rows), encoding="utf-8")
    reference = read_events(path, grid=Grid())
    monkeypatch.setattr("shoal.reading.csv_files._BLOCK_BYTES", 300)
    assert same(read_events(path, grid=Grid(), threads=2), reference)


def test_rows_of_a_folder(tmp_path: Path) -> None:
    rows = clean_rows(100)
    reference = read_events(pd.DataFrame(rows, columns=["user", "time", "lat", "lon"]), grid=Grid())
    folder = tmp_path / "events.parquet"
    for part, name in enumerate(
        ("b.csv", "deep/er/a.CSV", "c.csv.gz", "_d.csv", ".e.csv", "_tmp/f.csv", "notes.md")
    ):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        raw = csv_text(rows[part * 40 : part * 40 + 40] or clean_rows(5, seed=9)).encode()
        path.write_bytes(gzip.compress(raw) if name.endswith("gz") else raw)
    events = read_events(folder, grid=Grid())
    assert same(events, reference)
    assert events.read_summary.warnings == [
        "1 file with other suffixes in the folder was not read.",
        "3 files whose names begin with . or _ were not read: rename any that holds events.",
    ]


def test_the_zone_of_the_machine_does_not_matter(tmp_path: Path) -> None:
    path = tmp_path / "events.csv"
    path.write_text("user,time,x,y\na,2024-07-01T12:00,0,0\nb,2024-07-01,0,0\n", encoding="utf-8")
    code = (
        "import sys; from shoal.core.options import ReadingOptions; from shoal.core.promise import Grid;"
        "from shoal.reading import read_events; options = ReadingOptions(end='2024-07-02');"
        "print(read_events(sys.argv[1], grid=Grid(), options=options).samples.t.tolist())"
    )
    results = {
        subprocess.run(
            [sys.executable, "-c", code, str(path)],
            env={**os.environ, "TZ": zone},
            check=True,
            capture_output=True,
        ).stdout
        for zone in ("Asia/Tokyo", "America/New_York")
    }
    assert results == {b"[28663920, 28663200]\n"}


def cell_along(metres: float, cell_m: float) -> int:
    """The last cell whose edge, as it is published, is not beyond: 3.4 / 0.1 is 34, but 34 * 0.1 is more than 3.4."""
    near = int(np.floor(metres / cell_m))
    return max(cell for cell in (near - 1, near, near + 1) if cell * cell_m <= metres)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.lists(
        st.tuples(
            st.text(st.characters(codec="utf-8", exclude_characters="\0\r\n"), min_size=1, max_size=4),
            st.integers(-(10**10), 10**10),
            st.floats(-1e8, 1e8, allow_subnormal=False),  # divided by a cell, those are 0 for the oracle
            st.floats(-1e8, 1e8, allow_subnormal=False),
        ),
        min_size=1,
        max_size=30,
    ),
    st.sampled_from([1.0, 100.0, 0.1]),
    st.sampled_from([1, 7, 60]),
)
def test_metres_by_hand(rows: list[tuple[str, int, float, float]], cell_m: float, step_s: int) -> None:
    user, when, x, y = (list(column) for column in zip(*rows, strict=True))
    table = pa.table({"user": user, "time": pa.array(when, pa.int64()), "x": x, "y": y})
    expected = sorted(
        {
            (oracle.user_name(u), w // step_s, cell_along(a, cell_m), cell_along(b, cell_m))
            for u, w, a, b in rows
            if oracle.user_name(u).lower() not in oracle.NOBODY
        }
    )
    if not expected:
        with pytest.raises(InputError):
            read_events(table, grid=Grid(cell_m, step_s))
        return
    events = read_events(table, grid=Grid(cell_m, step_s))
    assert oracle.rows_of(events.samples) == expected
    assert events.projection is None
    assert events.samples.users.tolist() == sorted({row[0] for row in expected})


def test_surface() -> None:
    assert shoal.reading.__all__ == [
        "FORMAT_NAMES",
        "Carried",
        "Events",
        "HidingEvidence",
        "PartsKey",
        "Plane",
        "Projection",
        "PrivateNotes",
        "PublishedRows",
        "PublishedTable",
        "ReadSummary",
        "check_coordinates",
        "database_kind",
        "evidence_beside",
        "is_stream",
        "parse_crs",
        "private_notes_beside",
        "read_events",
        "read_evidence",
        "read_key",
        "read_parts_key",
        "read_private_notes",
        "read_published",
        "warn_of_assumed_zone",
    ]
