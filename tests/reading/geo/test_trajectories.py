"""MovingPandas: who moved, when on which clock, and where."""

from __future__ import annotations

import warnings
from typing import Any

import pandas as pd
import pytest

import shoal
from reading.geo.test_frames import (
    CANARIES,
    EVENTS,
    HALF_HOURS,
    HERE,
    ROWS,
    Make,
    assert_same,
    events,
    points,
    read,
    real,
    stand_in,
)
from reading.refusals import refusal
from support import fake_frames
from support.run_command import records_of


@pytest.fixture(params=["stand-in", "movingpandas"])
def geoframe(request: pytest.FixtureRequest) -> Make:
    if request.param == "movingpandas":
        pytest.importorskip("movingpandas")
        return real
    return stand_in


def frame_of(geoframe: Make, zone: str | None = "UTC", **columns: Any) -> Any:
    """Events by time; on the clock of a zone, or without any."""
    frame = events().drop_duplicates(["user", "time"])  # MovingPandas keeps one row for a time
    frame = frame[frame.groupby("user")["user"].transform("size") > 1].assign(**columns)
    frame["time"] = frame["time"].dt.tz_convert(zone or "UTC")
    if zone is None:
        frame["time"] = frame["time"].dt.tz_localize(None)
    shapes = points(frame)
    return geoframe(frame.drop(columns=["lat", "lon"]), shapes)


def collection(frame: Any, **about: Any) -> Any:
    """A collection of one trajectory for each user; real if the frame is."""
    if not isinstance(frame, fake_frames.GeoDataFrame):
        movingpandas = pytest.importorskip("movingpandas")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return movingpandas.TrajectoryCollection(frame, traj_id_col="user", t="time", **about)
    made = []
    for user, rows in frame.groupby("user"):
        part = fake_frames.geoframe(
            pd.DataFrame(rows).set_index("time").drop(columns="geometry"), list(rows["geometry"]), frame.crs
        )
        column = about.get("obj_id_col")
        made.append(fake_frames.Trajectory(part, user, obj_id=rows[column].iloc[0] if column else None))
    return fake_frames.TrajectoryCollection(made)


def expected(frame: Any, user: str = "user") -> Any:
    where = frame.geometry
    table = pd.DataFrame(
        {"user": list(frame[user]), "time": list(frame["time"]), "lon": list(where.x), "lat": list(where.y)}
    )
    return read(table).samples


@pytest.mark.parametrize("zone", ["UTC", "Asia/Tokyo", None])
def test_a_collection(geoframe: Make, zone: str | None) -> None:
    """Times count in the zone they came in, although MovingPandas drops it."""
    frame = frame_of(geoframe, zone)
    found = read(collection(frame))
    assert_same(found.samples, expected(frame))
    assert [warning[:27] for warning in found.read_summary.warnings] == (
        ["Times come without a zone, "] if zone is None else []
    )


def test_the_zone_of_times_that_came_without(geoframe: Make) -> None:
    frame = frame_of(geoframe, None)
    found = read(collection(frame), timezone="Asia/Tokyo").samples
    assert (found.t == expected(frame).t - 9 * 60).all()


