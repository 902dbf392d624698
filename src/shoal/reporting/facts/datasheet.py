"""The public report (datasheet): what it is computed from, which of it may be told, and when it may be written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from shoal.auditing.context import AuditContext
from shoal.auditing.exposures import as_told
from shoal.auditing.guarantees.judgement import Judgement, State
from shoal.auditing.measures import Measure
from shoal.auditing.result import Audit
from shoal.core.arrays import Bools, Int64s, Integers
from shoal.core.disclosure import (
    PublicShare,
    minimum_people,
    public_count,
    public_count_in_words,
    public_share,
    public_share_of_people,
    round_down,
    round_up,
)
from shoal.core.period_text import NEVER
from shoal.core.promise import Promise
from shoal.core.proportions import Proportion, proportion_among
from shoal.errors import InputError
from shoal.reporting.facts.precision import DAY_HOURS, owners_of_groups
from shoal.utility.read_share import PeriodOutlook

_QUARTERS = 4


class PublicSuppression(NamedTuple):
    """Shares of samples suppressed, rounded up: by hour of the day, by quarter of users by activity, and of all
    samples.

    None for a part that may not be told or that has no samples. The share of all is in words where few users stand
    behind it, and then no part is told.
    """

    by_hour: list[float | None]
    by_activity: list[float | None]
    share: float | str = 0.0


def public_suppression(context: AuditContext) -> PublicSuppression:
    """Look at every sample; needs to know which record is whose."""
    samples, k, n_people = context.samples, context.promise.k, context.n_people
    held, person = context.held.samples, context.person_of(context.samples.user)
    share = public_share(int((~held).sum()), len(samples), len(np.unique(person[~held])), k)
    if isinstance(share, str) or not share:
        return PublicSuppression([], [], share)
    hour = context.zone.from_utc(samples.t * context.grid.step_s) // 3600 % DAY_HOURS
    quarter = np.empty(n_people, np.int64)
    order = np.argsort(np.bincount(person, minlength=n_people), kind="stable")
    quarter[order] = np.arange(n_people) * _QUARTERS // n_people
    return PublicSuppression(
        shares_of_groups(hour, person, held, DAY_HOURS, k),
        shares_of_groups(quarter[person], person, held, _QUARTERS, k),
        share,
    )


def shares_of_groups(group: Int64s, user: Integers, held: Bools, n: int, k: int) -> list[float | None]:
    """The suppressed share of each of n groups of samples, where the share of all samples is told as well.

    None for a group in which few users have published samples, or few have suppressed ones. If that leaves out one
    group only, its share would follow from the others and the whole: then the next smallest is left out, too.
    """
    sizes = np.bincount(group, minlength=n)
    lost = np.bincount(group[~held], minlength=n)
    kept_users, lost_users = (owners_of_groups(group[which], user[which], n) for which in (held, ~held))
    few = minimum_people(k)
    untold = np.any([(users > 0) & (users < few) for users in (kept_users, lost_users)], axis=0)
    if untold.sum() == 1:
        others = np.flatnonzero(~untold & (sizes > 0))
        order = np.lexsort((sizes[others], lost[others], lost[others] == 0))
        untold[others[order[:1]]] = True
    told = (
        None if hidden or not size else public_share(part, size, users, k)
        for hidden, size, part, users in zip(
            untold.tolist(), sizes.tolist(), lost.tolist(), lost_users.tolist(), strict=True
        )
    )
    return [None if isinstance(share, str) else share for share in told]


NOT_TOLD = "not told: fewer than {} victims"
# What guessing achieves is measured on people in these attacks; in others it follows from the number of records.
_GUESSED_OF_PEOPLE = ("rankings", "homogeneity", "leakage", "home_and_work", "place")


def check_datasheet(held_to: Promise, noted: Promise | None, *, has_key: bool) -> None:
    """Refuse a datasheet that would flatter the file, or that could not leave out what was suppressed."""
    if not has_key:
        raise InputError(
            "A datasheet needs the key, so that nothing suppressed shows in its figures, found none: give --key"
            " (shoal anonymize writes it with --key-out)."
        )
    weakness = None if noted is None else held_to.weakness(noted)
    if weakness is not None:
        raise InputError(
            f"A datasheet holds a file to its own promise or a stronger one, found {weakness}: leave --k, --tau,"
            " --epsilon and --whole out."
        )


def may_be_public(audit: Audit) -> bool:
    """Whether a datasheet may be written: nothing fails but a guarantee that is weakened, and the events are those of
    the release as far as can be seen. (What makes them doubtful may be what was left out or suppressed.)"""
    return not audit.events_checked.doubtful and (not audit.failed or audit.only_weakened)


def public_audit(audit: Audit) -> Audit:
    """The audit with figures that may be told; the spread of leakage, which few attacks make, is left out."""
    figures = [_public_figure(as_told(audit, figure), audit.promise.k) for figure in audit.figures]
    told = {figure.measure: figure.published for figure in figures if figure.attack == "rankings"}
    findings = [
        finding._replace(success=success)
        for finding in audit.findings
        if isinstance(success := told.get(finding.ranking), Proportion) and success.side != "under"
    ]
    guarantees = audit.guarantees._replace(
        one_window=_public_judgement(audit.guarantees.one_window, audit.promise.k)
    )
    return replace(
        audit,
        figures=figures,
        findings=findings,
        leakage=None,
        guarantees=guarantees,
        held_apart=None,
        outlooks=_public_outlooks(audit.outlooks, audit.promise.k),
    )


def _public_outlooks(outlooks: Sequence[PeriodOutlook], k: int) -> list[PeriodOutlook]:
    """What periods leave to be read, as shares of people may be told; that names never change leaves all of it.

    A period is then recommended by these figures alone.
    """
    told = [
        (outlook, PublicShare(1.0) if outlook.rename_every == NEVER else shared)
        for outlook in outlooks
        if (shared := public_share_of_people(outlook.read_share, outlook.n_people, k)) is not None
    ]
    return [PeriodOutlook(outlook.rename_every, share.value, side=share.side) for outlook, share in told]


def _public_judgement(judgement: Judgement, k: int) -> Judgement:
    """A judgement on guarantee 2 with counts that may be told."""
    if judgement.part is None or judgement.whole is None:
        return judgement
    again, members = (public_count(count, k) for count in (judgement.part, judgement.whole))
    of = members if isinstance(members, str) else f"about {members:,}"
    if judgement.state is State.KEPT:
        return judgement._replace(detail=f"none of {of} members serves again")
    if judgement.state is not State.WEAKENED:
        return judgement
    return judgement._replace(detail=f"{public_count_in_words(again)} of {of} members had to serve again")


def _public_figure(figure: Measure, k: int) -> Measure:
    published, raw = (_public(share, k) for share in (figure.published, figure.raw))
    return figure._replace(published=published, raw=raw, guessing=_public_guessing(figure, k))


def _public_guessing(figure: Measure, k: int) -> float | None:
    """The success of guessing, rounded if it is measured on people; None where only a bound of it may be published."""
    value, raw = figure.guessing, figure.raw
    if value is None or isinstance(raw, str):
        return None
    told = public_share_of_people(value, raw.victims or 0, k)
    if told is None:
        return None
    if figure.attack not in _GUESSED_OF_PEOPLE:
        return value
    return None if told.side else round(value, 2)


def _public(share: Proportion | str, k: int) -> Proportion | str:
    """Interval and all; how many attacks and victims there were is not told. Equal bounds have equal intervals."""
    if isinstance(share, str):
        return share
    victims = share.victims or 0
    told = public_share_of_people(share.value, victims, k)
    if told is None:
        return NOT_TOLD.format(2 * minimum_people(k))
    low, high = share.low, share.high
    if told.side == "under":
        low, high = 0.0, proportion_among(told.value, victims, victims).high
    elif told.side == "over":
        low, high = proportion_among(told.value, victims, victims).low, 1.0
    return Proportion(told.value, round_down(low), round_up(high), n=0, side=told.side)
