"""The promise with new names, the slow way (docs/decisions/0021-new-names.md): borders, parts, and who fits them.

Samples are ``{user: [(t, x, y), ...]}``. ``parts`` lists ``(user, period, boxes)``: whose part it is (known to
the tests, not to the attacker), the number of its period, and boxes ``(t0, t1, x0, x1, y0, y1)``, ends included.
Times are slots: slot s begins s time steps after 1970-01-01T00:00Z. ``borders`` is an ascending list of slots,
each the first slot of a period; period 0 is all before the first border. ``tau`` and ``epsilon`` are in slots;
both None means ``--whole``: the attacker knows a whole period, which is one window and one epoch.

A part without boxes is an error, and neither hides anybody nor needs to be hidden.
"""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from oracles.attacker import consistent, consistent_gap_tolerant, in_box, knowledge

MINUTE_S = 60
DAY_S = 24 * 60 * MINUTE_S
START_OF_1970 = datetime(1970, 1, 1)

# --- borders -----------------------------------------------------------------------------------------------


def clock_s(second: int, zone: ZoneInfo) -> int:
    """What the clocks of a zone show at a Unix second, as seconds since they showed 1970-01-01T00:00."""
    shown = (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=second)).astimezone(zone)
    return round((shown.replace(tzinfo=None) - START_OF_1970).total_seconds())


