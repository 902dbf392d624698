"""An audit in a terminal: 80 columns whatever was found, and no name that was not asked for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from auditing.audits import HUGE, TIMED, USERS, WHOLE, broken, share, some_audit, truth
from shoal.auditing.attack_names import ATTACK_NAMES, LONGEST_NAME
from shoal.auditing.belonging import Belonging
from shoal.auditing.exposures import LOOKS_ELSEWHERE
from shoal.auditing.measures import NO_VICTIM
from shoal.auditing.result import Audit
from shoal.cli.text.audit import audit_lines, report_lines
from shoal.cli.text.layout import labelled
from shoal.core.promise import Grid, Promise

LABELS = [
    "Verdict",
    "Risk",
    "What to do",
    "Promise",
    "Guarantees",
    "Audited",
    "Belongs",
    "Events",
    "Coverage",
    "Truthful",
    "Suppressed",
]
LABELS += ["Singling out", "Linkability", "Inference"]


def lines_of(audit: Audit, *, show_users: bool = False, name: str = "out.parquet") -> list[str]:
    return audit_lines(audit, Path("folder") / name, show_users=show_users)


def text_of(audit: Audit, *, show_users: bool = False) -> str:
    return " ".join(" ".join(lines_of(audit, show_users=show_users)).split())


FOUND: dict[str, dict[str, Any]] = {
    "kept": {},
    "broken": {"coverage": broken(0, 1, 2, n_unchecked=HUGE)},
    "untrue": {"truthfulness": truth(empty=HUGE, overlapping=HUGE, recordless=HUGE)},
}


@pytest.mark.parametrize("value", [0.0, 0.0001, 0.4321, 0.9996, 1.0])
@pytest.mark.parametrize("promise", [TIMED, WHOLE, Promise(100_000, 10_081, 100_001)])
@pytest.mark.parametrize("with_key", [False, True])
@pytest.mark.parametrize("found", FOUND)
def test_eighty_columns(value: float, promise: Promise, with_key: bool, found: str) -> None:
    changes = FOUND[found] if with_key else {**FOUND[found], "truthfulness": None}
    audit = some_audit(promise, value=value, n_attacks=HUGE, with_key=with_key, **changes)
    for show_users in (False, True):
        lines = lines_of(audit, show_users=show_users, name="a_name_that_goes_on_" * 9 + ".parquet")
        assert max(len(line) for line in lines) <= 80
        assert all(line == line.rstrip() for line in lines)
        above = lines[: next(row for row, line in enumerate(lines) if line.startswith("An attacker"))]
        assert [line[:14].strip() for line in above if line[:14].strip()] == LABELS


def test_nobody_is_named_unless_asked_for() -> None:
    audit = some_audit(coverage=broken(1, 1, 1))
    assert "(--show-users tells who they are)" in text_of(audit)
    assert not any(user in text_of(audit) for user in USERS)
    for user in USERS:
        assert f"what user {user} did" in text_of(audit, show_users=True)
    assert "--show-users" not in text_of(audit, show_users=True)
    assert "--show-users" not in text_of(some_audit())


def test_a_hint_stands_behind_what_it_explains() -> None:
    hint = "no record goes on beyond borders every 6 hours"
    text = text_of(some_audit(belonging=Belonging(n_surplus_records=7, hint=hint)))
    assert f"Belongs there are 7 records more than users, so the file is not true {hint} Events" in text


def test_counterexamples() -> None:
    text = text_of(some_audit(coverage=broken(0, 1, 2)))
    for part in (
        "no record fits what somebody did from 1970-01-01T00:00:00Z to 1970-01-01T00:30:00Z (gap-tolerant)",
        "1 record fits what somebody did from 2024-01-01T00:02:00Z to 2024-01-01T00:32:00Z (gap-tolerant)",
        "2 records fit what somebody did from Unix second 600000000000000 to Unix second",
        f"fewer than 2 records fit in {HUGE:,} of them for an attacker who takes the file at its word,",
    ):
        assert part in text
    whole = text_of(some_audit(WHOLE, coverage=broken(1, 1, 1)))
    assert whole.count("1 record fits what somebody did (gap-tolerant)") == 1  # the same words once


def test_what_is_said_of_boxes_and_of_what_is_suppressed() -> None:
    kept = text_of(some_audit(truthfulness=truth(suppressed=0)))
    assert f"Truthful all of {HUGE:,} boxes hold a sample of their own user" in kept
    assert "Suppressed nothing Singling out" in kept
    text = text_of(some_audit(truthfulness=truth(empty=3, overlapping=4, recordless=5)))
    for part in (
        f"boxes without a sample of their own user: 3 of {HUGE:,}",
        "boxes that overlap in time with another of the same record: 4",
        f"{HUGE // 3:,} of {HUGE:,} samples (33.3 %); users without a record: 5",
        "with the most: 33.3 %, 33.3 %, 33.3 %, 33.3 %",
        "worst hour of the day, 23:00 to 24:00: 33.3 % of its samples",
    ):
        assert part in text
    assert "every user has a record" in text_of(some_audit())


def test_users_who_may_have_no_record() -> None:
    coverage = some_audit().coverage._replace(n_unchecked=7)
    text = text_of(some_audit(coverage=coverage, with_key=False))
    assert (
        "7 users of whom nothing in the file could be the record, and who may have none: not checked: no key"
        in text
    )
    untrue = text_of(some_audit(coverage=coverage._replace(n_unchecked=0, n_untrue=5), with_key=False))
    assert "5 users more than could be without a record have none in the file that could be theirs" in untrue


def test_an_alarm_without_a_key_may_be_false() -> None:
    hint = "(without the key this can be a false alarm where samples were suppressed: give --key)"
    assert hint in text_of(some_audit(coverage=broken(1), with_key=False))
    assert hint not in text_of(some_audit(coverage=broken(1)))


def test_the_table_of_attacks() -> None:
    lines = lines_of(some_audit(value=0.4321))
    rows = {line[:38].strip(): line[38:].split("  ") for line in lines if line[38:47].strip() == "43.2 %"}
    assert list(rows) == [name.words for name in ATTACK_NAMES]
    assert "   43.2 %   43.2 to 43.2 %  43.2 %  43.2 %" in next(
        line for line in lines if line.startswith("picks among the records")
    )
    text = "\n".join(lines_of(some_audit(value=0.0001)))
    assert " <0.1 % " in text
    assert " >99.9 % " in "\n".join(lines_of(some_audit(value=0.9996)))
    assert "tau" not in "\n".join(line[:38] for line in lines_of(some_audit(WHOLE)))


def test_attacks_on_nobody() -> None:
    audit = some_audit()
    nobody = [figure._replace(published=NO_VICTIM, raw=NO_VICTIM) for figure in audit.figures]
    lines = lines_of(some_audit(figures=nobody))
    rows = [line[:LONGEST_NAME].strip() for line in lines if line[LONGEST_NAME:] == f" {NO_VICTIM}"]
    assert rows == [name.words for name in ATTACK_NAMES]
    assert max(len(line) for line in lines) <= 80


def test_a_number_stays_with_its_unit() -> None:
    parts = {"Label": [f"{'x' * n} 30 min, 4 h, 9 % and 500 m" for n in range(30, 60)]}
    ends = [line.split()[-1] for line in labelled(parts)]
    assert not {"30", "4", "9", "500"} & set(ends)


def test_steps_are_counted_in_the_files_grid() -> None:
    audit = some_audit(Promise(2, 3, 6), grid=Grid(100.0, 600))
    assert "Promise the file's own claim: k = 2, tau = 30 min, epsilon = 1 h" in text_of(audit)
    assert "in any 30 min" in text_of(audit)


def test_both_promises_are_told_where_a_file_is_held_to_another_than_its_own() -> None:
    harder = Promise(3, 60, 30)
    other = (
        "Promise required: k = 3, tau = 1 h, epsilon = 30 min; made for k = 2, tau = 30 min, epsilon = 30 min"
    )
    assert other in text_of(some_audit(harder, noted=TIMED, required=True))
    for noted in (harder, None):
        assert "Promise required: k = 3, tau = 1 h, epsilon = 30 min Guarantees" in text_of(
            some_audit(harder, noted=noted, required=True)
        )


def test_no_datasheet_about_another_promise_names_the_way_to_one() -> None:
    failing = some_audit(Promise(3, 60, 30), noted=TIMED, coverage=broken(2))
    told = " ".join(report_lines(failing, Path("report.html"), public=True))
    assert told.startswith("FAILS a promise that is not its own")
    assert "for one about the file's own promise leave --k, --tau, --epsilon and --whole out." in told
    own = " ".join(report_lines(some_audit(coverage=broken(1)), Path("report.html"), public=True))
    assert "a file that breaks its promise must not be published" in own


def test_a_long_reason_fits_the_table() -> None:
    audit = some_audit(value=0.01)
    figures = [
        figure._replace(published=share(0.3)) if figure.measure == "candidate" else figure
        for figure in audit.figures
    ]
    lines = lines_of(some_audit(value=0.01, figures=figures))
    assert max(len(line) for line in lines) <= 80
    assert f"{'finds the cell inside a box':<{LONGEST_NAME}} not checked" in lines
    assert LOOKS_ELSEWHERE in " ".join(" ".join(lines).split())
