"""The last word before anything is published: read back what was written, and check it as an audit would."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa

from shoal.auditing.coverage.check import Coverage, PartsEvidence, RunTasks, check_parts
from shoal.auditing.coverage.chunks import bucket_borders
from shoal.auditing.truthfulness import UntruthCounts
from shoal.core.formatting import counted
from shoal.core.progress import Progress
from shoal.core.workers import Workers
from shoal.errors import InputError, UnfinishedError
from shoal.publishing.manifest import Unprotected
from shoal.publishing.release import Draft, Verification
from shoal.reading import PublishedRows
from shoal.storage.box_store import BoxStore, open_box_store

_NAMES_AT_A_TIME = 1 << 20


def verify_release(
    draft: Draft,
    written: object,
    *,
    workers: Workers,
    progress: Progress,
    folder: Path | None = None,
    run: RunTasks | None = None,
) -> Verification:
    """Refuse a file that breaks the promise, invents something, or is not what was decided.

    Where guarantee 1 is not given, how often it fails is measured instead. What is read back is kept by time in a
    ``folder`` (without one, in memory) until it is checked, chunk by chunk; ``run`` may do that elsewhere.
    """
    progress.stage("reading back")
    samples, named = draft.events.store, draft.named
    with open_box_store(bucket_borders(samples, draft.promise), folder) as boxes:
        _read_back(draft, written, boxes)
        parts = draft.outcome.parts
        user, period = (column[named.owner].astype(np.int64) for column in (parts.user, parts.period))
        evidence = PartsEvidence(samples, boxes, user, period, parts.periods)
        coverage, untruths = check_parts(evidence, draft.promise, workers, progress, run=run)
    unprotected = _judge_coverage(draft, coverage)
    _judge_truth(draft, untruths)
    return Verification(unprotected)


def _read_back(draft: Draft, written: object, boxes: BoxStore) -> None:
    """Sort what was written by time; its records must be those of the release, one after the other."""
    other = _failed("the records read back are not those written")
    try:
        rows = PublishedRows(written, grid=draft.events.grid)
        record = 0
        for batch in rows.batches():
            if np.any(np.diff(batch.owner, prepend=np.int32(record)) < 0):
                raise other
            record = int(batch.owner[-1]) if batch.n_boxes else record
            boxes.add(batch)
    except InputError as error:
        raise _failed("what was written cannot be read back") from error
    if not _same_names(rows.names, draft.named.name):
        raise other


def _same_names(found: pa.Array, wanted: np.typing.NDArray[np.str_]) -> bool:
    """Whether names are equal and in the same order; compared piece by piece, since Python's texts take much room."""
    if len(found) != len(wanted):
        return False
    pieces = range(0, len(wanted), _NAMES_AT_A_TIME)
    return all(
        found.slice(begin, _NAMES_AT_A_TIME).equals(
            pa.array(wanted[begin : begin + _NAMES_AT_A_TIME].tolist(), pa.large_string())
        )
        for begin in pieces
    )


def _judge_coverage(draft: Draft, coverage: Coverage) -> Unprotected | None:
    """Refuse a release that breaks guarantee 1; where that is not given, count how often it fails."""
    n_users = len({violation.user for violation in coverage.worst})
    if not draft.options.gives_coverage:
        return Unprotected(coverage.n_intervals, coverage.n_strict, coverage.n_tolerant, n_users)
    if not coverage.kept:
        raise _failed(
            f"{counted(n_users, 'user')} would be hidden among fewer than k = {draft.promise.k} records"
        )
    return None


def _judge_truth(draft: Draft, untruths: UntruthCounts) -> None:
    if untruths.n_empty_boxes or untruths.n_overlapping_boxes:
        raise _failed(
            f"boxes without a sample of their own user: {untruths.n_empty_boxes:,},"
            f" boxes that overlap: {untruths.n_overlapping_boxes:,}"
        )
    if untruths.n_suppressed != draft.outcome.n_suppressed:
        raise _failed(
            f"{counted(untruths.n_suppressed, 'sample')} in no box of their user,"
            f" where {draft.outcome.n_suppressed:,} were suppressed"
        )


def _failed(what: str) -> UnfinishedError:
    return UnfinishedError(
        f"Self-check failed: {what}. Nothing was published; this is a fault of shoal, please report it."
        " A checkpoint folder that is left holds secrets: remove it."
    )
