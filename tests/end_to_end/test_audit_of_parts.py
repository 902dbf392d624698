"""Audits of releases whose records get new names, against brute force: every part, every interval, every border."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from oracles.attacker import consistent_gap_tolerant, knowledge
from oracles.auditor import Keyless, keyless_violations, possible_own_records
from oracles.matchings import windows, windows_without_matchings
from oracles.one_window import in_line, served_again, too_long_lines, unexplained_boxes, untrue_lines
from oracles.parts import has_k_matchings, matchings_errors, parts_errors, period_of
from shoal.auditing.guarantees.judgement import Basis, State
from shoal.auditing.result import Audit
from shoal.errors import InputError, NothingLeftError
from support.renamed import (
    HOUR_S,
    Case,
    Part,
    Renamed,
    events_of,
    key_of,
    parts_of,
    random_case,
    with_boxes,
)
from support.run_command import seconds

FEW = 6  # people among whom all matchings are gone through


def made(case: Case, folder: Path, **options: Any) -> Renamed | None:
    """A case by the whole way; None where nobody can be hidden."""
    try:
        return Renamed(events_of(case.world), folder, **case.options, **options)
    except (InputError, NothingLeftError):
        return None


def found_by_audit(audit: Audit) -> dict[tuple[int, str], int]:
    """The fewest records that were found to fit, for every user and attacker with too few."""
    named = {int(str(name)[1:]) for name in audit.users}
    users = [int(str(name)[1:]) for name in audit.users]
    assert len(named) == len(users)
    return {(users[v.user], v.attacker): v.n_records for v in audit.coverage.worst}


def found_by_hand(case: Case, parts: list[Part]) -> dict[tuple[int, str], int]:
    """The same by brute force."""
    fewest: dict[tuple[int, str], int] = {}
    for error in parts_errors(case.world, parts, case.borders, case.k, case.tau, case.epsilon):
        kind, words = error.split(": ", 1)
        if kind.startswith(("coverage", "across")):
            line = int(words.split()[0]), {"strict": "strict", "tolerant": "gap-tolerant"}[kind.split()[1]]
            n = int(words.split(": ")[1].split()[0])
            fewest[line] = min(fewest.get(line, n), n)
    return fewest


def by_period(case: Case, parts: list[Part]) -> dict[int, tuple[dict[int, Any], dict[int, Any]]]:
    """For every period with parts, the samples of the people who have some in it, and their parts."""
    found: dict[int, tuple[dict[int, Any], dict[int, Any]]] = {}
    for period in sorted({period for _, period, _ in parts}):
        samples = {
            user: inside
            for user, own in case.world.items()
            if (inside := {s for s in own if period_of(s[0], case.borders) == period})
        }
        found[period] = samples, {user: boxes for user, of, boxes in parts if of == period}
    return found


def doubtful(samples: Any, records: Any, case: Case, keyless: Keyless) -> set[int]:
    """Whom the strict attacker alone finds, and who may own one of several parts, or none of the few missing."""
    strict, tolerant = (
        {each.user for each in keyless.violations if each.attacker == attacker}
        for attacker in ("strict", "gap-tolerant")
    )
    found = strict - tolerant - keyless.not_checked
    parts = list(records.values())
    several = {user for user in found if len(possible_own_records(samples[user], parts, case.epsilon)) > 1}
    n_missing = len(samples) - len(parts) - len(keyless.not_checked)
    return found if len(found - several) <= n_missing else several


def keyless_by_hand(case: Case, parts: list[Part]) -> tuple[dict[tuple[int, str], int], int, int]:
    """What is found without a key: the fewest records that fit, who is not checked, and records that are nobody's."""
    fewest: dict[tuple[int, str], int] = {}
    n_unchecked = n_untrue = 0
    for samples, records in by_period(case, parts).values():
        keyless = keyless_violations(samples, list(records.values()), case.k, case.tau, case.epsilon)
        not_checked = keyless.not_checked | (
            set() if keyless.n_untrue else doubtful(samples, records, case, keyless)
        )
        for each in keyless.violations:
            if each.user not in not_checked:
                line = each.user, each.attacker
                fewest[line] = min(fewest.get(line, each.n_consistent), each.n_consistent)
        n_unchecked += len(not_checked)
        n_untrue += keyless.n_untrue
    return fewest, min(n_unchecked, len(case.world)), n_untrue


