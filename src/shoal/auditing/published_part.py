"""What attackers know, without what was suppressed: so suppression never makes an attack look weak."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from shoal.auditing.box_index import AttackedRecords
from shoal.auditing.context import AuditContext
from shoal.auditing.truthfulness import Truthfulness
from shoal.core.samples import Samples
from shoal.storage.sample_store import store_of


def published_part(context: AuditContext, *, by_record: bool = False) -> AuditContext:
    """The context without samples that are in no box, and with numbers instead of the names of users.

    With ``by_record`` users are numbered like their records, so that nothing that is computed from it can show what was
    suppressed, or what users are called. Attacks on it succeed at least as often: a sample that is in no box of the
    victim's record only leads the attacker away from that record.
    """
    samples, own = context.samples, context.published.own
    users = np.unique(samples.user[context.held.samples])
    if by_record:  # records stand by period, as users do
        users = users[np.argsort(own[users])]
    number = np.full(samples.n_users, -1, np.int32)
    number[users] = np.arange(len(users), dtype=np.int32)
    rows = np.flatnonzero(context.held.samples)
    rows = rows[np.argsort(number[samples.user[rows]], kind="stable")]
    part = Samples(
        np.arange(len(users)).astype(object),
        number[samples.user[rows]],
        samples.t[rows],
        samples.x[rows],
        samples.y[rows],
    )
    parts = context.parts
    if parts is not None:
        parts = parts._replace(person=parts.person[users], period=parts.period[users])
    published = AttackedRecords(context.published.records, own[users])
    return replace(context, store=store_of(part), published=published, parts=parts)


def attacked_part(context: AuditContext, truthfulness: Truthfulness | None) -> AuditContext:
    """What attacks work on: the published part, where it is known whose records are true and something was suppressed.

    In an untrue file a sample says nothing about the record that is said to be its user's, so nothing is left out.
    """
    if truthfulness is None or not truthfulness.kept or not truthfulness.suppressed.n_suppressed:
        return context
    return published_part(context)
