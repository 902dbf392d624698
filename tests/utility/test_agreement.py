"""How far boxes and samples agree: exactly where boxes are samples, as by hand elsewhere; and from the file alone."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

import shoal
from shoal.core.samples import Samples, samples_from_columns
from shoal.errors import InputError
from shoal.reading import read_published
from shoal.utility import agreement, density, flows, gyration, homes, workplaces
from support.run_command import write
from utility.tiny_releases import SQUARE_M, Box, World, random_world, slow_density, slow_flows, table_of

SIDE = f"{SQUARE_M}m"
EVER = "30d"


def samples_of(world: World) -> Samples:
    """The first slot and cell of every box."""
    names = np.array(sorted(world), dtype=object)
    rows = [(number, box.t0, box.x0, box.y0) for number, record in enumerate(names) for box in world[record]]
    return samples_from_columns(names, *zip(*rows, strict=True))


def as_points(world: World) -> World:
    return {
        record: sorted({Box(box.t0, box.t0, box.x0, box.x0, box.y0, box.y0) for box in boxes})
        for record, boxes in world.items()
    }


@pytest.mark.parametrize("seed", range(30))
def test_samples_published_as_they_are_agree_entirely(seed: int) -> None:
    world = random_world(seed, points=True)
    found = agreement(samples_of(world), table_of(world, seed), cell=SIDE, gap=EVER)
    assert found.density == pytest.approx(1.0, abs=1e-12)
    assert found.flows in (1.0, None)
    assert (found.gyration_distance, found.gyration_ratio) == (0.0, 1.0)
    assert {found.homes, found.workplaces} <= {1.0, None}


@pytest.mark.parametrize("seed", range(40))
def test_numbers_are_those_of_the_slow_estimates(seed: int) -> None:
    world = random_world(seed)
    found = agreement(samples_of(world), table_of(world, seed), cell=SIDE, gap=EVER)
    raw_trips, trips = (slow_flows(each, 30 * 86_400, 4, 16) for each in (as_points(world), world))
    total = sum(raw_trips.values()) + sum(trips.values())
    common = sum(min(raw_trips[pair], trips[pair]) for pair in raw_trips.keys() & trips.keys())
    assert found.flows == (pytest.approx(float(2 * common / total)) if total else None)
    radii = [np.asarray(gyration(table_of(each))) for each in (as_points(world), world)]
    gaps = [abs(np.mean(radii[0] <= limit) - np.mean(radii[1] <= limit)) for limit in np.concatenate(radii)]
    assert found.gyration_distance == pytest.approx(max(gaps))
    for number, estimate in ((found.homes, homes), (found.workplaces, workplaces)):
        raw_shares, shares = (shares_of(estimate(table_of(each))) for each in (as_points(world), world))
        if raw_shares and shares:
            assert number == pytest.approx(sum(min(raw_shares[at], shares[at]) for at in raw_shares))
        else:
            assert number is None


@pytest.mark.parametrize("seed", range(20))
def test_density_is_compared_by_its_cosine(seed: int) -> None:
    world = random_world(seed)
    sides = [slow_density(each, "UTC")[0] for each in (as_points(world), world)]
    averaged = []
    for each, people in zip((as_points(world), world), sides, strict=True):
        days = density(table_of(each)).days
        averaged.append({key: float(weight) / days[key[0]] for key, weight in people.items()})
    one, other = averaged
    product = sum(weight * other.get(key, 0.0) for key, weight in one.items())
    lengths = [sum(weight**2 for weight in side.values()) ** 0.5 for side in averaged]
    found = agreement(samples_of(world), table_of(world), cell=SIDE, gap=EVER)
    assert found.density == pytest.approx(product / (lengths[0] * lengths[1]))


def shares_of(places: shoal.utility.Places) -> Counter[tuple[int, int]]:
    squares = [
        (int(x // SQUARE_M), int(y // SQUARE_M))
        for x, y in zip(places.x_m, places.y_m, strict=True)
        if not np.isnan(x)
    ]
    return Counter({square: n / len(squares) for square, n in Counter(squares).items()})


def test_worlds_with_nothing_in_common() -> None:
    here = {"r": [Box(0, 0, 0, 0, 0, 0), Box(1, 1, 90, 90, 0, 0)]}
    there = {"r": [Box(0, 0, 500, 500, 0, 0), Box(1, 1, 900, 900, 0, 0)]}
    found = agreement(samples_of(here), table_of(there), cell=SIDE)
    assert (found.density, found.flows, found.gyration_distance, found.homes) == (0.0, 0.0, 1.0, 0.0)
    assert found.gyration_ratio == pytest.approx(400 / 90)
    assert found.workplaces is None


def test_a_median_of_nothing_has_no_ratio() -> None:
    still, moving = ({"r": [Box(0, 0, 0, 0, 0, 0), Box(1, 1, x, x, 0, 0)]} for x in (0, 5))
    assert agreement(samples_of(still), table_of(moving)).gyration_ratio is None
    assert agreement(samples_of(still), table_of(still)).gyration_ratio == 1.0


# ---- a release -------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def events() -> pa.Table:
    return shoal.make_city(120, days=1, seed=3)


@pytest.fixture
def release(events: pa.Table, tmp_path: Path) -> Path:
    """A published file whose events are gone."""
    path = write(events, tmp_path / "events.parquet")
    output = tmp_path / "published.parquet"
    shoal.anonymize(path, k=2, tau="30min", epsilon="30min", output=output)
    path.unlink()
    return output


def test_estimates_need_nothing_but_the_file(release: Path) -> None:
    (release.parent / "published.parquet.manifest.json").unlink()
    records = set(pa.parquet.read_table(release)["record"].to_pylist())
    table = read_published(release)
    people = density(release)
    assert people.crs == table.crs
    assert (people.people.sum(axis=1) * people.days).tolist() == pytest.approx(people.present.tolist())
    assert people.present.max() <= len(records)
    trips = flows(release)
    assert 0 < trips.trips.sum() <= trips.n_trips == table.boxes.n_boxes - len(records) - too_far(table)
    radius = gyration(release)
    assert radius.shape == (len(records),)
    assert (radius >= 0).all()
    for places in (homes(release, "Europe/Paris"), workplaces(release, "Europe/Paris")):
        assert set(places.record) == records
        assert 0 < places.known().sum() <= len(records)


def too_far(table: shoal.reading.PublishedTable) -> int:
    """How many consecutive boxes are more than six hours apart."""
    boxes = table.boxes
    follows = boxes.owner[1:] == boxes.owner[:-1]
    return int(((boxes.t0[1:] - boxes.t1[:-1] - 1 > 360) & follows).sum())


def test_a_release_agrees_with_its_events(release: Path, events: pa.Table) -> None:
    found = agreement(events, release, cell="10km", timezone="Europe/Paris")
    assert 0.5 < (found.density or 0) < 1
    assert 0 < (found.flows or 0) < 1
    assert 0 < found.gyration_distance < 1
    assert found.to_dict().keys() == {
        "density", "flows", "gyration_distance", "gyration_ratio", "homes", "workplaces",
    }  # fmt: skip
    in_memory = shoal.anonymize(events, k=2, tau="30min", epsilon="30min")
    assert agreement(events, in_memory, cell="10km", timezone="Europe/Paris").to_dict() == pytest.approx(
        found.to_dict()
    )
    assert agreement(in_memory.events.samples, in_memory, cell="10km") == agreement(
        events, in_memory, cell="10km"
    )


def test_events_in_another_kind_of_coordinates_are_refused(events: pa.Table) -> None:
    world = random_world(1)
    with pytest.raises(InputError):
        agreement(events, table_of(world))


@pytest.mark.parametrize("seed", range(5))
def test_samples_outside_the_release_are_one_more_square_however_far(seed: int) -> None:
    """A stray on the other side of the world does not make millions of squares, and still counts."""
    world = random_world(seed, points=True)
    published = table_of(world, seed)
    near, far = (_with_strays(samples_of(world), cells) for cells in (1_000, 40_000_000))
    one, other = (agreement(samples, published, cell=SIDE, gap=EVER) for samples in (near, far))
    assert (one.density, one.flows) == (other.density, other.flows)
    assert one.density is not None
    assert one.density < 1


def _with_strays(samples: Samples, cells: int) -> Samples:
    """Everybody is seen once more, at the end, in a far corner."""
    everybody = np.arange(samples.n_users)
    last = np.full(samples.n_users, samples.t.max() + 1)
    columns = (
        (samples.user, everybody),
        (samples.t, last),
        (samples.x, 0 * last - cells),
        (samples.y, 0 * last + cells),
    )
    return samples_from_columns(samples.users, *(np.concatenate(column) for column in columns))
