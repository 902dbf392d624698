"""The same figure has the same words and the same value on the page, in the terminal and in the JSON."""

from __future__ import annotations

import hashlib
import re
from html import unescape
from math import hypot
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from reporting.releases import Release, make_release
from shoal.auditing.attack_names import ATTACK_NAMES, LONGEST_NAME
from shoal.auditing.result import Audit
from shoal.cli.text.audit import audit_lines
from shoal.core.formatting import percent
from shoal.core.proportions import Proportion
from shoal.reporting import write_report


class Told(NamedTuple):
    """One audit on a page, in a terminal, and as JSON."""

    page: str
    terminal: list[str]
    content: dict[str, Any]
    audit: Audit


def told(release: Release, folder: Path, **options: Any) -> Told:
    audit = write_report(release.events, release.published, folder / "report.html", attacks=150, **options)
    lines = audit_lines(audit, release.published, show_users=False)
    return Told((folder / "report.html").read_text(), lines, audit.to_dict(), audit)


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Release:
    return make_release(tmp_path_factory.mktemp("release"))


@pytest.fixture(scope="module")
def internal(release: Release, tmp_path_factory: pytest.TempPathFactory) -> Told:
    return told(release, tmp_path_factory.mktemp("internal"), key=release.key)


def words_of(html: str) -> str:
    """What is read, without tags."""
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", html)).replace("\N{NO-BREAK SPACE}", " ").split())


def rows_of(page: str) -> dict[str, list[str]]:
    """The cells of the table of attacks by name: raw data, published, guessing."""
    table = page.split("an attacker who …")[1].split("</table>")[0]
    rows = re.findall(r"<th scope=\"row\">(.*?)</th>(.*?)</tr>", table, re.DOTALL)
    return {
        words_of(name): [words_of(cell) for cell in re.findall(r"<td[^>]*>(.*?)</td>", cells, re.DOTALL)]
        for name, cells in rows
    }


def figure_in(content: dict[str, Any], attack: str, variant: str, measure: str) -> dict[str, Any]:
    branch = content["attacks"][attack]
    figure: dict[str, Any] = (branch[variant] if variant else branch)[measure]
    return figure


def test_every_figure_has_the_same_name_and_value(internal: Told) -> None:
    rows = rows_of(internal.page)
    assert list(rows) == [name.words for name in ATTACK_NAMES]
    printed = {line[:LONGEST_NAME].strip(): line[LONGEST_NAME:] for line in internal.terminal}
    for name in ATTACK_NAMES:
        figure = figure_in(internal.content, *name[:3])
        assert figure["words"] == name.words
        raw, published, guessing = rows[name.words]
        assert guessing == percent(figure["guessing"])
        for cell, share in ((published, figure["published"]), (raw, figure["raw"])):
            if isinstance(share, str):
                assert cell == share
                continue
            low, high = percent(share["low"]), percent(share["high"])
            assert cell == f"{percent(share['value'])} ({low} to {high})"
        if isinstance(figure["published"], str):
            assert printed[name.words].strip() == figure["published"]
        else:
            columns = re.sub("[<>]", "", printed[name.words]).split()
            assert float(columns[0]) == pytest.approx(100 * figure["published"]["value"], abs=0.051)


def test_every_drawn_attack_has_its_name_in_the_figure(internal: Told) -> None:
    svg = internal.page.split("Attacks, before and after")[1].split("</figure>")[0]
    lanes = [words_of(lane) for lane in re.findall(r'<text class="lane"[^>]*>(.*?)</text>', svg)]
    assert lanes == [name.words for name in ATTACK_NAMES if name.drawn]


def test_sentences_rating_and_steps_are_the_same_everywhere(internal: Told) -> None:
    page, terminal = words_of(internal.page), " ".join(" ".join(internal.terminal).split())
    verdict = internal.content["verdict"]
    assert len(verdict["exposures"]) == 7
    for exposure in verdict["exposures"]:
        assert f"{exposure['rating'].upper()}: {exposure['sentence']}" in terminal
        assert f"{exposure['rating']} {exposure['sentence']}" in re.sub(r"(?<=%) (?=[,)])", "", page)
    for step in verdict["next_steps"]:
        assert step in page
        assert step in terminal
    assert f"Risk: {verdict['rating']}" in page
    assert f"Risk {verdict['rating'].upper()} (" in terminal
    assert verdict["headline"] in page
    assert verdict["headline"] in terminal
    words = internal.audit.thresholds.in_words()
    assert words in page
    assert words in terminal