def due_moments(begin_s: int, end_s: int, period_s: int, zone: ZoneInfo) -> list[int]:
    """Unix seconds at which a border is due, found by watching the clock of a zone minute by minute.

    Both midnight and every period after it are multiples of the period on that clock, because the period
    divides a day or is whole days. A minute that begins at second s shows the times from ``shown`` to
    ``shown + 60``; where clocks are then set forward, the times up to ``after`` are skipped, and read as if the
    clock had gone on as before: s + (due - shown). Where clocks are set back, times come again, and count
    no more. (All clocks since 1972 are whole minutes away from UTC and change on a minute.)
    """
    moments = []
    counted_to = clock_s(begin_s, zone)
    for s in range(begin_s - begin_s % MINUTE_S, end_s + 1, MINUTE_S):
        shown, after = clock_s(s, zone), clock_s(s + MINUTE_S, zone)
        stop = max(shown + MINUTE_S, after)
        due = -(-max(shown, counted_to) // period_s) * period_s
        while due < stop:
            moments.append(s + due - shown)
            due += period_s
        counted_to = max(counted_to, stop)
    return moments


def borders(
    first_slot: int, last_slot: int, period_s: int, zone_name: str, epsilon: int | None, step_s: int
) -> list[int]:
    """All borders b with first_slot < b <= last_slot, ascending: the first epoch border at or after a due moment.

    ``epsilon`` is in slots of ``step_s`` seconds; None (``--whole``) makes every slot an epoch border. Due
    moments that lead to the same epoch border make one border.
    """
    if period_s < 1 or (DAY_S % period_s != 0 and period_s % DAY_S != 0):
        raise ValueError(f"the period must divide a day or be whole days, got {period_s} s")
    epoch_slots = 1 if epsilon is None else epsilon
    epoch_s = epoch_slots * step_s
    begin_s = first_slot * step_s - epoch_s - 2 * DAY_S  # zones have skipped as much as a day
    moments = due_moments(begin_s, last_slot * step_s, period_s, ZoneInfo(zone_name))
    found = {-(-moment // epoch_s) * epoch_slots for moment in moments}
    return sorted(b for b in found if first_slot < b <= last_slot)


def period_of(slot: int, borders) -> int:
    """Number of the period of a slot: how many borders have come by then. A border belongs to what follows."""
    return sum(border <= slot for border in borders)


def periods_touched(a: int | None, tau: int | None, borders) -> range:
    """Numbers of the periods that have a slot in [a, a+tau); all periods with ``--whole``."""
    if tau is None:
        return range(len(borders) + 1)
    return range(period_of(a, borders), period_of(a + tau - 1, borders) + 1)


# --- what a file must look like ----------------------------------------------------------------------------


def box_errors(user, period: int, box, samples, borders) -> list[str]:
    first, last = period_of(box[0], borders), period_of(box[1], borders)
    errors = []
    if first != last:
        errors.append(f"crosses: {user} has {box} in the periods {first} to {last}")
    if not first <= period <= last:
        errors.append(f"outside: {user} has {box} in the part of period {period}")
    if not any(in_box(sample, box) for sample in samples.get(user, ())):
        errors.append(f"untrue: {user} has {box} without a sample in it")
    return errors


def form_errors(samples, parts, borders) -> list[str]:
    """Parts that are empty or come twice, and boxes that are untrue or not where their part is."""
    errors = []
    seen = set()
    for user, period, boxes in parts:
        if not boxes:
            errors.append(f"empty: {user} has a part without boxes in period {period}")
        if (user, period) in seen:
            errors.append(f"twice: {user} has another part in period {period}")
        seen.add((user, period))
        for box in boxes:
            errors += box_errors(user, period, box, samples, borders)
    return errors


# --- guarantee 1 -------------------------------------------------------------------------------------------


def known_of_period(samples, user, period: int, borders, a: int | None, tau: int | None) -> set:
    """What an attacker who watched [a, a+tau) knows of a person in one period."""
    return {s for s in knowledge(samples, user, a, tau) if period_of(s[0], borders) == period}


def part_fits(attacker: str, boxes, known, a: int | None, tau: int | None, epsilon: int | None) -> bool:
    """Whether an attacker, "strict" or "tolerant", takes a part for a part of the person of whom ``known`` is known.

    The gap-tolerant one forgives samples of an epoch in which the part has no box at all. With ``--whole`` the
    period is one epoch, so a part with any box is forgiven nothing.
    """
    if attacker == "strict":
        return consistent(boxes, known, a, tau)
    return consistent_gap_tolerant(boxes, known, a, tau, epsilon)


def parts_by_period(parts) -> dict:
    """``{period: {user: [boxes of one part, boxes of another, ...]}}``, without parts that have no boxes."""
    found: dict = {}
    for user, period, boxes in parts:
        if boxes:
            found.setdefault(period, {}).setdefault(user, []).append(boxes)
    return found


def telling_begins(samples, parts, borders, tau: int | None) -> list:
    """The begins a of [a, a+tau) that must be tried: together they say what all begins say.

    Every whole slot is gone through, from the first a whose interval touches a sample or a box to the last,
    and one more on either side. These include the intervals in which some person, or everybody, has no sample:
    that nothing is known of somebody is knowledge, too. An interval further out touches nothing, so that all
    parts fit. A begin is left out only if its interval has the same samples (of everybody), wholly holds the
    same boxes and touches the same periods as that of the begin before: nothing else decides what fits.
    """
    if tau is None:
        return [None]
    all_samples = [sample for own in samples.values() for sample in own]
    all_boxes = [box for _, _, boxes in parts for box in boxes]
    times = [sample[0] for sample in all_samples] + [end for box in all_boxes for end in box[:2]]
    begins = []
    view_before = None
    for a in range(min(times, default=0) - tau, max(times, default=0) + 2):
        view = (
            periods_touched(a, tau, borders),
            [place for place, sample in enumerate(all_samples) if a <= sample[0] < a + tau],
            [place for place, box in enumerate(all_boxes) if a <= box[0] and box[1] < a + tau],
        )
        if view != view_before:
            begins.append(a)
        view_before = view
    return begins


def coverage_errors(samples, parts, borders, k: int, tau: int | None, epsilon: int | None) -> list[str]:
    """Guarantee 1 inside each period: who has a part there, what is known of that period (perhaps nothing).

    The strict attacker is held to k where the victim's own part fits, the gap-tolerant one always. Two parts
    of one person count once.
    """
    of_period = parts_by_period(parts)
    errors = []
    for a in telling_begins(samples, parts, borders, tau):
        for period in periods_touched(a, tau, borders):
            owners = of_period.get(period, {})
            for victim in owners:
                known = known_of_period(samples, victim, period, borders, a, tau)
                for attacker in ("strict", "tolerant"):
                    fitting = {
                        owner
                        for owner, own_parts in owners.items()
                        if any(part_fits(attacker, boxes, known, a, tau, epsilon) for boxes in own_parts)
                    }
                    if len(fitting) < k and (attacker == "tolerant" or victim in fitting):
                        errors.append(
                            f"coverage {attacker}: {victim} in period {period}, begin {a}, "
                            f"{len(known)} known: {len(fitting)} fit"
                        )
    return errors


def person_fits(attacker: str, own_parts, known, a: int, tau: int, epsilon: int) -> bool:
    """Whether a person fits what is known of a period; ``own_parts`` is empty for somebody without a part in it."""
    if not own_parts:
        return attacker == "tolerant" or not known
    return any(part_fits(attacker, boxes, known, a, tau, epsilon) for boxes in own_parts)


def across_errors(
    samples, parts, borders, k: int, tau: int | None, epsilon: int | None, *, count_partless: bool = False
) -> list[str]:
    """Guarantee 1 across borders: for every interval that touches several periods, k people who fit in all of them.

    Victims are all of whom a sample is known that lies in a box of their part of one of these periods. The
    people who count have a part in one of the periods, too. The gap-tolerant attacker might also think that the
    victim is somebody without any part there; such people count only with ``count_partless``, which is less
    strict. Nothing is across borders with ``--whole``: there, the attacker knows one period.
    """
    if tau is None or epsilon is None:
        return []
    of_period = parts_by_period(parts)
    all_owners = {user for owners in of_period.values() for user in owners}
    errors = []
    for a in telling_begins(samples, parts, borders, tau):
        touched = periods_touched(a, tau, borders)
        if len(touched) < 2:
            continue
        people = {user for period in touched for user in of_period.get(period, {})}
        for victim in sorted(people, key=str):
            known = {period: known_of_period(samples, victim, period, borders, a, tau) for period in touched}
            if not any(
                in_box(sample, box)
                for period in touched
                for sample in known[period]
                for boxes in of_period.get(period, {}).get(victim, [])
                for box in boxes
            ):
                continue
            for attacker in ("strict", "tolerant"):
                fitting = {
                    person
                    for person in (all_owners if count_partless else people)
                    if all(
                        person_fits(
                            attacker,
                            of_period.get(period, {}).get(person, []),
                            known[period],
                            a,
                            tau,
                            epsilon,
                        )
                        for period in touched
                    )
                }
                if len(fitting) < k and (attacker == "tolerant" or victim in fitting):
                    errors.append(
                        f"across {attacker}: {victim} in periods {touched[0]} to {touched[-1]}, begin {a}, "
                        f"{sum(map(len, known.values()))} known: {len(fitting)} people fit"
                    )
    return errors


def refuse_odd_borders(borders, tau: int | None, epsilon: int | None) -> None:
    """Stops a test that hands in what "New names" rules out."""
    if (tau is None) != (epsilon is None):
        raise ValueError("tau and epsilon are both None (--whole) or both numbers")
    if list(borders) != sorted(set(borders)):
        raise ValueError(f"borders must ascend, got {borders}")
    if epsilon is not None and any(border % epsilon for border in borders):
        raise ValueError(f"borders must be epoch borders, multiples of {epsilon}, got {borders}")


def parts_errors(
    samples, parts, borders, k: int, tau: int | None, epsilon: int | None, *, count_partless: bool = False
) -> list[str]:
    """All that is wrong with a file of parts, guarantees 2 and 3 aside; empty if the promise is kept.

    Every line begins with the kind of error: crosses, twice, untrue, outside, empty, coverage strict,
    coverage tolerant, across strict or across tolerant. Which begins are tried: ``telling_begins``.
    """
    refuse_odd_borders(borders, tau, epsilon)
    return [
        *form_errors(samples, parts, borders),
        *coverage_errors(samples, parts, borders, k, tau, epsilon),
        *across_errors(samples, parts, borders, k, tau, epsilon, count_partless=count_partless),
    ]


# --- guarantee 3 -------------------------------------------------------------------------------------------


def has_k_matchings(fits, n_parts: int, k: int) -> bool:
    """Whether people can be matched to parts in k ways without a common line; ``fits`` has each person's parts.

    That is so if everybody can choose k parts that fit such that every part is chosen k times: such a choice
    splits into k matchings (König). Choices are made one at a time; a part that is already chosen k times is
    taken from somebody who can choose another (an augmenting path).
    """
    if len(fits) != n_parts:
        return False
    chosen: list[set] = [set() for _ in fits]

    def choose_one_more(person: int, tried: set) -> bool:
        for part in sorted(fits[person]):
            if part in tried or part in chosen[person]:
                continue
            tried.add(part)
            holders = [other for other, own in enumerate(chosen) if part in own]
            if len(holders) < k:
                chosen[person].add(part)
                return True
            for holder in holders:
                if choose_one_more(holder, tried):
                    chosen[holder].remove(part)
                    chosen[person].add(part)
                    return True
        return False

    return all(choose_one_more(person, set()) for person in range(len(fits)) for _ in range(k))


def all_windows(samples, parts, tau: int | None, epsilon: int | None) -> list:
    """(begin, length) of every window, r + 1 epochs, that touches a sample or a box; (None, None) with ``--whole``."""
    if tau is None or epsilon is None:
        return [(None, None)]
    times = [sample[0] for own in samples.values() for sample in own]
    times += [end for _, _, boxes in parts for box in boxes for end in box[:2]]
    if not times:
        return []
    r = -(-tau // epsilon)
    windows = range(min(times) // epsilon - r, max(times) // epsilon + 1)
    return [(window * epsilon, (r + 1) * epsilon) for window in windows]


def matchings_errors(samples, parts, borders, k: int, tau: int | None, epsilon: int | None) -> list[str]:
    """Guarantee 3 in what each window has of a period: all who have a part in the period, and all these parts.

    A line joins a person and a part if the part fits, for the gap-tolerant attacker, all that the person did in
    the window and the period. A person with two parts in a period is an error, as there are more parts than people.
    """
    refuse_odd_borders(borders, tau, epsilon)
    of_period = parts_by_period(parts)
    errors = []
    for begin, length in all_windows(samples, parts, tau, epsilon):
        for period in periods_touched(begin, length, borders):
            owners = of_period.get(period, {})
            part_boxes = [boxes for own_parts in owners.values() for boxes in own_parts]
            fits = []
            for person in owners:
                known = known_of_period(samples, person, period, borders, begin, length)
                fits.append(
                    {
                        place
                        for place, boxes in enumerate(part_boxes)
                        if part_fits("tolerant", boxes, known, begin, length, epsilon)
                    }
                )
            if not has_k_matchings(fits, len(part_boxes), k):
                errors.append(
                    f"matchings: period {period}, window from {begin}: "
                    f"{len(owners)} people, {len(part_boxes)} parts, not {k} ways"
                )
    return errors
