"""Sweeps: every point is the release it says, hours are those of the week, and an interrupted one goes on."""

from __future__ import annotations

import json
import math
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import numpy as np
import pytest

import shoal
from shoal.cli.text.sweep import sweep_lines
from shoal.core.evaluation_options import AXES
from shoal.core.progress import SilentProgress
from shoal.core.promise import Grid
from shoal.core.zones import Zone
from shoal.errors import InputError, ParameterError
from shoal.evaluate.measuring import measure_hours
from shoal.evaluate.sweep import FolderSweepStore, sweep
from shoal.evaluate.sweep_points import Point, plan_sweep
from shoal.reporting.figures.sweep import write_sweep
from shoal.utility import precision_of_boxes

SMALL = {"selectors": ("matching",), "taus": ("30min", "1h"), "ks": (2, 3), "epsilons": ("15min", "30min")}
MINUTE = Grid()


@pytest.fixture(scope="module")
def city():
    return shoal.make_city(120, days=2, seed=1)


@pytest.fixture(scope="module")
def swept(city):
    return sweep(city, **SMALL)


# ---- the plan ----------------------------------------------------------------------------------------------------


def test_one_thing_varies_at_a_time() -> None:
    plan = plan_sweep(
        AXES, selectors=["matching"], k=2, tau="30min", ks=[5, 2], taus=["1h", "10min"],
        epsilons=["15min", "10min"], grid=MINUTE,
    )  # fmt: skip
    assert plan.by_axis == {
        "tau": [Point("matching", 2, 10, 10), Point("matching", 2, 60, 60)],
        "k": [Point("matching", 2, 30, 30), Point("matching", 5, 30, 30)],
        "epsilon": [Point("matching", 2, 30, 10), Point("matching", 2, 30, 15)],
        "hours": [Point("matching", 2, 30, 30)],
    }
    assert len(plan.points) == 6
    assert plan.middle == [Point("matching", 2, 30, 30)]


@pytest.mark.parametrize(
    ("tau", "epsilons"), [("30min", [10, 15, 30]), ("1h", [20, 30, 60]), ("20min", [10, 20]), ("25min", [25])]
)
def test_epsilons_divide_tau_unless_given(tau: str, epsilons: list[int]) -> None:
    plan = plan_sweep(
        ["epsilon"], selectors=["matching"], k=2, tau=tau, ks=[2], taus=["1h"], epsilons=None, grid=MINUTE
    )
    assert [point.epsilon for point in plan.points] == epsilons


@pytest.mark.parametrize(
    ("wishes", "words"),
    [
        ({"epsilons": ["30min", "20min"]}, "epsilon must divide tau, got 20 min for 30 min"),
        ({"over": ["speed"]}, "over must name some of tau, k, epsilon, hours, got 'speed'"),
        ({"over": []}, "got nothing"),
        ({"ks": [1]}, "k must be a whole number of at least 2, got 1"),
        ({"taus": ["10"]}, "tau must be a duration such as 30min"),
        ({"epsilons": ["90s"]}, "epsilon must be a whole number of steps of 60 s"),
        ({"selectors": ["magic"]}, "selector must be"),
        ({"ks": [500]}, "k = 500 needs at least 500 users"),
        ({"ks": []}, "ks must name at least one value, got none"),
        ({"taus": []}, "taus must name at least one value, got none"),
        ({"epsilons": []}, "epsilons must name at least one value, got none"),
        ({"selectors": []}, "selectors must name at least one value, got none"),
    ],
)
def test_bad_wishes(wishes: dict[str, object], words: str, city) -> None:
    with pytest.raises((ParameterError, InputError)) as caught:
        sweep(city, **(SMALL | wishes))
    assert words in str(caught.value)


# ---- what is measured ---------------------------------------------------------------------------------------------


def test_every_point_is_the_release_it_says(city, swept) -> None:
    for point, row in swept.measured.items():
        release = shoal.anonymize(
            city, k=point.k, tau=f"{point.tau}min", epsilon=f"{point.epsilon}min", verify=False
        )
        precision = precision_of_boxes(release.outcome.boxes, MINUTE)
        assert (row.selector, row.k, row.tau_min, row.epsilon_min) == tuple(point)
        assert row.harden == release.options.harden == 1
        assert row.n_boxes == release.outcome.boxes.n_boxes
        assert row.suppressed_share == release.outcome.n_suppressed / release.outcome.n_samples
        assert row.longer_side_km_median == precision.longer_side_km.median
        assert row.width_plus_height_km_q25 == precision.width_plus_height_km.q25
        assert row.time_min_q75 == precision.time_minutes.q75
        assert row.cost_per_box == precision.cost_per_box


