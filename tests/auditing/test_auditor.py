"""True records that do not look like shoal's: a fault of shoal only in a file that is as it was written."""

from __future__ import annotations

from dataclasses import replace

import pytest

from auditing.audits import some_audit
from shoal.auditing.auditor import _with_chain_checked
from shoal.auditing.guarantees.judgement import Basis, Judgement, State
from shoal.auditing.result import Audit
from shoal.errors import UnfinishedError


def found(state: State = State.KEPT, *, ruled_out: float = 0.43) -> Audit:
    """An audit in which the chain attack rules out so many true records, with evidence of guarantee 2."""
    audit = some_audit(value=ruled_out, n_attacks=200)
    two = Judgement(2, state, Basis.EVIDENCE, "none of 9 members serves again", 0, 9)
    return replace(audit, guarantees=audit.guarantees._replace(one_window=two))


def test_a_file_as_it_was_written_is_a_fault_of_shoal() -> None:
    with pytest.raises(UnfinishedError, match="rules out the true record in 86 of 200 attacks"):
        _with_chain_checked(found(), as_written=True)


@pytest.mark.parametrize(("state", "as_written"), [(State.KEPT, False), (State.NOT_CHECKED, True)])
def test_any_other_file_is_not_what_its_manifest_says(state: State, as_written: bool) -> None:
    audit = _with_chain_checked(found(state), as_written=as_written)
    words = (
        "the manifest says that the file was made by shoal, but true records do not look like it (86 of 200 attacks"
        " rule them out)"
    )
    assert (audit.belonging.disagreements, audit.exit_code) == ((words,), 1)
    assert audit.verdict.headline.startswith(f"BROKEN: {words}")


def test_records_that_look_like_shoals_are_nothing_to_tell() -> None:
    audit = found(ruled_out=0)
    assert _with_chain_checked(audit, as_written=True) is audit
