"""Learn what attackers look for, on synthetic cities of which everything is known (``make attackers``).

    python tools/train_attackers.py [--keep-places] [-o src/shoal/auditing/attacks/weights.json]

The audit loads these weights and learns none of them itself: they are those of an attacker who never saw a key of the
file under attack. The seeds here are used nowhere else, so that no test and no measured page attacks what was learnt
from. docs/audit.md has the features.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import numpy as np

import shoal
from shoal.auditing.attacks import attackers, chain, place_in_box, places
from shoal.auditing.attacks.attackers import WEIGHTS_FORMAT, Cases
from shoal.auditing.attacks.conditional_logit import centred, learn_weights
from shoal.auditing.context import AuditContext
from shoal.auditing.kernels.known_cells import TOP_FEATURES
from shoal.auditing.kernels.sites import PLACE_FEATURES
from shoal.auditing.opening import open_audit
from shoal.auditing.victims import intervals
from shoal.core.options import AuditOptions, ReadingOptions
from shoal.core.progress import SilentProgress
from shoal.synthetic import write_city

ATTACKS = 2000


class School(NamedTuple):
    """A synthetic city, and how it is published."""

    preset: str
    users: int
    days: int
    seed: int
    k: int
    tau: str
    harden: int


SCHOOLS = (
    School("city", 3000, 1, 1001, 2, "30min", 1),
    School("city", 3000, 1, 1002, 5, "30min", 1),
    School("city", 2000, 1, 1003, 2, "30min", 3),
    School("city", 2000, 1, 1004, 2, "30min", 0),
    School("city", 1500, 3, 1005, 2, "30min", 1),
    School("abi", 2000, 3, 1006, 2, "30min", 1),
    School("dak", 2000, 3, 1007, 2, "30min", 1),
    School("civ", 1500, 3, 1008, 2, "60min", 1),
    School("civ", 1000, 5, 1009, 5, "60min", 3),
)


@contextmanager
def attacked(school: School, folder: Path) -> Iterator[AuditContext]:
    """A published city, with its key."""
    events = folder / f"{school.seed}.parquet"
    if not events.exists():
        write_city(school.preset, events, users=school.users, days=school.days, seed=school.seed)
    release = shoal.anonymize(
        events, k=school.k, tau=school.tau, epsilon=school.tau, harden=school.harden, verify=False
    )
    options = AuditOptions(key=release.key(), attacks=ATTACKS)
    with open_audit(events, release, SilentProgress(), options, ReadingOptions()) as (context, _):
        yield context


def survivor_cases(context: AuditContext) -> Cases:
    """Attackers who know the method, and the survivors they have to choose from."""
    knowledge = intervals(context, context.randomness(7), context.promise.tau)
    fits = context.fits(context.published, knowledge)
    survivors = chain.surviving_records(context, context.published, knowledge, fits)
    return chain.weighed_survivors(context, context.published, knowledge, fits, survivors).cases


def together(parts: list[Cases]) -> Cases:
    """The cases of several cities, numbered through."""
    ends = np.cumsum([0, *(len(part.half) for part in parts)])
    return Cases(
        np.concatenate([part.case + begin for part, begin in zip(parts, ends, strict=False)]),
        np.concatenate([part.right for part in parts]),
        np.concatenate([centred(part.case, part.features) for part in parts]),
        np.concatenate([part.half for part in parts]),
    )


def learnt(parts: list[Cases], names: tuple[str, ...]) -> dict[str, float]:
    """Weights learnt from all cities at once."""
    cases = together(parts)
    weights = learn_weights(cases.case, cases.features, cases.right)
    return {name: round(float(weight), 4) for name, weight in zip(names, weights, strict=True)}


def train(folder: Path, target: Path, *, keep_places: bool) -> None:
    """Learn places first, which the other attackers build upon."""
    content = {
        "format": WEIGHTS_FORMAT,
        "made_by": "make attackers",
        "shoal": shoal.__version__,
        "schools": [school._asdict() for school in SCHOOLS],
        "weights": json.loads(target.read_text())["weights"],
    }
    if not keep_places:
        parts: list[Cases] = []
        for school in SCHOOLS:
            with attacked(school, folder) as context:
                parts.append(place_in_box.cases_at_random(context))
            print("places", school, len(parts[-1].half), flush=True)
        content["weights"]["place"] = learnt(parts, PLACE_FEATURES)
        write(content, target)
    methods: list[Cases] = []
    tops: list[Cases] = []
    for school in SCHOOLS:
        with attacked(school, folder) as context:
            methods.append(survivor_cases(context))
            tops += places.cases_at_random(context)
        print("records", school, len(methods[-1].half), len(tops[-1].half), flush=True)
        content["weights"][chain.CHAIN] = learnt(methods, chain.METHOD_FEATURES)
        content["weights"]["top_locations"] = learnt(tops, TOP_FEATURES)
    write(content, target)


def write(content: dict[str, object], target: Path) -> None:
    """Put the weights in place, and let the attackers read them anew."""
    target.write_text(json.dumps(content, indent=1) + "\n")
    attackers.forget_weights()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    default = Path(attackers.__file__).with_name("weights.json")
    parser.add_argument("-o", "--output", type=Path, default=default, help="where the weights go")
    parser.add_argument(
        "--keep-places", action="store_true", help="keep the weights of places, learn the rest"
    )
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        train(Path(scratch), given.output, keep_places=given.keep_places)
