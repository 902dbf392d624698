"""The report: what its words say of releases that keep, break, relax and suppress, and what a public one must not."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import shoal
from reporting.page.outline import Outline
from reporting.releases import Release, make_release
from shoal.auditing.attack_names import ATTACK_NAMES
from shoal.reporting import write_report


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Release:
    return make_release(tmp_path_factory.mktemp("release"))


@pytest.fixture(scope="module")
def sparse(tmp_path_factory: pytest.TempPathFactory) -> Release:
    return make_release(tmp_path_factory.mktemp("sparse"), users=40, k=3, tau="2h")


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Release:
    return make_release(tmp_path_factory.mktemp("whole"), users=40, whole=True)


def page_of(release: Release, path: Path, **options: object) -> tuple[str, str]:
    """The page, and its words."""
    write_report(release.events, release.published, path, attacks=100, **options)
    html = path.read_text()
    outline = Outline()
    outline.feed(re.sub(r"<script.*?</script>", "", html, flags=re.S))
    outline.close()
    assert outline.open == []
    return html, " ".join(" ".join(outline.text).split())


def test_a_release_that_keeps_its_promise(release: Release, tmp_path: Path) -> None:
    html, words = page_of(release, tmp_path / "report.html", key=release.key)
    assert "Watch anyone for 30 minutes: at least 2 records fit" in words
    assert "Guarantee 1 KEPT, 2 " in words
    assert ": whoever knows everything" in words
    assert "Internal: shows raw data" in words
    for title in (
        "Three questions of the law",
        "Attacks, before and after",
        "What the data are still good for",
        "The cliff",
        "How it was made",
    ):
        assert title in words
    assert not re.search(r"(?:src|href)=[\"'](?!#)", html)
    assert "http" not in html.replace("http://www.w3.org/2000/svg", "")
    assert len(html) < 6_000_000
    assert (tmp_path / "report.html").stat().st_mode & 0o077 == 0


def test_a_broken_promise_is_the_first_thing_told(release: Release, tmp_path: Path) -> None:
    options = {"key": release.key, "k": 5, "tau": "30min", "epsilon": "30min"}
    copy = release._replace(published=tmp_path / "published.parquet")
    table = pq.read_table(release.published)
    pq.write_table(table.replace_schema_metadata(None), copy.published)  # as of others: it makes no promise
    grid = {"cell": "100m", "step": "1min", "crs": made_in(release)}
    _, words = page_of(copy, tmp_path / "report.html", **options, **grid)
    assert "The promise is broken: do not publish this file." in words
    assert "BROKEN:" in words
    assert "at least 5 records fit." not in words.split("What was promised")[0]
    assert words.index("BROKEN:") < words.index("What was published")
    assert "Do not hand it on. Make it again" in words
    audit = write_report(
        release.events, release.published, tmp_path / "sheet.html", public=True, attacks=50, **options
    )
    assert not audit.kept
    assert not (tmp_path / "sheet.html").exists()


def made_in(release: Release) -> str:
    """The coordinate system of a release."""
    crs: str = json.loads(Path(f"{release.published}.manifest.json").read_text())["grid"]["crs"]
    return crs


def test_a_file_that_fails_what_it_never_promised_is_not_called_broken(
    release: Release, tmp_path: Path
) -> None:
    copy = relaxed(release, tmp_path)
    options = {"key": copy.key, "k": 3, "tau": "1h", "epsilon": "30min"}
    _, words = page_of(copy, tmp_path / "report.html", **options)
    assert (
        "Held to k 3 and 1 hour, epsilon 30 minutes, this file fails; it was made for k 2 and 30 minutes."
        in words
    )
    assert (
        "FAILS a promise that is not its own (held to k 3 and 1 h, epsilon 30 min, made for k 2 and" in words
    )
    assert "What it is held to Somebody who watched a person for any hour, and knows" in words
    assert "That is not what it was made for, which is k 2 and 30 minutes." in words
    assert "Only if it does, the following is about it" in words
    assert "Not for open publication" in words.split("the following is about it")[1]
    assert "among the records that fit would be, were the promise kept, right in at most 33.3 %." in words
    for wrong in (
        "promised Somebody",
        "promise is broken",
        "BROKEN",
        "Make it again",
        "Relaxed",
        "any 1 hour",
    ):
        assert wrong not in words


def test_a_file_held_to_less_than_its_promise(release: Release, tmp_path: Path) -> None:
    less = {"k": 2, "tau": "20min", "epsilon": "30min"}
    _, words = page_of(release, tmp_path / "report.html", key=release.key, **less)
    assert "Watch anyone for 20 minutes: at least 2 records fit" in words
    assert "What it is held to" in words
    assert "which is k 2 and 30 minutes." in words
    copy = relaxed(release, tmp_path)
    _, words = page_of(copy, tmp_path / "relaxed.html", key=copy.key, **less)
    assert "Relaxed:" not in words


def test_a_broken_page_says_nowhere_that_k_records_fit(sparse: Release, tmp_path: Path) -> None:
    """Whatever the file's own manifest says: it was made for k = 3."""
    copy = relaxed(sparse, tmp_path)
    options = {"key": copy.key, "k": 5, "tau": "2h", "epsilon": "30min"}
    audit = shoal.audit(copy.events, copy.published, attacks=10, **options)
    fewest = audit.coverage.worst[0].n_records
    assert 1 < fewest < 5
    _, words = page_of(copy, tmp_path / "report.html", **options)
    assert f"in the worst case with {fewest} instead of 5." in words
    _, after = words.split("This file does not do so for everybody", 1)
    assert "Relaxed:" not in after  # of the promise it was made for
    assert "of the samples, where fewer than 5 users" in after
    assert not re.search(r"at least 5 records|At least 5 records", after)
    assert "goes its own way" not in words


