"""Which records were made to hold whose samples, and when: guarantee 2 as it was built, replayed from the journal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from shoal.core.arrays import Int32s
from shoal.hiding.epochs import Timeline
from shoal.hiding.fold import Step
from shoal.hiding.journal import Journal


class HiddenMembers(NamedTuple):
    """Records, by their owners, that were made to hold the samples of others, their members, in slots begin .. end - 1.

    Those of a window, or those of a single epoch (witnesses).
    """

    begin: int
    end: int
    owners: Int32s
    members: Int32s
    in_epoch: bool


def hidden_members(journal: Journal, timeline: Timeline) -> Iterator[HiddenMembers]:
    """Window by window, with the witnesses of the epochs that were published then; one step is in memory at a time."""
    for step, turn in zip(journal, timeline.turns(), strict=True):
        if step.hiding_sets is not None and len(step.hiding_sets.owners):
            yield HiddenMembers(
                timeline.origin(step.first_epoch),
                timeline.end(turn.epoch),
                *step.hiding_sets.pairs(),
                in_epoch=False,
            )
        yield from _witnesses(step, timeline)


def _witnesses(step: Step, timeline: Timeline) -> Iterator[HiddenMembers]:
    for epoch in np.unique(step.witnesses.epochs).tolist():
        there = step.witnesses.epochs == epoch
        owners, members = step.witnesses.owners[there], step.witnesses.members[there]
        yield HiddenMembers(timeline.origin(epoch), timeline.end(epoch), owners, members, in_epoch=True)
