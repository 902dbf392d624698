"""The squares of a report's maps: round, on fixed ground, and the same in reports that are laid side by side."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import shoal
from reporting.page.leaks import Raw, traces
from reporting.town import SOUTH, WEST, by_day
from shoal.auditing.opening import open_audit
from shoal.core.boxes import Boxes
from shoal.core.options import AuditOptions, ReadingOptions
from shoal.core.progress import SilentProgress
from shoal.core.promise import Grid
from shoal.reporting import write_report
from shoal.reporting.facts.region import SIDES_M, region_of, sites_in

GRID = Grid(cell_m=100.0, step_s=60)


def boxes_between(*corners: tuple[int, int, int, int]) -> Boxes:
    """Boxes of one slot: x0, x1, y0, y1 in cells."""
    x0, x1, y0, y1 = np.array(corners, np.int32).T
    n = len(corners)
    return Boxes(np.arange(n, dtype=np.int32), np.zeros(n, np.int64), np.zeros(n, np.int64), x0, x1, y0, y1)


def test_sides_are_the_ladder_1_2_5_and_one_step_is_enough() -> None:
    assert [float(f"{side:.0e}"[0]) for side in SIDES_M] == [1, 2, 5] * 3
    for reach, side in (
        (3, 1_000),
        (250, 1_000),
        (251, 2_000),
        (500, 2_000),
        (501, 5_000),
        (30_000, 200_000),
    ):
        assert region_of(boxes_between((0, reach, 0, 1)), GRID).square_m == side
        assert region_of(boxes_between((0, 1, -reach, 0)), GRID).square_m == side


@pytest.mark.parametrize("seed", range(20))
def test_a_map_holds_every_box_and_begins_at_fixed_places(seed: int) -> None:
    rng = np.random.default_rng(seed)
    x, y = rng.integers(-70_000, 70_000, 2)
    corners = [
        (int(x + a), int(x + a + b), int(y + c), int(y + c + d))
        for a, b, c, d in rng.integers(0, 900, (30, 4))
    ]
    region = region_of(boxes_between(*corners), GRID)
    cells = region.square_m / GRID.cell_m
    for first, n, low, high in ((region.first_i, region.n_i, 0, 1), (region.first_j, region.n_j, 2, 3)):
        assert first % 5 == n % 5 == 0
        assert first * cells <= min(corner[low] for corner in corners)
        assert (first + n) * cells > max(corner[high] for corner in corners)
        assert (first + 5) * cells > min(corner[low] for corner in corners)  # no empty stripe of five squares


def test_whoever_is_suppressed_at_the_border_changes_no_map() -> None:
    """The same region, in a release that lost its outermost kilometre: the same squares, in the same frame."""
    whole = region_of(boxes_between((130, 180, 40, 60), (500, 560, 300, 330), (200, 300, 0, 90)), GRID)
    less = region_of(boxes_between((140, 180, 40, 60), (500, 550, 300, 320), (200, 300, 8, 90)), GRID)
    assert whole == less
    assert whole.square_m == 2_000


def test_both_maps_of_a_report_and_those_of_another_k_have_the_same_squares(tmp_path: Path) -> None:
    city = shoal.make_city(150)
    maps = set()
    for k in (2, 4):
        made = tmp_path / f"{k}.parquet"
        shoal.anonymize(city, k=k, tau="30min", epsilon="30min", output=made)
        write_report(city, made, tmp_path / f"{k}.html", attacks=20)
        html = (tmp_path / f"{k}.html").read_text()
        maps.add(html.count(">squares of 2 km; "))
        assert html.count(">squares of ") == 3
    assert maps == {3}


# ---- sites ---------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def by_site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Events that name sites, the table of these, and a release."""
    folder = tmp_path_factory.mktemp("sites")
    places = sorted({(x // 2_000 * 2_000, y // 2_000 * 2_000) for _, _, x, y in by_day()})
    number = {place: i for i, place in enumerate(places)}
    lines = [f"{u},{t},s{number[x // 2_000 * 2_000, y // 2_000 * 2_000]}" for u, t, x, y in by_day()]
    (folder / "events.csv").write_text("\n".join(["user,time,site", *lines]))
    (folder / "sites.csv").write_text(
        "\n".join(["site,x,y", *(f"s{i},{x + 650:.0f},{y + 350:.0f}" for (x, y), i in number.items())])
    )
    shoal.anonymize(
        folder / "events.csv", sites=folder / "sites.csv", k=2, tau="1h", epsilon="1h",
        output=folder / "published.parquet", key_out=folder / "key.csv",
    )  # fmt: skip
    return folder


def test_sites_are_where_the_table_says(by_site: Path) -> None:
    sites = [line.split(",") for line in (by_site / "sites.csv").read_text().splitlines()[1:]]
    options = ReadingOptions(sites=by_site / "sites.csv")
    with open_audit(
        by_site / "events.csv", by_site / "published.parquet", SilentProgress(), AuditOptions(), options
    ) as (context, _):
        region = region_of(context.published.records.boxes, context.grid)
        found = sites_in(context, region)
    west, south = (first * region.square_m / 1000 for first in (region.first_i, region.first_j))
    meant = {(float(x) / 1000, float(y) / 1000) for _, x, y in sites}
    assert {(round(west + x - 0.05, 6), round(south + y - 0.05, 6)) for x, y in found} == {
        (round(x // 0.1 * 0.1, 6), round(y // 0.1 * 0.1, 6)) for x, y in meant
    }


def test_events_with_positions_have_no_sites(tmp_path: Path) -> None:
    city = shoal.make_city(60)
    shoal.anonymize(city, k=2, tau="30min", epsilon="30min", output=tmp_path / "published.parquet")
    with open_audit(
        city, tmp_path / "published.parquet", SilentProgress(), AuditOptions(), ReadingOptions()
    ) as (context, _):
        assert sites_in(context, region_of(context.published.records.boxes, context.grid)) == []


def test_sites_are_drawn_in_an_internal_report_only(by_site: Path, tmp_path: Path) -> None:
    how = {"key": by_site / "key.csv", "sites": by_site / "sites.csv", "attacks": 20, "tolerance": 1}
    n_sites = len((by_site / "sites.csv").read_text().splitlines()) - 1
    pages = {}
    for public in (False, True):
        page = tmp_path / f"{public}.html"
        write_report(by_site / "events.csv", by_site / "published.parquet", page, public=public, **how)
        pages[public] = page.read_text()
    assert pages[False].count('<circle class="site"') == 3 * n_sites + 2  # three maps, and twice the key
    assert "sites of the events" in pages[False]
    assert 'class="site"' not in pages[True]
    assert "site of the events" not in pages[True]
    user, t, x, y = zip(*by_day(), strict=True)
    assert traces(pages[True], Raw(set(), list(user), np.array(t), np.array(x), np.array(y))) == []
    assert str(WEST) not in pages[False] + pages[True]
    assert str(SOUTH) not in pages[False] + pages[True]
