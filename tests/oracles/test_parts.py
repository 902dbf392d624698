"""The oracle of new names on cases worked by hand: every kind of error planted alone, and files without any."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from random import Random
from zoneinfo import ZoneInfo

import pytest

from oracles.attacker import violations
from oracles.matchings import has_disjoint_matchings
from oracles.parts import (
    across_errors,
    borders,
    coverage_errors,
    has_k_matchings,
    matchings_errors,
    parts_errors,
    period_of,
    periods_touched,
    telling_begins,
)

HOUR_S = 3600
DAY_S = 24 * HOUR_S

# --- borders -----------------------------------------------------------------------------------------------


def slot(utc: str, step_s: int = 60) -> int:
    seconds = round(datetime.fromisoformat(utc).replace(tzinfo=UTC).timestamp())
    assert seconds % step_s == 0
    return seconds // step_s


def borders_utc(first: str, last: str, period_s: int, zone: str, epsilon_min: int | None, step_s: int = 60):
    """Borders as "day hour:minute" in UTC; an epsilon of None means --whole."""
    epsilon = None if epsilon_min is None else epsilon_min * 60 // step_s
    found = borders(slot(first, step_s), slot(last, step_s), period_s, zone, epsilon, step_s)
    return [datetime.fromtimestamp(b * step_s, UTC).strftime("%d %H:%M") for b in found]


@pytest.mark.parametrize("step_s", [60, 900])
def test_midnight_in_utc(step_s):
    found = borders_utc("2024-01-01T00:00", "2024-01-03T00:00", DAY_S, "UTC", 30, step_s)
    assert found == ["02 00:00", "03 00:00"]  # the first slot is no border, the last may be


def test_first_slot_is_left_out_and_last_is_kept():
    first = slot("2024-01-01T12:00")
    midnight = slot("2024-01-02T00:00")
    assert borders(first, midnight, DAY_S, "UTC", 30, 60) == [midnight]
    assert borders(first, midnight - 1, DAY_S, "UTC", 30, 60) == []
    assert borders(midnight - 1, midnight, DAY_S, "UTC", 30, 60) == [midnight]
    assert borders(midnight, midnight + 1, DAY_S, "UTC", 30, 60) == []


@pytest.mark.parametrize(
    ("epsilon_min", "at"),
    [(30, "18:30"), (45, "18:45"), (60, "19:00"), (None, "18:30")],
)
@pytest.mark.parametrize("step_s", [60, 900])
def test_midnight_in_kolkata_waits_for_the_epoch(epsilon_min, at, step_s):
    # Midnight is 18:30Z, minute 1110 of a day in UTC. A day has 32 epochs of 45 minutes; the 25th is at 1125.
    found = borders_utc("2024-01-01T00:00", "2024-01-02T23:00", DAY_S, "Asia/Kolkata", epsilon_min, step_s)
    assert found == [f"01 {at}", f"02 {at}"]


def test_whole_with_a_coarse_step_waits_for_the_step():
    assert borders_utc("2024-01-01T00:00", "2024-01-02T00:00", DAY_S, "Asia/Kolkata", None, 3600) == [
        "01 19:00"
    ]
    assert borders_utc("2024-01-01T00:00", "2024-01-02T00:00", DAY_S, "Asia/Kathmandu", None, 900) == [
        "01 18:15"
    ]
    assert borders_utc("2024-01-01T00:00", "2024-01-02T00:00", DAY_S, "Asia/Kathmandu", 30, 900) == [
        "01 18:30"
    ]


# Clocks go from 02:00 to 03:00 at 01:00Z on 31 March, and from 03:00 to 02:00 at 01:00Z on 27 October.
SPRING = {
    24: ["30 23:00", "31 22:00"],  # 23 hours
    12: ["30 23:00", "31 10:00", "31 22:00"],
    6: ["30 23:00", "31 04:00", "31 10:00", "31 16:00", "31 22:00"],
    3: [
        "30 23:00",
        "31 01:00",  # 03:00, which is where 02:00 would have been
        "31 04:00",
        "31 07:00",
        "31 10:00",
        "31 13:00",
        "31 16:00",
        "31 19:00",
        "31 22:00",
    ],
}
AUTUMN = {
    24: ["26 22:00", "27 23:00"],  # 25 hours
    12: ["26 22:00", "27 11:00", "27 23:00"],
    6: ["26 22:00", "27 05:00", "27 11:00", "27 17:00", "27 23:00"],
    3: [
        "26 22:00",
        "27 02:00",
        "27 05:00",
        "27 08:00",
        "27 11:00",
        "27 14:00",
        "27 17:00",
        "27 20:00",
        "27 23:00",
    ],
}


@pytest.mark.parametrize("hours", [24, 12, 6, 3])
@pytest.mark.parametrize("step_s", [60, 900])
@pytest.mark.parametrize("epsilon_min", [15, 60, None])
def test_changes_of_clocks_in_paris(hours, step_s, epsilon_min):
    spring = ("2024-03-30T22:00", "2024-03-31T22:00", hours * HOUR_S, "Europe/Paris", epsilon_min, step_s)
    assert borders_utc(*spring) == SPRING[hours]
    autumn = ("2024-10-26T21:00", "2024-10-27T23:00", hours * HOUR_S, "Europe/Paris", epsilon_min, step_s)
    assert borders_utc(*autumn) == AUTUMN[hours]


def test_a_time_that_comes_twice_counts_the_first_time():
    # 02:00 is at 00:00Z and again at 01:00Z; 04:00 is at 03:00Z.
    found = borders_utc("2024-10-26T22:00", "2024-10-27T03:00", 2 * HOUR_S, "Europe/Paris", 30)
    assert found == ["27 00:00", "27 03:00"]


def test_a_time_that_is_skipped_is_read_with_the_offset_before():
    # 02:00 and 03:00 are both 01:00Z, 02:30 and 03:30 both 01:30Z.
    found = borders_utc("2024-03-31T00:00", "2024-03-31T02:00", 1800, "Europe/Paris", 30)
    assert found == ["31 00:30", "31 01:00", "31 01:30", "31 02:00"]
    found = borders_utc("2024-03-30T23:00", "2024-03-31T02:00", 2 * HOUR_S, "Europe/Paris", 30)
    assert found == ["31 01:00", "31 02:00"]


def test_midnight_skipped_and_midnight_twice():
    # Sao Paulo went from 00:00 to 01:00 on 4 November 2018 (UTC-3 until then): 03:00Z.
    found = borders_utc("2018-11-03T04:00", "2018-11-05T12:00", DAY_S, "America/Sao_Paulo", 30)
    assert found == ["04 03:00", "05 02:00"]
    # Havana goes from 01:00 back to 00:00 on 3 November 2024 (UTC-4 until then): midnight is 04:00Z and 05:00Z.
    found = borders_utc("2024-11-02T05:00", "2024-11-04T12:00", DAY_S, "America/Havana", 30)
    assert found == ["03 04:00", "04 05:00"]


def test_a_search_that_begins_in_the_second_of_two_equal_hours():
    # From 01:00Z on, 02:00 to 03:00 comes again. 02:30 was at 00:30Z already.
    found = borders_utc("2024-10-27T01:10", "2024-10-27T02:30", 1800, "Europe/Paris", 30)
    assert found == ["27 02:00", "27 02:30"]


def test_an_epsilon_that_does_not_divide_a_day():
    # 2024-01-01T00:00Z is minute 28,401,120 = 7 x 4,057,302 + 6, and 1440 = 7 x 205 + 5.
    found = borders_utc("2023-12-31T12:00", "2024-01-04T12:00", DAY_S, "UTC", 7)
    assert found == ["01 00:01", "02 00:03", "03 00:05", "04 00:00"]


def test_whole_days_are_counted_from_1970():
    # 2024-01-01 is day 19,723, a Monday; 19,726 = 7 x 2,818 is a Thursday, as 1970-01-01 was.
    two = borders_utc("2024-01-01T00:00", "2024-01-07T00:00", 2 * DAY_S, "UTC", 30)
    assert two == ["02 00:00", "04 00:00", "06 00:00"]
    seven = borders_utc("2024-01-01T00:00", "2024-01-20T00:00", 7 * DAY_S, "UTC", 30)
    assert seven == ["04 00:00", "11 00:00", "18 00:00"]


def test_whole_days_follow_the_clock_of_the_zone():
    # The even days 20 March 2024 (19,802) to 3 April; midnight moves from 23:00Z to 22:00Z on 31 March.
    found = borders_utc("2024-03-27T00:00", "2024-04-03T00:00", 2 * DAY_S, "Europe/Paris", 60)
    assert found == ["27 23:00", "29 23:00", "31 22:00", "02 22:00"]
    # Day 19,817 is 4 April, a Thursday.
    found = borders_utc("2024-03-26T00:00", "2024-04-05T00:00", 7 * DAY_S, "Europe/Paris", 60)
    assert found == ["27 23:00", "03 22:00"]


def test_epochs_longer_than_the_period_make_fewer_borders():
    found = borders_utc("2024-01-01T00:00", "2024-01-02T00:00", 3 * HOUR_S, "UTC", 240)
    assert found == ["01 04:00", "01 08:00", "01 12:00", "01 16:00", "01 20:00", "02 00:00"]


def test_before_1970():
    assert borders(-1500, 0, DAY_S, "UTC", 7, 60) == [-1435, 0]  # -1440 = -205.7 epochs
    assert borders(-1500, 0, DAY_S, "UTC", None, 60) == [-1440, 0]


def test_a_period_must_divide_a_day_or_be_whole_days():
    for period_s in (5 * HOUR_S, 36 * HOUR_S, 0):
        with pytest.raises(ValueError, match="divide a day"):
            borders(0, 10, period_s, "UTC", 30, 60)


@pytest.mark.parametrize(
    "zone", ["Europe/Paris", "America/Sao_Paulo", "America/Havana", "Australia/Lord_Howe", "Pacific/Apia"]
)
def test_watching_the_clock_agrees_with_datetime(zone):
    """datetime reads twice-shown and skipped times in the documented way when fold is 0."""
    for day in (datetime(2011, 12, 30), datetime(2018, 11, 4), datetime(2024, 3, 31), datetime(2024, 10, 6)):
        first = round((day - timedelta(days=1)).replace(tzinfo=UTC).timestamp()) // 60
        last = first + 3 * 1440
        clock_times = [day - timedelta(days=3) + timedelta(minutes=30 * n) for n in range(7 * 48)]
        moments = {round(shown.replace(tzinfo=ZoneInfo(zone)).timestamp()) // 60 for shown in clock_times}
        assert borders(first, last, 1800, zone, None, 60) == sorted(m for m in moments if first < m <= last)


def test_period_of_a_slot():
    assert [period_of(t, [6, 12]) for t in (-1, 0, 5, 6, 11, 12, 99)] == [0, 0, 0, 1, 1, 2, 2]
    assert period_of(5, []) == 0


def test_periods_touched_by_an_interval():
    assert list(periods_touched(4, 2, [6, 7])) == [0]
    assert list(periods_touched(5, 2, [6, 7])) == [0, 1]
    assert list(periods_touched(5, 3, [6, 7])) == [0, 1, 2]
    assert list(periods_touched(7, 9, [6, 7])) == [2]
    assert list(periods_touched(None, None, [6, 7])) == [0, 1, 2]


# --- parts -------------------------------------------------------------------------------------------------

# A street of ten cells; slots and epochs are hours, tau is two of them, and there is a border at 06:00. Person
# number n stands in cell n, and every box covers the whole street, unless a test says otherwise.
BORDERS = [6]
STREET = (0, 9, 0, 0)


def world(hours_of) -> dict:
    return {user: [(hour, n, 0) for hour in hours] for n, (user, hours) in enumerate(hours_of.items())}


def release(samples, borders=BORDERS, suppressed=(), cells=None) -> list:
    """A part per person and period with one box per sample that is not among the suppressed (user, hour).

    ``cells`` has {(user, hour): (x0, x1)} for boxes that do not cover the whole street.
    """
    boxes_of = {}
    for user, own in samples.items():
        for hour, _, _ in own:
            if (user, hour) in suppressed:
                continue
            x0, x1 = (cells or {}).get((user, hour), STREET[:2])
            boxes_of.setdefault((user, period_of(hour, borders)), []).append((hour, hour, x0, x1, 0, 0))
    return [(user, period, boxes) for (user, period), boxes in boxes_of.items()]


def errors_of(samples, parts, k=2, tau=2, epsilon=1, borders=BORDERS, **options) -> list:
    return parts_errors(samples, parts, borders, k, tau, epsilon, **options)


def kinds(errors) -> set:
    return {error.split(":")[0] for error in errors}


ALWAYS = range(18)
SIX = dict.fromkeys("abcdef", ALWAYS)


def test_a_clean_file_has_no_errors():
    samples = world(SIX)
    parts = release(samples)
    assert len(parts) == 12
    assert errors_of(samples, parts) == []
    assert errors_of(samples, parts, k=6) == []
    assert kinds(errors_of(samples, parts, k=7)) == {
        "coverage strict",
        "coverage tolerant",
        "across strict",
        "across tolerant",
    }
    assert matchings_errors(samples, parts, BORDERS, 6, 2, 1) == []


def test_a_clean_file_of_whole_parts():
    samples = world(SIX)
    parts = release(samples)
    assert errors_of(samples, parts, k=6, tau=None, epsilon=None) == []
    assert matchings_errors(samples, parts, BORDERS, 6, None, None) == []
    assert kinds(errors_of(samples, parts, k=7, tau=None, epsilon=None)) == {
        "coverage strict",
        "coverage tolerant",
    }
    assert kinds(matchings_errors(samples, parts, BORDERS, 7, None, None)) == {"matchings"}


def test_no_parts_at_all():
    assert errors_of({}, []) == []
    assert errors_of(world(SIX), []) == []
    assert matchings_errors({}, [], BORDERS, 2, 2, 1) == []
    assert matchings_errors(world(SIX), [], BORDERS, 2, 2, 1) == []


def test_borders_must_be_epoch_borders():
    with pytest.raises(ValueError, match="epoch borders"):
        errors_of({}, [], epsilon=4)
    with pytest.raises(ValueError, match="ascend"):
        errors_of({}, [], borders=[8, 4])
    with pytest.raises(ValueError, match="both"):
        errors_of({}, [], tau=None)
    with pytest.raises(ValueError, match="epoch borders"):
        matchings_errors({}, [], BORDERS, 2, 2, 4)


# --- what a file must look like ----------------------------------------------------------------------------


def test_crosses():
    # Everybody's box of 05:00 reaches over the border, though nobody has a sample there.
    samples = world(dict.fromkeys("abcdef", range(6)))
    parts = [(user, 0, [*boxes[:-1], (5, 6, *STREET)]) for user, _, boxes in release(samples)]
    errors = errors_of(samples, parts)
    assert kinds(errors) == {"crosses"}
    assert len(errors) == 6
    assert errors_of(samples, parts, borders=[7]) == []


def test_crosses_from_the_later_part():
    samples = world(dict.fromkeys("abcdef", range(6, 12)))
    parts = [(user, 1, [(5, 6, *STREET), *boxes[1:]]) for user, _, boxes in release(samples)]
    errors = errors_of(samples, parts)
    assert kinds(errors) == {"crosses"}
    assert len(errors) == 6


def test_outside():
    # The box of 06:00 stands in everybody's part of the first period.
    samples = world(dict.fromkeys("abcdef", range(8)))
    parts = [
        (user, period, [*boxes, (6, 6, *STREET)] if period == 0 else boxes[1:])
        for user, period, boxes in release(samples)
    ]
    errors = errors_of(samples, parts, tau=1)
    assert [error for error in errors if error.startswith("outside")] == [
        f"outside: {user} has (6, 6, 0, 9, 0, 0) in the part of period 0" for user in "abcdef"
    ]
    assert kinds(errors) == {"outside"}


def test_a_box_can_cross_a_border_outside_its_part():
    samples = world({"a": [6]})
    errors = errors_of(samples, [("a", 2, [(5, 6, *STREET)])], k=1)
    assert kinds(errors) == {"crosses", "outside"}


def test_twice():
    samples = world(SIX)
    parts = release(samples)
    assert errors_of(samples, [*parts, parts[3]]) == ["twice: b has another part in period 1"]


def test_two_parts_of_one_person_do_not_hide_each_other():
    samples = world({"a": range(5)})
    parts = release(samples)
    errors = errors_of(samples, parts + parts)
    assert kinds(errors) == {"twice", "coverage strict", "coverage tolerant"}
    assert all(error.endswith(" 1 fit") for error in errors[1:])


def test_untrue():
    # b's box of 03:00 misses b, who stands in cell 1, and covers the others. With k = 2 they are enough for b.
    samples = world(SIX)
    parts = release(samples, cells={("b", 3): (2, 9)})
    errors = errors_of(samples, parts)
    assert errors == ["untrue: b has (3, 3, 2, 9, 0, 0) without a sample in it"]


def test_a_box_of_somebody_without_samples_is_untrue():
    samples = world(SIX)
    parts = [*release(samples), ("z", 1, [(h, h, *STREET) for h in range(6, 18)])]
    assert "untrue" in kinds(errors_of(samples, parts))


def test_empty():
    samples = world(SIX)
    assert errors_of(samples, [*release(samples), ("z", 1, [])]) == [
        "empty: z has a part without boxes in period 1"
    ]


# --- coverage ----------------------------------------------------------------------------------------------


def test_coverage_strict_alone():
    # a stands in cell 0 at 03:00, where only a's own box reaches; g and h have no box then, and are forgiven.
    active = {**SIX, "g": [h for h in ALWAYS if h != 3], "h": [h for h in ALWAYS if h != 3]}
    samples = world(active)
    parts = release(samples, cells={(user, 3): (1, 9) for user in "bcdef"})
    assert errors_of(samples, parts) == [
        "coverage strict: a in period 0, begin 2, 2 known: 1 fit",
        "coverage strict: a in period 0, begin 3, 2 known: 1 fit",
    ]
    assert errors_of(samples, release(samples)) == []


def test_coverage_tolerant_alone():
    # a's sample of 03:00 is suppressed, nobody else is without a box then, and no other box covers it.
    samples = world(SIX)
    parts = release(samples, suppressed={("a", 3)}, cells={(user, 3): (1, 9) for user in "bcdef"})
    assert errors_of(samples, parts) == [
        "coverage tolerant: a in period 0, begin 2, 2 known: 1 fit",
        "coverage tolerant: a in period 0, begin 3, 2 known: 1 fit",
    ]
    # With one more who is suppressed then, each is forgiven as the other is.
    both = release(samples, suppressed={("a", 3), ("b", 3)}, cells={(user, 3): (2, 9) for user in "cdef"})
    assert errors_of(samples, both) == []


def test_a_person_alone_in_a_period():
    # Only a has samples after the border, from 12:00 on: a part of its own kind, even where nothing is known.
    samples = world({**dict.fromkeys("bcdef", range(6)), "a": [12]})
    errors = errors_of(samples, release(samples))
    assert kinds(errors) == {"coverage strict", "coverage tolerant"}
    assert all(" a in period 1" in error for error in errors)


def test_the_lone_absent_part():
    # v is the only one with a part after the border and no box in it until 11:00. The part of v before the border
    # is one of seven.
    samples = world({**SIX, "v": [*range(6), *range(11, 18)]})
    parts = release(samples)
    known = {5: 0, 6: 0, 7: 0, 8: 0, 9: 0, 10: 1}  # of 06:00 and later, by begin
    assert coverage_errors(samples, parts, BORDERS, 2, 2, 1) == [
        f"coverage {attacker}: v in period 1, begin {a}, {n} known: 1 fit"
        for a, n in known.items()
        for attacker in ("strict", "tolerant")
    ]
    assert across_errors(samples, parts, BORDERS, 2, 2, 1) == [
        f"across {attacker}: v in periods 0 to 1, begin 5, 1 known: 1 people fit"
        for attacker in ("strict", "tolerant")
    ]
    assert kinds(matchings_errors(samples, parts, BORDERS, 2, 2, 1)) == {"matchings"}


def test_the_lone_absent_part_with_company():
    # f's boxes until 11:00 are suppressed: two parts without boxes. They hide each other, f is forgiven.
    samples = world({**SIX, "v": [*range(6), *range(11, 18)]})
    hidden = release(samples, suppressed={("f", hour) for hour in range(6, 11)})
    assert errors_of(samples, hidden) == []
    assert matchings_errors(samples, hidden, BORDERS, 2, 2, 1) == []
    # If f has no part at all in that period, nobody in it looks like v. Across the border, f does.
    gone = release(samples, suppressed={("f", hour) for hour in range(6, 18)})
    assert kinds(errors_of(samples, gone)) == {"coverage strict", "coverage tolerant"}


def test_absence_is_tried_where_nobody_has_a_sample():
    # Nobody is active from 02:00 to 15:59; all parts fit then, in either period.
    samples = world(dict.fromkeys("abc", (0, 1, 16, 17)))
    assert errors_of(samples, release(samples), k=3) == []
    begins = telling_begins(samples, release(samples), BORDERS, 2)
    assert begins == [-2, -1, 0, 1, 2, 5, 6, 15, 16, 17, 18]


def test_begins_left_out_say_nothing_new():
    # One more sample of a person on every slot, never published, stops any begin from being left out.
    samples = world({**SIX, "v": [*range(6), *range(11, 18)]})
    parts = release(samples)
    every_slot = {**samples, "nobody": [(t, 0, 0) for t in range(-9, 30)]}
    assert len(telling_begins(every_slot, parts, BORDERS, 2)) > len(
        telling_begins(samples, parts, BORDERS, 2)
    )
    assert errors_of(every_slot, parts) == errors_of(samples, parts)


def test_whole_parts_must_fit_each_other():
    # At 09:00 c alone is absent, so that no other part of the second period fits c.
    samples = world({"a": ALWAYS, "b": ALWAYS, "c": [h for h in ALWAYS if h != 9]})
    parts = release(samples)
    errors = errors_of(samples, parts, tau=None, epsilon=None)
    assert errors == [
        f"coverage {attacker}: c in period 1, begin None, 11 known: 1 fit"
        for attacker in ("strict", "tolerant")
    ]


def test_whole_parts_are_forgiven_nothing_once_they_have_a_box():
    # a's sample of 03:00 is suppressed, so that a's own part does not fit a. Those of b and c do if they cover it.
    samples = world({"a": range(6), "b": range(6), "c": range(6)})
    covered = release(samples, suppressed={("a", 3)})
    errors = errors_of(samples, covered, tau=None, epsilon=None)
    assert errors == []
    missed = release(samples, suppressed={("a", 3)}, cells={("b", 3): (1, 2), ("c", 3): (1, 2)})
    assert errors_of(samples, missed, tau=None, epsilon=None) == [
        "coverage tolerant: a in period 0, begin None, 6 known: 0 fit"
    ]


@pytest.mark.parametrize("seed", range(12))
def test_without_borders_it_is_the_attacker_of_records(seed):
    random = Random(seed)
    samples = {
        user: [(t, random.randrange(3), 0) for t in range(6) if random.random() < 0.6] for user in "abcd"
    }
    parts = []
    for user, own in samples.items():
        boxes = [(t, t, max(0, x - random.randrange(3)), x + random.randrange(3), 0, 0) for t, x, _ in own]
        parts.append((user, 0, [box for box in boxes if random.random() < 0.8]))
    records = {user: boxes for user, _, boxes in parts}
    for tau, epsilon in ((2, 1), (3, 2), (None, None)):
        expected = {(v.user, v.attacker) for v in violations(samples, records, 2, tau, epsilon)}
        found = coverage_errors(samples, parts, [], 2, tau, epsilon)
        attackers = {"strict": "strict", "tolerant": "gap-tolerant"}
        assert {(e.split()[2], attackers[e.split()[1][:-1]]) for e in found} == expected


# --- across ------------------------------------------------------------------------------------------------


def test_a_person_absent_for_a_whole_period():
    # v has no part in the second period, where nobody needs to look like v. Who saw v until 05:59 and not after
    # knows more, though: all others have a box at 06:00.
    samples = world({**SIX, "v": range(6)})
    assert errors_of(samples, release(samples)) == [
        "across strict: v in periods 0 to 1, begin 5, 1 known: 1 people fit",
        "across tolerant: v in periods 0 to 1, begin 5, 1 known: 1 people fit",
    ]
    assert matchings_errors(samples, release(samples), BORDERS, 2, 2, 1) == []
    together = world({**SIX, "v": range(6), "w": range(6)})
    assert errors_of(together, release(together)) == []
    # An attacker of whole parts never looks across.
    assert errors_of(samples, release(samples), tau=None, epsilon=None) == []


def test_a_person_who_comes_after_the_border():
    samples = world({**SIX, "v": range(6, 18)})
    assert kinds(errors_of(samples, release(samples))) == {"across strict", "across tolerant"}
    together = world({**SIX, "v": range(6, 18), "w": range(6, 18)})
    assert errors_of(together, release(together)) == []


def test_nothing_known_on_either_side_is_no_attack_across():
    # v, g and h leave at 04:00; g and h are back at 06:00, v is not. Of all people, only v is absent at 05:00 and at
    # 06:00, but who knows nothing of v is not promised to find k people who fit.
    hours = {"g": [*range(4), *range(6, 18)], "h": [*range(4), *range(6, 18)]}
    samples = world({**SIX, **hours, "v": range(4)})
    assert errors_of(samples, release(samples)) == []
    # With a sample at 05:00 something is known.
    seen = world({**SIX, **hours, "v": [*range(4), 5]})
    assert "across strict: v in periods 0 to 1, begin 5, 1 known: 1 people fit" in errors_of(
        seen, release(seen)
    )


def test_across_strict_alone():
    # v is seen at 05:00 and no more. g and h are gone by 05:00: forgiven by the gap-tolerant attacker only.
    samples = world({**SIX, "v": range(6), "g": range(5), "h": range(5)})
    assert errors_of(samples, release(samples)) == [
        "across strict: v in periods 0 to 1, begin 5, 1 known: 1 people fit"
    ]


def test_a_person_without_a_part_does_not_fit_the_strict_attacker_where_something_is_known():
    # v was there at 05:00, with w and x, and at 06:00, with c and d. Nobody else was there twice, but that could be
    # because samples were suppressed.
    samples = world({"v": [5, 6], "w": [5], "x": [5], "c": [6], "d": [6]})
    assert errors_of(samples, release(samples)) == [
        "across strict: v in periods 0 to 1, begin 5, 2 known: 1 people fit"
    ]


def test_across_tolerant_alone():
    # v's sample of 05:00 is suppressed, so v's part does not fit for the strict attacker. The others' do, but
    # they have boxes at 06:00, when v had gone.
    samples = world({**SIX, "v": range(6)})
    parts = release(samples, suppressed={("v", 5)})
    assert errors_of(samples, parts, tau=3) == [
        "across tolerant: v in periods 0 to 1, begin 4, 2 known: 1 people fit"
    ]
    # Who knows nothing of v that was published is promised nothing across a border.
    assert errors_of(samples, parts) == []


def exchange_of_partners() -> tuple:
    """At 05:00 a is with b and c with d, at 06:00 a with c and b with d, in cells 0 and 1; no box is larger."""
    cells_at_5 = {"a": 0, "b": 0, "c": 1, "d": 1}
    cells_at_6 = {"a": 0, "c": 0, "b": 1, "d": 1}
    samples = {user: [(5, cells_at_5[user], 0), (6, cells_at_6[user], 0)] for user in "abcd"}
    return samples, {(user, t): (x, x) for user, own in samples.items() for t, x, _ in own}


def test_each_side_hides_but_no_person_does_on_both():
    # Two parts fit on either side, and one person on both.
    samples, cells = exchange_of_partners()
    parts = release(samples, cells=cells)
    assert coverage_errors(samples, parts, BORDERS, 2, 2, 1) == []
    assert kinds(errors_of(samples, parts)) == {"across strict", "across tolerant"}
    assert len(across_errors(samples, parts, BORDERS, 2, 2, 1)) == 8
    assert errors_of(samples, parts, tau=1) == []


def test_people_without_a_part_on_either_side():
    # v was seen at 05:00, suppressed, and had no sample later. w has a part in the third period only. That v might
    # be somebody like w is possible for the gap-tolerant attacker; by the stricter reading it does not count.
    hours = {**dict.fromkeys("abcdef", range(14)), "v": range(6), "w": [12], "x": [12]}
    samples = world(hours)
    parts = release(samples, [6, 12], suppressed={("v", 5), *((u, 12) for u in "ab")})
    found = errors_of(samples, parts, tau=3, borders=[6, 12])
    assert found == ["across tolerant: v in periods 0 to 1, begin 4, 2 known: 1 people fit"]
    assert errors_of(samples, parts, tau=3, borders=[6, 12], count_partless=True) == []


def test_tau_longer_than_a_period():
    # Three periods of one hour in one interval; whoever fits must fit in all three.
    samples = world({**dict.fromkeys("abc", range(4, 9)), "v": [4, 5, 7, 8], "w": [4, 5, 7, 8]})
    three = [6, 7]
    assert errors_of(samples, release(samples, three), tau=3, borders=three) == []
    alone = world({**dict.fromkeys("abc", range(4, 9)), "v": [4, 5, 7, 8]})
    found = errors_of(alone, release(alone, three), tau=3, borders=three)
    assert kinds(found) == {"across strict", "across tolerant"}
    assert "across strict: v in periods 0 to 2, begin 5, 2 known: 1 people fit" in found


# --- matchings ---------------------------------------------------------------------------------------------


def test_matchings_in_a_window():
    # Everybody has two parts that fit, or more: a, b and c have those of a, b and c; d has those of c and d. But d's
    # part fits nobody else, so that d has it in every matching.
    x = {"a": 0, "b": 0, "c": 0, "d": 5}
    samples = {user: [(7, x[user], 0)] for user in "abcd"}
    cells = {("a", 7): (0, 0), ("b", 7): (0, 0), ("c", 7): (0, 5), ("d", 7): (5, 5)}
    parts = release(samples, cells=cells)
    assert coverage_errors(samples, parts, BORDERS, 2, 1, 1) == []
    assert matchings_errors(samples, parts, BORDERS, 1, 1, 1) == []
    assert matchings_errors(samples, parts, BORDERS, 2, 1, 1) == [
        "matchings: period 1, window from 6: 4 people, 4 parts, not 2 ways",
        "matchings: period 1, window from 7: 4 people, 4 parts, not 2 ways",
    ]
    assert len(matchings_errors(samples, parts, BORDERS, 2, None, None)) == 1


def test_a_window_across_a_border_is_judged_on_either_side_alone():
    # In one period this would leave one way.
    samples, cells = exchange_of_partners()
    assert matchings_errors(samples, release(samples, cells=cells), BORDERS, 2, 2, 1) == []
    assert matchings_errors(samples, release(samples, [], cells=cells), [], 2, 2, 1) != []


def test_people_without_a_part_need_no_matching():
    samples = world({**SIX, "v": range(6)})
    assert matchings_errors(samples, release(samples), BORDERS, 6, 2, 1) == []


def test_more_parts_than_people_cannot_be_matched():
    samples = world({"a": [7], "b": [7]})
    parts = release(samples)
    assert matchings_errors(samples, parts, BORDERS, 2, 1, 1) == []
    assert kinds(matchings_errors(samples, [*parts, parts[0]], BORDERS, 2, 1, 1)) == {"matchings"}


@pytest.mark.parametrize("seed", range(60))
def test_choosing_k_parts_agrees_with_all_matchings(seed):
    random = Random(seed)
    n = random.randrange(1, 6)
    fits = [{part for part in range(n) if random.random() < 0.7} | {person} for person in range(n)]
    for k in (1, 2, 3):
        assert has_k_matchings(fits, n, k) == has_disjoint_matchings(fits, k)


def test_random_graphs_have_both_outcomes():
    """The comparison above means something: some graphs have two matchings, some have not."""
    outcomes = set()
    for seed in range(60):
        random = Random(seed)
        n = random.randrange(1, 6)
        fits = [{part for part in range(n) if random.random() < 0.7} | {person} for person in range(n)]
        outcomes.add(has_k_matchings(fits, n, 2))
    assert outcomes == {True, False}


def test_borders_and_parts_together():
    # Kolkata, days, epochs of an hour, steps of 15 minutes: parts change at 19:00Z, not at 18:30Z.
    first, last = slot("2024-01-01T17:00", 900), slot("2024-01-02T20:00", 900)
    found = borders(first, last, DAY_S, "Asia/Kolkata", 4, 900)
    assert found == [slot("2024-01-01T19:00", 900), slot("2024-01-02T19:00", 900)]
    assert [later - earlier for earlier, later in pairwise(found)] == [96]
    samples = world(dict.fromkeys("abc", range(first, first + 16, 2)))
    parts = release(samples, found)
    assert errors_of(samples, parts, k=3, tau=8, epsilon=4, borders=found) == []
    assert matchings_errors(samples, parts, found, 3, 8, 4) == []
    at_midnight = release(samples, [slot("2024-01-01T18:30", 900)])
    assert "outside" in kinds(errors_of(samples, at_midnight, k=3, tau=8, epsilon=4, borders=found))