def test_overlapping_boxes_are_not_called_untrue(tmp_path: Path) -> None:
    release = make_release(tmp_path, users=30)
    table = pq.read_table(release.published)
    pq.write_table(pa.concat_tables([table, table.slice(0, 1)]), release.published)
    _, words = page_of(release, tmp_path / "report.html", key=release.key)
    assert "1 box overlaps with another of the same record in time" in words
    assert "but boxes of a record overlap in time" in words
    assert "as if somebody had been in two places at once" in words
    assert "not true" not in words


def relabelled(whole: Release, folder: Path) -> Release:
    """A file made over whole trajectories, with metadata and a manifest as if it was made for half hours."""
    copy = whole._replace(published=folder / "published.parquet")
    table, promise = (
        pq.read_table(whole.published),
        {"k": 2, "whole": False, "tau_s": 1800, "epsilon_s": 1800},
    )
    metadata = dict(table.schema.metadata)
    notes = {**json.loads(metadata[b"shoal"]), "promise": promise}
    pq.write_table(
        table.replace_schema_metadata({**metadata, b"shoal": json.dumps(notes).encode()}), copy.published
    )
    manifest = json.loads(Path(f"{whole.published}.manifest.json").read_text())
    guarantees = {**manifest["guarantees"], "one_window": "given"}
    Path(f"{copy.published}.manifest.json").write_text(
        json.dumps({**manifest, "promise": promise, "guarantees": guarantees})
    )
    return copy


def test_guarantee_2_is_a_fact_only_where_it_was_checked(whole: Release, tmp_path: Path) -> None:
    copy = relabelled(whole, tmp_path)
    _, words = page_of(copy, tmp_path / "report.html")
    assert "at least 2 records fit, but guarantee 2 could not be checked." in words
    assert "By the file's own account, which was not checked, each of the other records stays" in words
    assert "Each of the other records" not in words
    bare = copy._replace(published=tmp_path / "bare.parquet")
    bare.published.write_bytes(copy.published.read_bytes())
    _, words = page_of(bare, tmp_path / "bare.html")
    assert "was not checked: the file does not show how it was made." in words
    assert "goes its own way" not in words


def test_what_is_tolerated_does_not_hide_what_is_weakened(tmp_path: Path) -> None:
    release = make_release(tmp_path, users=120, k=5, tau="2h")
    for public in (False, True):
        _, words = page_of(release, tmp_path / f"{public}.html", key=release.key, tolerance=1, public=public)
        head = words.split("Risk:")[0]
        assert "but guarantee 2 is weakened: " in head
        assert "(tolerance 100 %)." in head
        assert "; tolerance 100 %), 3" in head
        assert "Guarantee 2 is weakened: make it again with a smaller k" in words


def test_a_clock_that_was_assumed_is_told(release: Release, tmp_path: Path) -> None:
    events = pq.read_table(release.events).to_pandas()
    naive = events.assign(time=pd.to_datetime(events["time"], unit="s").dt.tz_localize(None))
    _, words = page_of(release._replace(events=naive), tmp_path / "report.html", key=release.key)
    assert "times came without a zone and were read on the clock of UTC" in words


def test_hours_are_told_on_the_clock_of_the_report(release: Release, tmp_path: Path) -> None:
    html, words = page_of(release, tmp_path / "report.html", key=release.key, timezone="Asia/Tokyo")
    assert words.count("hour of the day, Asia/Tokyo") >= 2
    assert re.search(r"People from \d+ to \d+ o'clock On the clock of Asia/Tokyo", words)
    assert '"zone":"Asia/Tokyo"' in html
    assert "times came with their zone; hours and days are those of Asia/Tokyo" in words
    assert "UTC" not in words.replace("timezone UTC", "")  # in which the manifest says that events were read


def test_every_attack_is_in_the_table_with_intervals(release: Release, tmp_path: Path) -> None:
    html, _ = page_of(release, tmp_path / "report.html", key=release.key)
    table = html.split("an attacker who …")[1].split("</table>")[0]
    rows = re.findall(r"<tr>(.*?)</tr>", table, re.S)
    assert len(rows) == len(ATTACK_NAMES)
    for row in rows:
        assert len(re.findall(r"\([^()]*% to [^()]*%\)", row)) == 2


