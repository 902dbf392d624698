"""What a datasheet is computed from, and which of it is told: published samples alone, and figures over many people."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from auditing.audits import OUTLOOKS, TIMED, finding, some_audit
from reporting.releases import Release
from reporting.town import alone, by_day, publish
from shoal.auditing.auditor import run_audit
from shoal.auditing.context import AuditContext
from shoal.auditing.guarantees.judgement import Basis, Judgement, State
from shoal.auditing.measures import Measure
from shoal.auditing.opening import open_audit
from shoal.auditing.published_part import published_part
from shoal.auditing.rating import Rating
from shoal.core.boxes import Boxes
from shoal.core.options import AuditOptions, ReadingOptions
from shoal.core.period_text import NEVER
from shoal.core.progress import SilentProgress
from shoal.core.promise import Grid, Promise
from shoal.core.proportions import Proportion, proportion_among
from shoal.core.zones import Zone
from shoal.reporting import write_report
from shoal.reporting.facts.datasheet import public_audit
from shoal.reporting.facts.precision import measure_precision, medians_of_groups
from shoal.reporting.facts.usefulness import measure_usefulness
from shoal.reporting.page.release import _exposure
from shoal.utility import density, flows, gyration

pytestmark = pytest.mark.usefixtures("by_command")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Release:
    return publish(tmp_path_factory.mktemp("town"), [*by_day(), *alone("user-003", 3)])


@pytest.fixture(scope="module")
def context(made: Release) -> Iterator[AuditContext]:
    options = AuditOptions(key=made.key, attacks=150)
    with open_audit(made.events, made.published, SilentProgress(), options, ReadingOptions()) as (opened, _):
        yield opened


# ---- published samples alone ---------------------------------------------------------------------------------------


def test_the_published_part_has_every_sample_but_those_suppressed(context: AuditContext) -> None:
    part = published_part(context, by_record=True)
    assert len(part.samples) == len(context.samples) - 15
    assert part.samples.n_users == context.published.records.n_records
    one, other = (
        {*zip(each.published.own[each.samples.user], *columns(each), strict=True)} for each in (context, part)
    )
    assert other < one
    rows = np.stack([part.samples.user, *columns(part)])
    assert (np.lexsort(rows[::-1]) == np.arange(len(part.samples))).all()


def columns(context: AuditContext) -> tuple[np.ndarray, ...]:
    return context.samples.t, context.samples.x, context.samples.y


# ---- what the boxes are good for -----------------------------------------------------------------------------------


def test_both_sides_are_what_they_say(context: AuditContext, made: Release) -> None:
    """Each figure beside the same estimate, made anew: raw first, and both sides different."""
    found = measure_usefulness(context, public=False)
    cell = f"{found.side_km:g}km"
    raw = _as_table(context)
    for side, table in enumerate((raw, made.published)):
        people = density(table, cell)
        shown = people.people[found.hour]
        inside = people.squares.i >= density(made.published, cell).squares.i.min()
        assert sorted(found.crowds[side].people) == pytest.approx(sorted(shown[(shown > 0) & inside]))
        quantiles = np.quantile(gyration(table), np.linspace(0, 1, len(found.radii[side])))
        assert found.radii[side] == pytest.approx(quantiles)
    told = flows(made.published, cell)
    assert found.hour == int(np.argmax(density(made.published, cell).people.sum(axis=1).round(6))) == 9
    assert 0 < found.trips[1].sum() < told.trips.sum()
    assert set(np.round(found.trips[1], 9)) <= {0.0, *np.round(told.trips, 9)}
    assert list(found.trips[0]) == sorted(found.trips[0], reverse=True)
    assert list(found.trips[0]) != list(found.trips[1])


def _as_table(context: AuditContext) -> object:
    from shoal.reading import PublishedTable

    samples = context.samples
    t, x, y = (np.ascontiguousarray(column) for column in columns(context))
    boxes = Boxes(samples.user, t, t, x, x, y, y)
    return PublishedTable(boxes, samples.users, context.grid, None, None, None)


def test_in_public_the_raw_side_is_squares_with_many_people(context: AuditContext) -> None:
    """Some squares have a few people, one has half of the town at work."""
    internal, public = (
        measure_usefulness(published_part(context, by_record=True), public=public) for public in (False, True)
    )
    assert (internal.crowds[0].people < 10).any()
    assert (public.crowds[0].people >= 10).all()
    assert 0 < len(public.crowds[0].people) < len(internal.crowds[0].people)
    assert list(public.crowds[1].people) == list(internal.crowds[1].people)
    assert len(public.radii[0]) == len(public.trips[0]) == len(public.trips[1]) == 0
    assert len(internal.trips[0])
    assert len(public.radii[1])


def test_the_map_is_that_of_the_boxes(context: AuditContext) -> None:
    found = measure_usefulness(context, public=False)
    assert found.n_elsewhere == 15
    for axis in (0, 1):
        assert max(max(crowd[axis]) for crowd in found.crowds) < found.across[axis] < 30
        assert min(min(crowd[axis]) for crowd in found.crowds) >= 0


# ---- hours and areas -----------------------------------------------------------------------------------------------


def boxes_of(records: list[tuple[int, int, int]]) -> Boxes:
    """Boxes of one cell and slot: owner, hour and x."""
    owner, hour, x = (np.array(column) for column in zip(*records, strict=True))
    t, x, y = (60 * hour).astype(np.int64), x.astype(np.int32), np.zeros(len(x), np.int32)
    return Boxes(owner.astype(np.int32), t, t, x, x, y, y)


@pytest.mark.parametrize("k", [2, 3, 5])
def test_hours_and_squares_of_fewer_than_k_records_are_left_out(k: int) -> None:
    """k records at 8 in the west; k - 1 at 20 in the east, with as many boxes."""
    many = [(record, 8, 0) for record in range(k)]
    few = [(record % (k - 1), 20, 5_000) for record in range(k)]
    found = measure_precision(boxes_of([*many, *few]), Grid(), Zone("UTC"), k)
    assert np.flatnonzero(~np.isnan(found.hourly.km)).tolist() == [8]
    assert np.flatnonzero(~np.isnan(found.hourly.minutes)).tolist() == [8]
    assert [(square.x, square.records) for square in found.area.squares] == [(0.0, k)]


def test_hours_are_those_of_the_clock() -> None:
    found = measure_precision(boxes_of([(0, 8, 0), (1, 8, 0)]), Grid(), Zone("Asia/Tokyo"), 2)
    assert np.flatnonzero(~np.isnan(found.hourly.km)).tolist() == [17]


def test_medians_of_groups_count_owners_and_not_values() -> None:
    values, owner = np.array([1.0, 2.0, 3.0, 9.0]), np.array([0, 0, 0, 1], np.int32)
    assert np.isnan(medians_of_groups(np.zeros(4, np.int64), values, owner, 1, 3)).all()
    assert medians_of_groups(np.zeros(4, np.int64), values, owner, 1, 2) == [2.5]


# ---- attacks -------------------------------------------------------------------------------------------------------


def test_every_figure_of_an_audit_says_on_how_many_victims(context: AuditContext) -> None:
    figures = run_audit(context, [], SilentProgress()).figures
    shares = [share for figure in figures for share in (figure.published, figure.raw)]
    known = [share for share in shares if isinstance(share, Proportion)]
    assert known
    assert all(share.victims is not None and 0 < share.victims <= min(share.n, 40) for share in known)


def test_few_victims_are_not_told_and_many_are_in_whole_per_cent() -> None:
    few, many = proportion_among(0.32345, 2000, 19), proportion_among(0.32345, 2000, 40)
    figures = [
        Measure("linkage", "", "success", few, many, 0.00512),
        Measure("points", "4", "single", many, few, 0.7),
        Measure("longer", "1_tau", "single", proportion_among(0.001, 5, None), "not checked: no key", 0.3),
    ]
    audit = public_audit(some_audit(figures=figures))
    first, second, third = audit.figures
    assert first.published == second.raw == third.published == "not told: fewer than 20 victims"
    assert isinstance(first.raw, Proportion)
    assert first.raw[:3] == (0.32, 0.19, 0.48)
    assert (first.guessing, second.guessing, third.guessing) == (0.00512, None, None)
    assert third.raw == "not checked: no key"
    assert audit.leakage is None


@pytest.mark.parametrize("attack", ["place", "home_and_work", "rankings"])
def test_guessing_that_is_measured_on_people_is_told_where_they_are_not_few(attack: str) -> None:
    many = proportion_among(0.5, 2000, 40)
    told, untold = public_audit(
        some_audit(figures=[Measure(attack, "", "exact", many, many, value) for value in (0.5, 0.01)])
    ).figures
    assert (told.guessing, untold.guessing) == (0.5, None)


@pytest.mark.parametrize("victims", [20, 30, 41, 1000])
@pytest.mark.parametrize("candidate", [0.2, 0.496])
def test_a_datasheet_rates_an_attack_that_looks_elsewhere_as_the_internal_page_does(
    victims: int, candidate: float
) -> None:
    """Rounded or bounded, the figures would look as if it had been checked, or as if the risk was large."""
    exact, seen = Proportion(0.003, 0.001, 0.008, 2000, victims), proportion_among(candidate, 2000, victims)
    figures = [
        Measure("place", "all", measure, share, share, 0.01)
        for measure, share in (("exact", exact), ("candidate", seen))
    ]
    audit = some_audit(figures=figures)
    internal, public = (
        next(each for each in found.verdict.exposures if each.name == "file_alone")
        for found in (audit, public_audit(audit))
    )
    assert (public.rating, public.sentence) == (internal.rating, internal.sentence)
    assert public.rating is Rating.UNKNOWN
    assert _exposure(public, public=True)[0].word == "not checked"


def test_guessing_has_the_words_of_the_internal_page() -> None:
    many = proportion_among(0.32, 2000, 1000)
    audit = some_audit(figures=[Measure("linkage", "", "success", many, many, 1 / 3000)])
    assert audit.verdict.exposures[0].sentence.endswith("guessing under 0.1 %)")
    assert public_audit(audit).verdict.exposures[0].sentence.endswith("guessing under 0.1 %)")


def test_a_large_k_asks_for_more_victims() -> None:
    figures = [
        Measure("linkage", "", "success", proportion_among(0.5, 99, 39), proportion_among(0.5, 99, 40), None)
    ]
    told = public_audit(some_audit(Promise(20, 30, 30), figures=figures)).figures[0]
    assert told.published == "not told: fewer than 40 victims"
    assert isinstance(told.raw, Proportion)


def test_no_share_is_called_nothing_or_all() -> None:
    figures = [
        Measure("linkage", "", "success", proportion_among(v, 9999, 9000), "", None)
        for v in (0, 0.004, 0.996, 1)
    ]
    told = [figure.published for figure in public_audit(some_audit(figures=figures)).figures]
    words = [share.in_words() for share in told if isinstance(share, Proportion)]
    assert words == ["under 1 %", "under 1 %", "over 99 %", "over 99 %"]


@pytest.mark.parametrize("victims", [40, 41, 99, 1000, 12_345])
def test_the_interval_told_holds_the_exact_one(victims: int) -> None:
    for value in (*np.linspace(0, 1, 301), 0.0001, 0.012, 0.29, 0.995, 0.997, 0.9999):
        exact = proportion_among(float(value), 5000, victims)
        told = public_audit(some_audit(figures=[Measure("linkage", "", "success", exact, "", None)])).figures[
            0
        ]
        assert isinstance(told.published, Proportion)
        assert told.published.low <= exact.low <= exact.high <= told.published.high
        assert told.published.low <= told.published.value <= told.published.high


def test_findings_about_few_are_not_told() -> None:
    for victims, n_told in ((19, 0), (20, 1)):
        figures = [Measure("rankings", "", "smallest", proportion_among(0.9, 99, victims), "", None)]
        audit = public_audit(some_audit(figures=figures, findings=[finding()]))
        assert len(audit.findings) == n_told


# ---- on the page ---------------------------------------------------------------------------------------------------


def test_the_page_draws_each_side_where_it_belongs(
    made: Release, context: AuditContext, tmp_path: Path
) -> None:
    """Squares of the raw and the published map, and suppression from the least active to the most."""
    page = tmp_path / "report.html"
    audit = write_report(made.events, made.published, page, key=made.key, attacks=20)
    html = page.read_text()
    found = measure_usefulness(context, public=False)
    drawn = [re.findall(r'class="shade\d', _figure(html, name)) for name in ("Raw", "Published")]
    assert [len(squares) for squares in drawn] == [len(crowd.people) for crowd in found.crowds]
    assert len(drawn[0]) != len(drawn[1])
    assert audit.truthfulness is not None
    shares = [part.share for part in audit.truthfulness.by_activity]
    bars = re.findall(
        r'<rect class="bar lost"[^>]*height="([\d.]+)"', _figure(html, "By how active users are")
    )
    heights = [float(bar) for bar in bars]
    assert len(set(shares)) > 1
    assert np.argmax(heights) == np.argmax(shares)
    assert heights == pytest.approx([max(heights) * share / max(shares) for share in shares], abs=1)


def _figure(html: str, caption: str) -> str:
    return html.split(f"<figcaption>{caption}</figcaption>")[1].split("</figure>")[0]


@pytest.mark.parametrize(
    ("state", "again", "detail"),
    [
        (State.KEPT, 0, "none of about 33,000 members serves again"),
        (State.WEAKENED, 7, "fewer than 10 of about 33,000 members had to serve again"),
        (State.WEAKENED, 412, "up to 420 of about 33,000 members had to serve again"),
    ],
)
def test_a_datasheet_rounds_how_many_members_there_are(state: State, again: int, detail: str) -> None:
    exact = Judgement(2, state, Basis.EVIDENCE, f"{again} of 32,634", again, 32_634)
    audit = some_audit(TIMED)
    audit = replace(audit, guarantees=audit.guarantees._replace(one_window=exact))
    assert public_audit(audit).guarantees.one_window.detail == detail


def test_a_datasheet_tells_rounded_shares_and_recommends_by_these() -> None:
    told = public_audit(some_audit(value=0.9, outlooks=OUTLOOKS))
    assert [(each.rename_every, each.read_share, each.side) for each in told.outlooks] == [
        (NEVER, 1.0, ""), ("1d", 0.48, ""), ("6h", 0.17, ""), ("3h", 0.1, "")
    ]  # fmt: skip
    (step,) = [step for step in told.verdict.next_steps if "new names" in step]
    assert "then reads at most 17 % of the person's samples on average; as it is, everything" in step
    assert {each.n_people for each in told.outlooks} == {0}
    bounds = public_audit(some_audit(value=0.9, outlooks=[each._replace(n_people=41) for each in OUTLOOKS]))
    assert [each.in_words() for each in bounds.outlooks] == ["100 %", "48 %", "under 25 %", "under 25 %"]
    (step,) = [step for step in bounds.verdict.next_steps if "new names" in step]
    assert "--rename-every 3h" in step  # of no period it may be told that it leaves a fifth
    assert "then reads under 25 % of" in step
    few = public_audit(some_audit(value=0.9, outlooks=[each._replace(n_people=19) for each in OUTLOOKS]))
    assert few.outlooks == []
