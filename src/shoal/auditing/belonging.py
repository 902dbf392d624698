"""Whether events, published file and manifest belong together, which needs no key."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from shoal.auditing.manifest_check import disagreements_of
from shoal.auditing.renaming_hint import hint_at_renaming
from shoal.auditing.truthfulness import overlapping
from shoal.errors import for_caller

if TYPE_CHECKING:
    from shoal.auditing.context import AuditContext


class Belonging(NamedTuple):
    """What cannot be so in a release of these events.

    n_surplus_records: how many more records than users there are; n_overlapping_boxes: boxes that share time with
    another of their record; n_boxes_outside: boxes before the first sample or after the last; n_named: records named
    after users; in_user_order: whether records stand, or are named, in the order of their users; n_living_on: records
    that go on beyond a border, where they should get new names; parts_tied: whether the names or the order of parts tie
    those of one person together; n_other_places: boxes
    whose degrees or polygon are not their hull; unchecked: columns that nobody checked; entries: how many other things
    nobody checked, by where they stand; key_unused: whether there is a key that could not be used; disagreements: what
    the manifest says otherwise than the file, the events or itself, in words; hint: what may be behind records that are
    too many or too long.
    """

    n_surplus_records: int = 0
    n_overlapping_boxes: int = 0
    n_boxes_outside: int = 0
    n_named: int = 0
    in_user_order: bool = False
    n_living_on: int = 0
    parts_tied: bool = False
    n_other_places: int = 0
    unchecked: tuple[str, ...] = ()
    entries: tuple[tuple[str, int], ...] = ()
    key_unused: bool = False
    disagreements: tuple[str, ...] = ()
    hint: str | None = None

    @property
    def kept(self) -> bool:
        """Whether everything belongs together."""
        return self == ALL_BELONGS

    @property
    def entries_in_words(self) -> list[str]:
        """How many things nobody checked, and where."""
        return [f"{number:,} {place}" for place, number in self.entries]

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return {
            "kept": self.kept,
            "records_beyond_users": self.n_surplus_records,
            "boxes_overlapping": self.n_overlapping_boxes,
            "boxes_outside_period": self.n_boxes_outside,
            "records_named_after_users": self.n_named,
            "records_in_order_of_users": self.in_user_order,
            "records_across_borders": self.n_living_on,
            "parts_tied_together": self.parts_tied,
            "boxes_with_other_places": self.n_other_places,
            "columns_not_checked": list(self.unchecked),
            "entries_not_checked": self.entries_in_words,
            "key_not_used": self.key_unused,
            "disagreements": list(self.disagreements),
            "hint": self.hint,
        }


ALL_BELONGS = Belonging()


def check_belonging(context: AuditContext) -> Belonging:
    """Look at records, boxes and notes; every user has one record at most, and every box holds a sample."""
    records, slots = context.published.records, context.store.slots
    boxes = records.boxes
    outside = (boxes.t1 < slots[0]) | (boxes.t0 > slots[-1])
    parts = context.parts
    surplus = max(0, records.n_records - context.store.n_users) if parts is None else parts.n_surplus
    n_living_on = 0 if parts is None else parts.n_living_on
    return Belonging(
        n_surplus_records=surplus,
        n_overlapping_boxes=int(overlapping(boxes).sum()),
        n_boxes_outside=int(outside.sum()),
        n_named=context.n_named,
        in_user_order=context.in_user_order,
        n_living_on=n_living_on,
        parts_tied=context.parts_tied,
        n_other_places=context.carried.n_other_places,
        unchecked=context.carried.unchecked,
        entries=context.carried.entries,
        key_unused=context.key_unused,
        disagreements=tuple(disagreements_of(context)),
        hint=_in_words(hint_at_renaming(context)) if surplus or n_living_on else None,
    )


def _in_words(hint: str | None) -> str | None:
    return None if hint is None else for_caller(hint)
