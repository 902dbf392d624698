"""Private notes beside a key: how the events of a release were read, and codes to know them and the file by. Secret."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from shoal.core.checks import check_path
from shoal.core.options import ReadingOptions
from shoal.core.promise import Grid
from shoal.core.schema import PRIVATE_FORMAT, PRIVATE_SUFFIX
from shoal.errors import InputError, ParameterError
from shoal.storage.files import sha256_of

NO_EVIDENCE = ""
_OF_OLDER_NOTES = {
    "time_format": None,
    "missing_user": "",
    "query": None,
}  # how 0.1 read, which did not note it
_CODE_BYTES = 32  # of SHA-256, and of the key of its HMAC


class PrivateNotes(NamedTuple):
    """What was noted when a release was made.

    ``code`` is that of the samples on the ``grid`` under ``code_key`` (SampleStore.authentication_code), ``published``
    the SHA-256 of the published file, ``evidence`` that of the evidence beside the key: NO_EVIDENCE where none was
    written, None where that was not noted. ``dropped``: how many rows were left out, by reason.
    """

    grid: Grid
    reading: ReadingOptions
    code_key: bytes
    code: str
    published: str
    evidence: str | None = None
    dropped: Mapping[str, int] = MappingProxyType({})

    def has_published(self, published: object) -> bool | None:
        """Whether a file is the one that was published, byte for byte; None for tables in memory, which have none."""
        if not isinstance(published, str | os.PathLike):
            return None
        return sha256_of(Path(published)) == self.published

    def has_evidence(self, evidence: Path) -> bool | None:
        """Whether a file is the evidence that was written with the key, byte for byte; None where that is not noted."""
        return None if self.evidence is None else sha256_of(evidence) == self.evidence


def private_notes_beside(key: object) -> Path | None:
    """The private notes beside a key; None where there are none, as beside a key in memory."""
    if not isinstance(key, str | os.PathLike):
        return None
    check_path(key, "The key", "a path or a table")
    name = Path(key).name
    if not name:  # a folder without one, such as "."; whoever opens it will complain
        return None
    path = Path(key).with_name(name + PRIVATE_SUFFIX)
    return path if path.exists() else None


def read_private_notes(path: Path) -> PrivateNotes:
    """The notes in a file; those that are damaged or of another version are refused."""
    title = f"The private notes {path.name!r}"
    damaged = InputError(
        f"{title} cannot be used: expected JSON as shoal anonymize wrote it; put the original back, or remove it and"
        " give the reading options yourself."
    )
    try:
        content = json.loads(path.read_bytes())
        found = content["format"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        raise damaged from None
    if found != PRIVATE_FORMAT:
        raise InputError(
            f"{title} must be of format {PRIVATE_FORMAT}, found {found!r}: update shoal, or remove it and give the"
            " reading options yourself."
        )
    try:
        return _parse(content)
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, ParameterError):
        raise damaged from None


def _parse(content: dict[str, Any]) -> PrivateNotes:
    grid, reading, events = content["grid"], content["reading"], content["events"]
    reading = {**_OF_OLDER_NOTES, **reading}
    if set(reading) != set(ReadingOptions.names()):
        raise ValueError
    code_key, code, published = (
        bytes.fromhex(text) for text in (events["key"], events["hmac_sha256"], content["published"]["sha256"])
    )
    if {len(code_key), len(code), len(published)} != {_CODE_BYTES}:
        raise ValueError
    evidence, dropped = content.get("evidence"), content.get("rows_dropped", {})
    if evidence is not None:  # older notes have none
        evidence = NO_EVIDENCE if evidence["sha256"] is None else bytes.fromhex(evidence["sha256"]).hex()
    return PrivateNotes(
        Grid(float(grid["cell_m"]), int(grid["step_s"])),
        ReadingOptions(**reading),
        code_key,
        code.hex(),
        published.hex(),
        evidence,
        {str(reason): int(rows) for reason, rows in dropped.items()},
    )
