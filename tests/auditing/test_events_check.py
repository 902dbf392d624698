"""An audit reads the events as the release did, says whether they are the same, and hints at options if not."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet
import pytest

import shoal
from shoal.auditing import events_check, manifest_check, reading_hint
from shoal.auditing.events_check import EventsCheck, choose_reading
from shoal.auditing.opening import _UNNOTED
from shoal.core.options import ReadingOptions
from support.run_command import CANARY, anonymize, audit, in_metres, read_table, run, write

LEFT_OUT = "u03"
WAYS = ("--timezone", "--resample", "--bbox", "--exclude-users")
TOLD = ("--timezone", "--resample")  # which the manifest tells


class AuditedRelease(NamedTuple):
    """The files of a release that was made with a reading option, and the option."""

    events: Path
    output: Path
    key: Path
    option: tuple[object, ...]

    @property
    def notes(self) -> Path:
        return self.key.with_name(self.key.name + ".private.json")

    @property
    def manifest(self) -> Path:
        return self.output.with_name(self.output.name + ".manifest.json")

    def audit(self, *options: object) -> tuple[int, dict[str, Any]]:
        """Exit code and content; the key is given, other options only if named here."""
        done = audit(self.events, self.output, "--key", self.key, "--json", "-", *options)
        assert done.code in (0, 1, 4), done.err
        content = json.loads(done.out)
        del content["seconds"]
        return done.code, content


def world() -> pa.Table:
    """People on a square whose times have no zone; one of them is a canary."""
    table = in_metres(users=24, samples=12)
    begin = datetime(2023, 11, 15, tzinfo=UTC).replace(tzinfo=None)
    first = min(table["time"].to_pylist())
    times = [(begin + timedelta(seconds=second - first)).isoformat() for second in table["time"].to_pylist()]
    users = [CANARY if user == LEFT_OUT else user for user in table["user"].to_pylist()]
    return table.set_column(1, "time", pa.array(times)).set_column(0, "user", pa.array(users))


@pytest.fixture(params=WAYS)
def release(request: pytest.FixtureRequest, tmp_path: Path) -> AuditedRelease:
    return made(request.param, tmp_path)


def made(way: str, folder: Path) -> AuditedRelease:
    opted_out = folder / "opted-out.txt"
    opted_out.write_text(f"{CANARY}\nu17\n")
    values: dict[str, object] = {
        "--timezone": "Asia/Tokyo",
        "--resample": "20min",
        "--bbox": "0,0,2500,4000",
        "--exclude-users": opted_out,
    }
    events, output, key = write(world(), folder / "events.csv"), folder / "out.parquet", folder / "key.csv"
    assert anonymize(events, output, way, values[way], "--key-out", key).code == 0
    return AuditedRelease(events, output, key, (way, values[way]))


def without_events(content: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in content.items() if name != "events"}


def test_with_the_private_notes_as_if_the_option_was_given(release: AuditedRelease) -> None:
    code, given = release.audit(*release.option)
    assert (code, given["events"]["checked"], given["kept"]) == (0, "same", True)
    if release.option[0] == "--exclude-users":
        Path(str(release.option[1])).unlink()  # the list may be gone: the notes have the names
    code, found = release.audit()
    assert (code, found["events"]["checked"], found["events"]["hint"]) == (0, "same", None)
    assert f"read with {release.option[0]}, taken from the private notes" in found["events"]["note"]
    assert without_events(found) == without_events(given)


def test_without_notes_as_the_manifest_says(release: AuditedRelease) -> None:
    _, given = release.audit(*release.option)
    release.notes.unlink()
    code, found = release.audit()
    assert found["events"]["checked"] == "not checked"
    assert "no private notes beside the key" in found["events"]["note"]
    if release.option[0] in TOLD:
        assert f"read with {release.option[0]}, taken from the manifest" in found["events"]["note"]
        assert (code, found["events"]["hint"]) == (0, None)
        assert found.pop("warnings") == [_UNNOTED]  # of the evidence, of which the notes would tell
        assert given.pop("warnings") == []
        assert without_events(found) == without_events(given)
    else:
        assert "left out by some option, such as" in found["events"]["hint"]
        assert not found["verdict"]["headline"].startswith("BROKEN:")
        assert code == (4 if release.option[0] == "--exclude-users" else 1)


def test_with_the_notes_the_option_is_named(tmp_path: Path) -> None:
    release = made("--bbox", tmp_path)
    _, found = release.audit("--bbox", "-9e6,-9e6,9e6,9e6")
    assert "rows were left out by --bbox, which is not so now" in found["events"]["hint"]


def test_without_any_notes_a_hint_and_never_a_bare_failure(release: AuditedRelease) -> None:
    release.notes.unlink()
    release.manifest.unlink()
    code, found = release.audit()
    assert found["events"]["checked"] == "not checked"
    assert release.option[0] in found["events"]["hint"]
    headline = found["verdict"]["headline"]
    if release.option[0] == "--exclude-users":  # those are users without a record, that is all
        assert code == 4
        assert headline.startswith("EVENTS READ OTHERWISE THAN FOR THE RELEASE, perhaps: guarantee 1 kept")
    else:
        assert code == 1
        assert headline.startswith("BROKEN, or the events were read otherwise") or headline.endswith(
            "not checked"
        )


@pytest.mark.parametrize("required", [(), ("--k", 2, "--tau", "30min", "--epsilon", "30min")])
def test_events_that_are_doubtful_are_never_kept(
    required: tuple[object, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Audit, report and datasheet of a release with people left out, without its private notes."""
    release = made("--exclude-users", tmp_path)
    release.notes.unlink()
    given = (release.events, release.output, "--key", release.key, *required)
    done, hint = audit(*given), "rows were left out by some option, such as --bbox, --exclude-users"
    words = " ".join(done.out.split())
    assert done.code == 4
    assert words.startswith("Verdict EVENTS READ OTHERWISE THAN FOR THE RELEASE, perhaps: guarantee 1 kept")
    assert "KEPT" not in done.out
    assert hint in words.split("What to do")[1].split("Promise")[0]
    page, sheet = tmp_path / "page.html", tmp_path / "sheet.html"
    told = run("report", *given, "-o", page, "--attacks", 20)
    assert (told.code, hint in " ".join(told.out.split()), "KEPT" in told.out) == (4, True, False)
    html = page.read_text()
    assert "Perhaps these events were read otherwise than for this release" in html
    assert (hint in html, "KEPT" in html) == (True, False)
    public = run("report", *given, "-o", sheet, "--attacks", 20, "--public")
    assert (public.code, sheet.exists()) == (4, False)
    assert "No datasheet was written: read the events as for the release." in " ".join(public.out.split())
    monkeypatch.setattr(
        events_check, "_left_out", lambda *_: ()
    )  # with the check taken out, it would be kept
    monkeypatch.setattr(reading_hint, "_lost_users", lambda *_: None)
    monkeypatch.setattr(manifest_check, "_may_be_same", lambda _: False)
    assert audit(*given).code == 0


