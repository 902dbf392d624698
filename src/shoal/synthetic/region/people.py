"""Who people are: households that share a home, colleagues who share a work place, and what each is like."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from shoal.synthetic.region.pull import Pull
from shoal.synthetic.streams import Floats, Ints, Streams, below, chance, child, heavy, pick

HOUSEHOLD = 4  # people in a row among whom households are formed
# Whose household each of the four belongs to, and how often that is so (percent, running total).
_HEADS = np.array([[0, 1, 2, 3], [0, 0, 2, 3], [0, 0, 2, 2], [0, 0, 0, 3], [0, 0, 0, 0]])
_HOW_OFTEN = np.cumsum([45, 28, 12, 10, 5])[None, :]
_WORKERS_PERCENT = 62
_FIRMS = 40  # at an antenna
ACTIVITY_CAP = 20.0


class People(NamedTuple):
    """What stays the same about people from day to day; rows are people."""

    stream: Streams
    head: Ints  # the row of the first of the household; often the person's own
    household: Streams
    home: Ints
    worker: npt.NDArray[np.bool_]
    work: Ints
    firm: Streams
    late_s: Ints  # how much later than others the person lives, -1.5 to 1.5 hours
    activity: Floats  # relative, heavy-tailed
    wanderlust: Floats  # how readily the person goes on journeys, relative, heavy-tailed


def draw_people(index: Ints, pull: Pull, stream: Streams) -> People:
    """People with consecutive numbers from a multiple of HOUSEHOLD on."""
    own = child(child(stream, 0), index)
    row = np.arange(len(index))
    four, position = row // HOUSEHOLD, row % HOUSEHOLD
    pattern = pick(child(child(stream, 1), index // HOUSEHOLD), _HOW_OFTEN)
    head = HOUSEHOLD * four + _HEADS[pattern, position]
    household = child(child(stream, 2), index - row + head)
    home = pull.homes.pick(child(household, 0), np.zeros(len(index), dtype=np.int64))
    worker = chance(child(own, 0), _WORKERS_PERCENT)
    work = np.where(worker, pull.work.pick(child(own, 1), home), home)
    firm = child(child(child(stream, 3), work), below(child(own, 2), _FIRMS))
    return People(
        stream=own,
        head=head,
        household=household,
        home=home,
        worker=worker,
        work=work,
        firm=firm,
        late_s=below(child(own, 3), 5_400) + below(child(own, 4), 5_400) - 5_400,
        activity=relative_activity(child(own, 5)),
        wanderlust=heavy(child(own, 6), 4.0),
    )


def relative_activity(stream: Streams) -> Floats:
    """How much people use their phones."""
    return 0.15 + heavy(stream, ACTIVITY_CAP)