def windows_broken(case: Case, parts: list[Part]) -> int:
    """In how many windows of a period its people cannot be matched to its parts in k ways."""
    n = 0
    for samples, records in by_period(case, parts).values():
        held = {user: samples[user] for user in records}
        if len(records) <= FEW:
            n += len(windows_without_matchings(held, records, case.k, case.tau, case.epsilon))
            continue
        for begin, end in windows(records, case.tau, case.epsilon):
            length = None if begin is None else end - begin
            fits = [
                {
                    place
                    for place, boxes in enumerate(records.values())
                    if consistent_gap_tolerant(
                        boxes, knowledge(held, person, begin, length), begin, length, case.epsilon
                    )
                }
                for person in records
            ]
            n += not has_k_matchings(fits, len(records), case.k)
    return n


def spoilt(rng: random.Random, parts: list[Part]) -> list[Part]:
    """Parts of which some lost a box, or have one that is smaller or later, or are gone."""
    copied = [(user, period, list(boxes)) for user, period, boxes in parts]
    for _ in range(rng.randint(1, 3)):
        _, _, boxes = part = rng.choice(copied)
        place = rng.randrange(len(boxes))
        t0, t1, x0, x1, y0, y1 = boxes[place]
        what = rng.choice(["gone", "narrow", "short", "no part"])
        if what == "gone" and len(boxes) > 1:
            del boxes[place]
        elif what == "no part" and len(copied) > 3:
            copied.remove(part)
        else:
            boxes[place] = (t0, t1, x0, x0, y0, y1) if what == "narrow" else (t0, t0, x0, x1, y0, y1)
    return copied


@pytest.mark.parametrize("seed", range(5))
def test_audits_agree_with_brute_force(seed: int, tmp_path: Path) -> None:
    """Releases pass; of spoilt ones exactly those fail of which brute force says so, for the same people and as far."""
    rng, outcomes = random.Random(7300 + seed), Counter[str]()
    for number in range(11):
        case = random_case(rng, whole=number == 0)
        folder = tmp_path / str(number)
        folder.mkdir()
        release = made(case, folder, verify=False, selector=rng.choice(["matching", "mutual"]))
        if release is None:
            continue
        parts = parts_of(release.table, release.key)
        assert parts_errors(case.world, parts, case.borders, case.k, case.tau, case.epsilon) == []
        assert matchings_errors(case.world, parts, case.borders, case.k, case.tau, case.epsilon) == []
        bad = spoilt(rng, parts)
        names = {
            (int(line["user"][1:]), line["part"] - 1): line["record"] for line in release.key.to_pylist()
        }
        table = with_boxes(
            release.table, [(names[user, period], box) for user, period, boxes in bad for box in boxes]
        )
        key = key_of(bad, names)
        for of, audit in (
            (parts, release.audit(attacks=5)),
            (bad, release.audit_spoilt(table, key, evidence=False, attacks=5)),
        ):
            expected = found_by_hand(case, of)
            assert found_by_audit(audit) == expected, case
            assert (audit.guarantees.coverage.state is State.BROKEN) == bool(expected)
            assert (audit.guarantees.matching.state is State.BROKEN) == bool(windows_broken(case, of))
            if audit.guarantees.matching.state is State.BROKEN:
                assert audit.guarantees.matching.part == windows_broken(case, of)
            outcomes["broken"] += bool(expected)
            outcomes["matchings"] += audit.guarantees.matching.state is State.BROKEN
        keyless = release.audit_spoilt(table, with_key=False, attacks=5)
        found = (found_by_audit(keyless), keyless.coverage.n_unchecked, keyless.coverage.n_untrue)
        assert found == keyless_by_hand(case, bad), case
        assert keyless.coverage.n_users == len(case.world)
        outcomes["periods"] += len({period for _, period, _ in parts}) > 1
    assert outcomes["periods"] > 1
    assert outcomes["broken"] > 0
    assert outcomes["matchings"] > 0


