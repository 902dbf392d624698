"""Where a release goes: checked before long work begins, written when it is done."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from shoal.core.boxes import Boxes, concatenate
from shoal.core.schema import EVIDENCE_SUFFIX, MANIFEST_FORMAT, MANIFEST_SUFFIX, PRIVATE_SUFFIX
from shoal.errors import InputError, UnfinishedError
from shoal.publishing.checkpoint import Checkpoint, check_checkpoint, checkpoint_folder, was_placed
from shoal.publishing.evidence import write_evidence
from shoal.publishing.manifest import describe_grid, describe_periods
from shoal.publishing.private_notes import private_notes
from shoal.publishing.release import Draft, Published
from shoal.publishing.tables import is_map, suffix_of, write_published
from shoal.reading import read_published
from shoal.reading.events import not_on_a_map
from shoal.storage.files import AtomicFiles
from shoal.storage.locks import reserved
from shoal.storage.outputs import as_json, check_table, check_target, write_rows


class Outputs(NamedTuple):
    """The files of a release: the published table, its manifest beside it; key, summary and settings if asked for.

    Beside the key are private notes of how the events were read, and the evidence of who was made to be hidden where,
    unless that is not wanted.
    """

    published: Path
    key: Path | None = None
    summary: Path | None = None
    with_evidence: bool = True
    settings: Path | None = None

    @property
    def manifest(self) -> Path:
        """The manifest beside the published file."""
        return self.published.with_name(self.published.name + MANIFEST_SUFFIX)

    @property
    def private(self) -> Path | None:
        """The private notes beside the key."""
        return _beside(self.key, PRIVATE_SUFFIX)

    @property
    def evidence(self) -> Path | None:
        """The evidence beside the key."""
        return _beside(self.key, EVIDENCE_SUFFIX) if self.with_evidence else None

    @property
    def checkpoint(self) -> Path:
        """From where a killed run goes on."""
        return checkpoint_folder(self.published)

    @property
    def files(self) -> list[Path]:
        """Everything that appears in the end."""
        secret = (self.key, self.private, self.evidence)
        wanted = (self.published, self.manifest, *secret, self.summary, self.settings)
        return [path for path in wanted if path is not None]


def _beside(key: Path | None, suffix: str) -> Path | None:
    return None if key is None else key.with_name(key.name + suffix)


def check_outputs(outputs: Outputs, inputs: Iterable[Path], *, force: bool, resume: bool) -> None:
    """Refuse outputs that could not be written in the end, or that would destroy something."""
    suffix_of(outputs.published)
    if outputs.key is not None:
        check_table(outputs.key, "The key")
    sources = list(inputs)
    for path in outputs.files:
        # A run that was killed while its files appeared may find some of them, and has every right to replace them.
        ours = resume and was_placed(outputs.checkpoint, path)
        check_target(path, sources, force=force or ours)
    if len({path.resolve() for path in outputs.files}) < len(outputs.files):
        raise InputError(
            "The published file, its manifest, the key, what stands beside it, the summary and the settings must be"
            " different files: rename one."
        )
    check_checkpoint(outputs.checkpoint, resume=resume)


@contextlib.contextmanager
def reserve_outputs(outputs: Outputs | None) -> Iterator[None]:
    """Inside a ``with`` block refuse other runs with the same key or summary; the checkpoint is held for itself."""
    with contextlib.ExitStack() as held:
        for path in () if outputs is None else (outputs.key, outputs.summary):
            if path is not None:
                held.enter_context(reserved(path))
        yield


def write_outputs(
    outputs: Outputs,
    draft: Draft,
    conclude: Callable[[object], Published],
    *,
    checkpoint: Checkpoint,
    force: bool,
    settings: str = "",
    then: str = "go on with --resume",
) -> Published:
    """Put all files of a release in place, or none; the published one last.

    ``conclude`` is shown what was written, verifies it and makes the release, whose manifest and summary are then
    written. The boxes are put in order in the checkpoint. Files that appeared since the run began are replaced only by
    ``force``, or if an earlier attempt of the same run put them there. ``settings`` are the content of their file.
    ``then`` is what to do once the cause of a failure is mended.
    """
    named, grid, projection = draft.named, draft.events.grid, draft.events.projection
    notes = {
        "format": MANIFEST_FORMAT,
        "promise": draft.promise.to_dict(grid),
        "grid": describe_grid(grid, None if projection is None else projection.crs),
        **describe_periods(draft.renaming),
    }

    def may_replace(path: Path) -> bool:
        return force or was_placed(outputs.checkpoint, path)

    with AtomicFiles(then=then, may_replace=may_replace) as files:
        if outputs.key is not None:
            with files.open(outputs.key, mode=0o600) as file:
                write_rows(draft.key_table(), outputs.key, file)
        with files.open(outputs.published) as file:
            write_published(
                file, suffix_of(outputs.published), named, grid, projection, notes, checkpoint.sorting
            )
        published = conclude(files.waiting(outputs.published))
        if outputs.evidence is not None:
            with files.open(outputs.evidence, mode=0o600, before=outputs.published) as file:
                write_evidence(file, draft)
        if outputs.private is not None:
            evidence = None if outputs.evidence is None else files.waiting(outputs.evidence)
            notes_on_events = private_notes(draft.events, files.waiting(outputs.published), evidence)
            with files.open(outputs.private, mode=0o600, before=outputs.published) as file:
                file.write(as_json(notes_on_events))
        if outputs.summary is not None:
            with files.open(outputs.summary, before=outputs.published) as file:
                file.write(as_json(published.summary))
        if outputs.settings is not None:
            with files.open(outputs.settings, before=outputs.published) as file:
                file.write(settings.encode())
        with files.open(outputs.manifest, before=outputs.published) as file:
            file.write(as_json(published.manifest))
        checkpoint.note_placing(files.identities)
    return published


def write_release(release: Published, outputs: Outputs, *, force: bool) -> None:
    """Write a release that was made before, with the files and the refusals of one that is made for files.

    What was written is read back: it must hold the boxes of the release, which are what was verified.
    """
    check_outputs(outputs, release.inputs, force=force, resume=False)
    if is_map(outputs.published) and release.events.projection is None:
        raise not_on_a_map("The release")
    if outputs.key is not None and release.output is not None:
        raise InputError(
            f"This release was made for {release.output.name}, and what must stand beside a key went with its"
            " checkpoint: give --key-out where it is made, or leave it out here."
        )

    def as_decided(written: object) -> Published:
        _check_same_boxes(release, written)
        return release

    write_outputs(
        outputs,
        release,
        as_decided,
        checkpoint=Checkpoint(None, resume=False),
        force=force,
        then="write again",
    )


def _check_same_boxes(release: Published, written: object) -> None:
    found, named = read_published(written, grid=release.events.grid), release.named
    decided = concatenate(named.pieces(max(1, release.outcome.n_boxes))).by_owner()
    same = all(np.array_equal(getattr(found.boxes, name), getattr(decided, name)) for name in Boxes._fields)
    if not same or not np.array_equal(found.names, named.name.astype(object)):
        raise UnfinishedError(
            "Self-check failed: what was written is not the release. Nothing was published; this is a fault of shoal,"
            " please report it."
        )
