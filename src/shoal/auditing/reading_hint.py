"""Hints at the options with which events should have been read, where an audit looks wrong and nobody checked them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from shoal.auditing.context import AuditContext
from shoal.auditing.coverage.check import Coverage
from shoal.auditing.events_check import NOT_CHECKED, EventsCheck
from shoal.auditing.truthfulness import Truthfulness
from shoal.auditing.victims import points
from shoal.core.formatting import counted, joined, percent

_MOST = 0.5  # of the samples in no box: more than any release worth auditing suppresses
_READING = "--timezone, --resample, --bbox, --exclude-users, --min-days-active, --from, --to or --cell"


def with_hint(context: AuditContext, coverage: Coverage, truth: Truthfulness | None) -> EventsCheck:
    """The check of the events, with a hint where they may not be those of the release and something looks odd."""
    check = context.events_checked
    if check.status != NOT_CHECKED:
        return check
    if check.left_out:
        hint = (
            f"when the release was made, rows were left out by {joined(check.left_out)}, which is not so now: give the"
            " same options as for the release"
        )
        return check._replace(hint=hint, doubtful=True)
    share = _share_in_no_box(context) if truth is None else truth.suppressed.share
    told = _told(context.manifest, "share_of_samples")
    if share > _MOST and not (isinstance(told, float) and told > _MOST):
        where = "in no box" if truth is None else "in no box of their own record"
        lost = f"{percent(share)} of the samples lie {where}"
        hint = f"{lost}: read the events as for the release, with the same {_READING}"
        return check._replace(hint=hint, doubtful=True)
    if (
        truth is not None
        and truth.n_users_without_record
        and not _told(context.manifest, "users_without_record")
    ):
        hint = (
            f"{counted(truth.n_users_without_record, 'user')} without a record: if they were left out when the release"
            f" was made, read the events with the same {_READING}"
        )
        return check._replace(hint=hint)
    if not (coverage.kept and (truth is None or truth.kept)):
        return check._replace(hint=f"if the release was made with {_READING}, give the same here")
    return check


def _share_in_no_box(context: AuditContext) -> float:
    """The share of samples, drawn as for attacks, that lie in no box of any record."""
    knowledge = points(context, context.randomness(12), 1)
    fits = context.fits(context.published, knowledge)
    return float((fits.n == 0).mean()) if len(fits.n) else 0.0


def _told(manifest: Mapping[str, Any] | None, what: str) -> object:
    """What a manifest says was suppressed; nothing where it does not say."""
    suppression = (manifest or {}).get("suppression")
    return suppression.get(what) if isinstance(suppression, Mapping) else None
