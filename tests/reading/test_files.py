"""Particulars of CSV and Parquet files, tables, columns and users."""

from __future__ import annotations

import gzip
import io
import uuid
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.core.options import ReadingOptions
from shoal.core.promise import Grid
from shoal.errors import InputError, ParameterError
from shoal.reading import Events, read_events
from shoal.reading.columns import find_roles, shown_names
from shoal.reading.csv_files import BlankLines
from shoal.reading.name_index import NameIndex
from shoal.reading.values import Utf8Stream, decode, encode, texts_of
from support.reading import read_with

Reader = Callable[..., Events]


@pytest.fixture
def read(tmp_path: Path) -> Reader:
    def from_text(content: str | bytes, name: str = "events.csv", **options: object) -> Events:
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return read_with(path, **options)

    return from_text


def users(events: Events) -> list[str]:
    return list(events.samples.users)


def test_encodings(read: Reader) -> None:
    text = "user,time,x,y\nJosé,5,1,1\nZoë,5,1,1\n"
    for encoding in ("utf-8", "utf-8-sig", "latin-1", "cp1252"):
        assert users(read(text.encode(encoding))) == ["José", "Zoë"]
    assert users(read("Üser,time,x,y,user\n1,5,1,1,José\nbad\n".encode("latin-1"))) == ["José"]


def test_malformed_rows_in_latin_1_are_counted(read: Reader) -> None:
    events = read("user,time,x,y\nJosé,5,1\nJosé,5,1,1\n".encode("latin-1"))
    assert events.read_summary.dropped == {"malformed row": 1}


def test_quotation_marks(read: Reader) -> None:
    text = 'user,note,time,x,y\n"a,b","two\nlines",5,1,1\n"say ""hi""",,5,1,1\nmid"dle,"",5,1,1\n'
    events = read(text)
    assert users(events) == ["a,b", 'mid"dle', 'say "hi"']
    assert events.read_summary.rows_read == 3


def test_swallowed_lines_are_counted(read: Reader) -> None:
    """A mark that is not closed takes the next lines with it; each counts, even if fields happen to fit."""
    events = read('user,time,x,y\nok,5,1,1\n"lost,5,1,1\n"lost",5,1,1\nok,6,1,1\n')
    assert events.read_summary.rows_read == 4
    assert events.read_summary.dropped == {"malformed row": 2}
    events = read('user,time,x,y\nok,5,1,1\n"lost,5,1,1\nlost,5,1,1\nlost,6,1,1\n')
    assert events.read_summary.rows_read == 4
    assert events.read_summary.dropped == {"malformed row": 3}


def test_blank_lines_and_leading_blank_lines(read: Reader) -> None:
    for end in ("\n", "\r\n"):
        events = read(end.join(["", "", "user,time,x,y", "", "a,5,1,1", "", "b,5,1,1", ""]))
        assert (users(events), events.read_summary.rows_read) == (["a", "b"], 2)
        assert events.read_summary.blank_lines == 4
    for end in ("\n", "\r\n", "\r"):
        events = read(end.join(["user,time,x,y", "a,5,1,1", "  ", "", "b,5,1,1", "", ""]))
        assert (events.read_summary.blank_lines, events.read_summary.dropped) == (3, {})


