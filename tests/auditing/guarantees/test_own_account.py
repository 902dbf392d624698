"""What a manifest says of guarantee 2: numbers count, and words only where older files have nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from shoal.auditing.guarantees.own_account import differences, own_account


def manifest(words: str, **numbers: Any) -> dict[str, Any]:
    return {"guarantees": {"one_window": words}, **numbers}


@pytest.mark.parametrize(
    ("words", "weakest"),
    [
        ("given", None),
        ("weakened: up to 1,200 of 13,128 times a user had to hide with somebody again", (1200, 13_128)),
        ("weakened: k kept; epsilon not: up to 1,300 of 1,250 members had to serve again", (1250, 1250)),
        ("weakened: k kept; epsilon not: fewer than 10 of 400 members had to serve again", (10, 400)),
        ("not given: members may serve again after a while (reuse spaced)", None),
        ("weakened: , of , members", None),
        ("weakened: 5 of 0 members", None),
        (f"weakened: {'9' * 5000} of 7 members", (7, 7)),
    ],
)
def test_words_of_older_files(words: str, weakest: tuple[int, int] | None) -> None:
    found = own_account(manifest(words), 2)
    assert (found.weakest, found.contradicts_itself) == (weakest, False)


@pytest.mark.parametrize(
    ("again", "members", "weakest"),
    [
        (1_300, 15_000, (1_300, 14_001)),
        ("fewer than 10", 15_000, (9, 14_001)),
        (15_000, 15_000, (14_001, 14_001)),
        (0, 15_000, None),
        (1_300, 0, None),
        (1_300, None, None),
        (True, "nonsense", None),
    ],
)
def test_numbers_as_the_most_of_the_fewest(again: Any, members: Any, weakest: tuple[int, int] | None) -> None:
    assert own_account(manifest("weakened", relaxations=again, members=members), 2).weakest == weakest


@pytest.mark.parametrize(
    ("words", "again", "members", "contradicts"),
    [
        ("weakened: k kept; epsilon not: up to 1,300 of about 15,000 members had", 1_300, 15_000, False),
        (
            "weakened: k kept; epsilon not: fewer than 10 of fewer than 10 members had",
            *["fewer than 10"] * 2,
            False,
        ),
        ("weakened: k kept; epsilon not: up to 1,300 of 14,700 members had", 1_300, 15_000, False),
        ("weakened: k kept; epsilon not: up to 13 of about 15,000 members had", 1_300, 15_000, True),
        ("weakened: k kept; epsilon not: up to 1,300 of about 150,000 members had", 1_300, 15_000, True),
        ("given", 0, 15_000, False),
        ("given", "fewer than 10", 15_000, True),
        ("weakened", 1_300, 0, True),
        ("not given: members may serve again after a while (reuse spaced)", 1_300, 15_000, False),
    ],
)
def test_words_against_numbers(words: str, again: Any, members: Any, contradicts: bool) -> None:
    found = own_account(manifest(words, relaxations=again, members=members), 2)
    assert found.contradicts_itself is contradicts


def test_what_the_evidence_says_otherwise() -> None:
    told = own_account(
        manifest("weakened", relaxations="fewer than 10", members=15_000, parameters={"reuse": "once"}), 2
    )
    assert differences(told, 14_500, 9) == differences(told, 14_500, None) == []
    assert differences(told, 14_000, 9) == [
        "the number of members is 14,001 to 15,000 by the manifest, 14,000 by the evidence"
    ]
    for n_again in (0, 10):
        assert differences(told, 15_000, n_again) == [
            f"the number of members that had to serve again is 1 to 9 by the manifest, {n_again} by the evidence"
        ]
