"""What an audit found, in small typed pieces, and as JSON with stable keys (docs/formats.md)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from shoal.auditing.attack_names import words_of
from shoal.auditing.attacks.inference import LeakageSpread
from shoal.auditing.attacks.rankings import Finding
from shoal.auditing.audited_file import AuditedFile
from shoal.auditing.belonging import ALL_BELONGS, Belonging
from shoal.auditing.coverage.check import Coverage, Violation
from shoal.auditing.events_check import UNCHECKED, EventsCheck
from shoal.auditing.guarantees.judgement import Asked, Guarantees, State
from shoal.auditing.guarantees.one_window import HeldApart
from shoal.auditing.measures import NO_KEY, Measure
from shoal.auditing.rating import DEFAULT_THRESHOLDS, Thresholds
from shoal.auditing.truthfulness import SuppressedPart, Truthfulness
from shoal.auditing.verdict import Verdict, judge
from shoal.core.formatting import counted, promise_parameters, renaming_in_words
from shoal.core.periods import Renaming
from shoal.core.promise import Grid, Promise
from shoal.core.proportions import Proportion
from shoal.core.showing import html_of
from shoal.errors import InputError
from shoal.utility.read_share import PeriodOutlook, recommend_period

FAILED, NOT_CHECKED = 1, 4  # exit codes
_MOST_COUNTEREXAMPLES = 10


class AttackSettings(NamedTuple):
    """How many attacks of each kind were drawn, with which seed, and on which clock hours were counted."""

    attacks: int
    seed: int
    timezone: str


class DatasetCounts(NamedTuple):
    """How many users, samples, records and boxes were audited."""

    users: int
    samples: int
    records: int
    boxes: int


@dataclass(frozen=True)
class Audit:
    """What an audit found: the exact checks, and what attacks measured. A notebook shows the verdict.

    A pickle of it leaves the names of users behind.

    Attributes
    ----------
    promise, grid : Promise, Grid
        What the file was held to, and in which units.
    counts : DatasetCounts
        How many users, samples, records and boxes were audited.
    coverage : Coverage
        Guarantee 1, checked exactly: whether it is kept, and what is worst.
    truthfulness : Truthfulness or None
        Whether boxes hold samples of their own people, and how much is suppressed; None without a key.
    figures : list of Measure
        What every attack measured; ``figure`` finds one by its name.
    leakage : LeakageSpread or None
        How much is given away beyond tau.
    findings : list of Finding
        What rankings of the records that fit achieve.
    draw : AttackSettings
        How many attacks, with which seed, on which clock.
    seconds : float
        How long it took.
    warnings : list of str
        What looks wrong.
    users : numpy array
        The names of everybody, for counterexamples; secret.
    guarantees : Guarantees
        Each of the three, judged.
    belonging : Belonging
        Whether events, file and manifest belong together.
    held_apart : HeldApart or None
        What can be measured of guarantee 2 without evidence.
    tolerance : float
        The share of members for which a guarantee may be weakened.
    noted : Promise or None
        The promise that the file makes for itself, if any.
    events_checked : EventsCheck
        Whether these are the events of the release; nothing is kept towards others.
    thresholds : Thresholds
        From which shares on risks are called moderate and high.
    file : AuditedFile or None
        What was audited.
    weak_claim : bool
        Whether the promise is a mere claim, and one that says nearly nothing of these events.
    renaming : Renaming or None
        How often records get new names, if they do; a record is then a part of a person.
    outlooks : list of PeriodOutlook
        What names as they change leave to be read to whoever knows four moments, and what shorter periods would.
    naive : bool
        Whether times of the events came without a zone.

    Examples
    --------
    >>> import shoal
    >>> events = shoal.make_city(100, seed=1)
    >>> published = shoal.anonymize(events, k=2, tau="30min", epsilon="30min")
    >>> audit = shoal.audit(events, published, key=published.key(), attacks=50)
    >>> audit.kept, audit.exit_code
    (True, 0)
    >>> audit.figure("linkage", "success").raw.value
    1.0
    """

    promise: Promise
    grid: Grid
    counts: DatasetCounts
    coverage: Coverage
    truthfulness: Truthfulness | None
    figures: list[Measure]
    leakage: LeakageSpread | None
    findings: list[Finding]
    draw: AttackSettings
    seconds: float
    warnings: list[str]
    users: npt.NDArray[np.object_]
    guarantees: Guarantees
    belonging: Belonging = ALL_BELONGS
    held_apart: HeldApart | None = None
    tolerance: float = 0.0
    noted: Promise | None = None
    events_checked: EventsCheck = UNCHECKED
    thresholds: Thresholds = DEFAULT_THRESHOLDS
    file: AuditedFile | None = None
    weak_claim: bool = False
    renaming: Renaming | None = None
    outlooks: Sequence[PeriodOutlook] = ()
    naive: bool = True

    def __repr__(self) -> str:
        records, boxes = counted(self.counts.records, "record"), counted(self.counts.boxes, "box", "boxes")
        kept = "kept" if self.coverage.kept else "not kept"
        promise = promise_parameters(self.promise, self.grid, renamed=self.renaming is not None)
        return f"<Audit: {records}, {boxes}, {promise}, guarantee 1 {kept}; .verdict says more>"

    def _repr_html_(self) -> str:
        return html_of(self)

    def __getstate__(self) -> dict[str, Any]:
        """All but the names of users: a pickle may go anywhere."""
        return {**vars(self), "users": np.empty(0, object)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    @property
    def kept(self) -> bool:
        """Whether all that was required is kept; where nothing was, whether nothing of the file's claim fails.

        What could not be checked of a mere claim does not count against the file: look at ``guarantees``, too. A weak
        claim is never kept, nor is anything where the events are doubtful.
        """
        return self.exit_code == 0

    @property
    def failed(self) -> bool:
        """Whether something is broken, untrue, or weakened beyond the tolerance."""
        return not self.is_true or bool(self.guarantees.failing(self.tolerance))

    @property
    def only_weakened(self) -> bool:
        """Whether all that failed is a guarantee weakened beyond the tolerance."""
        failing = self.guarantees.failing(self.tolerance)
        weakened = all(judgement.state is State.WEAKENED for judgement in failing)
        return self.is_true and bool(failing) and weakened

    @property
    def exit_code(self) -> int:
        """0: kept; 1: failed; 4: nothing failed, but something required could not be checked, the claim is weak, or the
        events are doubtful (docs/formats.md)."""
        if self.failed:
            return FAILED
        is_open = any(judgement.is_open for judgement in self.guarantees)
        return NOT_CHECKED if is_open or self.weak_claim or self.events_checked.doubtful else 0

    @property
    def is_true(self) -> bool:
        """Whether what is published is true, as far as could be checked, and belongs to these events."""
        truthful = self.truthfulness is None or self.truthfulness.kept
        belongs = self.belonging.kept and not self.events_checked.is_other
        return truthful and belongs and not self.coverage.n_untrue

    @property
    def required(self) -> bool:
        """Whether whoever audits asked for the promise; otherwise it is the file's claim."""
        return self.guarantees.coverage.asked is Asked.REQUIRED

    @property
    def other(self) -> bool:
        """Whether the file was held to another promise than its own."""
        return self.noted is not None and self.noted != self.promise

    @property
    def only_fails_other(self) -> bool:
        """Whether all that is wrong is that the file was held to a promise that asks for more than its own."""
        failing = self.guarantees.failing(self.tolerance)
        if self.noted is None or not failing or not self.is_true:
            return False
        return all(_asks_more(judgement.number, self.promise, self.noted) for judgement in failing)

    @property
    def renamed(self) -> str:
        """How often records get new names, as a part of a sentence; empty where they never do."""
        return renaming_in_words(None if self.renaming is None else self.renaming.every_s)

    @property
    def has_key(self) -> bool:
        """Whether it was known which record is whose."""
        return self.truthfulness is not None

    @property
    def borders_checked(self) -> bool | None:
        """Whether coverage was checked across borders, which takes a key; None where nothing is promised there."""
        return None if self.renaming is None or self.promise.whole else self.has_key

    @cached_property
    def verdict(self) -> Verdict:
        """The audit in words."""
        return judge(self)

    def figure(self, attack: str, measure: str, variant: str = "") -> Measure | None:
        """What an attack measured, by its name.

        Parameters
        ----------
        attack, measure, variant : str
            The names that docs/audit.md lists.

        Returns
        -------
        Measure or None
            Shares of attacks on the file and on raw data, and guessing; None where the attack does not apply.
        """
        for found in self.figures:
            if (found.attack, found.variant, found.measure) == (attack, variant, measure):
                return found
        return None

    def to_dict(self, *, show_users: bool = False) -> dict[str, Any]:
        """Everything, ready for JSON (docs/formats.md).

        Parameters
        ----------
        show_users : bool
            Whether users of counterexamples are named; they are secret.

        Returns
        -------
        dict
            Plain values under stable keys.

        Raises
        ------
        InputError
            Names are asked of an audit that was pickled.
        """
        grid, seconds = self.grid, self.promise.in_seconds(self.grid)
        return {
            "format": 2,
            "kept": self.kept,
            "exit_code": self.exit_code,
            "guarantees": self._guarantees(),
            "belonging": self.belonging.to_dict(),
            "promise": {**self.promise.to_dict(grid), "beyond_tau_s": seconds and seconds.beyond_tau},
            "periods": None if self.renaming is None else self.renaming.to_dict(),
            "new_names": self._new_names(),
            "file": None if self.file is None else self.file._asdict(),
            "grid": {"cell_m": grid.cell_m, "step_s": grid.step_s},
            "draw": self.draw._asdict(),
            "counts": self.counts._asdict(),
            "events": {
                "checked": self.events_checked.status,
                "note": self.events_checked.in_words,
                "hint": self.events_checked.hint,
                "doubtful": self.events_checked.doubtful,
            },
            "verdict": self._verdict(),
            "coverage": self._coverage(show_users),
            "truthfulness": NO_KEY if self.truthfulness is None else _truthfulness(self.truthfulness),
            "attacks": _attacks(self.figures),
            "leakage_minutes": None if self.leakage is None else {
                name: round(slots * grid.step_s / 60, 3) for name, slots in self.leakage._asdict().items()
            },
            "findings": [
                {**finding._asdict(), "success": _share(finding.success)} for finding in self.findings
            ],
            "warnings": self.warnings,
            "seconds": round(self.seconds, 3),
        }  # fmt: skip

    def _new_names(self) -> dict[str, Any]:
        """What is left to be read as names change now, and with shorter periods, of which one may be recommended."""
        chosen = recommend_period(self.outlooks)
        return {
            "outlooks": [
                {"rename_every": each.rename_every, "read_share": round(each.read_share, 6)}
                for each in self.outlooks
            ],
            "recommended": None if chosen is None else chosen.rename_every,
        }

    def _guarantees(self) -> dict[str, Any]:
        found = {name: judgement.to_dict() for name, judgement in self.guarantees._asdict().items()}
        apart = None if self.held_apart is None else {
            name: _share(share) for name, share in self.held_apart._asdict().items()
        }  # fmt: skip
        return {**found, "tolerance": self.tolerance, "held_in_epochs_apart": apart}

    def _verdict(self) -> dict[str, Any]:
        risks = [
            {**risk._asdict(), "share": None if risk.share is None else _share(risk.share)}
            for risk in self.verdict.risks
        ]
        exposures = [
            {
                "name": exposure.name,
                "sentence": exposure.sentence,
                "share": _share(exposure.share),
                "raw": _share(exposure.raw),
                "guessing": exposure.guessing,
                "rating": str(exposure.rating),
            }
            for exposure in self.verdict.exposures
        ]
        return {
            "headline": self.verdict.headline,
            "warning": self.verdict.warning,
            "rating": str(self.verdict.rating),
            "thresholds": self.thresholds._asdict(),
            "exposures": exposures,
            "next_steps": self.verdict.next_steps,
            "risks": risks,
            "limits": [limit._asdict() for limit in self.verdict.limits],
        }

    def _coverage(self, show_users: bool) -> dict[str, Any]:
        found = self.coverage
        return {
            "kept": found.kept,
            "users": found.n_users,
            "intervals": found.n_intervals,
            "borders_checked": self.borders_checked,
            "violations_strict": found.n_strict,
            "violations_gap_tolerant": found.n_tolerant,
            "users_unprotected": len({violation.user for violation in found.worst}),
            "users_not_checked": found.n_unchecked,
            "records_untrue": found.n_untrue,
            "counterexamples": [
                self.counterexample(violation, show_users=show_users)
                for violation in found.worst[:_MOST_COUNTEREXAMPLES]
            ],
        }

    def counterexample(self, violation: Violation, *, show_users: bool = False) -> dict[str, Any]:
        """An interval that leaves too few records; both ends are Unix seconds, the end not included."""
        step = self.grid.step_s
        begin, end = (None, None) if self.promise.tau is None else (
            violation.begin * step, (violation.begin + self.promise.tau) * step,
        )  # fmt: skip
        if show_users and not len(self.users):
            raise InputError("An audit that was pickled has no names of users: audit again to see them.")
        named = {"user": str(self.users[violation.user])} if show_users else {}
        return {
            **named,
            "attacker": violation.attacker,
            "begin_s": begin,
            "end_s": end,
            "records": violation.n_records,
        }


