"""The last word before anything is published: read back what was written, and check it as an audit would."""

from __future__ import annotations

import numpy as np

from shoal.auditing.coverage import Coverage, check
from shoal.auditing.records import Target, make_records
from shoal.auditing.truthfulness import check_truthfulness
from shoal.blocks import Workers
from shoal.boxes import NONE
from shoal.errors import InputError, UnfinishedError
from shoal.manifest import unprotected_share
from shoal.progress import Progress
from shoal.reading import read_published
from shoal.reading.zones import Zone
from shoal.release import Published
from shoal.wording import counted


def verify_release(release: Published, written: object, *, workers: Workers, progress: Progress) -> None:
    """Refuse a file that breaks the promise, invents something, or is not what was decided.

    Where guarantee 1 is not given, how often it fails is told in the summary and the manifest instead.
    """
    progress.stage("reading back")
    samples, grid, named = release.events.samples, release.events.grid, release.named
    try:
        table = read_published(written, grid=grid)
    except InputError as error:
        raise _failed("what was written cannot be read back") from error
    if not np.array_equal(table.names, named.name.astype(object)):
        raise _failed("the records read back are not those written")
    own = np.full(samples.n_users, NONE, np.int64)
    own[named.owner] = np.arange(len(named.owner))
    target = Target(make_records(table.boxes), own)
    coverage = check(samples, target, release.promise, workers, progress)
    n_unprotected = len({violation.user for violation in coverage.worst})
    if not release.settings.gives_coverage:
        _tell_unprotected(release, coverage, n_unprotected)
    elif not coverage.kept:
        raise _failed(
            f"{counted(n_unprotected, 'user')} would be hidden among fewer than k = {release.promise.k} records"
        )
    truth = check_truthfulness(samples, target, grid, Zone("UTC"), workers)
    if not truth.kept:
        raise _failed(
            f"boxes without a sample of their own user: {truth.n_empty_boxes:,},"
            f" boxes that overlap: {truth.n_overlapping_boxes:,}"
        )
    if truth.suppressed.n_suppressed != release.outcome.n_suppressed:
        raise _failed(
            f"{counted(truth.suppressed.n_suppressed, 'sample')} in no box of their user,"
            f" where {release.outcome.n_suppressed:,} were suppressed"
        )


def _tell_unprotected(release: Published, coverage: Coverage, n_users: int) -> None:
    """Add what is missing of guarantee 1 to the summary, and what may be told of it to the manifest."""
    release.summary["unprotected"] = {
        "intervals": coverage.n_intervals,
        "strict": coverage.n_strict,
        "gap_tolerant": coverage.n_tolerant,
        "users": n_users,
    }
    release.manifest["guarantees"]["intervals_with_fewer_than_k_records"] = unprotected_share(
        max(coverage.n_strict, coverage.n_tolerant), coverage.n_intervals, n_users, release.promise.k
    )


def _failed(what: str) -> UnfinishedError:
    return UnfinishedError(
        f"Self-check failed: {what}. Nothing was published; this is a fault of shoal, please report it."
        " A checkpoint folder that is left holds secrets: remove it."
    )
