"""Rankings: among the records that fit, is the one with the best score likelier to be the victim's?"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.auditing.box_index import AttackedRecords
from shoal.auditing.context import AuditContext
from shoal.auditing.kernels.fits import Fits, Knowledge, score_fits
from shoal.auditing.measures import (
    Measure,
    attack_of,
    linkage_outcomes,
    measures_of,
    own_fits,
    own_lines,
)
from shoal.auditing.victims import intervals
from shoal.core.arrays import Bools, Floats
from shoal.core.proportions import Proportion, chance_of_more

RANKINGS = ("smallest", "faces", "central")
_LEVEL = 0.05  # of significance


class Finding(NamedTuple):
    """A ranking that succeeds more often than 1/k, beyond chance; p_value is of a one-sided test."""

    ranking: str
    success: Proportion
    bound: float
    p_value: float


def attack_rankings(context: AuditContext) -> list[Measure]:
    """Pick the record with the best score among those that fit, for each of the RANKINGS."""
    knowledge = intervals(context, context.randomness(5), context.promise.tau)
    published = _outcomes(context, context.published, knowledge) if context.published.has_key else {}
    fits = context.fits(context.published, knowledge)
    blind = linkage_outcomes(fits.n, own_fits(context.published, knowledge, fits), context.promise.k)[
        "success"
    ]
    guessing = dict.fromkeys(RANKINGS, float(np.mean(blind)))
    victims = context.victims_of(knowledge.victim)
    return measures_of(
        "rankings", "", published, _outcomes(context, context.raw, knowledge), guessing, victims
    )


def findings(measures: list[Measure], k: int) -> list[Finding]:
    """The rankings that beat 1/k significantly, corrected for the number of rankings; each victim counts once."""
    tested = [
        Finding(measure.measure, share, 1 / k, chance_of_more(round(share.value * n), n, 1 / k))
        for measure in measures
        if measure.attack == "rankings" and isinstance(share := measure.published, Proportion)
        for n in (share.n if share.victims is None else share.victims,)
    ]
    return [finding for finding in tested if finding.p_value < _LEVEL / len(RANKINGS)]


def _outcomes(
    context: AuditContext, target: AttackedRecords, knowledge: Knowledge
) -> dict[str, Floats | Bools]:
    fits = context.fits(target, knowledge)
    scores = np.empty((len(fits.record), len(RANKINGS)))
    context.workers.for_blocks(
        len(fits.n),
        lambda begin, end: score_fits(
            context.trajectories, target.index, knowledge, fits, begin, end, scores
        ),
    )
    own = own_lines(target, knowledge, fits)
    lots = context.randomness(6).permutation(len(fits.record))
    return {name: _picks_own(fits, scores[:, column], lots, own) for column, name in enumerate(RANKINGS)}


def _picks_own(fits: Fits, score: Floats, lots: np.typing.NDArray[np.int64], own: Bools) -> Bools:
    """Whether the best line of each attack, the one with the largest lot among equals, is the victim's own."""
    attack = attack_of(fits)
    order = np.lexsort((lots, score, attack))
    last = np.cumsum(fits.n)[fits.n > 0] - 1
    picked = np.zeros(len(fits.n), np.bool_)
    picked[fits.n > 0] = own[order[last]]
    return picked
