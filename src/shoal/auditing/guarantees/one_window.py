"""Guarantee 2: any other record hides somebody in one window only. It is about how a file was made.

The private evidence beside the key says so exactly. Without it there is the file's own account, which can admit
something and prove nothing. File and key alone show which records hold somebody at times that no window joins, most of
which is accident, and how many members cannot have been different ones. Nobody is judged by that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from shoal.auditing.box_index import make_trajectories
from shoal.auditing.claims import windows_of
from shoal.auditing.guarantees.completeness import missing_from
from shoal.auditing.guarantees.judgement import Asked, Basis, Judgement, State
from shoal.auditing.guarantees.own_account import OwnAccount, differences, own_account
from shoal.auditing.kernels.consistency import Trajectories
from shoal.auditing.kernels.one_window import (
    EvidenceLines,
    check_lines,
    count_again,
    count_windows,
    explain_boxes,
    find_held_apart,
)
from shoal.core.arrays import Bools, Int32s, Int64s
from shoal.core.boxes import NONE
from shoal.core.disclosure import round_up
from shoal.core.formatting import duration, percent
from shoal.core.promise import DAY_S
from shoal.core.proportions import Proportion, proportion_among, proportion_of
from shoal.core.samples import Samples
from shoal.reading import HidingEvidence

if TYPE_CHECKING:
    from shoal.auditing.context import AuditContext

NUMBER = 2
_DIFFERS = "the evidence is not the one written with the key"
_CONTRADICTS = "the manifest says of guarantee 2 in words what it does not say in numbers"
_MOST_USERS = 500  # of whom it is measured who else holds them
_DRAW = 34  # which random numbers choose these


class Serving(NamedTuple):
    """What the evidence says, and whether it can be believed. Lines without a published sample count for nothing.

    members: lines of whole windows; again: lines beyond one window of their user and record; too_long: lines whose
    samples are further apart than a window; untrue: lines that are not so in the file; unexplained: boxes that are
    wider than the owner's samples and those of the users they hold; repeated: lines that stand there more than once.
    """

    members: int
    again: int
    too_long: int
    untrue: int
    unexplained: int
    repeated: int = 0


class HeldApart(NamedTuple):
    """The share of users whom another record holds in epochs that no window joins, and how much of it accident explains
    at least; and the share of members that must serve again, since fewer records fit than would be needed.

    The first is too large, for people hide among those whom they meet again. The last is too small, and 0 wherever
    guarantee 2 is kept.
    """

    published: Proportion
    accident: Proportion
    again: Proportion


class _Fitting(NamedTuple):
    """For each of some users: whether a record holds them in epochs that no window joins, and how many records do in
    some epoch."""

    apart: Bools
    n_records: Int64s


class OneWindow(NamedTuple):
    """The judgement on guarantee 2, and what of the manifest's account of it cannot be so, in words."""

    judgement: Judgement
    disagreements: tuple[str, ...] = ()


def judge_one_window(context: AuditContext, *, belongs: bool) -> OneWindow:
    """Judge guarantee 2 by the best there is; ``belongs``: whether the manifest, if any, is about this file."""
    account = None
    if belongs and context.manifest is not None:
        account = own_account(context.manifest, (context.noted or context.promise).k)
    asked = Asked.CLAIMED
    if context.required:
        asked = Asked.REQUIRED
    elif account is not None and account.disclaims:
        asked = Asked.DISCLAIMED
    found = _judge(context, account)
    if account is not None and account.contradicts_itself:
        found = found._replace(disagreements=(_CONTRADICTS, *found.disagreements))
    return found._replace(judgement=found.judgement._replace(asked=asked))


