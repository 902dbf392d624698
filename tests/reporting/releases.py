"""Small releases with their keys, made once, for tests of the report."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import pyarrow.parquet as pq

import shoal


class Release(NamedTuple):
    """Files of a release."""

    events: Path
    published: Path
    key: Path


def make_release(
    folder: Path,
    users: int = 200,
    k: int = 2,
    tau: str = "30min",
    epsilon: str = "30min",
    days: int = 1,
    **how: Any,
) -> Release:
    """A synthetic city, published; ``how`` are further options of shoal.anonymize()."""
    release = Release(*(folder / f"{name}.parquet" for name in ("events", "published", "key")))
    pq.write_table(shoal.make_city(users, days=days), release.events)
    promise = {} if how.get("whole") else {"tau": tau, "epsilon": epsilon}
    shoal.anonymize(release.events, k=k, output=release.published, key_out=release.key, **promise, **how)
    return release
