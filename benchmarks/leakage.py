"""How much an attacker who knows tau learns beyond epsilon more: random attacks, by code that shoal does not share.

    python benchmarks/leakage.py [--reuse once] [--price 1] [--attacks 10000] [--seed 1] [--only yjmob]

The attacker knows all samples K of a victim in [a, a + tau) and keeps the records consistent with K. An epoch leaks its
slots outside that interval when the victim has samples there and every record kept is consistent with those too
(docs/promise.md, guarantee 2). By construction it is one epsilon at most; records that agree by accident add to it.
"""

from __future__ import annotations

import argparse
import math
import time
from typing import NamedTuple

import numba
import numpy as np


class Attacks(NamedTuple):
    """Random attacks in which the victim's own record is consistent: a number each.

    victim, begin: whom and from which slot on. consistent: how many records are. leaked: slots beyond the interval
    that all these records agree with the victim about; leaked_epochs: in how many epochs those lie.
    """

    victim: np.ndarray
    begin: np.ndarray
    consistent: np.ndarray
    leaked: np.ndarray
    leaked_epochs: np.ndarray


@numba.njit(cache=True)
def fits(lo, hi, t, x, y, first, last, box_ptr, box, record):
    """Whether a record is consistent with samples first .. last - 1, which are all that there are in [lo, hi)."""
    begin, end = box_ptr[record], box_ptr[record + 1]
    left, right = begin, end
    while left < right:  # the first box that does not end before lo
        middle = (left + right) // 2
        if box[middle, 1] < lo:
            left = middle + 1
        else:
            right = middle
    b, held = left, False
    for i in range(first, last):
        while b < end and box[b, 1] < t[i]:
            if not held and box[b, 0] >= lo:
                return False  # the box has no sample of the victim, and lies wholly inside
            b, held = b + 1, False
        if b == end or box[b, 0] > t[i]:
            return False
        if x[i] < box[b, 2] or x[i] > box[b, 3] or y[i] < box[b, 4] or y[i] > box[b, 5]:
            return False
        held = True
    while b < end and box[b, 1] < hi:
        if not held and box[b, 0] >= lo:
            return False
        b, held = b + 1, False
    return True


@numba.njit(cache=True)
def run(victims, begins, tau, epsilon, ptr, t, x, y, box_ptr, box, n_consistent, leaked, n_leaking):
    """Fill the last three for every attack; n_consistent stays 0 where the victim's own record is not consistent."""
    n_records = len(box_ptr) - 1
    kept = np.empty(n_records, np.int64)
    for q in range(len(victims)):
        v, a = victims[q], begins[q]
        own, ends = ptr[v], ptr[v + 1]
        first = own + np.searchsorted(t[own:ends], a)
        last = own + np.searchsorted(t[own:ends], a + tau)
        n_consistent[q], leaked[q], n_leaking[q] = 0, 0, 0
        if not fits(a, a + tau, t, x, y, first, last, box_ptr, box, v):
            continue
        n = 0
        for record in range(n_records):
            if fits(a, a + tau, t, x, y, first, last, box_ptr, box, record):
                kept[n] = record
                n += 1
        n_consistent[q] = n
        i = own
        while i < ends:
            lo = t[i] // epsilon * epsilon
            j = own + np.searchsorted(t[own:ends], lo + epsilon)
            # The pieces of the epoch before the interval and after it; apart from it, one piece is the whole epoch.
            before, after = min(lo + epsilon, a), max(lo, a + tau)
            until = max(i, min(j, own + np.searchsorted(t[own:ends], before)))
            since = min(j, max(i, own + np.searchsorted(t[own:ends], after)))
            agree = until > i or j > since
            for c in range(n):
                if not agree:
                    break
                if before > lo:
                    agree = fits(lo, before, t, x, y, i, until, box_ptr, box, kept[c])
                if agree and after < lo + epsilon:
                    agree = fits(after, lo + epsilon, t, x, y, since, j, box_ptr, box, kept[c])
            if agree:
                leaked[q] += max(0, before - lo) + max(0, lo + epsilon - after)
                n_leaking[q] += 1
            i = j


def attack(samples, boxes, tau: int, epsilon: int, n_attacks: int, seed: int) -> Attacks:
    """Draw attacks: a victim with a record, one of its samples, and an interval around that."""
    n_users = samples.n_users
    ptr = np.searchsorted(samples.user, np.arange(n_users + 1))
    order = np.lexsort((boxes.t0, boxes.owner))
    box_ptr = np.searchsorted(boxes.owner[order], np.arange(n_users + 1))
    box = np.stack([np.asarray(column, np.int64)[order] for column in boxes[1:]], axis=1)
    rng = np.random.default_rng(seed)
    victims = rng.choice(np.flatnonzero(np.diff(box_ptr)), n_attacks)
    known = rng.integers(ptr[victims], ptr[victims + 1])
    begins = samples.t[known] - rng.integers(0, tau, n_attacks)
    found = [np.empty(n_attacks, np.int64) for _ in range(3)]
    columns = [samples.t, samples.x.astype(np.int64), samples.y.astype(np.int64)]
    run(victims, begins, tau, epsilon, ptr, *columns, box_ptr, box, *found)
    counted = found[0] > 0
    return Attacks(*(column[counted] for column in (victims, begins, *found)))


