"""Every way to merge a few trajectories, tried one by one (docs/how-it-works.md).

A trajectory is a list of samples (t, x, y); a box is (t0, t1, x0, x1, y0, y1), ends included.
"""

from itertools import pairwise
from random import Random

Sample = tuple[int, int, int]
Box = tuple[int, int, int, int, int, int]


def hull(samples: list[Sample]) -> Box:
    """The smallest box around some samples."""
    times, xs, ys = zip(*samples, strict=True)
    return (min(times), max(times), min(xs), max(xs), min(ys), max(ys))


def box_cost(box: Box, p=1):
    """span_t * (span_x + span_y)**p, every span counting both of its ends."""
    t0, t1, x0, x1, y0, y1 = box
    return (t1 - t0 + 1) * ((x1 - x0 + 1) + (y1 - y0 + 1)) ** p


def merge_cost(boxes, p=1):
    return sum(box_cost(box, p) for box in boxes)


def slots_of(trajectories: list[list[Sample]]) -> list[list[tuple[int, Sample]]]:
    """The pooled samples as (trajectory number, sample), one list per distinct time, in order of time.

    Cuts stand only between different times, so these lists are what a partition is made of.
    """
    if not trajectories or any(len(trajectory) == 0 for trajectory in trajectories):
        raise ValueError("expected at least one trajectory and no empty one")
    pooled = [(number, tuple(s)) for number, trajectory in enumerate(trajectories) for s in trajectory]
    times = sorted({sample[0] for _, sample in pooled})
    return [[entry for entry in pooled if entry[1][0] == time] for time in times]


def holds_everybody(slots, n_trajectories: int) -> bool:
    return {number for slot in slots for number, _ in slot} == set(range(n_trajectories))


def hull_of_slots(slots) -> Box:
    return hull([sample for slot in slots for _, sample in slot])


def all_partitions(slots, n_trajectories: int):
    """Yield every valid partition as a tuple of boxes: choose the first group, then partition the rest."""
    if not slots:
        yield ()
        return
    for size in range(1, len(slots) + 1):
        if holds_everybody(slots[:size], n_trajectories):
            for rest in all_partitions(slots[size:], n_trajectories):
                yield (hull_of_slots(slots[:size]), *rest)


def brute_force_merge(trajectories: list[list[Sample]], p=1) -> tuple[float, set[tuple[Box, ...]]]:
    """The least cost of a merge, and the set of all partitions that reach it.

    There are up to 2**(distinct times - 1) partitions: keep to about a dozen distinct times. With a whole p
    everything is integers and ties are exact; with another p, partitions within one part in 10**9 tie.
    """
    priced = [
        (merge_cost(partition, p), partition)
        for partition in all_partitions(slots_of(trajectories), len(trajectories))
    ]
    least = min(cost for cost, _ in priced)
    slack = 0 if isinstance(least, int) else abs(least) * 1e-9
    return least, {partition for cost, partition in priced if cost <= least + slack}


def quadratic_merge_cost(trajectories: list[list[Sample]], p=1):
    """The least cost for longer trajectories: the last group may begin anywhere, nothing is pruned."""
    slots = slots_of(trajectories)
    least = [0]  # least[e]: cost of the first e slots; None where they cannot be partitioned
    for end in range(1, len(slots) + 1):
        costs = [
            least[begin] + box_cost(hull_of_slots(slots[begin:end]), p)
            for begin in range(end)
            if least[begin] is not None and holds_everybody(slots[begin:end], len(trajectories))
        ]
        least.append(min(costs) if costs else None)
    return least[-1]


def inside(sample: Sample, box: Box) -> bool:
    t, x, y = sample
    t0, t1, x0, x1, y0, y1 = box
    return t0 <= t <= t1 and x0 <= x <= x1 and y0 <= y <= y1


def is_valid_merge(boxes, trajectories: list[list[Sample]]) -> bool:
    """Whether the boxes are the hulls of one valid partition, in order of time; the cost may be any."""
    boxes = [tuple(int(end) for end in box) for box in boxes]
    if any(later[0] <= earlier[1] for earlier, later in pairwise(boxes)):
        return False
    for trajectory in trajectories:
        for sample in trajectory:
            if sum(inside(sample, box) for box in boxes) != 1:
                return False
    for box in boxes:
        held = [[sample for sample in trajectory if inside(sample, box)] for trajectory in trajectories]
        if any(not samples for samples in held):
            return False
        if hull([sample for samples in held for sample in samples]) != box:
            return False
    return True


def random_partition(trajectories: list[list[Sample]], rng: Random) -> tuple[Box, ...]:
    """Some valid partition, of trajectories of any length; each one has a chance to come up.

    Walk through time; wherever the group so far holds everybody, cut or go on by the toss of a coin whose
    bias differs from call to call. What is left over at the end and lacks somebody joins the last group.
    """
    eagerness = rng.choice([0.05, 0.3, 0.7, 0.95, 1.0])
    groups, current = [], []
    for slot in slots_of(trajectories):
        current.append(slot)
        if holds_everybody(current, len(trajectories)) and rng.random() < eagerness:
            groups.append(current)
            current = []
    if current and holds_everybody(current, len(trajectories)):
        groups.append(current)
    elif current:
        groups[-1].extend(current)
    return tuple(hull_of_slots(group) for group in groups)
