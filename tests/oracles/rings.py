"""The cheapest way to cut users into groups of k who all hide each other, by trying every subset (full consistency).

``price(users)`` is what a group takes, as a tuple (reuse, cost); of a group larger than k the cheapest ring, in which
everybody has the next k-1 users. Where the number of users is no multiple of k, one group is larger.
"""

from functools import cache
from itertools import combinations, permutations


def cheapest_rings(n: int, k: int, ring_price):
    """The least (reuse, cost) of all partitions of 0 .. n-1; ``ring_price`` takes the users of a ring in order."""

    @cache
    def group(users):
        if len(users) == k:
            return ring_price(users)
        first, *rest = users
        return min(ring_price((first, *order)) for order in permutations(rest))

    @cache
    def best(left):
        if not left:
            return (0, 0.0)
        sizes = {k} if len(left) % k == 0 else {k, k + n % k}
        options = []
        for size in sizes:
            if size > len(left):
                continue
            for others in combinations(left[1:], size - 1):
                chosen = (left[0], *others)
                rest = best(tuple(user for user in left if user not in chosen))
                if rest is not None:
                    own = group(chosen)
                    options.append((own[0] + rest[0], own[1] + rest[1]))
        return min(options) if options else None

    return best(tuple(range(n)))


def cheapest_clusters(n: int, k: int, record_cost):
    """The least cost of all partitions of 0 .. n-1 into clusters of k or more, in which all records are the same.

    ``record_cost`` takes the users of a cluster, in increasing order.
    """

    @cache
    def best(left):
        if not left:
            return 0.0
        options = []
        for size in (size for size in range(k, len(left) + 1) if size == len(left) or len(left) - size >= k):
            for others in combinations(left[1:], size - 1):
                chosen = (left[0], *others)
                rest = tuple(user for user in left if user not in chosen)
                options.append(size * record_cost(chosen) + best(rest))
        return min(options)

    return best(tuple(range(n)))