def slow_blank_lines(text: str, *, quoted: bool) -> int:
    """Lines without anything, outside of quotation marks, letter by letter."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    blank, inside, line = 0, False, ""
    for letter in text:
        inside ^= quoted and letter == '"'
        blank += letter == "\n" and not inside and not line
        line = "" if letter == "\n" else line + letter
    return blank


@settings(deadline=None)
@given(st.text('a,"\n\r', max_size=40), st.integers(1, 7), st.booleans())
def test_blank_lines_in_pieces(text: str, size: int, quoted: bool) -> None:
    count = BlankLines(quoted=quoted)
    for start in range(0, len(text), size):
        count(text[start : start + size].encode())
    assert count.finish() == slow_blank_lines(text, quoted=quoted)


def test_blank_lines_of_all_files_and_in_quotation_marks(tmp_path: Path) -> None:
    for number, end in enumerate(("\n", "\r\n")):
        lines = [
            "user,time,x,y,note",
            "",
            f'a{number},5,1,1,"two',
            "",
            "",
            'lines"',
            "",
            f"b{number},5,1,1,",
            "",
        ]
        (tmp_path / f"{number}.csv").write_text(end.join(lines), newline="")
    summary = read_with(tmp_path).read_summary
    assert (summary.blank_lines, summary.rows_read, summary.dropped) == (4, 4, {})


MISSING_ROWS = ("a,5", "NULL,6", " na ,7", "NaN,8", "none,9", "-,10", "0,11", ",12", "NAN1,5")
MISSING = "".join(f"{row}\n" for row in ("user,time,x,y", *(f"{row},1,1" for row in MISSING_ROWS)))


@pytest.mark.parametrize(
    ("missing", "expected"),
    [
        (None, {"a", "0", "NAN1"}),
        ("", {"a", "NULL", "na", "NaN", "none", "-", "0", "NAN1"}),
        ("0, A", {"NULL", "na", "NaN", "none", "-", "NAN1"}),
        (["0", "null"], {"a", "na", "NaN", "none", "-", "NAN1"}),
        ([], {"a", "NULL", "na", "NaN", "none", "-", "0", "NAN1"}),
    ],
)
def test_users_that_are_nobody(read: Reader, missing: object, expected: set[str]) -> None:
    events = read(MISSING, missing_user=missing)
    assert set(users(events)) == expected
    assert events.read_summary.dropped == {"missing user": 9 - len(expected)}


def test_users_that_are_nobody_in_any_column_and_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    names = ["b", "None", "c", None, "NONE", "b", "-", "c", "-7"]
    monkeypatch.setattr("shoal.reading.tables.BATCH_ROWS", 2)
    for column in (pa.array(names), pa.array(names).dictionary_encode(), pa.array(names, pa.string_view())):
        table = pa.table({"user": column, "time": range(9), "x": [1] * 9, "y": [1] * 9})
        events = read_with(table)
        assert users(events) == ["-7", "b", "c"]
        assert events.read_summary.dropped == {"missing user": 4}
    numbers = pa.table({"user": [1.0, float("nan"), 2.0, None], "time": range(4), "x": [1] * 4, "y": [1] * 4})
    assert users(read_with(numbers)) == ["1", "2"]
    assert users(read_with(numbers, missing_user="2")) == ["1"]


def test_whoever_is_nobody_can_be_named_only_as_text() -> None:
    with pytest.raises(ParameterError, match="missing user must be texts"):
        ReadingOptions(missing_user=[0])  # type: ignore[list-item]


def test_decimal_commas(read: Reader) -> None:
    degrees = read("user;time;lat;lon\na;5;48,85;2,35\nb;5;48.85;2.35\nc;5;-48,85;1,5e1\nd;5;48,8,5;2\n")
    samples = degrees.samples
    assert users(degrees) == ["a", "b", "c"]
    assert (samples.x[0], samples.y[0]) == (samples.x[1], samples.y[1]) != (samples.x[2], samples.y[2])
    assert degrees.read_summary.dropped == {"unparsable position": 1}
    metres = read("user;time;x;y\na;5;451234,5;123,456\nb;5;200,000;0,1\n")
    assert metres.samples.x.tolist() == [4512, 2]
    assert metres.samples.y.tolist() == [1, 0]
    in_doubt = read("user;time;x;y\na;5;451234;123,456\nb;5;200,000;-1,000\nc;5;99.5;0\n")
    assert users(in_doubt) == ["c"]
    assert in_doubt.read_summary.dropped == {"unparsable position": 2}


def test_decimal_commas_in_sites(read: Reader, tmp_path: Path) -> None:
    sites = tmp_path / "sites.csv"
    for places, expected in (("48,85;2,35", True), ("48,8,5;2,35", False)):
        sites.write_text(f"site;lat;lon\ns;{places}\n")
        if expected:
            assert len(read("user,time,site\na,5,s\n", sites=sites).samples) == 1
        else:
            with pytest.raises(InputError, match="1 of 1 rows without a site or a usable position"):
                read("user,time,site\na,5,s\n", sites=sites)
    sites.write_text("site;x;y\ns;1,234;5,678\n")
    with pytest.raises(InputError, match="1 of 1 rows without"):
        read("user,time,site\na,5,s\n", sites=sites)
    sites.write_text("site;x;y\ns;1,234;5,678\nt;1,5;0\n")
    assert read("user,time,site\na,5,s\n", sites=sites).samples.x.tolist() == [0]


def test_hidden_files_of_formats_are_told(tmp_path: Path) -> None:
    for name in ("1.txt", "_SUCCESS", ".1.txt.crc", "_old/2.txt", "readme.md"):
        path = tmp_path / "taxis" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("1,2008-02-02 15:36:08,116.51172,39.92123\n")
    assert read_with(tmp_path / "taxis", format="t-drive").read_summary.warnings == [
        "1 other file in the folder was not read.",
        "3 files whose names begin with . or _ were not read: rename any that holds events.",
    ]


def test_gzip_of_several_members(read: Reader) -> None:
    raw = gzip.compress(b"user,time,x,y\na,5,1,1\n") + gzip.compress(b"b,5,1,1\n")
    assert users(read(raw, "events.csv.gz")) == ["a", "b"]


def test_header_names_in_quotes_with_spaces_and_any_case(read: Reader) -> None:
    events = read('" User_ID ";TIMESTAMP;"Latitude";LON;"a;b"\na;5;48;2;\n')
    assert events.read_summary.columns_used == {
        "user": "User_ID",
        "time": "TIMESTAMP",
        "lat": "Latitude",
        "lon": "LON",
    }
    assert events.read_summary.columns_dropped == ["column 5"]


@pytest.mark.parametrize(
    ("names", "mapping", "expected"),
    [
        ("user,id,time,t,lat,lon", {}, "user time lat lon"),
        ("id,uid,tid,time,lat,lng", {}, "uid time lat lng"),
        ("tid,time,x,y", {}, "tid time x y"),
        ("User,user_id,Time,X,Y", {}, "User Time X Y"),
        ("uid,msisdn,time,x,y", {"user": "msisdn"}, "msisdn time x y"),
        ("user,time,lat,lon,x,y", {"x": "x", "y": "y"}, "user time x y"),
        ("user,time,lat,lon,x,y", {"lat": "lat"}, "user time lat lon"),
        ("user,time,lat,lon,site", {}, "user time lat lon"),
        ("user,time,lat,x,y", {}, "user time x y"),
        ("user,time,when,lat,lon", {"time": "when"}, "user when lat lon"),
        ("t,time,x,y", {"user": "t"}, "t time x y"),
        ("a,b,c,d", {"user": "d", "time": "c", "lat": "b", "lon": "a"}, "d c b a"),
    ],
)
def test_roles(names: str, mapping: dict[str, str], expected: str) -> None:
    assert list(find_roles(names.split(","), mapping, "It").used.values()) == expected.split()


def test_roles_with_sites() -> None:
    assert (
        find_roles(["user", "time", "lat", "lon", "Antenna"], None, "It", has_sites=True).used["site"]
        == "Antenna"
    )


def test_columns_by_name_and_place_in_parquet(tmp_path: Path) -> None:
    table = pa.table({"lon": [2.0], "user.name": ["a"], "nested": [{"lat": 5.0}], "ts": [5], "lat": [48.0]})
    pq.write_table(table, tmp_path / "events.parquet")
    events = read_events(
        tmp_path / "events.parquet", grid=Grid(), options=ReadingOptions(columns={"user": "user.name"})
    )
    assert users(events) == ["a"]
    assert events.read_summary.columns_dropped == ["nested"]


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        (pa.array([3, None, 10**18, -3], pa.int64()), ["3", None, str(10**18), "-3"]),
        (pa.array([2**64 - 1], pa.uint64()), [str(2**64 - 1)]),
        (
            pa.array([12.0, 12.5, float("nan"), None, -7.0, 1e15]),
            ["12", "12.5", None, None, "-7", "1000000000000000"],
        ),
        (pa.array([1.5, 2.0], pa.float32()), ["1.5", "2"]),
        (pa.array([" a\u2003", "", " ", "12.0", "v1.0", "007"]), ["a", None, None, "12", "v1.0", "007"]),
        (pa.array([b"a ", "é".encode(), "é".encode("latin-1")]), ["a", "é", "é"]),
        (pa.array(["b", None, "b", " "]).dictionary_encode(), ["b", None, "b", None]),
        (pa.DictionaryArray.from_arrays(pa.array([1]), pa.array(list("abcd"))), ["b"]),
        (pa.array([True, False]), ["true", "false"]),
        (pa.array([12, 13]).cast(pa.decimal128(21, 1)), ["12", "13"]),
        (pa.nulls(2), [None, None]),
        (pa.array([b"\x01\xff"], pa.binary(2)), ["01ff"]),
        (pa.array([uuid.UUID(int=5).bytes], pa.uuid()), [uuid.UUID(int=5).hex]),
        (pa.array(["v"], pa.string_view()), ["v"]),
        (pa.array([b"v"], pa.binary_view()), ["v"]),
    ],
)
def test_identifiers_as_text(column: pa.Array, expected: list[str | None]) -> None:
    codes, names = encode(column, "user")
    assert [None if code < 0 else names[int(code)].as_py() for code in codes] == expected
    users = NameIndex()
    numbers = users.numbers(column)
    assert [None if number < 0 else users.names[int(number)].as_py() for number in numbers] == expected


def test_users_of_many_batches() -> None:
    """More names, and longer ones, than there is room for at first."""
    users = NameIndex()
    columns = [[f"{i * step % 30_000:0{width}}" for i in range(20_000)] for step, width in ((1, 9), (7, 40))]
    columns.append(["", "x" * 3_000_000, "", columns[0][0]])
    numbers = [users.numbers(pa.array(column).slice(1)).tolist() for column in columns]
    known = dict.fromkeys(name for column in columns for name in column[1:] if name)
    number_of = {name: number for number, name in enumerate(known)} | {"": -1}
    assert numbers == [[number_of[name] for name in column[1:]] for column in columns]
    assert users.names.to_pylist() == list(known)


def test_identifiers_of_no_use() -> None:
    with pytest.raises(InputError, match="user column holds values of type date32"):
        encode(pa.array([5], pa.date32()), "user")
    for column in (pa.array([5], pa.date32()), pa.array([[5]])):
        with pytest.raises(InputError, match="user column holds values of type"):
            NameIndex().numbers(column)


def test_excluded_users(read: Reader, tmp_path: Path) -> None:
    text = "user,time,x,y\n12,5,1,1\nb,5,1,1\nc,5,1,1\nc,6,1,1\nJosé,5,1,1\n"
    assert texts_of([12, 12.0, "12.0", " b ", None, ""]) == {"12", "b"}
    events = read(text, exclude_users=[12.0, "c", "nobody"])
    assert users(events) == ["José", "b"]
    assert events.read_summary.dropped == {"excluded user": 3}
    assert events.read_summary.warnings == ["1 of 3 users to exclude (33.3 %) do not occur in the events."]
    for encoding in ("utf-8-sig", "latin-1"):
        (tmp_path / "out.txt").write_bytes("José\r\n\r\n c \r\n".encode(encoding))
        assert users(read(text, exclude_users=tmp_path / "out.txt")) == ["12", "b"]
        assert users(read(text, exclude_users=str(tmp_path / "out.txt"))) == ["12", "b"]


def test_an_empty_list_of_excluded_users_excludes_nobody_and_is_told(read: Reader, tmp_path: Path) -> None:
    (tmp_path / "out.txt").write_text("\n \n")
    for nobody in ([], tmp_path / "out.txt"):
        events = read("user,time,x,y\na,5,1,1\nb,5,1,1\n", exclude_users=nobody)
        assert users(events) == ["a", "b"]
        assert events.read_summary.warnings == ["The list of users to exclude is empty: nobody was excluded."]


def test_users_without_usable_rows_have_no_name(read: Reader) -> None:
    events = read("user,time,x,y\na,5,1,1\nb,never,1,1\nc,5,1,1\nd,5,inf,1\n")
    assert users(events) == ["a", "c"]
    assert events.samples.user.tolist() == [0, 1]


def test_users_are_in_byte_order() -> None:
    names = ["é", "z", "Z", "a", "\U0001f600", "\uffff", "10", "9"]
    table = pa.table({"user": names, "time": [5] * 8, "x": [1.0] * 8, "y": [1.0] * 8})
    assert users(read_events(table, grid=Grid())) == sorted(names, key=str.encode)


def test_half_open_period(read: Reader) -> None:
    text = "user,time,x,y\na,2024-05-01,1,1\nb,2024-05-01T23:59:59.9,1,1\nc,2024-05-02,1,1\n"
    assert users(read(text, start="2024-05-01", end="2024-05-02")) == ["a", "b"]
    assert users(read(text, start="2024-05-01T00:00:01Z")) == ["b", "c"]
    assert users(read(text, timezone="Asia/Tokyo", end="2024-05-01T15:00Z")) == ["a", "b"]
    assert users(read(text, timezone="Asia/Tokyo", end="2024-05-02")) == ["a", "b"]


def test_other_columns_of_a_frame_are_left_alone() -> None:
    frame = pd.DataFrame({"user": ["a"], "time": [5], "x": [1], "y": [1], "mixed": [object()], 7: [1]})
    events = read_events(frame, grid=Grid())
    assert events.read_summary.columns_dropped == ["mixed"]


def test_polars_nan_and_null() -> None:
    frame = pl.DataFrame(
        {"user": ["a", "b", None, "d"], "time": [5, None, 5, 5], "x": [1.0, 1.0, 1.0, float("nan")]}
    )
    events = read_events(frame.with_columns(y=pl.lit(1)), grid=Grid())
    assert events.read_summary.dropped == {"missing user": 1, "missing time": 1, "position out of range": 1}


@given(st.lists(st.one_of(st.text(max_size=3).map(str.encode), st.binary(max_size=3))), st.integers(1, 9))
def test_any_bytes_become_utf_8_however_they_are_cut(pieces: list[bytes], size: int) -> None:
    raw = b"".join(pieces)
    stream = Utf8Stream(io.BytesIO(raw))
    passed = b"".join(iter(lambda: stream.read(size), b""))
    assert passed.decode() == decode(raw)
    assert Utf8Stream(io.BytesIO(raw)).read().decode() == decode(raw)
    assert decode("Zoë".encode()) == decode("Zoë".encode("latin-1")) == "Zoë"


def test_notes_of_several_lines_across_blocks(read: Reader, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shoal.reading.csv_files._BLOCK_BYTES", 100)
    rows = "".join(f'u{number},"some\nlines, quoted\n",5,1,1\n' for number in range(50))
    events = read("user,note,time,x,y\n" + rows)
    assert (events.samples.n_users, events.read_summary.rows_read) == (50, 50)


@pytest.mark.parametrize(
    "names", [[f"u-{n}" for n in range(6)], [f"Zoe{n}" for n in range(5)], [*"abcdefghijklmn"]]
)
def test_users_as_columns_are_not_named(names: list[str]) -> None:
    """A table with a column for each user, as pivot() makes it, is told to be one."""
    with pytest.raises(
        InputError, match="look like users: turn it into rows of user, time and position"
    ) as refused:
        find_roles(["time", *names], None, "The table", numeric=names)
    assert str(refused.value).startswith("No column 'user' and no position in the table, and ")
    assert ", ".join(names[:2]) not in str(refused.value)
    assert shown_names(["time", "user", "lat", *names], numeric=names)[3:] == [
        f"column {place}" for place in range(4, 4 + len(names))
    ]


def test_columns_that_are_few_or_known_are_named() -> None:
    names = ["user", "time", "lat", "lon", "field_1", "field_2", "speed"]
    assert find_roles(names, None, "It", numeric=names[2:]).dropped == ["field_1", "field_2", "speed"]
    with pytest.raises(InputError, match="No column 'user' among time, lat, lon, field_1, field_2, speed"):
        find_roles(names[1:], None, "It")