def _judge(context: AuditContext, account: OwnAccount | None) -> OneWindow:
    if context.promise.whole:
        spans = "all the data" if context.parts is None else "a period"
        return OneWindow(Judgement(NUMBER, State.KEPT, Basis.EXACT, f"one window spans {spans}"))
    admitted = _by_own_account(context, account)
    if context.evidence_differs:
        return OneWindow(_unproven(_DIFFERS, admitted))
    if context.evidence is None or not context.published.has_key:
        return OneWindow(admitted)
    serving = check_serving(context, context.evidence)
    why = _why_unproven(context, context.evidence, serving)
    if why is not None:
        return OneWindow(_unproven(why, admitted))
    judgement = _by_evidence(context, serving)
    differing = () if account is None else _differences(context, account, serving)
    return OneWindow(_worse(judgement, admitted) if differing else judgement, differing)


def _differences(context: AuditContext, account: OwnAccount, serving: Serving) -> tuple[str, ...]:
    """What the evidence says otherwise than the manifest, which tells of the windows of the file's own promise.

    Members who were suppressed afterwards, as by the paper's selector unless repaired, are in the manifest only.
    """
    if not context.method_claim.certain:
        return ()
    same_windows = context.noted is not None and context.noted.window == context.promise.window
    return tuple(differences(account, serving.members, serving.again if same_windows else None))


def _worse(judgement: Judgement, admitted: Judgement) -> Judgement:
    """What the evidence says, or what the file admits if that is more: nobody admits what did not happen."""
    if admitted.state is State.WEAKENED and judgement.state is not State.BROKEN:
        return max(judgement, admitted, key=lambda each: each.share or 0.0)
    return judgement


def _unproven(why: str, admitted: Judgement) -> Judgement:
    """Not checked, unless the file admits enough; evidence that cannot be used hides nothing."""
    if admitted.state is not State.NOT_CHECKED:
        return admitted._replace(detail=f"{admitted.detail}; {why}")
    admits = f"; {admitted.detail}" if admitted.part else ""
    return Judgement(NUMBER, State.NOT_CHECKED, Basis.EVIDENCE, f"{why}{admits}")


def _why_unproven(context: AuditContext, evidence: HidingEvidence, found: Serving) -> str | None:
    """Why the evidence proves nothing; None if it can be believed, or shows the worst already."""
    n_lines, n_boxes = len(evidence.user), context.published.records.boxes.n_boxes
    if found.repeated:
        return f"{found.repeated:,} of {n_lines:,} lines of the evidence stand there twice"
    if found.untrue:
        return f"{found.untrue:,} of {n_lines:,} lines of the evidence are not so in this file"
    if found.unexplained:
        return f"the evidence leaves {found.unexplained:,} of {n_boxes:,} boxes unexplained"
    return None if found.too_long else missing_from(context, evidence)


def _by_evidence(context: AuditContext, found: Serving) -> Judgement:
    if found.too_long:
        stay = f"{percent(found.too_long / found.members)} of members stay longer than {_window(context)}"
        return Judgement(NUMBER, State.BROKEN, Basis.EVIDENCE, stay, found.too_long, found.members)
    if found.again:
        told = f"{percent(found.again / found.members)} of members had to serve again"
        return Judgement(NUMBER, State.WEAKENED, Basis.EVIDENCE, told, found.again, found.members)
    nobody = f"none of {found.members:,} members serves again"
    return Judgement(NUMBER, State.KEPT, Basis.EVIDENCE, nobody, 0, found.members)


def _by_own_account(context: AuditContext, account: OwnAccount | None) -> Judgement:
    """What a file says of itself can make things worse, never better: a little that it admits may be more."""
    stay = _own_window(context)
    if stay is not None and stay > context.promise.window:
        longer = f"members stay for windows of {duration(stay * context.grid.step_s)}, longer than {_window(context)}"
        return Judgement(NUMBER, State.BROKEN, Basis.MANIFEST, longer)
    if account is None:
        return Judgement(NUMBER, State.NOT_CHECKED, Basis.NOTHING, "the file does not show how it was made")
    if account.weakest is not None:
        return _admitted(*account.weakest, context.tolerance)
    if account.disclaims:
        state = State.BROKEN if context.required else State.NOT_CHECKED
        return Judgement(NUMBER, state, Basis.MANIFEST, account.words)
    if account.words == "given":
        claim = "given by its own account, which only the evidence beside the key can show"
        return Judgement(NUMBER, State.NOT_CHECKED, Basis.MANIFEST, claim)
    return Judgement(NUMBER, State.NOT_CHECKED, Basis.NOTHING, "the manifest does not say")


