"""An audit from beginning to end: the exact checks, then the attacks one after the other."""

from __future__ import annotations

import time
from dataclasses import replace

from shoal.auditing.attacks.borders import attack_across_borders
from shoal.auditing.attacks.chain import CHAIN, attack_chain
from shoal.auditing.attacks.everybody import attack_everybody
from shoal.auditing.attacks.inference import attack_homogeneity, attack_leakage
from shoal.auditing.attacks.linkage import (
    attack_intervals,
    attack_linkage,
    attack_longer,
    attack_points,
)
from shoal.auditing.attacks.place_in_box import attack_place
from shoal.auditing.attacks.places import attack_home_and_work, attack_top_locations
from shoal.auditing.attacks.rankings import attack_rankings, findings
from shoal.auditing.attacks.relinking import attack_relinking
from shoal.auditing.attacks.revealed import attack_revealed
from shoal.auditing.attacks.times import attack_presence, attack_times
from shoal.auditing.belonging import check_belonging
from shoal.auditing.claims import is_weak
from shoal.auditing.context import AuditContext
from shoal.auditing.coverage.check import RunTasks
from shoal.auditing.coverage.whole_file import check_file
from shoal.auditing.guarantees.judging import judge_guarantees
from shoal.auditing.guarantees.one_window import measure_held_apart
from shoal.auditing.measures import Measure
from shoal.auditing.published_part import attacked_part
from shoal.auditing.reading_hint import with_hint
from shoal.auditing.result import AttackSettings, Audit, DatasetCounts
from shoal.auditing.truthfulness import check_truthfulness
from shoal.core.periods import Renaming
from shoal.core.progress import Progress
from shoal.core.proportions import Proportion
from shoal.core.zones import Zone
from shoal.errors import UnfinishedError, for_caller
from shoal.storage.sample_store import store_of
from shoal.utility.read_share import PeriodOutlook, outlook_on_periods

_UNLIKE = "the manifest says that the file was made by shoal, but true records do not look like it"
ATTACKS = (
    attack_linkage,
    attack_rankings,
    attack_chain,
    attack_presence,
    attack_everybody,
    attack_longer,
    attack_intervals,
    attack_points,
    attack_times,
    attack_place,
    attack_top_locations,
    attack_home_and_work,
    attack_homogeneity,
    attack_across_borders,
    attack_relinking,
    attack_revealed,
)


def run_audit(
    context: AuditContext,
    warnings: list[str],
    progress: Progress,
    *,
    run: RunTasks | None = None,
    attacked: AuditContext | None = None,
) -> Audit:
    """Hold a file to a promise, and measure what is not promised; ``run`` may carry out the exact check elsewhere.

    ``attacked`` is what the attacks work on; unless given, what was published, where that is known and true.
    """
    began = time.perf_counter()
    store, published = context.store, context.published
    coverage = check_file(context, progress, run=run)
    truthfulness = check_truthfulness(context) if published.has_key else None
    belonging = check_belonging(context)
    progress.stage("judging the guarantees")
    guarantees, differing = judge_guarantees(context, coverage, belongs=not belonging.disagreements)
    held_apart = measure_held_apart(context)
    progress.stage("attacking", len(ATTACKS) + 1)
    measures: list[Measure] = []
    attacked = attacked or attacked_part(context, truthfulness)
    for attack in ATTACKS:
        measures += attack(attacked)
        progress.advance()
    leakage = attack_leakage(attacked)
    progress.advance()
    measures += leakage.measures
    boxes = published.records.boxes
    renaming = None if context.parts is None else context.parts.renaming
    audit = Audit(
        promise=context.promise,
        grid=context.grid,
        counts=DatasetCounts(context.n_people, len(store), published.records.n_records, boxes.n_boxes),
        coverage=coverage,
        truthfulness=truthfulness,
        figures=measures,
        leakage=leakage.spread,
        findings=findings(measures, context.promise.k),
        draw=AttackSettings(context.n_attacks, context.seed, context.zone.name),
        seconds=time.perf_counter() - began,
        warnings=list(map(for_caller, warnings)),
        users=context.people_store.users,
        noted=context.noted,
        guarantees=guarantees,
        belonging=belonging._replace(disagreements=(*belonging.disagreements, *differing)),
        held_apart=held_apart,
        tolerance=context.tolerance,
        events_checked=with_hint(context, coverage, truthfulness),
        thresholds=context.thresholds,
        file=context.file,
        renaming=renaming,
        outlooks=_outlooks(attacked, renaming),
        naive=context.naive,
        weak_claim=not context.required and is_weak(context.promise, context.people_trajectories()),
    )
    if context.method_claim.certain and not audit.failed:
        audit = _with_chain_checked(audit, as_written=context.as_written)
    return audit


def _outlooks(attacked: AuditContext, renaming: Renaming | None) -> list[PeriodOutlook]:
    """What is left to be read of what attackers know, as names change now and with shorter periods."""
    if not len(attacked.store):
        return []
    zone = attacked.zone if renaming is None else Zone(renaming.timezone)
    store = attacked.store if attacked.parts is None else store_of(attacked.people_samples())
    return outlook_on_periods(store, attacked.promise, attacked.grid, zone, renaming)


def _with_chain_checked(audit: Audit, *, as_written: bool) -> Audit:
    """The audit with a disagreement more where the chain attack ruled out true records, though the manifest says that
    the file was made as the attack assumes.

    Where the file is the one that was written, and the evidence shows that it was made so, shoal itself is at fault.
    """
    measure = audit.figure(CHAIN, "ruled_out")
    if measure is None or not isinstance(share := measure.published, Proportion) or not share.value:
        return audit
    n_wrong = round(share.value * share.n)
    if as_written and audit.guarantees.one_window.shown_by_evidence:
        raise UnfinishedError(
            f"Self-check failed: whoever knows the method rules out the true record in {n_wrong:,} of"
            f" {share.n:,} attacks, though the file is the one that was written. This is a fault of shoal: please"
            " report it."
        )
    unlike = f"{_UNLIKE} ({n_wrong:,} of {share.n:,} attacks rule them out)"
    belonging = audit.belonging
    return replace(audit, belonging=belonging._replace(disagreements=(*belonging.disagreements, unlike)))