def _asks_more(guarantee: int, promise: Promise, noted: Promise) -> bool:
    """Whether a promise asks for more of a guarantee than another: more records or time, or other windows.

    For guarantee 2 these are shorter windows, for guarantee 3 windows that do not lie inside windows of the other.
    """
    if guarantee == 2:
        return noted.window > promise.window
    if not noted.counts_for(promise):
        return True
    return guarantee == 3 and not noted.whole and not _lie_inside(promise, noted)


def _lie_inside(promise: Promise, noted: Promise) -> bool:
    """Whether every window of a promise lies inside a window of another; windows begin at multiples of epsilon."""
    if promise.epsilon is None or noted.epsilon is None:
        return False
    begins = range(0, math.lcm(promise.epsilon, noted.epsilon), promise.epsilon)
    return all(begin % noted.epsilon + promise.window <= noted.window for begin in begins)


def _truthfulness(found: Truthfulness) -> dict[str, Any]:
    return {
        "kept": found.kept,
        "boxes": found.n_boxes,
        "boxes_without_own_sample": found.n_empty_boxes,
        "boxes_overlapping": found.n_overlapping_boxes,
        "suppressed": _part(found.suppressed),
        "users_without_record": found.n_users_without_record,
        "suppressed_by_activity": [_part(part) for part in found.by_activity],
        "suppressed_by_hour": [_part(part) for part in found.by_hour],
    }


def _part(part: SuppressedPart) -> dict[str, Any]:
    return {"samples": part.n_samples, "suppressed": part.n_suppressed, "share": round(part.share, 6)}


def _attacks(measures: list[Measure]) -> dict[str, Any]:
    """attack -> variant (where there are several) -> measure -> proportions."""
    tree: dict[str, Any] = {}
    for found in measures:
        branch = tree.setdefault(found.attack, {})
        if found.variant:
            branch = branch.setdefault(found.variant, {})
        branch[found.measure] = {
            "words": words_of(found),
            "published": _share(found.published),
            "raw": _share(found.raw),
            "guessing": found.guessing,
        }
    return tree


def _share(share: Proportion | str) -> dict[str, Any] | str:
    if isinstance(share, str):
        return share
    numbers = {name: value for name, value in share._asdict().items() if name != "side"}
    told = {name: None if value is None else round(value, 6) for name, value in numbers.items()}
    return {**told, "side": share.side} if share.side else told
