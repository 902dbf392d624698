"""The paper's kte-hide in plain words, one user at a time (docs/how-it-works.md): cycles, lineages, suppression.

Clusters are ``{epoch: {user: cluster}}``; costs and choices are functions of two users.
"""

from itertools import pairwise


def greedy_cycles(users, cost, may_parent, n_cycles):
    """``{user: [parent in each cycle]}``, or None: go on to the cheapest user allowed, take back what leads nowhere.

    ``may_parent(j, i)``: j may be a parent of i. Of equally cheap users the first in ``users`` is taken.
    """
    users = list(users)
    if len(users) <= n_cycles:
        return None

    def choices(path, taken):
        here = path[-1]
        open_users = [user for user in users if user not in path] or [path[0]]
        cheapest_first = sorted(open_users, key=lambda user: (cost(here, user), users.index(user)))
        return [user for user in cheapest_first if may_parent(here, user) and (here, user) not in taken]

    def complete(path, cycles):
        if len(path) == len(users) + 1:
            cycles, path = [*cycles, path], [users[0]]
        if len(cycles) == n_cycles:
            return cycles
        taken = {edge for cycle in cycles for edge in pairwise(cycle)}
        for there in choices(path, taken):
            found = complete([*path, there], cycles)
            if found is not None:
                return found
        return None

    cycles = complete([users[0]], [])
    if cycles is None:
        return None
    parents = {user: [] for user in users}
    for cycle in cycles:
        for parent, user in pairwise(cycle):
            parents[user].append(parent)
    return parents


def lineages(clusters, epochs, rank=None):
    """Users in the same cluster in each of these epochs, absence being a cluster; those never present left out.

    Users stand in the order of ``rank``, a function.
    """
    present = sorted({user for epoch in epochs for user in clusters.get(epoch, {})}, key=rank)
    found = {}
    for user in present:
        history = tuple(clusters.get(epoch, {}).get(user) for epoch in epochs)
        found.setdefault(history, []).append(user)
    return list(found.values())


def windows_of(epochs, reach):
    """The windows of every stretch: all runs of reach + 1 epochs, or the whole stretch where that is shorter."""
    stretches, windows = [], []
    for epoch in sorted(epochs):
        if stretches and epoch - stretches[-1][-1] <= reach:
            stretches[-1] += range(stretches[-1][-1] + 1, epoch + 1)
        else:
            stretches.append([epoch])
    for stretch in stretches:
        last = max(len(stretch) - reach, 1)
        windows += [stretch[first : first + reach + 1] for first in range(last)]
    return windows


def kte_hide(clusters, cost, k, reach, rank=None):
    """The paper's algorithm with each ordered pair serving once: hiding sets by window, and what is suppressed.

    cost(i, j, epochs): what it costs to merge two users in these epochs. Suppressed users are absent from then on.
    """
    clusters = {epoch: dict(users) for epoch, users in clusters.items()}
    served, hiding_sets, suppressed = set(), {}, set()
    for window in windows_of(clusters, reach):
        hiding_sets[window[0]] = {}
        for group in lineages(clusters, window, rank):
            there = [epoch for epoch in window if group[0] in clusters.get(epoch, {})]
            parents = greedy_cycles(
                group,
                lambda i, j, e=there: cost(i, j, e),
                lambda j, i: j != i and (i, j) not in served,
                k - 1,
            )
            if parents is not None:
                hiding_sets[window[0]] |= {user: set(parents[user]) for user in group}
                continue
            for epoch in window:
                for user in group:
                    if clusters.get(epoch, {}).pop(user, None) is not None:
                        suppressed.add((user, epoch))
        served.update(
            (owner, member) for owner, members in hiding_sets[window[0]].items() for member in members
        )
    return hiding_sets, suppressed
