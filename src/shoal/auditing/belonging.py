"""Whether events, published file and manifest belong together, which needs no key."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from shoal.auditing.truthfulness import overlapping
from shoal.core.formatting import counted

if TYPE_CHECKING:
    from shoal.auditing.context import AuditContext


class Belonging(NamedTuple):
    """What cannot be so in a release of these events.

    n_surplus_records: how many more records than users there are; n_overlapping_boxes: boxes that share time with
    another of their record; n_boxes_outside: boxes before the first sample or after the last; disagreements: what the
    manifest says otherwise than the file, in words.
    """

    n_surplus_records: int = 0
    n_overlapping_boxes: int = 0
    n_boxes_outside: int = 0
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
        f"{name} is {noted[name]} in the file's metadata, {told.get(name)} in the manifest"
        for name in ("k", "whole", "tau_s", "epsilon_s")
        if name in noted and noted[name] != told.get(name)
    ]
    numbers = [
        f"the manifest tells of {counts[name]} {name}, the file has {number}"
        for name, number in (("records", n_records), ("boxes", n_boxes))
        if name in counts and counts[name] != number
    ]
    return [*promises, *numbers]


def _part(account: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """A section of a manifest or of metadata, empty where there is none."""
    section = account.get(name)
    return section if isinstance(section, Mapping) else {}


def wrong_in_words(found: Belonging) -> list[str]:
    """What is wrong, a clause for each thing, worst first."""
    clauses = []
    if found.n_surplus_records:
        more = counted(found.n_surplus_records, "record")
        clauses.append(f"there are {more} more than users, so the file is not true")
    if found.n_overlapping_boxes:
        overlap = (
            "1 box overlaps"
            if found.n_overlapping_boxes == 1
            else f"{found.n_overlapping_boxes:,} boxes overlap"
        )
        clauses.append(f"{overlap} with another of the same record in time")
    if found.n_boxes_outside:
        clauses.append(
            f"{found.n_boxes_outside:,} boxes lie before the first or after the last of these events"
        )
    return [*clauses, *found.disagreements]
