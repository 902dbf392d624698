"""Guarantee 2 the slow way, from docs/audit.md, given who was made to hide whom.

Samples and records as in ``attacker``. A line of evidence is (begin, end, user, owner): the record of ``owner`` was
made to hold the samples of ``user`` in slots begin .. end - 1.
"""

from collections import defaultdict

from oracles.attacker import in_box


def published_samples(samples, records, user) -> set:
    return {s for s in samples[user] if any(in_box(s, box) for box in records.get(user, ()))}


def in_line(samples, records, line) -> set:
    begin, end, user, _ = line
    return {s for s in published_samples(samples, records, user) if begin <= s[0] < end}


def untrue_lines(samples, records, lines) -> list:
    """Lines whose record does not hold all published samples of the user there."""
    return [
        line
        for line in lines
        if not all(any(in_box(s, box) for box in records[line[3]]) for s in in_line(samples, records, line))
    ]


def too_long_lines(samples, records, lines, window: int) -> list:
    """Lines longer than a window whose samples are further apart than one."""
    times = [[s[0] for s in in_line(samples, records, line)] for line in lines]
    return [
        line
        for line, own in zip(lines, times, strict=True)
        if line[1] - line[0] > window and own and max(own) - min(own) >= window
    ]


def unexplained_boxes(samples, records, lines) -> list:
    """(owner, box) for every box with a face that no published sample of its owner, or of whom it holds, touches."""
    found = []
    for owner, boxes in records.items():
        hold = set(published_samples(samples, records, owner))
        for line in lines:
            if line[3] == owner:
                hold |= in_line(samples, records, line)
        for box in boxes:
            inside = [s for s in hold if in_box(s, box)]
            faces = all(
                any(s[axis] == box[2 * axis + end] for s in inside) for axis in range(3) for end in range(2)
            )
            if not faces:
                found.append((owner, box))
    return found


def served_again(lines, window: int) -> int:
    """How many lines lie beyond one window of their user and record, each beginning a new one."""
    by_pair = defaultdict(list)
    for begin, end, user, owner in lines:
        by_pair[user, owner].append((begin, end))
    again = 0
    for times in by_pair.values():
        since = None
        for begin, end in sorted(times):
            if since is None:
                since = begin
            elif end > since + window:
                again, since = again + 1, begin
    return again