def _admitted(n_again: int, n_members: int, tolerance: float) -> Judgement:
    """Weakened by more than the tolerance, as the file admits; or not checked, where it admits no more than that."""
    told = f"up to {percent(round_up(n_again, n_members, digits=3))} of members had to serve again"
    if n_again > tolerance * n_members:
        return Judgement(NUMBER, State.WEAKENED, Basis.MANIFEST, told, n_again, n_members)
    admits = f"the file admits that {told}, and only the evidence beside the key can show that it is no more"
    return Judgement(NUMBER, State.NOT_CHECKED, Basis.MANIFEST, admits, n_again, n_members)


def _window(context: AuditContext) -> str:
    return duration(int(context.promise.window) * context.grid.step_s)


def _own_window(context: AuditContext) -> int | None:
    """How long members stay in slots, by the promise that the file makes for itself; None where it makes none."""
    noted, boxes = context.noted, context.published.records.boxes
    if noted is None:
        return None
    edges = np.concatenate([[boxes.t0.min()], context.periods.borders, [boxes.t1.max() + 1]])
    return int(min(np.diff(edges).max(), noted.window))


def check_serving(context: AuditContext, evidence: HidingEvidence) -> Serving:
    """Hold the evidence to the file, and count who serves more than once."""
    target, held, workers = context.published, context.held.samples, context.workers
    lines = _lines(evidence, target.records.n_records)
    n, window = len(lines.user), int(context.promise.window)
    true, too_long, idle = np.ones(n, np.bool_), np.zeros(n, np.bool_), np.zeros(n, np.bool_)
    workers.for_blocks(
        n,
        lambda begin, end: check_lines(
            context.trajectories, held, target.index, lines, window, begin, end, true, too_long, idle
        ),
    )
    owner = np.zeros(target.records.n_records, np.int64)
    with_record = np.flatnonzero(target.own != NONE)
    owner[target.own[with_record]] = with_record
    explained = np.zeros(target.records.boxes.n_boxes, np.bool_)
    workers.for_blocks(
        target.records.n_records,
        lambda begin, end: explain_boxes(
            context.trajectories, held, target.index, owner, lines, begin, end, explained
        ),
    )
    telling = evidence.only(np.lexsort((evidence.begin, evidence.record))[~idle])
    return Serving(
        members=int((~telling.in_epoch).sum()),
        again=_served_again(telling, window),
        too_long=int(too_long.sum()),
        untrue=int((~true).sum()),
        unexplained=int((~explained).sum()),
        repeated=_repeated(evidence),
    )


def _repeated(evidence: HidingEvidence) -> int:
    """How many lines say what another line before them says: they would water down a share of lines."""
    order = np.lexsort((evidence.in_epoch, evidence.begin, evidence.record, evidence.user))
    same = np.ones(max(len(order) - 1, 0), np.bool_)
    for column in (evidence.user, evidence.record, evidence.begin, evidence.in_epoch):
        same &= column[order][1:] == column[order][:-1]
    return int(same.sum())


def _lines(evidence: HidingEvidence, n_records: int) -> EvidenceLines:
    order = np.lexsort((evidence.begin, evidence.record))
    begin, end = evidence.begin[order], evidence.end[order]
    user, record = evidence.user[order], evidence.record[order]
    ptr = np.searchsorted(record, np.arange(n_records + 1)).astype(np.int64)
    return EvidenceLines(ptr, begin, end, user, record, int((end - begin).max(initial=0)))


def _served_again(evidence: HidingEvidence, window: int) -> int:
    """How many lines go beyond one window of their user and record, the single epochs of witnesses included."""
    order = np.lexsort((evidence.in_epoch, evidence.begin, evidence.record, evidence.user))
    user, record = evidence.user[order], evidence.record[order]
    return count_again(user, record, evidence.begin[order], evidence.end[order], window)