@pytest.mark.parametrize("zone", ["UTC", "Asia/Kathmandu"])
def test_hours_of_the_week(zone: str, city) -> None:
    """Counted one by one, with the clock of the standard library."""
    release = shoal.anonymize(city, k=3, tau="30min", epsilon="30min", verify=False)
    samples, boxes = release.events.samples, release.outcome.boxes

    def hour(slot: int) -> int:
        local = datetime.fromtimestamp(60 * slot, UTC).astimezone(ZoneInfo(zone))
        return local.weekday() * 24 + local.hour

    kept: dict[int, list[bool]] = {}
    for user, t in zip(samples.user.tolist(), samples.t.tolist(), strict=True):
        own = boxes.owner == user
        held = bool(((boxes.t0[own] <= t) & (boxes.t1[own] >= t)).any())
        kept.setdefault(hour(t), []).append(held)
    spans: dict[int, list[tuple[int, int]]] = {}
    for t0, _, x0, x1, y0, y1 in zip(*(column.tolist() for column in boxes[1:]), strict=True):
        spans.setdefault(hour(t0), []).append((x1 - x0 + 1, y1 - y0 + 1))
    rows = measure_hours(samples, release.outcome, release.options, MINUTE, Zone(zone))
    assert {(row.selector, row.harden) for row in rows} == {("matching", 1)}
    assert [row.hour_of_week for row in rows] == sorted(kept)
    for row in rows:
        held = kept[row.hour_of_week]
        assert row.n_samples == len(held)
        assert row.suppressed_share == pytest.approx(1 - sum(held) / len(held))
        mine = spans.get(row.hour_of_week, [])
        assert row.n_boxes == len(mine)
        if mine:
            assert row.longer_side_km_mean == pytest.approx(np.mean([max(sides) for sides in mine]) / 10)
            assert row.width_plus_height_km_mean == pytest.approx(
                np.mean([sum(sides) for sides in mine]) / 10
            )
        else:
            assert math.isnan(row.longer_side_km_mean)
            assert math.isnan(row.width_plus_height_km_mean)


def test_the_level_of_hardening_is_measured_and_told() -> None:
    few = shoal.make_city(40)
    wishes = {
        "over": ["epsilon", "hours"],
        "epsilons": ["5min", "15min"],
        "selectors": ["matching", "mutual"],
    }
    found = {level: sweep(few, **wishes, harden=level) for level in (0, 2)}
    levels = {tuple(point)[:4:3]: row.harden for point, row in found[2].measured.items()}
    assert levels == {("matching", 5): 0, ("matching", 15): 2, ("matching", 30): 2,
                      ("mutual", 5): 0, ("mutual", 15): 0, ("mutual", 30): 0}  # fmt: skip
    assert {(row.selector, row.harden) for row in found[2].hours} == {("matching", 2), ("mutual", 0)}
    assert found[2].to_arrow()["harden"].to_pylist() == list(levels.values())
    point = Point("matching", 2, 30, 15)
    assert found[2].measured[point].cost_per_box > found[0].measured[point].cost_per_box
    told = "\n".join(sweep_lines(found[2]))
    assert "matching 2" in told
    assert "mutual 0" in told


def test_effort_is_measured_and_told() -> None:
    found = sweep(
        shoal.make_city(40), over=["k"], ks=[2], selectors=["matching", "mutual"], effort=2, harden=0
    )
    assert {row.effort for row in found.measured.values()} == {2}
    with pytest.raises(ParameterError, match=r"effort needs .*got selector spectral: leave it out"):
        sweep(shoal.make_city(40), over=["k"], ks=[2], selectors=["spectral"], effort=2)


def test_a_level_that_no_release_can_have_is_refused(city) -> None:
    for wishes, lack in (
        ({"selectors": ["mutual"]}, "selector matching"),
        ({"epsilons": ["5min"]}, "at most 5"),
    ):
        with pytest.raises(ParameterError, match=f"harden needs .*{lack}.*leave it out"):
            sweep(city, over=["epsilon"], **(SMALL | wishes), harden=2)


def test_tables(swept) -> None:
    assert swept.to_arrow().num_rows == len(swept.plan.points) == 4
    assert swept.hours_to_arrow()["selector"].unique().to_pylist() == ["matching"]
    assert not sweep(shoal.make_city(40), over=["k"], ks=[2]).hours


# ---- interrupted sweeps -------------------------------------------------------------------------------------------


class Interrupting(SilentProgress):
    """Stops the work once the first release is made."""

    def advance(self) -> None:
        raise KeyboardInterrupt


class Counting(SilentProgress):
    """Counts the releases that are made, and those that are announced."""

    def __init__(self) -> None:
        self.releases = 0
        self.announced: int | None = None

    def stage(self, name: str, steps: int | None = None) -> None:
        if name.startswith("making "):
            self.announced = steps

    def advance(self) -> None:
        self.releases += 1


def figures(found) -> list[tuple[object, ...]]:
    return [row[:-1] for row in found.measured.values()]  # all but the seconds


