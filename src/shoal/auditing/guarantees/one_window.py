"""Guarantee 2: any other record hides somebody in one window only. It is about how a file was made.

The private evidence beside the key says so exactly. Without it there is the file's own account, which can admit
something and prove nothing. File and key alone show which records hold somebody at times that no window joins; most of
that is accident, so it is measured beside what accident alone gives, and judged by nobody.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from shoal.auditing.box_index import make_trajectories
from shoal.auditing.guarantees.judgement import Asked, Basis, Judgement, State
from shoal.auditing.kernels.consistency import Trajectories
from shoal.auditing.kernels.one_window import (
    EvidenceLines,
    check_lines,
    count_again,
    explain_boxes,
    find_held_apart,
)
from shoal.core.arrays import Int32s, Int64s
from shoal.core.boxes import NONE
from shoal.core.formatting import duration, percent
from shoal.core.proportions import Proportion, proportion_of
from shoal.core.samples import Samples
from shoal.reading import HidingEvidence

if TYPE_CHECKING:
    from shoal.auditing.context import AuditContext

NUMBER = 2
_DIFFERS = "the evidence is not the one written with the key"
_MOST_USERS = 500  # of whom it is measured who else holds them
_DRAW = 34  # which random numbers choose these
_DAY_S = 86_400
_TOLD = re.compile(r"(?P<again>\d[\d,]*) of (?P<members>\d[\d,]*) ")


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
    """The share of users whom another record holds in epochs that no window joins, and that share by accident alone."""

    published: Proportion
    accident: Proportion


class OwnAccount(NamedTuple):
    """What a manifest says of guarantee 2; n_again and n_members where it is weakened."""

    words: str
    n_again: int = 0
    n_members: int = 0


def judge_one_window(context: AuditContext, *, belongs: bool) -> Judgement:
    """Judge guarantee 2 by the best there is; ``belongs``: whether the manifest, if any, is about this file."""
    account = own_account(context.manifest) if belongs and context.manifest else None
    asked = Asked.CLAIMED
    if context.required:
        asked = Asked.REQUIRED
    elif account is not None and account.words.startswith("not given"):
        asked = Asked.DISCLAIMED
    if context.promise.whole:
        judgement = Judgement(NUMBER, State.KEPT, Basis.EXACT, "one window spans all the data")
    elif context.evidence_differs:
        judgement = _or_as_admitted(
            Judgement(NUMBER, State.NOT_CHECKED, Basis.EVIDENCE, _DIFFERS), _by_own_account(context, account)
        )
    elif context.evidence is not None and context.published.has_key:
        judgement = _or_as_admitted(
            _by_evidence(context, context.evidence), _by_own_account(context, account)
        )
    else:
        judgement = _by_own_account(context, account)
    return judgement._replace(asked=asked)


def _or_as_admitted(judgement: Judgement, admitted: Judgement) -> Judgement:
    """What the file admits, where the evidence cannot be used or tells of another number of members."""
    if judgement.state is State.NOT_CHECKED and admitted.state is not State.NOT_CHECKED:
        return admitted._replace(detail=f"{admitted.detail}; {judgement.detail}")
    others = admitted.state is State.WEAKENED and admitted.whole != judgement.whole
    if others and judgement.state is not State.BROKEN:
        differ = f"the evidence tells of {judgement.whole:,} members, the manifest of {admitted.whole:,}"
        return admitted._replace(detail=f"{admitted.detail}; {differ}")
    return judgement


def _by_evidence(context: AuditContext, evidence: HidingEvidence) -> Judgement:
    found = check_serving(context, evidence)
    if found.repeated:
        why = f"{found.repeated:,} of {len(evidence.user):,} lines of the evidence stand there twice"
        return Judgement(NUMBER, State.NOT_CHECKED, Basis.EVIDENCE, why)
    if found.untrue:
        why = f"{found.untrue:,} of {len(evidence.user):,} lines of the evidence are not so in this file"
        return Judgement(NUMBER, State.NOT_CHECKED, Basis.EVIDENCE, why)
    if found.unexplained:
        n_boxes = context.published.records.boxes.n_boxes
        why = f"the evidence leaves {found.unexplained:,} of {n_boxes:,} boxes unexplained"
        return Judgement(NUMBER, State.NOT_CHECKED, Basis.EVIDENCE, why)
    if found.too_long:
        stay = f"{percent(found.too_long / found.members)} of members stay longer than {_window(context)}"
        return Judgement(NUMBER, State.BROKEN, Basis.EVIDENCE, stay, found.too_long, found.members)
    if found.again:
        return _weakened(Basis.EVIDENCE, found.again, found.members)
    nobody = f"none of {found.members:,} members serves again"
    return Judgement(NUMBER, State.KEPT, Basis.EVIDENCE, nobody, 0, found.members)


def _by_own_account(context: AuditContext, account: OwnAccount | None) -> Judgement:
    stay = _own_window(context)
    if stay is not None and stay > context.promise.window:
        longer = f"members stay for windows of {duration(stay * context.grid.step_s)}, longer than {_window(context)}"
        return Judgement(NUMBER, State.BROKEN, Basis.MANIFEST, longer)
    if account is None:
        return Judgement(NUMBER, State.NOT_CHECKED, Basis.NOTHING, "the file does not show how it was made")
    if account.n_again:
        return _weakened(Basis.MANIFEST, account.n_again, account.n_members)
    if account.words.startswith("not given"):
        state = State.BROKEN if context.required else State.NOT_CHECKED
        return Judgement(NUMBER, state, Basis.MANIFEST, account.words)
    if account.words == "given":
        claim = "given by its own account, which only the evidence beside the key can show"
        return Judgement(NUMBER, State.NOT_CHECKED, Basis.MANIFEST, claim)
    return Judgement(NUMBER, State.NOT_CHECKED, Basis.NOTHING, "the manifest does not say")


def _weakened(basis: Basis, n_again: int, n_members: int) -> Judgement:
    at_most = "up to " if basis is Basis.MANIFEST else ""  # its counts are rounded up
    told = f"{at_most}{percent(n_again / n_members)} of members had to serve again"
    return Judgement(NUMBER, State.WEAKENED, basis, told, n_again, n_members)


def own_account(manifest: Mapping[str, Any]) -> OwnAccount:
    """What a manifest says of guarantee 2. Its counts are rounded up, so a share of them is at least the true one."""
    guarantees = manifest.get("guarantees")
    words = str(guarantees.get("one_window", "")) if isinstance(guarantees, Mapping) else ""
    told = _TOLD.search(words) if words.startswith("weakened") else None
    if told is None:
        return OwnAccount(words)
    again, members = (int(told[name].replace(",", "")) for name in ("again", "members"))
    return OwnAccount(words, min(again, members), members)


def _window(context: AuditContext) -> str:
    return duration(int(context.promise.window) * context.grid.step_s)


def _own_window(context: AuditContext) -> int | None:
    """How long members stay in slots, by the promise that the file makes for itself; None where it makes none."""
    noted, boxes = context.noted, context.published.records.boxes
    if noted is None:
        return None
    span = int(boxes.t1.max() - boxes.t0.min()) + 1
    return int(min(span, noted.window))


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
    telling = _only(evidence, np.lexsort((evidence.begin, evidence.record))[~idle])
    return Serving(
        members=int((~telling.in_epoch).sum()),
        again=_served_again(telling, window),
        too_long=int(too_long.sum()),
        untrue=int((~true).sum()),
        unexplained=int((~explained).sum()),
        repeated=_repeated(evidence),
    )


def _only(evidence: HidingEvidence, lines: Int64s) -> HidingEvidence:
    """Some lines of the evidence."""
    begin, end, user, record, in_epoch = evidence
    return HidingEvidence(begin[lines], end[lines], user[lines], record[lines], in_epoch[lines])


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
    """How often another record holds somebody in epochs that no window joins; None where that cannot be measured.

    Accident alone: the same users' samples moved by about half of the time that the data span (by whole days if it is
    days), those moved beyond the end to the beginning. No record was made to hold them there.
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
    published, moved = (
        _held_apart(context, _moved(context, rows, place, users, by, begin, span), own[users])
        for by in (0, shift)
    )
    return None if published is None or moved is None else HeldApart(published, moved)


def _shift(context: AuditContext, epsilon: int) -> tuple[int, int, int]:
    """By how many slots to move samples; the first slot of the first epoch with samples, and slots in all epochs."""
    slots = context.store.slots
    begin = int(slots[0]) // epsilon * epsilon
    span = (int(slots[-1]) // epsilon + 1) * epsilon - begin
    day = _DAY_S // context.grid.step_s
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


def _held_apart(context: AuditContext, trajectories: Trajectories, own: Int64s) -> Proportion | None:
    found = np.zeros(len(own), np.bool_)
    epsilon, reach = context.promise.epsilon or 1, context.promise.reach
    context.workers.for_blocks(
        len(own),
        lambda begin, end: find_held_apart(
            trajectories, context.published.index, own, epsilon, reach, begin, end, found
        ),
    )
    return proportion_of(found)