def test_hours_that_occur_twice_or_not_at_all(geoframe: Make) -> None:
    clock = ["2024-10-27 00:30", "2024-10-27 01:30", "2024-03-31 00:30", "2024-03-31 01:30"]
    times = pd.to_datetime(clock).tz_localize("UTC").tz_convert("Europe/Berlin")
    frame = geoframe(pd.DataFrame({"user": ["a", "b"] * 2, "time": times}), [HERE] * 4)
    events = read(collection(frame))
    assert [warning[:42] for warning in events.read_summary.warnings] == [
        "2 rows at times that clocks showed twice ("
    ]
    found = events.samples
    wanted = pd.to_datetime(
        [clock[0], clock[0], clock[2], clock[3]]
    )  # 02:30 occurred twice: the first time counts
    assert sorted(found.t.tolist()) == sorted((wanted - pd.Timestamp(0)) // pd.Timedelta("1min"))


def test_the_user_is_the_moving_object(geoframe: Make) -> None:
    """Parts of one person's way must not hide each other."""
    people = events()["user"].str[-1].add("p")
    frame = frame_of(geoframe, person=people)
    trips = collection(frame, obj_id_col="person")
    assert_same(read(trips).samples, expected(frame, "person"))
    assert_same(read(trips, columns={"user": "user"}).samples, expected(frame))


def test_the_user_of_a_part_is_that_of_the_whole(geoframe: Make) -> None:
    whole = collection(frame_of(geoframe))
    parts = []
    for trajectory in whole.trajectories:
        middle = trajectory.df.index[len(trajectory.df) // 2]
        for number, rows in enumerate((trajectory.df[:middle], trajectory.df[middle:])):
            if len(rows) > 1:
                kind = type(trajectory)
                parts.append(kind(rows, f"{trajectory.id} {number}", parent=trajectory))
    found = read(type(whole)(parts)).samples
    assert set(found.users) <= {trajectory.id for trajectory in whole.trajectories}
    assert len(parts) > len(found.users)


def test_numbered_parts_are_mentioned(geoframe: Make) -> None:
    frame = frame_of(geoframe)
    people = [f"{user[-1]}_{number % 3}" for number, user in enumerate(frame["user"])]
    frame["user"] = people
    (warning,) = read(collection(frame)).read_summary.warnings
    assert "look like numbered parts of 10: if parts of one person's way" in warning
    frame["user"] = [f"user_{user[-2:]}" for user in people]  # a prefix that all have says nothing
    assert read(collection(frame)).read_summary.warnings == []


def test_coordinates_that_are_no_points_yet(geoframe: Make) -> None:
    """MovingPandas makes points of x and y only when it needs them."""
    frame = events()[["user", "time", "lon", "lat"]].drop_duplicates(["user", "time"])
    if geoframe is real:
        movingpandas = pytest.importorskip("movingpandas")
        trips = movingpandas.TrajectoryCollection(
            frame.assign(time=frame["time"].dt.tz_localize(None)),
            "user",
            t="time",
            x="lon",
            y="lat",
            crs="EPSG:4326",
        )
    else:
        trips = fake_frames.TrajectoryCollection(
            [
                fake_frames.Trajectory(
                    fake_frames.geoframe(rows.set_index("time"), [None] * len(rows)), user, x="lon", y="lat"
                )
                for user, rows in frame.groupby("user")
                if len(rows) > 1
            ]
        )
    several = frame[frame.groupby("user")["user"].transform("size") > 1]
    assert_same(read(trips).samples, read(several).samples)
    assert list(trips.trajectories[0].df.columns)[:3] == ["user", "lon", "lat"]  # left as it was


def test_a_single_trajectory(geoframe: Make) -> None:
    one = collection(frame_of(geoframe)).trajectories[0]
    found = read(one)
    assert found.samples.users.tolist() == [one.id]
    message = refusal(lambda: shoal.anonymize(one, **HALF_HOURS), CANARIES)
    assert "k" in message


def test_a_release_and_its_audit(geoframe: Make) -> None:
    frame = frame_of(geoframe)
    trips = collection(frame)
    published = shoal.anonymize(trips, **HALF_HOURS)
    table = pd.DataFrame(
        {"user": frame["user"], "time": frame["time"], "lon": frame.geometry.x, "lat": frame.geometry.y}
    )
    assert records_of(published.to_arrow()) == records_of(shoal.anonymize(table, **HALF_HOURS).to_arrow())
    assert shoal.audit(trips, published, attacks=20, tolerance=1).kept


def test_collections_that_are_refused() -> None:
    def trajectory(**about: Any) -> fake_frames.Trajectory:
        rows = ROWS.set_index("time")
        return fake_frames.Trajectory(
            stand_in(rows, [HERE] * 2, about.pop("crs", "EPSG:4326")), "canary", **about
        )

    def message(*trajectories: fake_frames.Trajectory) -> str:
        return refusal(lambda: read(fake_frames.TrajectoryCollection(list(trajectories))), CANARIES)

    assert "is empty: expected a trajectory for each person" in message()
    assert "1 of 2 trajectories tell which object moved" in message(trajectory(), trajectory(obj_id="canary"))
    assert "1 of 2 trajectories" in message(trajectory(obj_id=float("nan")), trajectory(obj_id="canary"))
    assert "Trajectory 2 of 2 does not tell the coordinate system" in message(
        trajectory(), trajectory(crs=None)
    )
    narrow = trajectory()
    narrow.df = narrow.df.drop(columns="user")
    narrow.df.crs, narrow.df.geometry_name = "EPSG:4326", "geometry"
    trips = fake_frames.TrajectoryCollection([trajectory(), narrow])
    words = refusal(lambda: read(trips, columns={"user": "user"}), CANARIES)
    assert "Trajectory 2 of 2 lacks the user column of the first" in words


def test_ids_of_any_kind(geoframe: Make) -> None:
    frame = frame_of(geoframe)
    frame["user"] = [int(user[1:]) for user in frame["user"]]
    assert_same(read(collection(frame)).samples, expected(frame))


def test_trajectories_of_different_types(geoframe: Make) -> None:
    frame = frame_of(geoframe)
    trips = collection(frame)
    for unit, trajectory in zip(["s", "ms", "us", "ns"] * 10, trips.trajectories, strict=False):
        trajectory.df.index = trajectory.df.index.as_unit(unit)
    assert_same(read(trips).samples, expected(frame))


def test_events_are_compared_with_themselves() -> None:
    """The tests above would hold for empty tables, too."""
    assert len(read(EVENTS).samples) > 100
