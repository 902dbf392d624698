"""What the docs say stays true: links, column names, the worked example; and no trace of anybody's machine."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import re
import subprocess
from collections import Counter
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

import pytest

from shoal.core.options import FORMAT_NAMES as FORMATS
from shoal.core.schema import ALIASES
from support.paths import PROJECT

ROOT = PROJECT
PACKAGE = ROOT / "src/shoal"
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("benchmarks/*.md")])
TAU_MINUTES = 30  # of the worked example


def page_name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def without_code(page: Path) -> str:
    """A page without its blocks of code, in which # begins a comment and brackets are no links."""
    return re.sub(r"^( *)(```|~~~).*?^\1\2", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)


def anchors(page: Path) -> set[str]:
    """Where a page can be linked to, as GitHub names it: a second heading of a name ends in -1, a third in -2."""
    found: Counter[str] = Counter()
    for heading in re.findall(r"^#+ (.+)$", without_code(page), re.MULTILINE):
        words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
        found[re.sub(r"[^\w\- ]", "", words).replace(" ", "-")] += 1
    return {f"{name}-{n}" if n else name for name, times in found.items() for n in range(times)}


@pytest.mark.parametrize("page", PAGES, ids=page_name)
def test_local_links_and_images_exist(page: Path) -> None:
    text = without_code(page)
    links = re.findall(
        r"\]\(([^)\s]+)[^)]*\)|^\[[^\]]+\]: (\S+)|(?:href|src)=\"([^\"]+)\"", text, re.MULTILINE
    )
    for link in ("".join(each) for each in links):
        if urlsplit(link).scheme:
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path) if path else page
        assert target.exists(), f"{link} leads nowhere"
        assert not anchor or anchor in anchors(target), f"{link}: no such heading"


def test_what_counts_as_an_anchor(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "# A `name`, twice\n\n```sh\n# no heading\n```\n## Added\n## Added\n### [Linked](x.md) too\n"
    )
    assert anchors(page) == {"a-name-twice", "added", "added-1", "linked-too"}


@pytest.mark.parametrize("page", [page for page in PAGES if page.name != "CHANGELOG.md"], ids=page_name)
def test_code_that_pages_name_exists(page: Path) -> None:
    """Files and folders from the project's root or from src/shoal, and modules to import; but for what has moved."""
    text = re.sub(
        r"^\*Moved since.*?\*$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL
    )
    for name in re.findall(r"`((?:\w+/)*\w+\.py|(?:src|tests|benchmarks|tools)/[\w/]+)`", text):
        found = (ROOT / name, PACKAGE / name) if "/" in name else PACKAGE.rglob(name)
        assert any(path.exists() for path in found), f"{name} is no file"
    for module in re.findall(r"^(?:from|import) (shoal(?:\.\w+)*)", text, re.MULTILINE):
        assert importlib.util.find_spec(module) is not None, module


def test_the_picture_of_the_tree_names_files_that_exist() -> None:
    drawn = (ROOT / "docs/images/tree.svg").read_text(encoding="utf-8")
    names = re.findall(r"[\w/]+\.py", drawn)
    assert len(names) > 20
    for name in names:
        assert any(PACKAGE.glob(f"**/{name}")), name


def test_formats_lists_every_recognised_column_name() -> None:
    text = (ROOT / "docs/formats.md").read_text(encoding="utf-8")
    rows = {row.split("|")[1].strip(" `"): row for row in text.splitlines() if row.startswith("| `")}
    for column, names in ALIASES.items():
        assert set(names) == set(re.findall(r"`(\w+)`", rows[column])), column


