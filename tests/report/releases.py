"""Small releases with their keys, made once, for tests of the report."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pyarrow.parquet as pq

import shoal


class Release(NamedTuple):
    """Files of a release."""

    events: Path
    published: Path
    key: Path


def make_release(
    folder: Path, users: int = 200, k: int = 2, tau: str = "30min", epsilon: str = "30min"
) -> Release:
    """A made-up city, published."""
    release = Release(*(folder / f"{name}.parquet" for name in ("events", "published", "key")))
    pq.write_table(shoal.make_city(users), release.events)
    shoal.anonymize(
        release.events, k=k, tau=tau, epsilon=epsilon, output=release.published, key_out=release.key
    )
    return release
