"""The page that ``shoal demo`` ends with."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from shoal.boxes import Boxes
from shoal.promise import Grid, Promise
from shoal.report.demo import duration_in_words, promise_in_words, write_demo_page
from shoal.samples import Samples, samples_from_columns

HALF_HOUR = Promise(k=3, tau=30, epsilon=30)
VOID = {"meta", "br", "hr", "img", "link", "input"}
START = 28_401_120  # 2024-01-01T00:00Z in minutes


class Outline(HTMLParser):
    """Checks that every element is closed, and collects the text."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, _attrs: list[tuple[str, str | None]]) -> None:
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, _tag: str, _attrs: list[tuple[str, str | None]]) -> None:
        pass

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] not in ("style", "title"):
            self.text.append(data)


def shoals(groups: int = 5, size: int = 3) -> tuple[Samples, Boxes]:
    """Groups of users who walk the same way, a little apart; all records of a group have the same boxes."""
    rng = np.random.default_rng(0)
    rows, boxes = [], []
    for group in range(groups):
        members = range(group * size, (group + 1) * size)
        for step in range(16):
            t, x, y = START + 400 + 30 * step, 40 * group + 3 * step, 10 * group + step
            for user in members:
                dt, dx, dy = (int(value) for value in rng.integers(0, 8, 3))
                rows.append((user, t + dt, x + dx, y + dy))
                boxes.append((user, t, t + 7, x, x + 7, y, y + 7))
    names = np.array([f"u{user}" for user in range(groups * size)], dtype=object)
    samples = samples_from_columns(names, *np.array(rows).T)
    columns = np.array(boxes, dtype=np.int64).T
    return samples, Boxes(*(c.astype(np.int64 if i in (1, 2) else np.int32) for i, c in enumerate(columns)))


def summary_of(samples: Samples, boxes: Boxes, **changes: Any) -> dict[str, Any]:
    return {
        "users": samples.n_users,
        "samples": len(samples),
        "records": len(np.unique(boxes.owner)),
        "boxes": boxes.n_boxes,
        "suppressed_samples": 0,
        "suppressed_share": 0.0,
        "precision_km": {"q25": 1.0, "median": 1.6, "q75": 2.0},
        "precision_minutes": {"q25": 6.0, "median": 8.0, "q75": 9.0},
        "relaxations": 0,
        "seconds": 1.25,
        **changes,
    }


def page_of(
    folder: Path, samples: Samples, boxes: Boxes, promise: Promise, **changes: Any
) -> tuple[str, str]:
    """The page as HTML and as text."""
    path = folder / "demo.html"
    summary = summary_of(samples, boxes, **changes)
    write_demo_page(path, samples=samples, boxes=boxes, promise=promise, grid=Grid(), summary=summary)
    html = path.read_text(encoding="utf-8")
    outline = Outline()
    outline.feed(html)
    outline.close()
    assert outline.open == []
    return html, " ".join(" ".join(outline.text).split())


def test_page_is_self_contained(tmp_path: Path) -> None:
    html, _ = page_of(tmp_path, *shoals(), HALF_HOUR)
    assert html.lower().startswith("<!doctype html>")
    assert not re.search(
        r"https?:|//[a-z]|<script|<link|<iframe|@import|url\(|\bsrc=|\bhref=", html, re.IGNORECASE
    )
    assert "prefers-color-scheme: dark" in html
    assert 'name="viewport"' in html
    assert "nan" not in re.sub(r"<style>.*</style>", "", html, flags=re.DOTALL).lower()


def test_page_says_the_promise_and_the_numbers(tmp_path: Path) -> None:
    samples, boxes = shoals()
    _, text = page_of(tmp_path, samples, boxes, HALF_HOUR, suppressed_samples=12, suppressed_share=0.05)
    assert promise_in_words(HALF_HOUR, Grid()) in text
    assert "Watch anyone for 30 minutes: at least 3 records fit." in text
    assert "one stretch of at most 1 hour," in text
    for words in (
        f"{len(samples)} of 15 users",
        "240 in 15 records",
        "5.0 % 12 samples left out",
        "1.6 km",
        "8 min",
    ):
        assert words in text
    assert "What is not protected" in text
    assert "watched for more than 30 minutes" in text


def test_the_user_is_hidden_among_at_least_k(tmp_path: Path) -> None:
    _, text = page_of(tmp_path, *shoals(size=3), HALF_HOUR)
    found = re.search(r"(\d+) records fit , out of 15. The promise is at least 3.", text)
    assert found
    assert int(found.group(1)) == 3


def test_a_broken_promise_is_not_glossed_over(tmp_path: Path) -> None:
    _, text = page_of(tmp_path, *shoals(size=2), HALF_HOUR)
    assert "2 records fit , out of 10. The promise is at least 3: it is broken here." in text


def test_nothing_suppressed(tmp_path: Path) -> None:
    html, text = page_of(tmp_path, *shoals(), HALF_HOUR)
    assert "Nothing: every sample lies in a box of its user's record." in text
    assert "Share suppressed by the hour" not in text
    assert html.count("<figure>") == 7


def test_some_suppressed(tmp_path: Path) -> None:
    samples, boxes = shoals()
    kept = boxes.t0 < START + 400 + 30 * 12
    html, text = page_of(tmp_path, samples, Boxes(*(column[kept] for column in boxes)), HALF_HOUR)
    assert "Share suppressed by the hour" in text
    assert html.count("<figure>") == 8


def test_whole_trajectories(tmp_path: Path) -> None:
    promise = Promise(k=3, tau=None, epsilon=None)
    _, text = page_of(tmp_path, *shoals(), promise)
    assert promise_in_words(promise, Grid()) in text
    assert "3 records fit , out of 15." in text
    for words in ("tau", "watched for", "Knowing the method"):
        assert words not in text


def test_relaxations_are_told(tmp_path: Path) -> None:
    samples, boxes = shoals()
    assert "Partners ran out" not in page_of(tmp_path, samples, boxes, HALF_HOUR)[1]
    assert "Partners ran out 1 time:" in page_of(tmp_path, samples, boxes, HALF_HOUR, relaxations=1)[1]


def test_no_user_name_is_on_the_page(tmp_path: Path) -> None:
    samples, boxes = shoals()
    names = np.array([f"secret-name-{user}" for user in range(samples.n_users)], dtype=object)
    named = Samples(names, samples.user, samples.t, samples.x, samples.y)
    assert "secret-name" not in page_of(tmp_path, named, boxes, HALF_HOUR)[0]


def test_many_days_and_long_tau(tmp_path: Path) -> None:
    samples, boxes = shoals()
    week = Promise(k=3, tau=3 * 1440, epsilon=1440)
    _, text = page_of(tmp_path, samples, boxes, week)
    assert "Watch anyone for 3 days" in text
    assert "3 records fit , out of 15." in text


def test_no_boxes_at_all(tmp_path: Path) -> None:
    samples, boxes = shoals()
    _, text = page_of(tmp_path, samples, Boxes(*(column[:0] for column in boxes)), HALF_HOUR)
    assert "The same user, hidden" not in text


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (1800, "30 minutes"),
        (60, "1 minute"),
        (5400, "1 hour 30 minutes"),
        (86_400, "1 day"),
        (90, "1 minute 30 seconds"),
    ],
)
def test_durations_in_words(seconds: int, words: str) -> None:
    assert duration_in_words(seconds) == words
