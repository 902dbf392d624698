"""Guarantee 3 the slow way, from docs/promise.md: all matchings of people to records, and k without a common line.

``fits`` has for every person the set of records (0 .. n - 1, as many as people) that fit.
"""

from itertools import permutations

from oracles.attacker import consistent_gap_tolerant, epoch_of, knowledge


def matchings_of(fits) -> list:
    """Every way to give each person a record that fits, each record once, as sets of lines."""
    people = range(len(fits))
    return [
        frozenset(enumerate(records))
        for records in permutations(people)
        if all(records[person] in fits[person] for person in people)
    ]


def has_disjoint_matchings(fits, k: int) -> bool:
    """Whether k matchings can be chosen of which no two share a line."""

    def more(left: int, possible: list) -> bool:
        if left == 0:
            return True
        return any(
            more(left - 1, [other for other in possible[place + 1 :] if not other & matching])
            for place, matching in enumerate(possible)
        )

    return more(k, matchings_of(fits))


def windows(records, tau: int | None, epsilon: int | None) -> list:
    """(begin, end) of every window that recipients can tell, end left out; (None, None) over whole trajectories."""
    if tau is None or epsilon is None:
        return [(None, None)]
    reach = -(-tau // epsilon)
    epochs = sorted({epoch_of(box[0], epsilon) for boxes in records.values() for box in boxes})
    stretches = [[epochs[0]]]
    for epoch in epochs[1:]:
        if epoch - stretches[-1][-1] > reach:
            stretches.append([])
        stretches[-1].append(epoch)
    found = []
    for stretch in stretches:
        for first in range(stretch[0], max(stretch[0], stretch[-1] - reach) + 1):
            last = min(first + reach, stretch[-1])
            found.append((first * epsilon, (last + 1) * epsilon))
    return found


def windows_without_matchings(samples, records, k: int, tau: int | None, epsilon: int | None) -> list:
    """The windows in which people with a record cannot be matched to records in k ways without a common line."""
    people = sorted(user for user, boxes in records.items() if boxes)
    broken = []
    for begin, end in windows(records, tau, epsilon):
        length = None if begin is None else end - begin
        fits = [
            {
                place
                for place, owner in enumerate(people)
                if consistent_gap_tolerant(
                    records[owner], knowledge(samples, person, begin, length), begin, length, epsilon
                )
            }
            for person in people
        ]
        if not has_disjoint_matchings(fits, k):
            broken.append((begin, end))
    return broken