def test_formats_tells_of_every_format_twice() -> None:
    """How it is read and recognised, and its traps."""
    rows = re.findall(
        r"^\| `([\w-]+)` \|", (ROOT / "docs/formats.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    for name in FORMATS:
        assert rows.count(name) == (0 if name == "table" else 2), name


def test_readme_names_the_two_commands() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "make demo" in text
    assert "make test" in text


# ---- the worked example of docs/promise.md ---------------------------------------------------------------------


class Sample(NamedTuple):
    minute: int
    cell: int


class Box(NamedTuple):
    start: Sample
    end: Sample

    def holds(self, sample: Sample) -> bool:
        return all(low <= at <= high for low, at, high in zip(self.start, sample, self.end, strict=True))


def minute(clock: str) -> int:
    hours, minutes = clock.split(":")
    return 60 * int(hours) + int(minutes)


def example() -> tuple[dict[str, list[Sample]], dict[str, list[Box]]]:
    text = (ROOT / "docs/promise.md").read_text(encoding="utf-8")
    people, records = {}, {}
    for row in re.findall(r"^\| (.*) \|$", text, re.MULTILINE):
        name, *cells = row.split(" | ")
        if samples := re.findall(r"(\S+), cell (\d+)", row):
            people[name] = [Sample(minute(clock), int(cell)) for clock, cell in samples]
        if boxes := re.findall(r"(\S+) to (\S+), cells (\d+) to (\d+)", row):
            records[name.removesuffix("'s")] = [
                Box(Sample(minute(t0), int(x0)), Sample(minute(t1), int(x1))) for t0, t1, x0, x1 in boxes
            ]
        assert len(cells) == 3
    return people, records


def fitting(person: str, start: int) -> set[str]:
    """The records that fit what an attacker knows who followed the person for tau from that minute on."""
    people, records = example()
    known = [sample for sample in people[person] if start <= sample.minute < start + TAU_MINUTES]
    return {
        name
        for name, boxes in records.items()
        if all(any(box.holds(sample) for box in boxes) for sample in known)
        and all(
            any(box.holds(sample) for sample in known)
            for box in boxes
            if start <= box.start.minute and box.end.minute < start + TAU_MINUTES
        )
    }


def test_boxes_of_the_example_are_the_merges_it_describes() -> None:
    people, records = example()
    first = {"Ana": "Ben", "Ben": "Ana", "Cem": "Dia", "Dia": "Cem"}
    second = {"Ana": "Cem", "Cem": "Ana", "Ben": "Dia", "Dia": "Ben"}
    assert records.keys() == people.keys() == first.keys()
    for name, boxes in records.items():
        members = [{name, first[name]}, {name, first[name], second[name]}, {name, second[name]}]
        for epoch, box in enumerate(boxes):
            minutes, cells = zip(*(people[member][epoch] for member in members[epoch]), strict=True)
            assert box == Box(Sample(min(minutes), min(cells)), Sample(max(minutes), max(cells)))


def test_example_keeps_the_promise_for_everybody_at_any_time() -> None:
    people, _ = example()
    for person in people:
        for start in range(minute("07:00"), minute("10:00")):
            candidates = fitting(person, start)
            assert person in candidates
            assert len(candidates) >= 2


def test_example_names_the_right_candidates() -> None:
    assert fitting("Ana", minute("08:00")) == {"Ana", "Ben"}
    assert fitting("Ana", minute("08:20")) == {"Ana", "Ben", "Cem"}
    assert fitting("Ana", minute("09:00")) == {"Ana", "Cem"}


# ---- nobody's machine ------------------------------------------------------------------------------------------

# Spelled in pieces so that this file passes its own test.
MACHINE_PATHS = re.compile(
    r"(?<![\w.~])/(?:" + "|".join(["home", "root", "Users", "work", "opt", "mnt"]) + r")/\w"
)
REGISTRIES = ["pypi" + ".", "python" + "hosted", "--index" + "-url", "--extra-index" + "-url"]


def tracked_text() -> dict[str, str]:
    """The tracked text files by name (whatever git holds that reads as UTF-8)."""
    listing = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listing.returncode != 0:
        pytest.skip("not a git checkout")
    texts = {}
    for name in filter(None, listing.stdout.split("\0")):
        with contextlib.suppress(UnicodeDecodeError, FileNotFoundError):
            texts[name] = (ROOT / name).read_text(encoding="utf-8")
    return texts


def registry_hosts_in_use() -> list[str]:
    """Hosts this machine installs packages from, as far as the environment tells."""
    names = ("PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "UV_INDEX_URL", "UV_DEFAULT_INDEX")
    addresses = " ".join(os.environ.get(name, "") for name in names).split()
    return [host for address in addresses if (host := urlsplit(address).hostname)]


def test_no_tracked_file_names_a_machine_or_a_registry() -> None:
    texts = tracked_text()
    assert "constraints.txt" in texts
    registries = [*REGISTRIES, *registry_hosts_in_use()]
    for name, text in texts.items():
        assert not any(registry in text for registry in registries), f"{name} names a package registry"
        assert not MACHINE_PATHS.search(text), f"{name} holds a path of somebody's machine"