@pytest.mark.parametrize("way", [way for way in WAYS if way != "--exclude-users"])
def test_without_a_key_as_well(way: str, tmp_path: Path) -> None:
    release = made(way, tmp_path)
    release.manifest.unlink()
    done = audit(release.events, release.output)
    assert done.code == 1
    assert "not checked: no key in a file" in " ".join(done.out.split())
    assert way in done.out


def test_most_samples_in_no_box(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The headline itself doubts the events; with the check taken out it does not."""
    release = made("--timezone", tmp_path)
    release.notes.unlink()
    release.manifest.unlink()
    doubt = "BROKEN, or the events were read otherwise than for the release"
    _, found = release.audit()
    assert found["verdict"]["headline"].startswith(doubt)
    assert "100 % of the samples lie in no box of their own record" in found["events"]["hint"]
    keyless = audit(release.events, release.output, "--json", "-")
    assert "100 % of the samples lie in no box: " in json.loads(keyless.out)["events"]["hint"]
    monkeypatch.setattr(reading_hint, "_MOST", 1.0)
    _, found = release.audit()
    assert not found["verdict"]["headline"].startswith(doubt)


def test_other_events(release: AuditedRelease, monkeypatch: pytest.MonkeyPatch) -> None:
    """One sample moved by one cell is enough to know them; with the comparison taken out nobody would."""
    table = pa.csv.read_csv(release.events)
    x = table["x"].to_pylist()
    x[0] += 100
    write(table.set_column(2, "x", pa.array(x)), release.events)
    code, found = release.audit()
    assert (code, found["kept"], found["events"]["checked"]) == (1, False, "other")
    assert found["verdict"]["headline"].startswith("NOT THE EVENTS OF THIS RELEASE")
    assert "these are not the events of this release" in found["events"]["note"]
    monkeypatch.setattr(events_check.hmac, "compare_digest", lambda *_: True)
    assert release.audit()[1]["events"]["checked"] == "same"


def test_rows_in_another_order_or_twice_are_the_same_events(tmp_path: Path) -> None:
    release = made("--bbox", tmp_path)
    table = pa.csv.read_csv(release.events)
    write(pa.concat_tables([table[100:], table[:100], table[50:60]]), release.events)
    assert release.audit()[1]["events"]["checked"] == "same"


def test_other_events_of_other_users(tmp_path: Path) -> None:
    release = made("--bbox", tmp_path)
    table = pa.csv.read_csv(release.events)
    write(table.filter(pa.compute.not_equal(table["user"], "u05")), release.events)
    done = audit(release.events, release.output, "--key", release.key)
    assert done.code == 2
    assert "who do not occur in the events: give the key and the events of this release" in done.err


@pytest.mark.parametrize(
    ("way", "contradiction"),
    [
        ("--timezone", ("--timezone", "Europe/Paris")),
        ("--resample", ("--resample", "40min")),
        ("--bbox", ("--bbox", "0,0,2600,4000")),
        ("--bbox", ("--resample", "40min")),
    ],
)
def test_what_is_given_counts(way: str, contradiction: tuple[str, str], tmp_path: Path) -> None:
    release = made(way, tmp_path)
    done = audit(release.events, release.output, "--key", release.key, "--json", "-", *contradiction)
    found = json.loads(done.out)
    assert found["events"]["checked"] == "not checked"
    assert f"read with another {contradiction[0]} than for the release" in found["events"]["note"]
    assert f"Warning: The events were read with another {contradiction[0]}" in done.err


def test_another_spelling_of_the_same_option(tmp_path: Path) -> None:
    release = made("--bbox", tmp_path)
    done = audit(release.events, release.output, "--key", release.key, "--bbox", "0, 0, 2500.0, 4e3")
    assert (done.code, done.err) == (0, "")
    assert "the events of this release" in " ".join(done.out.split())


def test_a_changed_file_is_told(tmp_path: Path) -> None:
    release = made("--bbox", tmp_path)
    assert audit(release.events, release.output, "--key", release.key).err == ""
    pa.parquet.write_table(read_table(release.output), release.output, compression="gzip")
    done = audit(release.events, release.output, "--key", release.key)
    assert "The published file is not, byte for byte, the one that was written with this key" in done.err
    assert done.code == 0


def test_no_name_and_no_place_is_told(release: AuditedRelease) -> None:
    told = "\n".join(
        part
        for options in ((), ("--bbox", "0,0,2600,4000"))
        for done in [audit(release.events, release.output, "--key", release.key, *options)]
        for part in (done.out, done.err)
    )
    for secret in (CANARY, "u17", "2500", "2600", "4000", "Tokyo"):
        assert secret not in told


def test_a_report_takes_the_same_path(release: AuditedRelease, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    command = ("report", release.events, release.output, "-o", page, "--attacks", 20, "--key", release.key)
    assert run(*command).code == 0
    for path in (release.notes, release.key.with_name("key.csv.evidence.parquet")):
        done = run(*command[:3], "-o", path, *command[5:], "--force")
        assert done.code == 2
    table = pa.csv.read_csv(release.events)
    y = [value + 100 for value in table["y"].to_pylist()]
    write(table.set_column(3, "y", pa.array(y)), release.events)
    done = run(*command, "--force")
    assert done.code == 1
    assert "NOT THE EVENTS OF THIS RELEASE" in done.out
    assert "These are not the events of this release." in page.read_text()
    public = run(*command, "--force", "--public")
    assert (public.code, "give the events from which" in " ".join(public.out.split())) == (1, True)


def test_json_does_not_replace_what_is_secret(tmp_path: Path) -> None:
    release = made("--bbox", tmp_path)
    for path in (release.notes, release.key.with_name("key.csv.evidence.parquet")):
        done = audit(release.events, release.output, "--key", release.key, "--json", path, "--force")
        assert (done.code, "would overwrite or join the input" in done.err) == (2, True)


def test_tables_in_memory(tmp_path: Path) -> None:
    release = made("--timezone", tmp_path)
    found = shoal.audit(pa.csv.read_csv(release.events), release.output, key=str(release.key), attacks=20)
    assert found.events_checked.status == "same"
    keyed = shoal.audit(release.events, release.output, key=read_table(release.key), attacks=20)
    assert keyed.events_checked == EventsCheck(
        "not checked", "no key in a file", ("--timezone",), "the manifest"
    )


@pytest.mark.parametrize(
    "told",
    [
        None, [], {"timezone": "Nowhere/Land"}, {"timezone": 5}, {"resample_s": "x"}, {"resample_s": -1},
        {"resample_s": []}, {"resample_s": float("inf")},
    ],
)  # fmt: skip
def test_a_manifest_that_cannot_be_used_says_nothing(told: object, tmp_path: Path) -> None:
    chosen = choose_reading(ReadingOptions(), None, {"reading": told}, tmp_path)
    assert (chosen.options, chosen.taken) == (ReadingOptions(), ())


def test_formats_are_of_files_only(tmp_path: Path) -> None:
    manifest = {"reading": {"format": "geolife", "timezone": "UTC", "resample_s": None}}

    def chosen(given: ReadingOptions, events: object) -> tuple[str | None, tuple[str, ...]]:
        found = choose_reading(given, None, manifest, events)
        return found.options.format, found.taken

    assert chosen(ReadingOptions(), tmp_path) == ("geolife", ("--format",))
    assert chosen(ReadingOptions(), pa.table({})) == (None, ())
    assert chosen(ReadingOptions(columns={"user": "who"}), tmp_path) == (None, ())
    assert chosen(ReadingOptions(sites=pa.table({}).to_pandas()), tmp_path) == (None, ())
    assert chosen(ReadingOptions(format="table"), tmp_path) == ("table", ())


def test_sites_in_memory_can_be_given_again(tmp_path: Path) -> None:
    """Notes hold no table: with the same sites the events are the same, with others nobody can tell."""
    table = in_metres(users=24, samples=12)
    events = table.drop_columns(["x", "y"]).append_column(
        "site", pa.array([f"s{row % 3}" for row in range(len(table))])
    )
    sites = pa.table({"site": ["s0", "s1", "s2"], "x": [0.0, 1000.0, 2000.0], "y": [0.0, 0.0, 0.0]})
    output, key = tmp_path / "out.parquet", tmp_path / "key.csv"
    shoal.anonymize(
        events, k=2, tau="30min", epsilon="30min", sites=sites.to_pandas(), output=output, key_out=key
    )

    def found(given: pa.Table) -> EventsCheck:
        return shoal.audit(events, output, key=key, sites=given.to_pandas(), attacks=20).events_checked

    assert found(sites).status == "same"
    other = found(sites.set_column(1, "x", pa.array([0.0, 1000.0, 2100.0])))
    assert (other.status, other.reason) == ("not checked", "read with another --sites than for the release")
