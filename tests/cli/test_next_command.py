"""The command to run next: it can be copied, runs, and repeats nothing about people or places."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from shoal.cli.next_command import command_lines, file_word
from support.run_command import anonymize, city, run, write


def words_of(lines: list[str]) -> list[str]:
    """What a shell makes of the lines: a backslash at the end of one takes its end away."""
    return shlex.split("\n".join(lines).replace("\\\n", ""))


@pytest.mark.parametrize("n_options", [0, 1, 5, 30])
def test_lines_are_one_command_of_eighty_columns(n_options: int) -> None:
    words = ["shoal", "anonymize", "events.csv"]
    for number in range(n_options):
        words += [f"--option-{number}", shlex.quote(f"a value; {number}")]
    lines = command_lines(words)
    assert max(map(len, lines)) <= 80
    assert words_of(lines) == [part for word in words for part in shlex.split(word)]
    for line in lines[1:]:
        assert line.startswith("    --option-")  # an option stays with its value


def test_files_are_quoted_and_streams_are_named() -> None:
    assert file_word(Path("my events.csv")) == "'my events.csv'"
    assert file_word(Path("-x.csv")) == "./-x.csv"
    assert file_word(object()) == "EVENTS"


def next_words(out: str) -> list[str]:
    """The command that a run ends with."""
    lines = out.rstrip().split("\n")
    first = next(number for number, line in enumerate(lines) if line.startswith("  shoal "))
    last = next(number for number in range(first, len(lines)) if not lines[number].endswith("\\"))
    return words_of(lines[first : last + 1])


@pytest.fixture
def events(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Events in a folder of their own, with a space in the file's name, from where commands run."""
    monkeypatch.chdir(tmp_path)
    return write(city(40), Path("my events.csv"))


def test_what_to_do_after_a_release_can_be_done(events: Path) -> None:
    done = anonymize(events, Path("out.csv"), "--key-out", "key.csv", "--json", "figures.json")
    words = next_words(done.out)
    assert words == ["shoal", "report", "my events.csv", "out.csv", "--key", "key.csv", "-o", "report.html"]
    for name in ("out.csv", "out.csv.manifest.json", "key.csv", "key.csv.private.json", "figures.json"):
        assert Path(name).exists()
        assert f"{name}" in done.out
    assert done.out.count("SECRET") == 2
    assert run(*words[1:], "--attacks", 5, "--tolerance", 1).code == 0
    assert Path("report.html").exists()


def test_a_list_of_people_is_named_by_its_path(events: Path) -> None:
    Path("left out.txt").write_text("u000001\n")
    done = run("plan", events, "--ks", 2, "--taus", "30min", "--exclude-users", "left out.txt")
    words = next_words(done.out)
    assert words[-2:] == ["--exclude-users", "left out.txt"]
    assert "u000001" not in done.out


def test_options_of_reading_are_given_again_without_a_key(events: Path) -> None:
    given = ("--timezone", "Asia/Tokyo", "--user-column", "user", "--bbox=-180,-90,180,90", "--cell", "200m")
    done = anonymize(events, Path("out.csv"), *given)
    words = next_words(done.out)
    assert words[4:-2] == ["--user-column", "user", "--timezone", "Asia/Tokyo", "--bbox", "W,S,E,N"]
    assert "180" not in done.out.split("Next")[1]


def test_the_plan_ends_with_one_release_that_can_be_made(events: Path) -> None:
    done = run("plan", events, "--ks", "2,3", "--taus", "30min,1h", "--cell", "200m", "-o", "plan.svg")
    assert done.code == 0, done.err
    assert done.out.count("Recommended: ") == 1
    assert done.out.endswith("The figure: plan.svg\n")
    words = next_words(done.out)
    assert words[:7] == [
        "shoal",
        "anonymize",
        "my events.csv",
        "-o",
        "published.parquet",
        "--key-out",
        "key.parquet",
    ]
    assert words[-2:] == ["--cell", "200m"]
    made = run(*words[1:])
    assert made.code == 0, made.err
    assert Path("key.parquet").exists()
