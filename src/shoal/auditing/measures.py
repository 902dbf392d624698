"""What attacks measure, in one shape for all attacks, and outcomes that several attacks have in common."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from shoal.auditing.box_index import AttackedRecords
from shoal.auditing.kernels.fits import Fits, Knowledge
from shoal.core.arrays import Bools, Floats, Int64s
from shoal.core.proportions import Proportion, proportion_of

NO_KEY = "not checked: no key"
NO_VICTIM = "not checked: nobody to attack"


class Measure(NamedTuple):
    """How often an attack succeeds: on the published file, on the raw data under pseudonyms, and by guessing.

    It is named by ``attack``, ``variant`` (what the attacker knows; empty where there is only one kind) and ``measure``
    (what counts as success). Where there is no proportion, ``published`` and ``raw`` say why.
    """

    attack: str
    variant: str
    measure: str
    published: Proportion | str
    raw: Proportion | str
    guessing: float | None


class Victims(NamedTuple):
    """The victim of each outcome, on the published file and on the raw data."""

    published: Int64s
    raw: Int64s


def measures_of(
    attack: str,
    variant: str,
    published: Mapping[str, Floats | Bools],
    raw: Mapping[str, Floats | Bools],
    guessing: Mapping[str, float],
    victims: Victims | None = None,
) -> list[Measure]:
    """The measures of an attack from the outcomes of its attempts, by name of the measure."""
    of_published, of_raw = (None, None) if victims is None else victims
    return [
        Measure(
            attack,
            variant,
            measure,
            proportion_of(published[measure], of_published) or NO_VICTIM if measure in published else NO_KEY,
            proportion_of(outcomes, of_raw) or NO_VICTIM,
            guessing.get(measure),
        )
        for measure, outcomes in raw.items()
    ]


def attack_of(fits: Fits) -> Int64s:
    """The attack to which each line of fits.record belongs."""
    return np.repeat(np.arange(len(fits.n)), fits.n)


def own_lines(target: AttackedRecords, knowledge: Knowledge, fits: Fits) -> Bools:
    """Which lines of fits.record are the victims' own records."""
    owner: Bools = fits.record == target.own[knowledge.victim[attack_of(fits)]]
    return owner


def own_fits(target: AttackedRecords, knowledge: Knowledge, fits: Fits) -> Bools:
    """Whether the victim's own record fits; without a key, whether any record does."""
    if not target.has_key:
        return fits.n > 0
    found = np.zeros(len(fits.n), np.bool_)
    found[attack_of(fits)[own_lines(target, knowledge, fits)]] = True
    return found


def linkage_outcomes(n: Int64s, own: Bools, k: int) -> dict[str, Floats | Bools]:
    """Outcomes for attackers left with n records each, who pick one; ``own``: whether the victim's is among them."""
    return {
        "success": np.where(own, 1 / np.maximum(n, 1), 0.0),
        "below_k": own & (n < k),
        "single": own & (n == 1),
    }
