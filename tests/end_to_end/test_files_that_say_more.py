"""Harmful files that say more than their boxes get exit code 1; what shoal writes, with whatever options, does not."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import shoal
from support.run_command import Run, anonymize, audit, city, in_metres, read_table, write

OPTIONS = {
    "matching": {},
    "mutual": {"selector": "mutual"},
    "spaced": {"reuse": "spaced"},
    "whole": {"whole": True},
    "hardened": {"harden": 3},
    "not hardened": {"harden": 0},
    "left out": {"bbox": "-180,-90,180,90", "min_days_active": 1, "resample": "5min"},
    "spectral": {"selector": "spectral"},
    "repaired": {"selector": "spectral", "repair": True},
}


@pytest.mark.parametrize("name", OPTIONS)
def test_what_shoal_writes_belongs_together(name: str, tmp_path: Path) -> None:
    """The manifest's schema knows every member, and all that is recomputed is told as it is."""
    how: dict[str, Any] = {"k": 3, "key_out": tmp_path / "key.csv", "seed": 1, **OPTIONS[name]}
    if how.get("selector") == "spectral" and find_spec("sklearn") is None:
        pytest.skip("needs scikit-learn")
    if not how.get("whole"):
        how |= {"tau": "30min", "epsilon": "30min"}
    events = write(city(45), tmp_path / "events.parquet")
    shoal.anonymize(events, output=tmp_path / "out.parquet", **how)
    for options in ({"key": tmp_path / "key.csv"}, {}):
        found = shoal.audit(events, tmp_path / "out.parquet", attacks=5, **options)
        assert found.belonging.kept, found.belonging


class Harmed:
    """A release with its key, and files made of it."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.events = folder, write(in_metres(users=40, samples=4), folder / "events.parquet")
        self.output, self.key = folder / "out.parquet", folder / "key.csv"
        assert anonymize(self.events, self.output, "--key-out", self.key).code == 0
        self.table, self.told = read_table(self.output), Path(f"{self.output}.manifest.json").read_text()

    def audit(self, table: pa.Table, told: str | None = None, key: str | None = None) -> Run:
        """Audit another table, with another manifest or key, under the private notes of the release."""
        path, keyed = self.folder / "harmed.parquet", self.folder / "harmed.csv"
        pq.write_table(table, path)
        Path(f"{path}.manifest.json").write_text(told or self.told)
        keyed.write_text(key or self.key.read_text())
        Path(f"{keyed}.private.json").write_bytes(Path(f"{self.key}.private.json").read_bytes())
        return audit(self.events, path, "--key", keyed)

    @property
    def owners(self) -> dict[str, str]:
        """The user of each record."""
        lines = self.key.read_text().replace('"', "").splitlines()[1:]
        return {record: user for user, record in (line.split(",") for line in lines)}


@pytest.fixture(scope="module")
def harmed(tmp_path_factory: pytest.TempPathFactory) -> Harmed:
    made = Harmed(tmp_path_factory.mktemp("harmed"))
    assert made.audit(made.table).code == 0
    return made


def says(done: Run, words: str) -> bool:
    return done.code == 1 and words in " ".join(done.out.split())


def test_a_dictionary_with_more_names_than_users_does_not_switch_the_key_off(harmed: Harmed) -> None:
    codes = harmed.table["record"].combine_chunks().dictionary_encode()
    longer = pa.concat_arrays([codes.dictionary, pa.array([f"x{i}" for i in range(60)])])
    table = harmed.table.set_column(0, "record", pa.DictionaryArray.from_arrays(codes.indices, longer))
    done = harmed.audit(table)
    assert says(done, "60 entries were not checked (60 in dictionaries, used by no row)")
    assert "The key was not used" not in done.err
    swapped = [line.split(",") for line in harmed.key.read_text().splitlines()]
    swapped[1][1], swapped[2][1] = swapped[2][1], swapped[1][1]
    assert says(harmed.audit(table, key="\n".join(map(",".join, swapped)) + "\n"), "of their own user")


def test_rows_in_the_order_of_users(harmed: Harmed) -> None:
    user = [harmed.owners[record] for record in harmed.table["record"].to_pylist()]
    table = harmed.table.take(pa.array(np.argsort(np.array(user), kind="stable")))
    assert says(harmed.audit(table), "records stand, or are named, in the order of their users")


def test_names_in_the_order_of_users(harmed: Harmed) -> None:
    owners = harmed.owners
    renamed = dict(zip(sorted(owners, key=owners.__getitem__), sorted(owners), strict=True))
    names = pa.array([renamed[name] for name in harmed.table["record"].to_pylist()])
    key = "user,record\n" + "".join(f"{user},{renamed[record]}\n" for record, user in owners.items())
    done = harmed.audit(harmed.table.set_column(0, "record", names), key=key)
    assert says(done, "records stand, or are named, in the order of their users")


def test_a_manifest_that_lies(harmed: Harmed) -> None:
    told = json.loads(harmed.told)
    told["suppression"] = {"share_of_samples": 0.9, "users_without_record": 20}
    told["granularity"]["time_minutes"]["mean"] = 1.0
    found = shoal.audit(harmed.events, harmed.output, key=harmed.key, attacks=5)
    assert found.belonging.kept
    done = harmed.audit(harmed.table, json.dumps(told))
    for words in ("other sizes of boxes", "share of suppressed samples", "users without a record"):
        assert says(done, words)
