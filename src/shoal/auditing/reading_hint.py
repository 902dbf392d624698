"""Hints at the options with which events should have been read, where an audit looks wrong and nobody checked them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from shoal.auditing.claims import section_of
from shoal.auditing.context import AuditContext
from shoal.auditing.coverage.check import Coverage
from shoal.auditing.events_check import NOT_CHECKED, EventsCheck
from shoal.auditing.truthfulness import Truthfulness
from shoal.auditing.victims import points
from shoal.core.formatting import counted, joined, percent
from shoal.errors import for_caller

_MOST = 0.5  # of the samples in no box: more than any release worth auditing suppresses
_READING = (
    "--timezone, --time-format, --missing-user, --resample, --bbox, --exclude-users, --min-days-active, --from, --to or"
    " --cell"
)


def with_hint(context: AuditContext, coverage: Coverage, truth: Truthfulness | None) -> EventsCheck:
    """The check of the events, with a hint where they may not be those of the release and something looks odd."""
    check = context.events_checked
    if check.status != NOT_CHECKED:
        return check
    failed = not (coverage.kept and (truth is None or truth.kept))
    if check.left_out:
        hint = (
            f"when the release was made, rows were left out by {joined(check.left_out)}, which is not so now: give the"
            " same options as for the release"
        )
        return check._replace(hint=for_caller(hint), doubtful=True)
    lost = _lost_samples(context, truth) or (None if failed else _lost_users(context, truth))
    if lost is not None:
        return check._replace(hint=for_caller(lost), doubtful=True)
    possible = f"if the release was made with {_READING}, give the same here"
    return check._replace(hint=for_caller(_lost_users(context, truth) or possible)) if failed else check


def _lost_samples(context: AuditContext, truth: Truthfulness | None) -> str | None:
    """A hint where more samples lie in no box than any release suppresses, and than the manifest tells."""
    share = _share_in_no_box(context) if truth is None else truth.suppressed.share
    told = _told(context.manifest, "share_of_samples")
    if share <= _MOST or (isinstance(told, float) and told > _MOST):
        return None
    where = "in no box" if truth is None else "in no box of their own record"
    return f"{percent(share)} of the samples lie {where}: read the events as for the release, with the same {_READING}"


def _lost_users(context: AuditContext, truth: Truthfulness | None) -> str | None:
    """A hint where users have no record, of whom the manifest does not tell."""
    n_lost = 0 if truth is None else truth.n_users_without_record
    if not n_lost or _told(context.manifest, "users_without_record"):
        return None
    return (
        f"{counted(n_lost, 'user')} without a record: if they were left out when the release was made, read the events"
        f" with the same {_READING}"
    )


def _share_in_no_box(context: AuditContext) -> float:
    """The share of samples, drawn as for attacks, that lie in no box of any record."""
    knowledge = points(context, context.randomness(35), 1)
    fits = context.fits(context.published, knowledge)
    return float((fits.n == 0).mean()) if len(fits.n) else 0.0


def _told(manifest: Mapping[str, Any] | None, what: str) -> object:
    """What a manifest says was suppressed; nothing where it does not say."""
    return section_of(manifest, "suppression").get(what)
