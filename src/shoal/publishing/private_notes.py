"""Private notes beside a key: how the events were read, and codes that tell them and the published file from others."""

from __future__ import annotations

import os
import secrets
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

from shoal.core.schema import PRIVATE_FORMAT
from shoal.publishing.manifest import describe_grid
from shoal.reading import Events
from shoal.storage.files import sha256_of

_KEY_BYTES = 32


def private_notes(events: Events, published: Path, evidence: Path | None) -> dict[str, Any]:
    """All that an audit needs to read the same events again, and to know that they, the published file and the evidence
    (None where none is written) are the same. Secret.

    The code of the events is made with a fresh key that stands beside it: without the key nobody can try out samples.
    """
    key, projection, options = secrets.token_bytes(_KEY_BYTES), events.projection, events.options
    is_file = isinstance(options.sites, str | os.PathLike)
    sites = str(Path(options.sites).absolute()) if is_file else None  # of a table in memory nothing is noted
    return {
        "format": PRIVATE_FORMAT,
        "shoal": version("shoal"),
        "grid": describe_grid(events.grid, None if projection is None else projection.crs),
        "reading": replace(options, sites=sites).to_dict(),
        "events": {"key": key.hex(), "hmac_sha256": events.store.authentication_code(key)},
        "published": {"sha256": sha256_of(published)},
        "evidence": {"sha256": None if evidence is None else sha256_of(evidence)},
        "rows_dropped": dict(events.read_summary.dropped),
    }
