"""Presence patterns and the hiding sets inside them, checked by counting (docs/how-it-works.md).

Presence is ``{user: {epoch, ...}}``: the epochs in which the user is published, withheld ones left out.
"""


def all_windows(presence, r: int) -> range:
    """Every window that touches an epoch in which somebody is published."""
    epochs = [epoch for own in presence.values() for epoch in own]
    return range(min(epochs) - r, max(epochs) + 1) if epochs else range(0)


def pattern_of(presence, user, m: int, r: int) -> tuple[bool, ...]:
    """In which of the epochs m .. m+r the user is published."""
    return tuple(epoch in presence.get(user, ()) for epoch in range(m, m + r + 1))


def pattern_groups(presence, m: int, r: int, users) -> dict[tuple[bool, ...], list]:
    """The users of window m by presence pattern; the all-absent pattern is one of them."""
    groups = {}
    for user in users:
        groups.setdefault(pattern_of(presence, user, m, r), []).append(user)
    return groups


def invariant_errors(presence, windows, r: int, users, k: int) -> list[str]:
    """Patterns shared by at least one and fewer than k users, in any of the windows.

    Users who are published nowhere have no record, so they count as cover for nobody.
    """
    recorded = [user for user in users if presence.get(user)]
    return [
        f"window {m}: pattern {pattern} is shared by {len(group)} users only: {group}"
        for m in windows
        for pattern, group in pattern_groups(presence, m, r, recorded).items()
        if len(group) < k
    ]


def perfect_matching(choices):
    """A bijection {owner: member} with each member among the owner's choices, or None.

    Augmenting paths: an owner takes a free member, or one whose holder can move elsewhere.
    """
    holder = {}

    def place(owner, tried) -> bool:
        for member in choices[owner]:
            if member in tried:
                continue
            tried.add(member)
            if member not in holder or place(holder[member], tried):
                holder[member] = owner
                return True
        return False

    if not all(place(owner, set()) for owner in choices):
        return None
    return {owner: member for member, owner in holder.items()}


def into_permutations(hiding_sets, n_permutations: int):
    """The hiding sets as that many permutations {owner: member} that share no pair, or None.

    Takes away one perfect matching after another; a regular graph always has the next one (Koenig).
    """
    left = {owner: set(members) for owner, members in hiding_sets.items()}
    permutations = []
    for _ in range(n_permutations):
        matching = perfect_matching(left)
        if matching is None:
            return None
        for owner, member in matching.items():
            left[owner].remove(member)
        permutations.append(matching)
    return None if any(left.values()) else permutations


def permutation_errors(hiding_sets_of_window, groups, k: int) -> list[str]:
    """Where the hiding sets of one window are not k-1 disjoint permutations inside each pattern group.

    ``hiding_sets_of_window`` is ``{owner: members}``; ``groups`` comes from ``pattern_groups``. Users who are
    absent from the whole window have no hiding set there, or an empty one.
    """
    errors = []
    grouped = {user for group in groups.values() for user in group}
    errors += [f"{owner} is in no pattern group" for owner in hiding_sets_of_window if owner not in grouped]
    for pattern, group in groups.items():
        hiding = {user: list(hiding_sets_of_window.get(user, ())) for user in group}
        found = group_errors(hiding, k) if any(pattern) else absent_errors(hiding)
        errors += [f"{pattern}: {error}" for error in found]
    return errors


def cluster_errors(hiding_sets_of_window, groups, k: int) -> list[str]:
    """Where the hiding sets of one window are not those of clusters of k to 2k - 1 users, each with all the others."""
    errors = []
    for pattern, group in groups.items():
        hiding = {user: set(hiding_sets_of_window.get(user, ())) for user in group}
        if not any(pattern):
            errors += absent_errors(hiding)
            continue
        for owner, members in hiding.items():
            cluster = {owner, *members}
            if owner in members or not k <= len(cluster) < 2 * k:
                errors.append(f"{pattern}: {owner} has {members}, not {k - 1} to {2 * k - 2} others")
            elif any({other, *hiding.get(other, ())} != cluster for other in members):
                errors.append(f"{pattern}: {owner} is not in a cluster with all of {members}")
    return errors


def absent_errors(hiding) -> list[str]:
    return [f"{owner} is absent but hides among {members}" for owner, members in hiding.items() if members]


def group_errors(hiding, k: int) -> list[str]:
    errors = []
    picked = dict.fromkeys(hiding, 0)
    for owner, members in hiding.items():
        if len(members) != k - 1 or len(set(members)) != k - 1:
            errors.append(f"{owner} has {members}, not {k - 1} distinct members")
        if owner in members:
            errors.append(f"{owner} hides behind itself")
        for member in members:
            if member in picked:
                picked[member] += 1
            else:
                errors.append(f"{owner} has {member}, who is not of this group")
    errors += [f"{user} is picked {n} times, not {k - 1}" for user, n in picked.items() if n != k - 1]
    if not errors:
        errors += decomposition_errors(hiding, into_permutations(hiding, k - 1))
    return errors


def decomposition_errors(hiding, permutations) -> list[str]:
    """Check the decomposition itself, so that nothing rests on the search that found it."""
    if permutations is None:
        return ["the hiding sets do not fall apart into permutations"]
    errors = []
    for permutation in permutations:
        if set(permutation) != set(hiding) or set(permutation.values()) != set(hiding):
            errors.append("not a permutation of the group")
        if any(owner == member for owner, member in permutation.items()):
            errors.append("a permutation has a fixed point")
    for owner, members in hiding.items():
        if sorted(map(repr, members)) != sorted(repr(permutation[owner]) for permutation in permutations):
            errors.append(f"the permutations do not add up to the hiding set of {owner}")
    return errors
