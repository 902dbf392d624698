"""What of an audit may be told in public: shares of attacks, as far as many people stand behind them."""

from __future__ import annotations

from dataclasses import replace

from shoal.auditing.measures import Figure
from shoal.auditing.proportions import Share, share_among
from shoal.auditing.result import Audit
from shoal.core.disclosure import few_people, rounded_down, rounded_up, tell_share
from shoal.core.promise import Promise
from shoal.errors import InputError

NOT_TOLD = "not told: fewer than {} victims"
# What guessing achieves is measured on people in these attacks; in others it follows from the number of records.
_GUESSED_OF_PEOPLE = ("rankings", "homogeneity", "leakage", "home_and_work")


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
    told = {figure.measure: figure.published for figure in figures if figure.attack == "rankings"}
    findings = [
        finding._replace(success=success)
        for finding in audit.findings
        if isinstance(success := told.get(finding.ranking), Share) and success.side != "under"
    ]
    return replace(audit, figures=figures, findings=findings, leakage=None)


def _public_figure(figure: Figure, few: int) -> Figure:
    published, raw = (_public(share, few) for share in (figure.published, figure.raw))
    return figure._replace(published=published, raw=raw, guessing=_public_guessing(figure, few))


def _public_guessing(figure: Figure, few: int) -> float | None:
    """Nothing where it could be told as a bound only."""
    value, raw = figure.guessing, figure.raw
    if value is None or isinstance(raw, str):
        return None
    told = tell_share(value, raw.victims or 0, few)
    if told is None or (told.side and figure.attack in _GUESSED_OF_PEOPLE):
        return None
    return round(value, 2)


def _public(share: Share | str, few: int) -> Share | str:
    """Interval and all; how many attacks and victims there were is not told. Equal bounds have equal intervals."""
    if isinstance(share, str):
        return share
    victims = share.victims or 0
    told = tell_share(share.value, victims, few)
    if told is None:
        return NOT_TOLD.format(2 * few)
    low, high = share.low, share.high
    if told.side == "under":
        low, high = 0.0, share_among(told.value, victims, victims).high
    elif told.side == "over":
        low, high = share_among(told.value, victims, victims).low, 1.0
    return Share(told.value, rounded_down(low), rounded_up(high), n=0, side=told.side)
