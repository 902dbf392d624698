"""An audit from beginning to end: the exact checks, then the attacks one after the other."""

from __future__ import annotations

import time

import numpy as np

from shoal.auditing.attacks.chain import attack_chain
from shoal.auditing.attacks.homogeneity import attack_homogeneity
from shoal.auditing.attacks.leakage import attack_leakage
from shoal.auditing.attacks.linkage import (
    attack_intervals,
    attack_linkage,
    attack_longer,
    attack_points,
)
from shoal.auditing.attacks.places import attack_home_and_work, attack_top_locations
from shoal.auditing.attacks.rankings import attack_rankings, findings
from shoal.auditing.coverage import Run, check
from shoal.auditing.drawing import intervals
from shoal.auditing.figures import Figure
from shoal.auditing.result import Audit, Counts, Draw
from shoal.auditing.scene import Scene
from shoal.auditing.shares import Share, share_among
from shoal.auditing.truthfulness import check_truthfulness
from shoal.progress import Progress

ATTACKS = (
    attack_linkage,
    attack_rankings,
    attack_chain,
    attack_longer,
    attack_intervals,
    attack_points,
    attack_top_locations,
    attack_home_and_work,
    attack_homogeneity,
)
_KNOWS_METHOD = 7  # the random numbers of that attack


def run_audit(
    scene: Scene,
    warnings: list[str],
    progress: Progress,
    *,
    run: Run | None = None,
    attacked: Scene | None = None,
) -> Audit:
    """Hold a file to a promise, and measure what is not promised; ``run`` may carry out the exact check elsewhere.

    Attacks are on the same scene, unless they are to know less of it: ``attacked``.
    """
    began = time.perf_counter()
    samples, published = scene.samples, scene.published
    coverage = check(samples, published, scene.promise, scene.workers, progress, run=run)
    truthfulness = None
    if published.has_key:
        truthfulness = check_truthfulness(scene)
    progress.stage("attacking", len(ATTACKS) + 1)
    figures, attacked = [], attacked or scene
    for attack in ATTACKS:
        figures += _with_victims(attack(attacked), attacked)
        progress.advance()
    leakage = attack_leakage(attacked)
    progress.advance()
    figures += leakage.figures
    boxes = published.records.boxes
    return Audit(
        promise=scene.promise,
        grid=scene.grid,
        counts=Counts(samples.n_users, len(samples), published.records.n_records, boxes.n_boxes),
        coverage=coverage,
        truthfulness=truthfulness,
        figures=figures,
        leakage=leakage.spread,
        findings=findings(figures, scene.promise.k),
        draw=Draw(scene.n_attacks, scene.seed, scene.zone.name),
        seconds=time.perf_counter() - began,
        warnings=warnings,
        samples=samples,
    )


def _with_victims(figures: list[Figure], scene: Scene) -> list[Figure]:
    """Figures of an attacker who knows the method do not say on whom: the draw tells, made once more."""
    if not any(isinstance(figure.raw, Share) and figure.raw.victims is None for figure in figures):
        return figures
    n_victims = len(np.unique(intervals(scene, scene.randomness(_KNOWS_METHOD), scene.promise.tau).victim))

    def among(share: Share | str) -> Share | str:
        return share if isinstance(share, str) else share_among(share.value, share.n, n_victims)

    return [figure._replace(published=among(figure.published), raw=among(figure.raw)) for figure in figures]