def test_without_a_key_it_is_said_what_gaps_are(release: Release, tmp_path: Path) -> None:
    _, words = page_of(release, tmp_path / "report.html")
    assert "gaps forgiven" in words
    assert "some samples may be in no box" in words


def test_what_is_suppressed_is_told_and_drawn(sparse: Release, tmp_path: Path) -> None:
    _, words = page_of(sparse, tmp_path / "report.html", key=sparse.key)
    assert "could hide each other" in words
    assert "By how active users are" in words
    assert "Nothing: every sample" not in words


def relaxed(release: Release, folder: Path) -> Release:
    """A copy whose manifest tells of relaxations, with a key beside which there is no evidence of others."""
    content = json.loads(Path(f"{release.published}.manifest.json").read_text())
    copy = folder / "published.parquet"
    copy.write_bytes(release.published.read_bytes())
    content["counts"]["rows_dropped"] = {"missing position": 4400}
    words = "weakened: k kept; epsilon not: up to 1,900 of about 1,000,000 members had to serve again"
    content["guarantees"]["one_window"] = words
    told = {**content, "relaxations": 1900, "members": 1_000_000}
    Path(f"{copy}.manifest.json").write_text(json.dumps(told))
    key = folder / release.key.name
    key.write_bytes(release.key.read_bytes())
    return release._replace(published=copy, key=key)


def test_what_was_relaxed_is_told(release: Release, tmp_path: Path) -> None:
    copy = relaxed(release, tmp_path)
    _, words = page_of(copy, tmp_path / "report.html")
    assert "so that up to 1,900 times somebody had to be hidden by the same person again" in words
    assert "rows dropped missing position 4,400" in words


def test_an_internal_page_says_exactly_how_often_it_was_relaxed(tmp_path: Path) -> None:
    release = make_release(tmp_path, users=30, k=3)
    manifest = json.loads(Path(f"{release.published}.manifest.json").read_text())
    _, words = page_of(release, tmp_path / "report.html", key=release.key)
    found = shoal.audit(release.events, release.published, key=release.key, attacks=10).guarantees.one_window
    assert found.part
    assert f"so that {found.part:,} times somebody had to be hidden" in words
    assert f"{manifest['relaxations']:,}" != f"{found.part:,}"
    _, words = page_of(release, tmp_path / "sheet.html", key=release.key, public=True)
    assert f"so that up to {manifest['relaxations']:,} times somebody had to be hidden" in words


def test_whole_trajectories_have_no_heading_without_content(
    whole: Release, release: Release, tmp_path: Path
) -> None:
    heading = "Knowing the method, and what follows"
    html, words = page_of(whole, tmp_path / "whole.html", key=whole.key)
    assert "Know anyone's whole trajectory: at least 2 records fit." in words
    assert heading not in words
    assert (
        "Whoever knows every sample and picks blindly among the records that fit is right in at most 50 %."
        in words
    )
    assert "Ranking these records can do better: what is promised is how many fit, not that they are" in words
    assert "The promise allows" not in words
    assert not re.search(r"<ul[^>]*>\s*</ul>|</h2>\s*</section>", html)
    _, words = page_of(release, tmp_path / "timed.html", key=release.key)
    assert f"{heading} Knowing the method." in words
    assert "Whoever knows one interval of 30 minutes and picks blindly" in words
    assert "Ranking these records, or knowing more, can do better" in words


def test_without_a_key(release: Release, tmp_path: Path) -> None:
    _, words = page_of(release, tmp_path / "report.html")
    assert "Guarantee 1 KEPT as far as can be checked without a key" in words
    assert "can only be told with the key" in words


def test_a_public_page_holds_nothing_raw(release: Release, tmp_path: Path) -> None:
    html, words = page_of(release, tmp_path / "sheet.html", key=release.key, public=True)
    assert "This page gives nobody away; about the data, see the risk below" in words
    assert "published with the data" not in words  # above a high risk, that would be read as advice
    assert "Internal" not in words
    assert 'id="people' not in html
    assert 'id="map"' not in html
    events = pq.read_table(release.events).to_pydict()
    for user in set(events["user"]):
        assert not re.search(rf"\b{re.escape(str(user))}\b", words)
    for axis in ("lat", "lon"):
        for value in set(np.round(events[axis], 4)):
            assert f"{value:.4f}" not in html
    boxes = pq.read_table(release.key).to_pydict()
    assert not any(name in html for name in boxes["record"])


def test_a_page_that_is_there_is_kept(release: Release, tmp_path: Path) -> None:
    from shoal.errors import InputError

    page = tmp_path / "report.html"
    page.write_text("mine")
    with pytest.raises(InputError, match="exists already"):
        write_report(release.events, release.published, page)
    assert page.read_text() == "mine"
