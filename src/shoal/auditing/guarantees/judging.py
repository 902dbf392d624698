"""All three guarantees judged: 1 from the exact check, 2 as far as it is known how the file was made, 3 by a flow."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from shoal.auditing.claims import section_of
from shoal.auditing.coverage.check import Coverage
from shoal.auditing.guarantees.judgement import Asked, Basis, Guarantees, Judgement, State
from shoal.auditing.guarantees.matchings import Matchings, check_matchings
from shoal.auditing.guarantees.one_window import judge_one_window

if TYPE_CHECKING:
    from shoal.auditing.context import AuditContext


def judge_guarantees(
    context: AuditContext, coverage: Coverage, *, belongs: bool
) -> tuple[Guarantees, tuple[str, ...]]:
    """Judge every guarantee on its own, and say what of the manifest's account cannot be so.

    ``belongs``: whether the manifest, if any, is about this file.
    """
    asked = Asked.REQUIRED if context.required else Asked.CLAIMED
    disclaimed = belongs and not context.required and _disclaims(context.manifest, "matching")
    one_window = judge_one_window(context, belongs=belongs)
    guarantees = Guarantees(
        judge_coverage(coverage, has_key=context.published.has_key)._replace(asked=asked),
        one_window.judgement,
        judge_matchings(check_matchings(context))._replace(asked=Asked.DISCLAIMED if disclaimed else asked),
    )
    return guarantees, one_window.disagreements


def judge_coverage(found: Coverage, *, has_key: bool) -> Judgement:
    """Guarantee 1; without a key somebody may be left out, who may have no record."""
    basis = Basis.EXACT if has_key else Basis.NO_KEY
    if not found.kept:
        n = len({violation.user for violation in found.worst})
        return Judgement(1, State.BROKEN, basis, f"for {n:,} of {found.n_users:,} users", n, found.n_users)
    if not found.n_unchecked:
        return Judgement(1, State.KEPT, basis)
    checked = found.n_users - found.n_unchecked
    left_out = f"for {checked:,} of {found.n_users:,} users"
    return Judgement(1, State.KEPT, basis, left_out, checked, found.n_users, complete=False)


def judge_matchings(found: Matchings | None) -> Judgement:
    """Guarantee 3, from the windows in which matchings were sought."""
    if found is None:
        why = "who has a record is not known without a key"
        return Judgement(3, State.NOT_CHECKED, Basis.NOTHING, why)
    if found.n_broken:
        where = f"on {found.n_broken:,} of {found.n_checked:,} windows"
        return Judgement(3, State.BROKEN, Basis.WINDOWS, where, found.n_broken, found.n_checked)
    if not found.n_checked:
        return Judgement(3, State.NOT_CHECKED, Basis.NOTHING, "more records fit than can be matched")
    where = f"on {found.n_checked:,} of {found.n_windows:,} windows"
    return Judgement(3, State.KEPT, Basis.WINDOWS, where, found.n_checked, found.n_windows)


def _disclaims(manifest: Mapping[str, object] | None, name: str) -> bool:
    """Whether a manifest says that a guarantee is not given."""
    return str(section_of(manifest, "guarantees").get(name)).startswith("not given")