def lines_of(release: Renamed, owner: dict[str, tuple[int, int]]) -> list[tuple[Any, ...]]:
    """The evidence as the oracle wants it, with parts as users; and whether a line is that of an epoch."""
    table = pq.read_table(f"{release.key_file}.evidence.parquet")
    begin, end = ([second // HOUR_S for second in seconds_of(table[name])] for name in ("begin", "end"))
    rows = zip(begin, end, *(table[name].to_pylist() for name in ("user", "record", "span")), strict=True)
    return [
        (first, last, (int(user[1:]), owner[record][1]), owner[record], span == "epoch")
        for first, last, user, record, span in rows
    ]


def seconds_of(column: Any) -> list[int]:
    return column.to_pylist() if column.type == "int64" else seconds(column)


@pytest.mark.parametrize("seed", range(4))
def test_evidence_of_parts_is_believed_and_says_what_the_slow_way_says(seed: int, tmp_path: Path) -> None:
    """Windows across borders and windows longer than a period among them; the manifest tells the same."""
    rng, outcomes = random.Random(7400 + seed), Counter[str]()
    for number in range(20):
        case = random_case(rng)
        folder = tmp_path / str(number)
        folder.mkdir()
        selector = rng.choice(["matching", "matching", "mutual"])
        harden = rng.choice([0, 3]) if selector == "matching" else 0
        reuse = rng.choice(["once", "once", "pair"])
        release = made(case, folder, selector=selector, harden=harden, reuse=reuse)
        if release is None or case.tau is None or case.epsilon is None:
            continue
        parts = parts_of(release.table, release.key)
        records = {(user, period): boxes for user, period, boxes in parts}
        owner = {
            line["record"]: (int(line["user"][1:]), line["part"] - 1) for line in release.key.to_pylist()
        }
        samples: dict[tuple[int, int], Any] = {
            part: {s for s in case.world[part[0]] if period_of(s[0], case.borders) == part[1]}
            for part in records
        }
        every = lines_of(release, owner)
        plain = [line[:4] for line in every]
        window = -(-case.tau // case.epsilon) * case.epsilon + case.epsilon
        assert untrue_lines(samples, records, plain) == []
        assert too_long_lines(samples, records, plain, window) == []
        assert unexplained_boxes(samples, records, plain) == []
        telling = [line for line in every if in_line(samples, records, line[:4])]
        again = served_again([line[:4] for line in telling], window)
        audit = release.audit(attacks=30)
        found = audit.guarantees.one_window
        assert found.basis is Basis.EVIDENCE, (found, case)
        assert (found.state, found.part) == ((State.WEAKENED, again) if again else (State.KEPT, 0)), case
        assert found.whole == sum(not line[4] for line in telling)
        assert release.published.outcome.relaxations == again
        assert release.published.outcome.n_members == found.whole
        assert audit.belonging.kept, (audit.belonging, case)
        ruled_out = audit.figure("method", "ruled_out")
        assert ruled_out is None or not getattr(ruled_out.published, "value", 0.0)
        outcomes["again"] += again > 0
        outcomes["once"] += not again
        outcomes["across"] += any(begin < border < end for begin, end, *_ in plain for border in case.borders)
        outcomes["longer than a period"] += case.period < window and len(case.borders) > 1
    assert min(outcomes[name] for name in ("again", "once", "across")) > 0, outcomes
    assert outcomes["longer than a period"] > 0, outcomes
