"""Two hundred bad inputs: one line that was read by a person, exit code 2, nothing left behind, no canary anywhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from end_to_end.bad_inputs import SECRETS, BadInput, bad_inputs, try_it

CASES = bad_inputs()
SAID = dict(
    line.split("\t")[::2] for line in Path(__file__).with_name("bad_inputs.txt").read_text().splitlines()
)


def test_there_are_two_hundred_and_each_has_its_line() -> None:
    assert len(CASES) >= 200
    assert [case.name for case in CASES] == list(SAID)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_it_is_refused_in_one_line_that_helps(
    case: BadInput, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    done, before, after = try_it(case, tmp_path)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("shoal: ")
    assert done.err.endswith(".\n")
    assert done.err.count("\n") == 1
    assert done.err.rstrip("\n") == SAID[case.name]
    assert after == before
    beside = capfd.readouterr()  # what went past Python's streams
    for told in (done.err, beside.out, beside.err):
        assert not any(secret in told for secret in SECRETS)
        assert str(tmp_path) not in told
        assert "Traceback" not in told
