"""The report's words about releases that really fail, relax and suppress, and what a public page tells of the last."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

import shoal
from reporting.page.outline import Outline
from reporting.releases import Release
from shoal.reporting import write_report
from shoal.reporting.facts.datasheet import shares_of_groups
from support.run_command import shrink_boxes


def release(folder: Path, users: int, days: int, **options: object) -> Release:
    """A synthetic city, published with these options."""
    made = Release(*(folder / f"{name}.parquet" for name in ("events", "published", "key")))
    pq.write_table(shoal.make_city(users, days, seed=1), made.events)
    shoal.anonymize(made.events, output=made.published, key_out=made.key, **options)
    return made


def words_of(made: Release, page: Path, *, public: bool = False) -> tuple[str, str]:
    """The page, and its words."""
    write_report(made.events, made.published, page, key=made.key, attacks=50, public=public)
    html = page.read_text()
    outline = Outline()
    outline.feed(re.sub(r"<script.*?</script>", "", html, flags=re.DOTALL))
    return html, " ".join(" ".join(outline.text).split())


@pytest.fixture(scope="module")
def suppressing(tmp_path_factory: pytest.TempPathFactory) -> Release:
    folder = tmp_path_factory.mktemp("suppressing")
    return release(folder, 120, 1, k=5, tau="2h", epsilon="30min")


@pytest.fixture(scope="module")
def relaxing(tmp_path_factory: pytest.TempPathFactory) -> Release:
    folder = tmp_path_factory.mktemp("relaxing")
    return release(folder, 12, 3, k=3, tau="30min", epsilon="30min", reuse="once")


def test_boxes_that_were_made_smaller(suppressing: Release, tmp_path: Path) -> None:
    broken = shrink_boxes(suppressing.published, tmp_path / "published.parquet", most=400)
    _, words = words_of(suppressing._replace(published=broken), tmp_path / "report.html")
    assert "The promise is broken: do not publish this file." in words
    assert re.search(r"BROKEN: [\d,]+ of [\d,]+ users are not hidden among 5 records; at worst", words)
    assert "Do not hand it on." in words
    assert re.search(r"at least [\d,]+ of them leave fewer than 5 records", words)
    assert "Gaps forgiven" not in words
    assert "goes its own way" not in words


def test_partners_that_ran_out(relaxing: Release, tmp_path: Path) -> None:
    manifest = json.loads(Path(f"{relaxing.published}.manifest.json").read_text())
    assert manifest["relaxations"]
    _, words = words_of(relaxing, tmp_path / "report.html")
    assert "KEPT" in words
    found = re.search(r"so that ([\d,]+) times somebody had to be hidden by the same person again", words)
    assert found is not None  # exactly, from the evidence; the manifest rounds up
    assert 0 < int(found[1].replace(",", "")) <= manifest["relaxations"]
    Path(f"{relaxing.key}.evidence.parquet").rename(tmp_path / "evidence.parquet")
    _, words = words_of(relaxing, tmp_path / "without.html")
    (tmp_path / "evidence.parquet").rename(f"{relaxing.key}.evidence.parquet")
    told = manifest["relaxations"]
    times = told if isinstance(told, str) else f"up to {told:,}"
    assert f"so that {times} times somebody had to be hidden by the same person again" in words
    assert "That does not hold: there were too few people" in words
    assert manifest["guarantees"]["one_window"] in words.split("How it was made")[1]
    assert "follow the person for longer" in words


def test_much_that_is_suppressed(suppressing: Release, tmp_path: Path) -> None:
    html, words = words_of(suppressing, tmp_path / "report.html")
    assert "WEAKENED: guarantee 1 KEPT, 2 weakened" in words
    assert "Gaps forgiven: some samples are in no box" in words
    assert "could hide each other" in words
    assert html.count("bar lost") == 24 + 4


def test_a_public_page_tells_suppression_by_hour_where_it_may(suppressing: Release, tmp_path: Path) -> None:
    html, words = words_of(suppressing, tmp_path / "sheet.html", public=True)
    assert "By the hour of the day" in words
    drawn, left = html.count('class="bar lost"'), html.count('class="untold"')
    assert drawn + left == 24 + 4
    assert drawn > 0
    assert left > 0


@pytest.mark.parametrize("which", ["suppressing", "relaxing"])
def test_a_public_page_holds_no_coordinate_no_name_and_no_small_count(
    which: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    made: Release = request.getfixturevalue(which)
    html, words = words_of(made, tmp_path / "sheet.html", public=True)
    events, key = pq.read_table(made.events).to_pydict(), pq.read_table(made.key).to_pydict()
    for name in {*map(str, events["user"]), *key["record"]}:
        assert not re.search(rf"(?<![\w.]){re.escape(name)}(?![\w.])", words)
    for axis in ("lat", "lon"):
        for digits in (3, 4, 5, 6):
            assert not any(f"{value:.{digits}f}" in html for value in set(events[axis]))
    k = json.loads(Path(f"{made.published}.manifest.json").read_text())["promise"]["k"]
    nouns = r"(?:users?|people|samples?|persons?|records?|boxes|times somebody)"
    counts = [int(n.replace(",", "")) for n in re.findall(rf"(?<![\w.])(\d[\d,]*) {nouns}\b", words)]
    spoken = re.sub(r"(?:fewer than|at least|knows|With|k =) \d+ \w+", "", words)
    told = [int(n.replace(",", "")) for n in re.findall(rf"(?<![\w.])(\d[\d,]*) {nouns}\b", spoken)]
    assert counts
    assert not [n for n in told if 0 < n < k]


def test_shares_are_told_only_where_no_few_stand_behind_them() -> None:
    """Hour 0: many kept and lost; 1: two users lost; 2: two kept; 3: nobody; 4: none lost; 5: nine users lost."""
    hours: list[int] = []
    users: list[int] = []
    held: list[bool] = []
    for hour, kept, lost in ((0, 30, 30), (1, 30, 2), (2, 2, 30), (4, 30, 0), (5, 30, 9)):
        for number in range(kept):
            hours, users, held = [*hours, hour], [*users, number], [*held, True]
        for number in range(lost):
            hours, users, held = [*hours, hour], [*users, 100 + number], [*held, False]
    columns = np.array(hours, np.int64), np.array(users, np.int32), np.array(held)
    assert shares_of_groups(*columns, 6, 5) == [0.5, None, None, None, 0.0, None]
    assert shares_of_groups(*columns, 6, 2) == shares_of_groups(
        *columns, 6, 5
    )  # k = 2 does not make two many
    assert shares_of_groups(*columns, 6, 31)[0] is None


def test_many_samples_of_few_users_are_not_told() -> None:
    """Two hundred suppressed samples, of nine users or of ten."""
    for lost, told in ((9, [None]), (10, [pytest.approx(0.834)])):
        users = np.array([*range(40), *[100 + number % lost for number in range(200)]], np.int32)
        held = np.array([True] * 40 + [False] * 200)
        assert shares_of_groups(np.zeros(240, np.int64), users, held, 1, 5) == told


def test_what_would_follow_from_the_rest_is_not_told_either() -> None:
    """Hour 0 alone has few users lost: with it goes the hour with the fewest lost of the others, which is 2."""
    hours, users, held = [], [], []
    for hour, kept, lost in ((0, 30, 3), (1, 30, 20), (2, 30, 12), (3, 30, 0)):
        hours += [hour] * (kept + lost)
        users += [*range(kept), *range(100, 100 + lost)]
        held += [True] * kept + [False] * lost
    columns = np.array(hours, np.int64), np.array(users, np.int32), np.array(held)
    assert shares_of_groups(*columns, 4, 2) == [None, pytest.approx(0.4), None, 0.0]
