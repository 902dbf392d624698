"""A judgement on one guarantee: its state, by how much it is weakened, and on what evidence that rests."""

from __future__ import annotations

from enum import StrEnum
from typing import Any, NamedTuple


class State(StrEnum):
    """What is known of a guarantee."""

    KEPT = "kept"
    WEAKENED = "weakened"
    BROKEN = "broken"
    NOT_CHECKED = "not checked"


class Asked(StrEnum):
    """Who asks for a guarantee: whoever audits (--k ...), the file itself, or nobody, since the file disclaims it."""

    REQUIRED = "required"
    CLAIMED = "claimed"
    DISCLAIMED = "disclaimed"


class Basis(StrEnum):
    """What a judgement rests on."""

    EXACT = "exact"
    NO_KEY = "exact, as far as can be checked without a key"
    EVIDENCE = "from the private evidence"
    MANIFEST = "by the file's own account"
    WINDOWS = "exact for each window checked"
    NOTHING = "nothing to go by"


class Judgement(NamedTuple):
    """What an audit says of guarantee ``number``.

    detail: how much, or why, as part of a sentence; it may be empty. part of whole: what was counted, such as windows
    or members, where something was; a weakened guarantee is weakened by that share. complete: False where somebody was
    left out for want of a key.
    """

    number: int
    state: State
    basis: Basis
    detail: str = ""
    part: int | None = None
    whole: int | None = None
    asked: Asked = Asked.CLAIMED
    complete: bool = True

    @property
    def share(self) -> float | None:
        """Part of whole."""
        return self.part / self.whole if self.part is not None and self.whole else None

    @property
    def shown_by_evidence(self) -> bool:
        """Whether the private evidence shows how the file was made."""
        return self.basis is Basis.EVIDENCE and self.state is not State.NOT_CHECKED

    def fails(self, tolerance: float) -> bool:
        """Whether what is asked for is broken, or weakened for more than a share of the members."""
        if self.asked is Asked.DISCLAIMED:
            return False
        weakened = self.state is State.WEAKENED and (self.share is None or self.share > tolerance)
        return self.state is State.BROKEN or weakened

    @property
    def is_open(self) -> bool:
        """Whether something that is required could not be checked."""
        return self.asked is Asked.REQUIRED and (self.state is State.NOT_CHECKED or not self.complete)

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        share = self.share
        return {
            "state": str(self.state),
            "basis": str(self.basis),
            "detail": self.detail,
            "asked": str(self.asked),
            "part": self.part,
            "whole": self.whole,
            "share": None if share is None else round(share, 6),
        }


class Guarantees(NamedTuple):
    """The three guarantees of docs/promise.md: at least k records fit; any other record hides somebody in one window
    only; k matchings of all people to all records."""

    coverage: Judgement
    one_window: Judgement
    matching: Judgement

    def failing(self, tolerance: float) -> list[Judgement]:
        """The guarantees that are asked for and not given."""
        return [judgement for judgement in self if judgement.fails(tolerance)]
