"""Whether an audit sees the events of the release: with which options to read them, and whether they are the same."""

from __future__ import annotations

import hmac
import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from shoal.auditing.claims import section_of
from shoal.core.bounding_box import BoundingBox
from shoal.core.formatting import joined
from shoal.core.options import FORMAT_NAMES, ReadingOptions
from shoal.core.zones import Zone
from shoal.errors import InputError, ParameterError
from shoal.reading import Events, PrivateNotes, database_kind
from shoal.reading.summary import BY_CHOICE, CHOSEN

SAME, OTHER, NOT_CHECKED = "same", "other", "not checked"
NO_KEY_FILE = "no key in a file"
NO_NOTES = "no private notes beside the key"
_SOME_OPTION = "some option, such as --bbox, --exclude-users, --from, --to or --min-days-active"
_USUAL = ("UTC", FORMAT_NAMES[-1])  # not worth telling


class Reading(NamedTuple):
    """How to read the events of an audit: ``options``, and which of them come from ``source`` instead of the caller."""

    options: ReadingOptions
    taken: tuple[str, ...] = ()
    source: str = ""


class EventsCheck(NamedTuple):
    """Whether the events are those of the release: SAME, OTHER, or NOT_CHECKED for a reason.

    taken: options that were read from ``source``, as the command spells them. left_out: by what rows were left out
    when the release was made, but not now, as the private notes or the manifest say. hint: what may be wrong with
    events that are not known to be the same, if anything is; ``doubtful`` if it is more than a possibility.
    """

    status: str
    reason: str = ""
    taken: tuple[str, ...] = ()
    source: str = ""
    left_out: tuple[str, ...] = ()
    hint: str | None = None
    doubtful: bool = False

    @property
    def is_other(self) -> bool:
        """Whether these are known to be other events."""
        return self.status == OTHER

    @property
    def in_words(self) -> str:
        """The result as a phrase."""
        as_read = f"; read with {joined(self.taken)}, taken from {self.source}" if self.taken else ""
        if self.status == SAME:
            return f"the events of this release{as_read}"
        if self.status == OTHER:
            return f"these are not the events of this release{as_read}"
        return f"{NOT_CHECKED}: {self.reason}{as_read}"


UNCHECKED = EventsCheck(NOT_CHECKED, NO_KEY_FILE)


def choose_reading(
    given: ReadingOptions, notes: PrivateNotes | None, manifest: Mapping[str, Any] | None, events: object
) -> Reading:
    """The options that were given; others as the private notes say or, without notes, as the manifest does."""
    if notes is not None:
        noted, source = notes.reading, "the private notes beside the key"
    else:
        noted, source = _told_by(manifest, given, events), "the manifest"
    taken = {
        name: getattr(noted, name)
        for name in given.names()
        if not _is_given(getattr(given, name)) and _is_given(getattr(noted, name))
    }
    if database_kind(events) is None:
        taken.pop("query", None)  # the same rows in another file need none
    told = tuple(ReadingOptions.spelled(name) for name, value in taken.items() if value not in _USUAL)
    return Reading(replace(given, **taken), told, source)


def _is_given(value: object) -> bool:
    return value is not None and not (isinstance(value, Mapping) and not value)


def _told_by(manifest: Mapping[str, Any] | None, given: ReadingOptions, events: object) -> ReadingOptions:
    """What a manifest says of how events were read; nothing where it cannot be used.

    A format is one of files, and whoever names columns or sites says that the events are a plain table.
    """
    told = section_of(manifest, "reading")
    zone, resample_s, form = (told.get(name) for name in ("timezone", "resample_s", "format"))
    is_file = (
        isinstance(events, str | os.PathLike) and not _is_given(given.columns) and not _is_given(given.sites)
    )
    try:
        return ReadingOptions(
            timezone=None if zone is None else Zone(zone).name,
            resample=None if resample_s is None else f"{int(resample_s)}s",
            format=form if is_file and form in FORMAT_NAMES else None,
        )
    except (InputError, ParameterError, ValueError, TypeError, OverflowError):
        return ReadingOptions()


def check_events(
    found: Events,
    reading: Reading,
    notes: PrivateNotes | None,
    manifest: Mapping[str, Any] | None,
    key: object,
) -> EventsCheck:
    """Compare the samples that were read with the code in the private notes.

    Where they differ, but were read with other options than for the release, nobody can tell whether they are others.
    """
    left_out = _left_out(found, _told_dropped(manifest) if notes is None else notes.dropped)
    if notes is None:
        reason = NO_NOTES if isinstance(key, str | os.PathLike) else NO_KEY_FILE
        return EventsCheck(NOT_CHECKED, reason, reading.taken, reading.source, left_out)
    code = found.store.authentication_code(notes.code_key)
    if hmac.compare_digest(code, notes.code):
        return EventsCheck(SAME, "", reading.taken, reading.source)
    differing = _differing(found, notes)
    if not differing:
        return EventsCheck(OTHER, "", reading.taken, reading.source)
    reason = f"read with another {joined(differing)} than for the release"
    return EventsCheck(NOT_CHECKED, reason, reading.taken, reading.source, left_out)


def _differing(found: Events, notes: PrivateNotes) -> list[str]:
    """The options that were not those of the release, as the command spells them."""
    read, noted = found.options, notes.reading
    names = [name for name in read.names() if _plain(read, name) != _plain(noted, name)]
    grid = ["--cell and --step"] if found.grid != notes.grid else []
    return [*map(ReadingOptions.spelled, names), *grid]


def _plain(options: ReadingOptions, name: str) -> object:
    """An option in a form in which equal values are equal."""
    value = getattr(options, name)
    if not _is_given(value):
        return None
    if name == "bbox":
        return BoundingBox.parse(value)
    if name == "resample":
        return options.resample_s
    if name == "exclude_users":
        return set(value)
    if name == "missing_user":
        return options.missing_users
    if name == "sites":
        return Path(value).absolute() if isinstance(value, str | os.PathLike) else "a table in memory"
    return dict(value) if isinstance(value, Mapping) else value


def _told_dropped(manifest: Mapping[str, Any] | None) -> Mapping[str, Any]:
    """How many rows a manifest says were left out, by reason; those of 0.1 tell by which option."""
    return section_of(section_of(manifest, "counts"), "rows_dropped")


def _left_out(found: Events, before: Mapping[str, Any]) -> tuple[str, ...]:
    """By what rows were left out when the release was made, but not now."""
    now = found.read_summary.dropped
    options = [option for reason, option in CHOSEN.items() if before.get(reason) and not now.get(reason)]
    by_choice = before.get(BY_CHOICE) and not any(now.get(reason) for reason in CHOSEN)
    return (*options, _SOME_OPTION) if by_choice else tuple(options)
