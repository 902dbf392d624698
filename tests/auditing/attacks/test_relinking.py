"""Parts of one person are found by what they have in common, and by nothing else."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow.parquet
import pytest

from auditing.parts_contexts import as_cells, parts_context
from shoal.auditing.attacks.relinking import attack_relinking
from shoal.auditing.attacks.revealed import attack_revealed
from shoal.auditing.context import AuditContext
from shoal.auditing.measures import NO_VICTIM, Measure
from shoal.core.options import HidingOptions
from shoal.core.periods import Periods, find_periods
from shoal.core.promise import Grid, Promise
from shoal.core.proportions import Proportion
from shoal.core.samples import Samples, samples_from_columns
from shoal.core.workers import Workers
from shoal.core.zones import Zone
from shoal.hiding.pipeline import anonymize_samples
from support.paths import DATA

YJMOB = DATA / "yjmob100k_1k_users.parquet"
HOURLY = Grid(cell_m=500.0, step_s=3600)
SIX_HOURS = Periods(np.arange(1, 8) * 6)  # two days


def homebodies(n: int, seed: int = 0) -> Samples:
    """People who are always in one of two cells of their own, two days, some hours of every period."""
    rng = np.random.default_rng(seed)
    home, work = rng.permutation(40_000)[: 2 * n].reshape(2, n)
    user, t = (each.ravel() for each in np.meshgrid(np.arange(n), np.arange(48), indexing="ij"))
    seen = (rng.random(len(user)) < 0.4) | (t % 6 == 2)
    user, t = user[seen], t[seen]
    cell = np.where(rng.random(len(user)) < 0.5, home[user], work[user])
    return samples_from_columns(np.arange(n).astype(str).astype(object), user, t, cell // 200, cell % 200)


def shuffled(samples: Samples, periods: Periods, seed: int = 1) -> Samples:
    """The same parts, each given to somebody at random: nothing ties the parts of a person together."""
    rng = np.random.default_rng(seed)
    period = periods.of(samples.t)
    whose = np.stack([rng.permutation(samples.n_users) for _ in range(periods.n_periods)])
    return samples_from_columns(samples.users, whose[period, samples.user], samples.t, samples.x, samples.y)


def hidden(samples: Samples, periods: Periods, names: np.random.Generator | None = None) -> AuditContext:
    promise = Promise(2, 1, 1)
    with Workers(1) as alone:
        outcome = anonymize_samples(samples, promise, HidingOptions(harden=0), alone, periods=periods)
    return parts_context(samples, periods, outcome.boxes, promise=promise, grid=HOURLY, names=names)


def plain(samples: Samples, periods: Periods) -> AuditContext:
    return parts_context(samples, periods, as_cells(samples), promise=Promise(2, 1, 1), grid=HOURLY)


def figures(measures: list[Measure]) -> dict[tuple[str, str], float]:
    found = {}
    for each in measures:
        assert isinstance(each.published, Proportion)
        found[each.variant, each.measure] = each.published.value
    return found


def test_twins_are_found_and_told_beside_raw_parts_and_guessing() -> None:
    measures = attack_relinking(plain(homebodies(60), SIX_HOURS))
    assert {(each.variant, each.measure) for each in measures} == {
        ("next", "pick"), ("next", "rank_10"), ("same_hours", "pick"), ("same_hours", "rank_10"), ("all", "pick"),
    }  # fmt: skip
    for each in measures:
        assert isinstance(each.published, Proportion)
        assert isinstance(each.raw, Proportion)
        assert each.published.value > 0.9
        assert each.raw.value == pytest.approx(each.published.value)
    guesses = {(each.variant, each.measure): each.guessing for each in measures}
    assert guesses["next", "pick"] == pytest.approx(1 / 60)
    assert guesses["next", "rank_10"] == pytest.approx(10 / 60)


def test_parts_given_to_anybody_are_found_as_often_as_by_guessing() -> None:
    samples = shuffled(homebodies(120), SIX_HOURS)
    found = figures(attack_relinking(replace(plain(samples, SIX_HOURS), n_attacks=800)))
    assert found["next", "pick"] < 0.04
    assert found["same_hours", "pick"] < 0.04
    assert found["all", "pick"] < 0.04


def test_names_of_records_do_not_matter() -> None:
    samples = homebodies(40, seed=3)
    first, second = (
        figures(attack_relinking(hidden(samples, SIX_HOURS, names)))
        for names in (None, np.random.default_rng(5))
    )
    assert first == pytest.approx(
        second, abs=0.03
    )  # equals are told apart by their numbers, and few are equal


def test_boxes_hide_what_raw_parts_show() -> None:
    measures = attack_relinking(hidden(homebodies(60, seed=2), SIX_HOURS))
    for each in measures:
        assert isinstance(each.published, Proportion)
        assert isinstance(each.raw, Proportion)
        assert each.guessing is not None
        assert each.guessing < each.published.value < each.raw.value


def test_one_sample_reveals_everything_of_people_with_places_of_their_own() -> None:
    found = figures(attack_revealed(plain(homebodies(60), SIX_HOURS)))
    assert found["1", "revealed"] > 0.8
    assert found["1", "revealed_alone"] < 0.25  # one of eight periods
    assert found["8", "revealed"] > 0.95
    assert found["home_and_work", "revealed"] > 0.95


def test_hours_of_activity_and_certainty_reveal_what_they_must() -> None:
    """Of 20 people with 32 patterns of hours in a period most are alone with theirs, and eight samples in places of
    their own leave one part in three of four periods."""
    found = figures(attack_revealed(plain(homebodies(20), SIX_HOURS)))
    assert found["epochs", "revealed_alone"] > 0.65
    assert found["epochs", "revealed"] > 0.95
    for n, least, most in (("1", 0.1, 0.2), ("2", 0.2, 0.33), ("4", 0.4, 0.55), ("8", 0.65, 0.85)):
        assert least < found[n, "certain"] < most


def test_relinking_never_reveals_less_and_more_samples_reveal_more() -> None:
    for context in (hidden(homebodies(60), SIX_HOURS), plain(shuffled(homebodies(60), SIX_HOURS), SIX_HOURS)):
        found = figures(attack_revealed(context))
        for variant in ("1", "2", "4", "8", "epochs", "home_and_work"):
            assert found[variant, "revealed"] >= found[variant, "revealed_alone"]
        for n in "1248":
            assert found[n, "certain"] <= found[n, "revealed_alone"] + 1e-9
        assert found["1", "revealed_alone"] < found["8", "revealed_alone"]


def test_people_without_a_second_part_are_not_attacked() -> None:
    """Three people, each in a period of their own, and nobody in the last but one."""
    samples = samples_from_columns(
        np.array(["a", "b", "c"], object), [0, 0, 1, 1, 2], [1, 2, 8, 9, 45], [3, 3, 4, 4, 5], [1] * 5
    )
    found = attack_relinking(plain(samples, SIX_HOURS)) + attack_revealed(plain(samples, SIX_HOURS))
    assert {each.published for each in found if each.variant == "next"} == {NO_VICTIM}
    assert figures([each for each in found if each.variant == "1"])["1", "revealed"] == 1


def test_where_names_never_change_there_is_nothing_to_relink() -> None:
    context = plain(homebodies(20), SIX_HOURS)
    assert (
        attack_relinking(replace(context, parts=None)) == attack_revealed(replace(context, parts=None)) == []
    )


def test_the_linker_finds_half_of_the_next_parts_of_raw_yjmob() -> None:
    if not YJMOB.exists():
        pytest.skip(f"needs {YJMOB.name} in $SHOAL_DATA or ../shared/data")
    table = pyarrow.parquet.read_table(YJMOB)
    user, t, x, y = (table[name].to_numpy() for name in ("user", "t", "x", "y"))
    early = t < 2 * 86_400
    users, number = np.unique(user[early], return_inverse=True)
    samples = samples_from_columns(
        users.astype(str).astype(object), number, t[early] // 60, x[early], y[early]
    )
    promise, grid = Promise(2, 60, 60), Grid(cell_m=500.0, step_s=60)
    periods = find_periods(6 * 3600, int(samples.t.min()), int(samples.t.max()), promise, grid, Zone("UTC"))
    context = parts_context(samples, periods, as_cells(samples), promise=promise, grid=grid, n_attacks=2000)
    assert figures(attack_relinking(context))["next", "pick"] >= 0.5
