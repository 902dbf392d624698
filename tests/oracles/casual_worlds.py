"""Small random datasets in many shapes, for comparing by the thousand; the same seed gives the same world."""

from random import Random

World = dict[int, set[tuple[int, int, int]]]


def random_promise(rng: Random) -> tuple[int, int, int]:
    """k in 2..4, and tau and epsilon in slots with r = ceil(tau / epsilon) in 1..3.

    tau is as often a multiple of epsilon as not; epsilon may be a single slot.
    """
    epsilon = rng.choice([1, 2, 3, 4, 5, 7, 10])
    r = rng.randint(1, 3)
    tau = r * epsilon if rng.random() < 0.5 else rng.randint((r - 1) * epsilon + 1, r * epsilon)
    return rng.randint(2, 4), tau, epsilon


def random_world(rng: Random, epsilon: int | None = None) -> World:
    """2 to 14 users over 1 to 8 epochs of ``epsilon`` slots (some length of its own when None).

    There may be fewer users than k. No user is without samples. Times and places may be negative.
    """
    epsilon = epsilon or rng.choice([1, 2, 3, 4, 5, 7, 10])
    n_users = rng.randint(2, 14)
    first_epoch = rng.choice([0, 0, -1, -4, rng.randint(-(10**4), 10**4), -(10**7), 3 * 10**7])
    epochs = [first_epoch + e for e in range(rng.randint(1, 8))]
    shape = rng.choice(SHAPES)
    world = shape(rng, n_users, epochs, epsilon)
    if rng.random() < 0.2:  # an epoch in which nobody is seen, wherever that leaves everybody something
        silent = rng.choice(epochs)
        quieter = {user: {s for s in own if s[0] // epsilon != silent} for user, own in world.items()}
        world = quieter if all(quieter.values()) else world
    return world


def random_case(rng: Random) -> tuple[World, int, int, int]:
    """A world and a promise that go together: (world, k, tau, epsilon)."""
    k, tau, epsilon = random_promise(rng)
    return random_world(rng, epsilon), k, tau, epsilon


def as_rows(world: World, rng: Random) -> list[tuple[int, int, int, int]]:
    """The world as rows (user, t, x, y) in random order, some of them twice or more."""
    rows = [(user, *sample) for user, own in world.items() for sample in sorted(own)]
    rows += rng.choices(rows, k=rng.randint(0, len(rows)))
    rng.shuffle(rows)
    return rows


def places(rng: Random):
    """A function that draws positions: a few shared cells, clusters, a wide plain, or one single cell."""
    kind = rng.choice(["cells", "clusters", "plain", "point"])
    reach = 0 if kind == "point" else rng.choice([3, 50, 10**5])
    centres = [(rng.randint(-reach, reach), rng.randint(-reach, reach)) for _ in range(rng.randint(1, 4))]

    def place():
        if kind == "plain":
            return rng.randint(-reach, reach), rng.randint(-reach, reach)
        x, y = rng.choice(centres)
        spread = 2 if kind == "clusters" else 0
        return x + rng.randint(-spread, spread), y + rng.randint(-spread, spread)

    return place


def moment(rng: Random, epoch: int, epsilon: int, slots=None) -> int:
    """A slot of the epoch: its first and its last more often than others, or one of the given offsets."""
    offset = rng.choice(slots or [0, epsilon - 1, rng.randrange(epsilon), rng.randrange(epsilon)])
    return epoch * epsilon + offset


def by_chance(rng: Random, n_users: int, epochs, epsilon: int, slots=None) -> World:
    """Each user has a density of its own, from one sample in all to several in each epoch."""
    place = places(rng)
    world = {}
    for user in range(n_users):
        density = rng.choice([0.0, 0.3, 0.6, 0.9, 1.0])
        burst = rng.choice([1, 2, 5])
        own = {(moment(rng, rng.choice(epochs), epsilon, slots), *place())}
        for epoch in epochs:
            if rng.random() < density:
                own |= {(moment(rng, epoch, epsilon, slots), *place()) for _ in range(rng.randint(1, burst))}
        world[user] = own
    return world


def with_ties(rng: Random, n_users: int, epochs, epsilon: int) -> World:
    """Everybody is seen at the same one or two moments of an epoch, often at several places at once."""
    return by_chance(rng, n_users, epochs, epsilon, slots=[rng.randrange(epsilon) for _ in range(2)])


def all_present(rng: Random, n_users: int, epochs, epsilon: int) -> World:
    """Nobody is missing anywhere, so nothing need be suppressed."""
    place = places(rng)
    return {
        user: {
            (moment(rng, epoch, epsilon), *place())
            for epoch in epochs
            for _ in range(rng.choice([1, 1, 2, 4]))
        }
        for user in range(n_users)
    }


def single_samples(rng: Random, n_users: int, epochs, epsilon: int) -> World:
    """Everybody is seen once in all."""
    place = places(rng)
    return {user: {(moment(rng, rng.choice(epochs), epsilon), *place())} for user in range(n_users)}


def all_identical(rng: Random, n_users: int, epochs, epsilon: int) -> World:
    """Everybody has the very same samples."""
    own = by_chance(rng, 1, epochs, epsilon)[0]
    return {user: set(own) for user in range(n_users)}


def companies(rng: Random, n_users: int, epochs, epsilon: int) -> World:
    """A few companies of users who are seen in the same epochs, not at the same moments or places."""
    place = places(rng)
    company_epochs = [
        rng.sample(epochs, rng.randint(1, len(epochs))) for _ in range(rng.randint(1, max(1, n_users // 3)))
    ]
    return {
        user: {(moment(rng, epoch, epsilon), *place()) for epoch in rng.choice(company_epochs)}
        for user in range(n_users)
    }


def one_stranger(rng: Random, n_users: int, epochs, epsilon: int) -> World:
    """Everybody is always there but one user, who is seen in half of the epochs, far away."""
    world = all_present(rng, n_users, epochs, epsilon)
    seen = rng.sample(epochs, (len(epochs) + 1) // 2)
    world[n_users - 1] = {(moment(rng, epoch, epsilon), 999, -999) for epoch in seen}
    return world


SHAPES = [
    by_chance,
    by_chance,
    with_ties,
    all_present,
    single_samples,
    all_identical,
    companies,
    one_stranger,
]