def measure_held_apart(context: AuditContext) -> HeldApart | None:
    """How often another record holds somebody in epochs that no window joins, and how often one must have done so;
    None where that cannot be measured.

    By accident: the same users' samples moved by about half of the time that the data span (by whole days if it is
    days), those moved beyond the end to the beginning. No record was made to hold them there, nor is anybody else there
    at that time for the same reasons, so accident explains more than that.
    """
    promise, own = context.promise, context.published.own
    if promise.epsilon is None or not context.published.has_key:
        return None
    users = np.flatnonzero(own != NONE)
    if len(users) > _MOST_USERS:
        users = np.sort(context.randomness(_DRAW).choice(users, _MOST_USERS, replace=False))
    shift, begin, span = _shift(context, promise.epsilon)
    if shift <= promise.reach * promise.epsilon:
        return None
    chosen = context.samples.user
    place = np.full(context.store.n_users, -1, np.int32)
    place[users] = np.arange(len(users), dtype=np.int32)
    rows = np.flatnonzero((place[chosen] >= 0) & context.held.samples)
    there, elsewhere = (_moved(context, rows, place, users, by, begin, span) for by in (0, shift))
    found = _fitting(context, there, own[users])
    published = proportion_of(found.apart)
    accident = proportion_of(_fitting(context, elsewhere, own[users]).apart)
    again = _share_again(context, there, found.n_records)
    if published is None or accident is None or again is None:
        return None
    return HeldApart(published, accident, again)


def _share_again(context: AuditContext, published: Trajectories, n_records: Int64s) -> Proportion | None:
    """Which share of members must serve again: k - 1 hide everybody in every window that recipients can tell, and of
    them only as many can be different as records fit in some epoch."""
    begins, ends = windows_of(context.published.records.boxes, context.promise, context.periods)
    n_windows = np.zeros(len(n_records), np.int64)
    context.workers.for_blocks(
        len(n_records), lambda begin, end: count_windows(published, begins, ends, begin, end, n_windows)
    )
    needed = (context.promise.k - 1) * n_windows
    n_members, n_again = int(needed.sum()), int(np.maximum(needed - n_records, 0).sum())
    return proportion_among(n_again / n_members, n_members, len(n_records)) if n_members else None


def _shift(context: AuditContext, epsilon: int) -> tuple[int, int, int]:
    """By how many slots to move samples; the first slot of the first epoch with samples, and slots in all epochs."""
    slots = context.store.slots
    begin = int(slots[0]) // epsilon * epsilon
    span = (int(slots[-1]) // epsilon + 1) * epsilon - begin
    day = DAY_S // context.grid.step_s
    whole_days = span // 2 // day * day if day else 0
    return (whole_days if whole_days and day % epsilon == 0 else span // 2 // epsilon * epsilon), begin, span


def _moved(
    context: AuditContext, rows: Int64s, place: Int32s, users: Int64s, by: int, begin: int, span: int
) -> Trajectories:
    """The samples of some users moved in time, round the end of the data."""
    samples = context.samples
    user = place[samples.user[rows]]
    t = begin + (samples.t[rows] - begin + by) % span
    order = np.lexsort((t, user))
    moved = rows[order]
    return make_trajectories(
        Samples(samples.users[users], user[order], t[order], samples.x[moved], samples.y[moved])
    )


def _fitting(context: AuditContext, trajectories: Trajectories, own: Int64s) -> _Fitting:
    found = _Fitting(np.zeros(len(own), np.bool_), np.zeros(len(own), np.int64))
    epsilon, reach = context.promise.epsilon or 1, context.promise.reach
    context.workers.for_blocks(
        len(own),
        lambda begin, end: find_held_apart(
            trajectories, context.published.index, own, epsilon, reach, begin, end, *found
        ),
    )
    return found
