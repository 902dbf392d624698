"""Figures are called the same everywhere, by names that fit a column and say what they are."""

from __future__ import annotations

from auditing.audits import TIMED, WHOLE, some_audit
from shoal.auditing.attack_names import (
    ATTACK_NAMES,
    LONGEST_NAME,
    NAMES_OF_SOME,
    named_figures,
    words_of,
)


def test_every_name_is_that_of_one_figure_and_fits_a_column() -> None:
    names = (*ATTACK_NAMES, *NAMES_OF_SOME)
    words = [name.words for name in names]
    assert len(set(words)) == len({name[:3] for name in names}) == len(words)
    assert max(map(len, words)) <= LONGEST_NAME
    assert all(text == text.strip(" .") for text in words)  # nothing that only the row above explains


def test_every_attack_has_a_name_for_one_of_its_figures() -> None:
    audit = some_audit(TIMED)
    assert {figure.attack for figure in audit.figures} == {name.attack for name in ATTACK_NAMES}
    assert len(named_figures(audit)) == len(ATTACK_NAMES)


def test_over_whole_trajectories_there_is_no_tau_and_no_method() -> None:
    words = [name.words for name, _ in named_figures(some_audit(WHOLE))]
    assert words
    assert not [text for text in words if "tau" in text or "epsilon" in text or "method" in text]


def test_a_pick_is_not_called_a_chance() -> None:
    """What is printed as picking is how often the right one is picked, not the mean chance given to it."""
    audit = some_audit()
    pick, chance = audit.figure("method", "pick"), audit.figure("method", "success")
    assert pick is not None
    assert chance is not None
    assert words_of(pick) == "knows the method: picks the right one"
    assert words_of(chance) == "knows the method: right one's chance"
    assert words_of(chance._replace(measure="above")) is None