def test_sentences_come_directly_under_the_headline(internal: Told) -> None:
    words = words_of(internal.page.split("<body")[1])
    headline, risk = words.index(internal.audit.verdict.headline), words.index("Risk: ")
    assert words[headline:risk] == f"{internal.audit.verdict.headline}. "
    assert (
        risk
        < words.index("Somebody who watched")
        < words.index("What to do")
        < words.index("What is promised")
    )


def test_sentences_have_the_figures_of_the_table(internal: Told) -> None:
    rows = rows_of(internal.page)
    for name, words in (
        ("hours", "knows all exact times: picks it"),
        ("home_and_work", "knows 2 top locations: picks right"),
        ("method", "knows the method: picks the right one"),
        ("everybody", "knows everybody at once: right match"),
        ("file_alone", "finds the cell inside a box"),
    ):
        (exposure,) = [each for each in internal.audit.verdict.exposures if each.name == name]
        assert isinstance(exposure.share, Proportion)
        assert rows[words][1].startswith(f"{exposure.share.in_words()} (")


def test_page_and_terminal_name_the_file(internal: Told, release: Release) -> None:
    checksum = hashlib.sha256(release.published.read_bytes()).hexdigest()
    file = internal.audit.file
    assert file is not None
    page, terminal = words_of(internal.page), " ".join(" ".join(internal.terminal).split())
    assert file.in_words() in terminal
    assert f"Report: {file.name_and_period} {file.when_audited}; " in page
    for text in (page, terminal):
        assert f"SHA-256 {checksum}" in text
    assert internal.content["file"]["sha256"] == checksum


def test_a_datasheet_has_the_sentences_with_bounds(release: Release, tmp_path: Path) -> None:
    sheet = told(release, tmp_path, key=release.key, public=True)
    page = words_of(sheet.page)
    for exposure in sheet.audit.verdict.exposures:
        assert isinstance(exposure.share, Proportion)
        assert exposure.share.n == 0  # what may be told
        assert exposure.sentence in re.sub(r"(?<=%) (?=[,)])", "", page)
    hours = next(each for each in sheet.audit.verdict.exposures if each.name == "hours")
    assert "picks the right record in over " in hours.sentence
    assert hashlib.sha256(release.published.read_bytes()).hexdigest() in page
    assert list(rows_of(sheet.page)) == [name.words for name in ATTACK_NAMES]


# ---- much suppressed -----------------------------------------------------------------------------------------------


def are_far_apart(one: Proportion, other: Proportion) -> bool:
    """Whether chance does not explain the difference.

    The two pages draw other victims, and dozens of figures are compared in a run: two intervals of 95 % that just miss
    each other are no sign of a fault, 2.5 widths of their difference (about five standard errors) are.
    """
    low, high = (one, other) if one.value < other.value else (other, one)
    return high.value - low.value > 2.5 * hypot(high.value - high.low, low.high - low.value)


def test_pages_that_count_suppressed_samples_differently_are_far_apart() -> None:
    """What the test below is for: four fifths suppressed would make 60 % into 12 %."""
    assert are_far_apart(Proportion(0.6, 0.51, 0.68, 150), Proportion(0.12, 0.07, 0.18, 150))
    assert not are_far_apart(Proportion(0.36, 0.27, 0.45, 0), Proportion(0.187, 0.127, 0.266, 150))


def test_suppression_does_not_make_one_page_say_little_and_another_much(tmp_path: Path) -> None:
    """Four fifths suppressed: the page for the owner says what the datasheet says, which knows what is published."""
    release = make_release(tmp_path, users=300, k=20, tau="2h", epsilon="10min")
    audits = []
    for public in (False, True):
        folder = tmp_path / f"{public}"
        folder.mkdir()
        audits.append(told(release, folder, key=release.key, public=public, tolerance=1).audit)
    internal, _ = audits
    assert internal.truthfulness is not None
    assert internal.truthfulness.suppressed.share > 0.7
    compared = 0
    for name in ATTACK_NAMES:
        own, other = (audit.figure(name.attack, name.measure, name.variant) for audit in audits)
        assert own is not None
        assert other is not None
        if isinstance(own.published, Proportion) and isinstance(other.published, Proportion):
            assert not are_far_apart(own.published, other.published), name
            compared += 1
    assert compared > 30
    (moments,) = [each.share for each in internal.verdict.exposures if each.name == "four_moments"]
    assert isinstance(moments, Proportion)
    assert moments.value > 0.4
