"""The datasheet gives nobody's raw data away: whoever is suppressed or changed alone leaves no trace on it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

import shoal
from reporting.page.leaks import Raw, traces
from reporting.releases import Release, make_release
from reporting.town import FAR, MIDNIGHT, SOUTH, WEST, Row, alone, by_day, publish, renamed, write_rows
from shoal.errors import InputError
from shoal.reporting import write_report

TOWN = by_day()
FEW = [*alone("user-003", 3), *alone("user-011", 1, (WEST + 900.0, SOUTH + 700.0), samples=4)]


def sheet(made: Release, path: Path, *, public: bool = True) -> str:
    """The page, without the seconds that it took."""
    write_report(made.events, made.published, path, key=made.key, attacks=120, public=public, force=True)
    return re.sub(r"Audited in [\d.,]+ s|took [\d.,]+ s more", "", path.read_text())


def raw_of(rows: list[Row], made: Release) -> Raw:
    """What a page must not hold of these rows."""
    user, t, x, y = zip(*sorted(rows), strict=True)
    names = {*user, *pq.read_table(made.key)["record"].to_pylist()}
    return Raw(names, list(user), np.array(t), np.array(x), np.array(y))


@pytest.fixture(scope="module")
def town(tmp_path_factory: pytest.TempPathFactory) -> Release:
    return publish(tmp_path_factory.mktemp("town"), [*TOWN, *FEW])


@pytest.fixture(scope="module")
def page(town: Release, tmp_path_factory: pytest.TempPathFactory) -> str:
    return sheet(town, tmp_path_factory.mktemp("page") / "sheet.html")


# ---- what was suppressed leaves no trace ---------------------------------------------------------------------------

OTHERS: dict[str, list[Row]] = {
    "moved far away": [*alone("user-003", 3, (WEST - 3e6, SOUTH + 2e6)), *FEW[15:]],
    "moved near": [*alone("user-003", 3, (WEST + 4_000.0, SOUTH + 4_000.0)), *FEW[15:]],
    "at another time": [*alone("user-003", 4), *FEW[15:]],
    "fewer": [*alone("user-003", 3, samples=2), *FEW[15:]],
    "removed": FEW[15:],
    "of somebody else": [*alone("user-027", 3), *FEW[15:]],
    "of both, exchanged": [*alone("user-011", 3), *alone("user-003", 1)],
    "of seven": [row for number in range(7) for row in alone(f"user-{number:03}", number % 5, samples=3)],
}


@pytest.mark.parametrize("change", OTHERS)
def test_who_was_suppressed_where_and_when_does_not_show(
    change: str, town: Release, page: str, tmp_path: Path
) -> None:
    events = write_rows([*TOWN, *OTHERS[change]], tmp_path / "events.csv")
    assert sheet(town._replace(events=events), tmp_path / "sheet.html") == page


@pytest.mark.parametrize("change", ["removed", "of somebody else"])
def test_nor_does_it_where_records_get_new_names(change: str, tmp_path: Path) -> None:
    """What periods leave to be read is counted on published samples, with new names as without."""
    made = publish(tmp_path, [*TOWN, *FEW], rename_every="6h")
    one = sheet(made, tmp_path / "sheet.html")
    events = write_rows([*TOWN, *OTHERS[change]], tmp_path / "other.csv")
    assert sheet(made._replace(events=events), tmp_path / "sheet.html") == one
    names = panels(one)["verdict"].split("<h2>New names</h2>")[1].split("</section>")[0]
    rows = re.findall(r'<th scope="row">(.*?)</th><td[^>]*>(.*?)</td>', names)
    assert [every for every, _ in rows] == [
        "never",
        "every 6 hours (as it is)",
        "every 3 hours (recommended)",
    ]
    assert rows[0][1] == "everything"
    assert all(re.fullmatch(r"(over )?\d+\N{NO-BREAK SPACE}%", share) for _, share in rows[1:])


def test_what_users_are_called_does_not_show(town: Release, page: str, tmp_path: Path) -> None:
    other = renamed(town, tmp_path, lambda name: f"z{999 - int(name[-3:])}", [*TOWN, *FEW])
    assert sheet(other, tmp_path / "sheet.html") == page


def test_an_internal_page_does_show_it(town: Release, tmp_path: Path) -> None:
    """Or the tests above could not fail."""
    events = write_rows([*TOWN, *OTHERS["moved far away"]], tmp_path / "events.csv")
    one, other = (
        sheet(made, tmp_path / "report.html", public=False) for made in (town, town._replace(events=events))
    )
    assert one != other


def test_one_of_many_who_were_suppressed_shows_in_no_figure(tmp_path: Path) -> None:
    """Twelve alone in twelve hours of nights: the share is told, and no place or time of theirs."""
    nights = [row for number in range(12) for row in alone(f"user-{number:03}", 24 * (number + 1) + 3)]
    made = publish(tmp_path, [*TOWN, *nights])
    one = sheet(made, tmp_path / "sheet.html")
    assert re.search(r"<dt>Suppressed</dt><dd>[\d.]+\s%", one)
    moved = [*alone("user-000", 24 + 3, (WEST - 1e6, float(SOUTH))), *nights[15:]]
    events = write_rows([*TOWN, *moved], tmp_path / "other.csv")
    other = sheet(made._replace(events=events), tmp_path / "sheet.html")
    assert other == one


def test_few_who_were_suppressed_are_told_alike(page: str) -> None:
    assert "some (of fewer than 10 users)" in page
    assert 'class="bar lost"' not in page
    assert "Intervals checked</dt><dd>all<" in page


# ---- no raw value in any unit --------------------------------------------------------------------------------------


def test_no_raw_value_is_on_the_datasheet(town: Release, page: str) -> None:
    assert traces(page, raw_of([*TOWN, *FEW], town)) == []


@pytest.mark.parametrize("k", [2, 3])
def test_no_raw_value_of_a_geographic_release(k: int, tmp_path: Path) -> None:
    made = make_release(tmp_path, users=60, k=k, tau="1h", epsilon="1h")
    events = pq.read_table(made.events).to_pydict()
    order = sorted(range(len(events["user"])), key=lambda i: (str(events["user"][i]), events["time"][i]))
    t = np.array([events["time"][i].timestamp() for i in order], np.int64)
    lat, lon = (np.array([events[name][i] for i in order], float) for name in ("lat", "lon"))
    x, y = 1e7 + 1e5 * lon, 1e7 + 1e5 * lat  # the plane is not known here: degrees are looked for
    names = {*map(str, events["user"]), *pq.read_table(made.key)["record"].to_pylist()}
    degrees = np.concatenate([lat, lon])
    raw = Raw(names, [str(events["user"][i]) for i in order], t, x, y, degrees)
    html = sheet(made, tmp_path / "sheet.html")
    assert traces(html, raw) == []
    assert traces(html + f"<!-- {degrees[7]:.4f} -->", raw) == ["value in degrees"]


def leaked(rows: list[Row]) -> dict[str, str]:
    """Ways in which a careless change could put samples of one user on the page, and one that is a drawing."""
    user, t, x, y = zip(*[row for row in sorted(rows) if row[0] == "user-005"], strict=True)
    cells = [[int(value // 100) for value in axis] for axis in (x, y)]
    slots = [second // 60 for second in t]
    west, south = min(cells[0]), min(cells[1])
    offsets = [[a - slots[0], b - west, c - south] for a, b, c in zip(slots, *cells, strict=True)]
    return {
        "names": f'<script type="application/json">{json.dumps(user[:1])}</script>',
        "record in an attribute": '<g data-of="{record}"/>',
        "metres": f"<p>{x[3]:.1f}</p>",
        "whole metres": f"<!-- {y[2]:,.0f} -->".replace(",", ""),
        "kilometres": f'<circle cx="{x[0] / 1000:.2f}" cy="3"/>',
        "cells": f"<script>const places = {cells[0][:9]}</script>",
        "seconds": f"<td>{t[4]}</td>",
        "slots": f"<script>{slots[:3]}</script>",
        "columns": f"<script>{[row[1] for row in offsets]}</script>",
        "rows": f'<script type="application/json">{json.dumps(offsets)}</script>',
        "kilometres from the corner": " ".join(f"<i>{row[2] / 10}</i>" for row in offsets),
        "a line in cells": "<polyline points='" + " ".join(f"{row[1]},{row[2]}" for row in offsets) + "'/>",
    }


@pytest.mark.parametrize("way", leaked(TOWN))
def test_raw_values_would_be_found(way: str, town: Release, page: str) -> None:
    record = pq.read_table(town.key)["record"][0].as_py()
    html = page.replace("<footer>", leaked(TOWN)[way].replace("{record}", record) + "<footer>")
    assert traces(html, raw_of([*TOWN, *FEW], town))


def test_the_internal_page_is_found_out(town: Release, tmp_path: Path) -> None:
    html = sheet(town, tmp_path / "report.html", public=False)
    assert traces(html, raw_of([*TOWN, *FEW], town))


# ---- one published person ------------------------------------------------------------------------------------------


def panels(html: str) -> dict[str, str]:
    """The page tab by tab."""
    parts = re.split(r'<div role="tabpanel" id="([\w-]+)"', html)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def figure(html: str, caption: str) -> str:
    return html.split(f"<figcaption>{caption}</figcaption>")[1].split("</figure>")[0]


def moved_inside(made: Release, rows: list[Row], who: str, until: int) -> list[Row]:
    """The rows with every sample of a user before an hour moved halfway to the middle of the box that holds it."""
    key = dict(zip(*pq.read_table(made.key).to_pydict().values(), strict=True))
    boxes = [box for box in pq.read_table(made.published).to_pylist() if box["record"] == key[who]]
    moved = []
    for user, t, x, y in rows:
        held = (box for box in boxes if box["t_start"].timestamp() <= t < box["t_end"].timestamp())
        if user == who and t < MIDNIGHT + 3600 * until and (box := next(held, None)) is not None:
            x, y = x / 2 + (box["x_min"] + box["x_max"]) / 4, y / 2 + (box["y_min"] + box["y_max"]) / 4
        moved.append((user, t, x, y))
    return moved


def test_one_published_person_moves_figures_over_many_people_alone(
    town: Release, page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "shoal.auditing.auditor._with_chain_checked", lambda audit, **_: audit
    )  # it was made from other events
    events = tmp_path / "events.csv"
    for number in range(40):  # most of them, moved like that, would no longer be hidden
        rows = moved_inside(town, [*TOWN, *FEW], f"user-{number:03}", 11)
        write_rows(rows, events)
        if rows != [*TOWN, *FEW] and shoal.audit(events, town.published, key=town.key, attacks=1).kept:
            break
    other = panels(sheet(town._replace(events=events), tmp_path / "sheet.html"))
    one = panels(page)
    changed = {name for name in one if one[name] != other[name]}
    assert changed
    assert changed <= {"verdict", "privacy", "utility"}
    for caption in ("Published", "Radius of gyration"):
        assert figure(one["utility"], caption) == figure(other["utility"], caption)
    facts = [html["verdict"].split("Three questions of the law")[0] for html in (one, other)]
    assert facts[0] == facts[1]


def test_what_few_people_do_is_not_told(tmp_path: Path) -> None:
    """Six are there at night, more than k: their homes are attacked and compared, but not told."""
    nights = [
        (f"user-{number:03}", *row[1:])
        for number in range(6)
        for row in alone("", 23, (WEST + 1_000.0 * number, SOUTH + 700.0 * number), samples=2)
    ]
    rows = [*TOWN, *nights]
    made = publish(tmp_path, rows)
    html = sheet(made, tmp_path / "sheet.html")
    assert "an unknown share (not told: fewer than 20 victims)" in html
    home = re.search(r"finds home within 1\u00a0km</th>.*?</tr>", html, re.DOTALL)
    assert home is not None
    assert home[0].count("not told: fewer than 20 victims") == 2
    live = re.search(r"Where do they live\?</th>.*?</td>", html, re.DOTALL)
    assert live is not None
    assert "not told" in live[0]
    internal = sheet(made, tmp_path / "report.html", public=False)
    assert "not told" not in internal


def test_a_datasheet_about_few_people_says_so_once(tmp_path: Path) -> None:
    """Ten: no empty table or figure, and nothing that reads as if it had not been checked."""
    html = sheet(publish(tmp_path, by_day(10)), tmp_path / "sheet.html")
    assert html.count("Fewer than 20 people: what attacks achieve is not told.") == 1
    for words in ("not checked", "unknown share", "victims", "<figcaption>Raw<", "How often attacks succeed"):
        assert words not in html
    assert 'class="dot1"' not in html
    told = panels(html)
    assert "<svg" not in told["privacy"]
    assert "The raw side is left out" in told["utility"]
    assert "<li><strong>Knowing longer than tau</strong></li>" in told["verdict"]
    assert "each of them takes one off k" in told["verdict"]
    shares = re.findall(r"Where do they (?:live|work)\?</th><td[^>]*>(.*?)</td>", html)
    assert len(shares) == 2
    assert all("not told" in share for share in shares)


def test_a_datasheet_about_41_people_tells_bounds(tmp_path: Path) -> None:
    html = sheet(publish(tmp_path, by_day(41)), tmp_path / "sheet.html")
    told = panels(html)
    shares = re.findall(r"(under |over )?(\d+)\N{NO-BREAK SPACE}% <span", told["privacy"] + told["verdict"])
    assert {side for side, _ in shares} >= {"under ", "over "}
    assert all(24 <= int(value) <= 76 for side, value in shares if not side)


def test_shares_are_in_whole_per_cent(page: str) -> None:
    told = panels(page)
    shares = re.findall(r"([\d.]+)\N{NO-BREAK SPACE}?\s?%", told["privacy"] + told["verdict"])
    assert len(shares) > 50
    assert {share for share in shares if "." in share} == {"2.5"}  # guessing: one of 40 records


# ---- what a datasheet needs ----------------------------------------------------------------------------------------


def test_no_datasheet_without_the_key(town: Release, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="needs the key"):
        write_report(town.events, town.published, tmp_path / "sheet.html", public=True)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("promise", "words"),
    [
        ({"k": 2, "tau": "30min", "epsilon": "1h"}, "found a shorter tau"),
        ({"k": 2, "tau": "1h", "epsilon": "2h"}, "found a longer epsilon"),
    ],
)
def test_no_datasheet_about_a_weaker_promise(
    promise: dict[str, object], words: str, town: Release, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=words):
        write_report(
            town.events, town.published, tmp_path / "sheet.html", key=town.key, public=True, **promise
        )
    assert not list(tmp_path.iterdir())


def test_a_smaller_k_is_weaker_and_a_longer_tau_is_not(tmp_path: Path) -> None:
    made = publish(tmp_path, TOWN, k=3)
    with pytest.raises(InputError, match="found k = 2 for 3"):
        write_report(
            made.events, made.published, tmp_path / "sheet.html", key=made.key, public=True, k=2,
            tau="1h", epsilon="1h",
        )  # fmt: skip
    assert not (tmp_path / "sheet.html").exists()


def test_a_far_suppressed_sample_does_not_stop_a_report(town: Release, page: str, tmp_path: Path) -> None:
    """Squares are chosen from the boxes; samples elsewhere are counted for the owner alone."""
    events = write_rows([*TOWN, *OTHERS["moved far away"]], tmp_path / "events.csv")
    internal = sheet(town._replace(events=events), tmp_path / "report.html", public=False)
    assert "15 raw samples outside this area are not on the map" in internal
    assert "outside this area" not in page
    shown = [figure(panels(html)["utility"], "Published") for html in (internal, page)]
    assert re.findall(r'class="tick"[^<]*<', shown[0]) == re.findall(r'class="tick"[^<]*<', shown[1])
    assert FAR[0] < WEST
