"""What of an audit may be told in public: shares of attacks on many different people, in whole per cent."""

from __future__ import annotations

from dataclasses import replace

from shoal.auditing.figures import Figure
from shoal.auditing.result import Audit
from shoal.auditing.shares import Share
from shoal.errors import InputError
from shoal.manifest import few_people
from shoal.overview.public_shares import rounded_down, rounded_up, tell_share
from shoal.promise import Promise

NOT_TOLD = "not told: fewer than {} victims"


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


def public_audit(audit: Audit) -> Audit:
    """The audit with figures that may be told; the spread of leakage, which few attacks make, is left out."""
    few = few_people(audit.promise.k)
    figures = [_public_figure(figure, few) for figure in audit.figures]
    told = {figure.measure for figure in figures if figure.attack == "rankings" and _is_told(figure)}
    findings = [
        finding._replace(success=_rounded(finding.success))
        for finding in audit.findings
        if finding.ranking in told
    ]
    return replace(audit, figures=figures, findings=findings, leakage=None)


def _is_told(figure: Figure) -> bool:
    return isinstance(figure.published, Share)


def _public_figure(figure: Figure, few: int) -> Figure:
    published, raw = (_public(share, few) for share in (figure.published, figure.raw))
    guessing = None if figure.guessing is None or isinstance(raw, str) else round(figure.guessing, 2)
    return figure._replace(published=published, raw=raw, guessing=guessing)


def _public(share: Share | str, few: int) -> Share | str:
    if isinstance(share, str):
        return share
    return NOT_TOLD.format(few) if share.victims is None or share.victims < few else _rounded(share)


def _rounded(share: Share) -> Share:
    """Interval and all; how many attacks and victims there were is not told."""
    told = tell_share(share.value)
    return Share(told.value, rounded_down(share.low), rounded_up(share.high), n=0, side=told.side)
