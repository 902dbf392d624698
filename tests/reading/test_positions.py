"""Positions: projection, cells, sites; order and implausible times."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyproj
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.core.options import ReadingOptions
from shoal.core.promise import Grid
from shoal.core.sorting import sort_distinct
from shoal.errors import InputError
from shoal.reading import Projection, read_events
from shoal.reading.plausibility import ImplausibleTimes

DAY = 86_400


@settings(max_examples=100, deadline=None)
@given(st.integers(-180, 180), st.integers(-90, 90), st.floats(-170, 170), st.floats(-80, 80))
def test_there_and_back(lon_0: int, lat_0: int, lon: float, lat: float) -> None:
    projection = Projection(lon_0, lat_0)
    x, y = projection.to_metres([lon], [lat])
    if np.hypot(x, y)[0] < 12.6e6:  # not right at the opposite point
        back = projection.to_degrees(x, y)
        assert pyproj.Geod(ellps="WGS84").line_length([lon, back[0][0]], [lat, back[1][0]]) < 0.01


def test_crs_is_what_others_understand() -> None:
    projection = Projection(2, 48)
    assert "Lambert Azimuthal Equal Area" in pyproj.CRS(projection.crs).to_wkt()
    road = pyproj.Transformer.from_crs(4326, pyproj.CRS(projection.crs), always_xy=True)
    assert np.allclose(
        projection.to_metres([2.35], [48.85]), [[v] for v in road.transform(2.35, 48.85)], atol=1e-6
    )


@pytest.mark.parametrize(
    ("lon", "lat", "expected"),
    [
        ([2.3, 2.4], [48.8, 48.9], (2, 49)),
        ([179.0, -179.2], [-17.0, -17.2], (180, -17)),
        ([-0.2, 0.2], [51.5, 51.5], (0, 52)),
        ([180.0, -180.0], [90.0, 90.0], (180, 90)),
        ([10.0] * 99 + [-120.0], [50.0] * 99 + [-33.0], (10, 50)),
    ],
)
def test_centre(lon: list[float], lat: list[float], expected: tuple[int, int]) -> None:
    projection = Projection.centred_on(lon, lat)
    assert abs(projection.lon_0) % 360 == expected[0] % 360
    assert projection.lat_0 == expected[1]
    assert isinstance(projection.lon_0, int)


def test_weights_are_repetitions() -> None:
    assert Projection.centred_on([0.0, 10.0], [0.0, 10.0], [1, 9]) == Projection.centred_on(
        [0.0] + [10.0] * 9, [0.0] + [10.0] * 9
    )


def test_across_the_date_line_neighbours_stay_neighbours() -> None:
    table = pa.table({"user": ["a", "b"], "time": [5, 5], "lat": [-17.0, -17.0], "lon": [179.999, -179.999]})
    samples = read_events(table, grid=Grid()).samples
    assert 1 <= samples.x.max() - samples.x.min() <= 4


def test_positions_that_cells_cannot_hold() -> None:
    table = pa.table(
        {"user": list("abcd"), "time": [5] * 4, "x": [0.0, 2.2e9, -1e300, 100.0], "y": [0.0] * 4}
    )
    assert read_events(table, grid=Grid(1.0)).read_summary.dropped == {"position out of range": 2}
    opposite = pa.table(
        {"user": list("aaab"), "time": [5] * 4, "lat": [10.0] * 3 + [-10.0], "lon": [0.0] * 3 + [180.0]}
    )
    events = read_events(opposite, grid=Grid())
    assert events.projection == Projection(0, 10)
    assert events.read_summary.dropped == {"position out of range": 1}


SITES = pd.DataFrame(
    {"site_id": ["s1", "s2", "2"], "lat": [48.85, 48.9, 48.8], "lon": [2.35, 2.4, 2.3], "name": "x"}
)


def test_sites(tmp_path: Path) -> None:
    frame = pd.DataFrame({"user": list("abcde"), "time": [5] * 5, "site": ["s1", " s2", "2", "s9", None]})
    SITES.to_csv(tmp_path / "sites.csv", index=False)
    SITES.to_parquet(tmp_path / "sites.parquet")
    direct = read_events(
        pd.DataFrame({"user": list("abc"), "time": 5, "lat": [48.85, 48.9, 48.8], "lon": [2.35, 2.4, 2.3]}),
        grid=Grid(),
    )
    for sites in (SITES, tmp_path / "sites.csv", str(tmp_path / "sites.parquet")):
        events = read_events(frame, grid=Grid(), options=ReadingOptions(sites=sites))
        assert events.store.fingerprint() == direct.store.fingerprint()
        assert events.projection == direct.projection
        assert events.read_summary.dropped == {"missing position": 1, "unknown site": 1}
    metric = pd.DataFrame({"site": [1, 2], "x": [50, 150], "y": [0, 0]})
    numbered = pd.DataFrame({"user": list("ab"), "time": 5, "site": [1.0, 2.0]})
    events = read_events(numbered, grid=Grid(), options=ReadingOptions(sites=metric))
    assert events.projection is None
    assert events.samples.x.tolist() == [0, 1]


@pytest.mark.parametrize(
    ("sites", "expected"),
    [
        (SITES.drop(columns="lat"), "No column 'lat' among site_id, lon, name"),
        (SITES.drop(columns="site_id"), "No column 'site' among lat, lon, name"),
        (SITES[["site_id", "name"]], "No position in the table of sites"),
        (SITES.assign(site_id="canary"), "gives 1 of 1 sites several positions"),
        (SITES.assign(lat=[48.0, 99.0, None]), "2 of 3 rows without a site or a usable position"),
        (SITES.assign(site_id=["canary", None, "x"]), "1 of 3 rows without a site"),
        (SITES.iloc[:0], "has no rows"),
        ("nowhere.csv", "No file or folder 'nowhere.csv'"),
    ],
)
def test_bad_sites(sites: object, expected: str) -> None:
    frame = pd.DataFrame({"user": ["canary"], "time": [5], "site": ["canary"]})
    with pytest.raises(InputError, match=expected) as caught:
        read_events(frame, grid=Grid(), options=ReadingOptions(sites=sites))
    assert "canary" not in str(caught.value)
    assert "\n" not in str(caught.value)


def test_repeated_sites_at_one_position_are_fine_and_sites_must_be_used() -> None:
    frame = pd.DataFrame({"user": ["a"], "time": [5], "site": ["s1"]})
    assert (
        len(read_events(frame, grid=Grid(), options=ReadingOptions(sites=pd.concat([SITES, SITES]))).samples)
        == 1
    )
    with pytest.raises(InputError, match="No column 'site' among user, time, lat, lon"):
        read_events(
            frame.assign(lat=1, lon=1).drop(columns="site"), grid=Grid(), options=ReadingOptions(sites=SITES)
        )
    with pytest.raises(InputError, match="leave out one"):
        read_events(
            frame.assign(lat=1, lon=1),
            grid=Grid(),
            options=ReadingOptions(sites=SITES, columns={"lat": "lat"}),
        )


@settings(max_examples=100, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(0, 3), st.integers(-5, 5), st.integers(-(2**30), 2**30), st.integers(-2, 2)),
        min_size=1,
    ),
    st.sampled_from([1, 2**20, 2**33]),
)
def test_sorting_packed_and_not(rows: list[tuple[int, int, int, int]], stretch: int) -> None:
    rows = [(t * stretch, user, x, y) for user, t, x, y in rows]
    columns = [np.array(c, kind) for c, kind in zip(zip(*rows, strict=True), "liii", strict=True)]
    result = sort_distinct(columns)
    assert list(zip(*(column.tolist() for column in result), strict=True)) == sorted(set(rows))
    assert [column.dtype for column in result] == [np.int64, np.int32, np.int32, np.int32]


def seconds(*days: int) -> list[np.ndarray]:
    return [np.array(days, np.int64) * DAY + 5]


def implausible_times(batches: list[np.ndarray]) -> list[str]:
    implausible = ImplausibleTimes()
    for batch in batches:
        implausible.add(batch)
    return implausible.warnings()


def test_implausible_times() -> None:
    now = 19_800  # a day in 2024
    (warning,) = implausible_times(seconds(0, now, now, now + 1, now + 2))
    assert warning.startswith("1 row dated 1970, years away from the others (2024): ")
    assert "--from and --to" in warning
    assert implausible_times(seconds(now)) == []
    assert implausible_times(seconds(0, now)) == []  # no telling which is wrong
    assert implausible_times(seconds(*range(0, 4000, 300))) == []
    assert implausible_times(seconds(*[0] * 400, *[now] * 600)) == []  # two campaigns
    (warning,) = implausible_times([*seconds(*[0, 1, 40_000]), *seconds(*range(now, now + 900))])
    assert warning.startswith("3 rows dated 1970 to 2079, years away from the others (2024 to 2026)")
    (warning,) = implausible_times(seconds(200_000, 200_001))
    assert warning.startswith("Times lie in the year 2517: check that the time column")
    (warning,) = implausible_times(
        seconds(*[-719_162] * 40, *[now] * 60)
    )  # an empty time, as some programs write it
    assert warning.startswith("40 rows with times in the year 1: ")
    (warning,) = implausible_times(seconds(-25_567, *[now] * 60))
    assert warning.startswith("1 row dated 1900, years away from the others (2024)")
    first, second = implausible_times(seconds(now, *[200_000] * 60))
    assert first.startswith("1 row dated 2024, years away from the others (2517)")
    assert second.startswith("Times lie in the year 2517")


def test_implausible_times_are_kept_and_told() -> None:
    rng = random.Random(1)
    when = [1_700_000_000 + rng.randrange(DAY) for _ in range(50)] + [0]
    events = read_events(pd.DataFrame({"user": "a", "time": when, "x": 1, "y": 1}), grid=Grid())
    assert events.samples.t.min() == 0
    assert len(events.read_summary.warnings) == 1