def test_goes_on_where_it_was_interrupted(city, swept, tmp_path: Path) -> None:
    checkpoint = tmp_path / "out.checkpoint"
    with pytest.raises(KeyboardInterrupt):
        sweep(city, **SMALL, checkpoint=checkpoint, progress=Interrupting())
    assert checkpoint.stat().st_mode & 0o777 == 0o700
    assert {path.stat().st_mode & 0o777 for path in checkpoint.iterdir()} == {0o600}
    checkpoint.chmod(0o755)
    with pytest.raises(InputError, match="add resume=True to go on"):
        sweep(city, **SMALL, checkpoint=checkpoint)
    counting = Counting()
    resumed = sweep(city, **SMALL, checkpoint=checkpoint, resume=True, progress=counting)
    assert checkpoint.stat().st_mode & 0o777 == 0o700
    assert counting.releases == counting.announced == len(swept.plan.points) - 1
    assert figures(resumed) == figures(swept)
    assert repr(resumed.hours) == repr(swept.hours)


def test_does_not_go_on_with_other_events(city, tmp_path: Path) -> None:
    checkpoint = tmp_path / "out.checkpoint"
    with pytest.raises(KeyboardInterrupt):
        sweep(city, **SMALL, checkpoint=checkpoint, progress=Interrupting())
    for other in (shoal.make_city(119, days=2, seed=1), city):
        with pytest.raises(InputError, match="other events or settings"):
            sweep(other, **SMALL, checkpoint=checkpoint, resume=True, seed=0 if other is not city else 5)


@pytest.mark.parametrize("damage", ['["match', "[]", "7", '{"k": 2}'])
def test_a_damaged_point_is_measured_again(damage: str, city, swept, tmp_path: Path) -> None:
    checkpoint = tmp_path / "out.checkpoint"
    sweep(city, **SMALL, checkpoint=checkpoint)
    point = next(iter(swept.plan.points))
    (checkpoint / f"{point.name}.json").write_text(damage)
    counting = Counting()
    again = sweep(city, **SMALL, checkpoint=checkpoint, resume=True, progress=counting)
    assert counting.releases == counting.announced == 1
    assert figures(again) == figures(swept)


def test_a_release_of_which_nothing_is_left_is_a_row_as_well(tmp_path: Path) -> None:
    """A dozen users: with k = 5 everything is suppressed; the other points are measured all the same."""
    events = shoal.make_city(12)
    found = sweep(events, over=["k", "hours"], k=5, ks=[2, 5], tau="10min", selectors=["matching"])
    left, gone = found.measured.values()
    assert left.suppressed_share < 1
    assert left.n_boxes > 0
    assert (gone.suppressed_share, gone.n_boxes) == (1, 0)
    assert math.isnan(gone.longer_side_km_median)
    assert not found.hours
    assert all(path.stat().st_size for path in write_sweep(found, tmp_path / "out"))
    assert sweep_lines(found)[-1].split()[-5:] == ["-", "-", "100", "%", "0.0"]


def test_figures_of_an_earlier_sweep_go_away(city, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    write_sweep(sweep(city, over=["tau", "hours"], taus=["1h"], tau="1h", selectors=["matching"]), folder)
    (folder / "mine.txt").write_text("a note")
    second = write_sweep(sweep(city, over=["k"], ks=[2], tau="1h", selectors=["matching"]), folder)
    assert set(folder.iterdir()) == {*second, folder / "mine.txt"}


def test_both_selectors_unless_told_otherwise(city) -> None:
    found = sweep(city, over=["tau"], taus=["1h"])
    assert [point.selector for point in found.plan.points] == ["matching", "spectral"]
    assert "guarantee 1 not given" in sweep_lines(found)[-1]


@pytest.mark.parametrize(
    ("found", "words"), [(None, "found an older one"), (1, "found format 1"), (7, "found format 7")]
)
def test_a_checkpoint_of_another_format_is_refused(found: object, words: str, tmp_path: Path) -> None:
    folder = tmp_path / "points"
    FolderSweepStore(folder, {"events": "a"}, resume=False).put("point.json", 1)
    header = folder / "sweep.json"
    content = json.loads(header.read_text())
    assert content.pop("format") == 2
    header.write_text(json.dumps(content if found is None else {"format": found, **content}))
    with pytest.raises(InputError, match=words) as caught:
        FolderSweepStore(folder, {"events": "a"}, resume=True)
    assert "\n" not in str(caught.value)
    assert (folder / "point.json").exists()


def test_points_without_a_readable_header_are_measured_again(tmp_path: Path) -> None:
    folder = tmp_path / "points"
    FolderSweepStore(folder, {"events": "a"}, resume=False).put("point.json", 1)
    assert FolderSweepStore(folder, {"events": "a"}, resume=True).get("point.json") == 1
    (folder / "sweep.json").write_text("{")
    assert FolderSweepStore(folder, {"events": "a"}, resume=True).get("point.json") is None