def wilson(hits: int, n: int) -> tuple[float, float]:
    """A 95 % interval for a share."""
    if n == 0:
        return 0.0, 1.0
    z, share = 1.96, hits / n
    centre = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    return centre - half, centre + half


def describe(attacks: Attacks, k: int, epsilon: int) -> list[str]:
    """The share of attacks that learn more than epsilon, and where they lie."""
    n, leaked = len(attacks.leaked), attacks.leaked
    exceeds = leaked > epsilon
    low, high = wilson(int(exceeds.sum()), n)
    bands = [leaked == 0, (leaked > 0) & ~exceeds, exceeds & (leaked <= 2 * epsilon), leaked > 2 * epsilon]
    lines = [
        f"exceeding {100 * exceeds.mean():.2f} % ({100 * low:.2f} to {100 * high:.2f}) of {n} attacks;"
        " leaked none / up to epsilon / up to 2 / more: "
        + " / ".join(f"{100 * band.mean():.1f}" for band in bands)
        + " %"
    ]
    by_number = []
    for number in range(k, k + 4):
        those = attacks.consistent == number if number < k + 3 else attacks.consistent >= number
        if those.any():
            name = f"|C| = {number}" if number < k + 3 else f"|C| > {number - 1}"
            by_number.append(f"{name}: {100 * exceeds[those].mean():.2f} % of {those.sum()}")
    lines.append("exceeding by number of consistent records: " + ", ".join(by_number))
    return lines


class Case(NamedTuple):
    """A dataset and a promise."""

    title: str
    users: int
    days: int
    k: int
    tau: int
    epsilon: int


CASES = {
    "yjmob": Case("YJMob days 0-2", 0, 3, 2, 60, 60),
    "city3": Case("city of 3,000, 1 day", 3_000, 1, 2, 30, 30),
    "city12": Case("city of 12,000, 1 day", 12_000, 1, 2, 30, 30),
    "days": Case("city of 3,000, 3 days", 3_000, 3, 2, 30, 30),
    "k3": Case("city of 3,000, 1 day", 3_000, 1, 3, 30, 30),
    "tau": Case("city of 3,000, 1 day", 3_000, 1, 2, 120, 30),
}


def samples_of(case: Case):
    """The samples of a case, or None where the data are not here."""
    import shoal
    from shoal.core.promise import Grid
    from shoal.reading import read_events

    if case.users:
        return read_events(shoal.make_city(case.users, days=case.days), grid=Grid()).samples
    from run import DATA, yjmob_events

    path = DATA / "yjmob100k_1k_users.parquet"
    return read_events(yjmob_events(path, case.days), grid=Grid()).samples if path.exists() else None


def main() -> None:
    from shoal.core.options import HidingOptions, Reuse
    from shoal.core.promise import Promise
    from shoal.core.workers import Workers
    from shoal.hiding.pipeline import anonymize_samples, prepare

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--reuse", choices=list(Reuse), default="once")
    parser.add_argument("--price", type=float, action="append", help="leak_price; several are compared")
    parser.add_argument("--attacks", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", action="append", choices=list(CASES))
    options = parser.parse_args()
    for name in options.only or CASES:
        case = CASES[name]
        samples = samples_of(case)
        if samples is None:
            print(f"{case.title}: skipped, the data are not here")
            continue
        for price in options.price or [0.0, HidingOptions().leak_price]:
            settings = HidingOptions(reuse=Reuse(options.reuse), leak_price=price)
            promise = Promise(case.k, case.tau, case.epsilon)
            prepare(settings)
            with Workers(2) as workers:
                began = time.process_time()
                outcome = anonymize_samples(samples, promise, settings, workers)
                seconds = time.process_time() - began
            print(
                f"{case.title}, k {case.k}, tau {case.tau} min, epsilon {case.epsilon} min, reuse {options.reuse},"
                f" leak price {price:g}: suppressed {100 * outcome.n_suppressed / outcome.n_samples:.3f} %,"
                f" mean cost per box {outcome.boxes.cost().mean():.2f}, {seconds:.1f} s of processors"
            )
            attacks = attack(samples, outcome.boxes, case.tau, case.epsilon, options.attacks, options.seed)
            for line in describe(attacks, case.k, case.epsilon):
                print(f"  {line}", flush=True)


if __name__ == "__main__":
    main()
