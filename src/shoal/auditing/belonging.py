"""Whether events, published file and manifest belong together, which needs no key."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from shoal.auditing.truthfulness import overlapping
from shoal.core.arrays import Int64s
from shoal.core.boxes import UNKNOWN
from shoal.core.formatting import duration

if TYPE_CHECKING:
    from shoal.auditing.context import AuditContext


class Belonging(NamedTuple):
    """What cannot be so in a release of these events.

    n_surplus_records: how many more records than users there are; n_overlapping_boxes: boxes that share time with
    another of their record; n_boxes_outside: boxes before the first sample or after the last; n_named: records named
    after users; n_other_places: boxes whose degrees or polygon are not their hull; unchecked: columns that nobody
    checked; disagreements: what the manifest says otherwise than the file, in words.
    """

    n_surplus_records: int = 0
    n_overlapping_boxes: int = 0
    n_boxes_outside: int = 0
    n_named: int = 0
    n_other_places: int = 0
    unchecked: tuple[str, ...] = ()
    disagreements: tuple[str, ...] = ()

    @property
    def kept(self) -> bool:
        """Whether everything belongs together."""
        return self == ALL_BELONGS

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return {
            "kept": self.kept,
            "records_beyond_users": self.n_surplus_records,
            "boxes_overlapping": self.n_overlapping_boxes,
            "boxes_outside_period": self.n_boxes_outside,
            "records_named_after_users": self.n_named,
            "boxes_with_other_places": self.n_other_places,
            "columns_not_checked": list(self.unchecked),
            "disagreements": list(self.disagreements),
        }


ALL_BELONGS = Belonging()


def check_belonging(context: AuditContext) -> Belonging:
    """Look at records, boxes and notes; every user has one record at most, and every box holds a sample."""
    records, slots = context.published.records, context.store.slots
    boxes = records.boxes
    outside = (boxes.t1 < slots[0]) | (boxes.t0 > slots[-1])
    return Belonging(
        n_surplus_records=max(0, records.n_records - context.store.n_users),
        n_overlapping_boxes=int(overlapping(boxes).sum()),
        n_boxes_outside=int(outside.sum()),
        n_named=context.n_named,
        n_other_places=context.carried.n_other_places,
        unchecked=context.carried.unchecked,
        disagreements=tuple(_disagreements(context, records.n_records, boxes.n_boxes)),
    )


def _disagreements(context: AuditContext, n_records: int, n_boxes: int) -> list[str]:
    """What the manifest says otherwise than the file's metadata or the file itself."""
    if context.manifest is None:
        return []
    noted, told, counts = (
        _part(account, name)
        for account, name in (
            (context.notes or context.manifest, "promise"),
            (context.manifest, "promise"),
            (context.manifest, "counts"),
        )
    )
    promises = [
        f"{called} is {_in_words(noted[name], unit)} in the file's metadata, {_in_words(told.get(name), unit)} in the"
        " manifest"
        for name, (called, unit) in _PARAMETERS.items()
        if name in noted and noted[name] != told.get(name)
    ]
    numbers = [
        f"the manifest tells of {counts[name]} {name}, the file has {number}"
        for name, number in (("records", n_records), ("boxes", n_boxes))
        if name in counts and counts[name] != number
    ]
    return [*promises, *numbers]


_PARAMETERS = {
    "k": ("k", ""),
    "whole": ("the promise over whole trajectories", ""),
    "tau_s": ("tau", "s"),
    "epsilon_s": ("epsilon", "s"),
}


def _in_words(value: object, unit: str) -> str:
    """A parameter of a promise as people write it; what is no such thing is not repeated."""
    if value is None or isinstance(value, bool):
        return {None: "not given", True: "made", False: "not made"}[value]
    if not isinstance(value, int):
        return "no whole number"
    return duration(value) if unit else f"{value:,}"


_LONG = 8  # characters, of names that are not alike by accident; of a digest, two in four billion
_HEX = re.compile(rf"[0-9a-f]{{{_LONG},64}}$")
_MOST_BY_ACCIDENT = 10  # records with a short name that is their user's: of names given at random about 1
_FEW = 0.01  # of the records: long names that are some user's, where nobody knows whose record is whose


def count_named(names: Iterable[str], users: npt.NDArray[np.object_], own: Int64s) -> int:
    """How many records are named after their users (``own``; where that is unknown, after any): by the user's
    identifier, or by its MD5, SHA-1 or SHA-256 in hexadecimal, whole or cut. 0 where it may be accident."""
    titles = [str(name).lower() for name in names]
    if (own == UNKNOWN).all():
        return _after_any(titles, [str(user) for user in users])
    own_titles = [
        (titles[record], str(users[user])) for user, record in enumerate(own.tolist()) if record >= 0
    ]
    is_long = [len(title) >= _LONG for title, user in own_titles if _is_after(title, user)]
    n_short = is_long.count(False)
    by_accident = n_short <= _MOST_BY_ACCIDENT and 2 * n_short <= len(titles)
    return is_long.count(True) + (0 if by_accident else n_short)


def _is_after(title: str, user: str) -> bool:
    """Whether a name, in lower case, is a user's identifier or begins like a digest of it."""
    if title == user.lower():
        return True
    digits = _HEX.search(title)
    return digits is not None and any(digest.startswith(digits[0]) for digest in _digests(user))


def _after_any(titles: list[str], users: list[str]) -> int:
    """How many names are after any user."""
    digits = {title: found[0] for title in titles if (found := _HEX.search(title)) is not None}
    sizes = {len(part) for part in digits.values()}
    known = {user.lower() for user in users}
    cut = {digest[:size] for user in users for digest in _digests(user) for size in sizes} if sizes else set()
    after = [title for title in titles if title in known or digits.get(title) in cut]
    n_long = sum(len(title) >= _LONG for title in after)
    n_short = len(after) - n_long
    return (n_long if n_long > _FEW * len(titles) else 0) + (n_short if 2 * n_short > len(titles) else 0)


def _digests(user: str) -> list[str]:
    text = user.encode()
    return [hashlib.new(name, text, usedforsecurity=False).hexdigest() for name in ("md5", "sha1", "sha256")]


def _part(account: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """A section of a manifest or of metadata, empty where there is none."""
    section = account.get(name)
    return section if isinstance(section, Mapping) else {}
