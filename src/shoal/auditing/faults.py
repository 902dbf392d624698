"""What is wrong with what was audited, worst first: one list for headline, title, page and terminal."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from shoal.auditing.belonging import Belonging
from shoal.auditing.guarantees.judgement import State
from shoal.core.formatting import counted, joined, percent

if TYPE_CHECKING:
    from shoal.auditing.coverage.check import Coverage
    from shoal.auditing.guarantees.judgement import Judgement
    from shoal.auditing.result import Audit

_MOST_LISTED = 8  # columns
_NOT_TRUE = "what the file says is not true"
_UNRELIABLE = "This file cannot be relied on: it says of somebody what is not so."


class Fault(NamedTuple):
    """One thing that is wrong.

    clause: with figures, for whoever looks into it; title: in short, as part of a sentence; meaning: a sentence for
    somebody who is no expert.
    """

    clause: str
    title: str
    meaning: str


def faults_of(audit: Audit) -> list[Fault]:
    """Everything that is wrong, worst first; an audit failed if and only if there is something."""
    return [
        *_other_events(audit),
        *_coverage_faults(audit.coverage, audit.promise.k),
        *_empty_boxes(audit),
        *belonging_faults(_with_overlaps(audit)),
        *_guarantee_faults(audit),
    ]


def guarantees_in_words(audit: Audit) -> str:
    """Each guarantee with its state: "Guarantee 1 KEPT, 2 not checked, 3 kept on 48 of 48 windows".

    Capitals are for what counts: not where the events are doubtful or the claim is weak.
    """
    one, two, three = audit.guarantees
    counts = not (audit.weak_claim or audit.events_checked.doubtful)
    first = f"{one.state.upper() if counts else one.state}"
    if not audit.has_key:
        first += " as far as can be checked without a key"
        first += "" if audit.borders_checked is None else " (across borders it cannot)"
    second = str(two.state)
    if two.state in _TELLING:
        second += f" ({two.detail}, {basis_in_words(audit, two)})"
    elif two.state is State.NOT_CHECKED and two.part:
        second += " (the file admits that some members had to serve again)"
    third = str(three.state) + ("" if three.state is State.NOT_CHECKED else f" {three.detail}")
    return f"Guarantee 1 {first}, 2 {second}, 3 {third}"


_TELLING = (State.WEAKENED, State.BROKEN)


def basis_in_words(audit: Audit, judgement: Judgement) -> str:
    """What a judgement rests on; of a weakened guarantee also how much of that is tolerated."""
    tolerated = f"; {tolerance_in_words(audit)}" if judgement.state is State.WEAKENED else ""
    return f"{judgement.basis}{tolerated}"


def tolerance_in_words(audit: Audit) -> str:
    """For which share of the members a guarantee may be weakened."""
    return f"tolerance {percent(audit.tolerance)}"


def belonging_faults(found: Belonging) -> list[Fault]:
    """What does not belong together, a fault for each thing."""
    wrong = [tell(value) for name, tell in BELONGING.items() if (value := getattr(found, name))]
    return [*wrong, *map(_disagreement, found.disagreements)]


def _other_events(audit: Audit) -> list[Fault]:
    if not audit.events_checked.is_other:
        return []
    return [
        Fault(
            "it was made from others, so nothing is known about its promise",
            "these are not the events of this release",
            "This file was made from other events, so nothing below tells how well it protects anybody.",
        )
    ]


def _coverage_faults(found: Coverage, k: int) -> list[Fault]:
    """Too few records that fit, and records that can be nobody's."""
    faults = []
    if found.worst:
        n, fewest = len({violation.user for violation in found.worst}), found.worst[0].n_records
        worst = "no record fits" if fewest == 0 else f"only {fewest:,} fit{'s' if fewest == 1 else ''}"
        left = {0: "none at all", 1: "a single one"}.get(fewest, f"{fewest:,} instead of {k:,}")
        faults.append(
            Fault(
                f"{n:,} of {found.n_users:,} users {'is' if n == 1 else 'are'} not hidden among {k:,} records; at"
                f" worst {worst}",
                "the promise is broken",
                "This file does not do so for everybody: somebody who watched one of these people is left with fewer"
                f" records, in the worst case with {left}.",
            )
        )
    if found.n_untrue:
        nobodys = f"at least {counted(found.n_untrue, 'record')} can be nobody's in these events"
        faults.append(Fault(f"{nobodys}, so the file is not true", _NOT_TRUE, _UNRELIABLE))
    return faults


def _empty_boxes(audit: Audit) -> list[Fault]:
    truth = audit.truthfulness
    if truth is None or not truth.n_empty_boxes:
        return []
    empty = f"{truth.n_empty_boxes:,} of {truth.n_boxes:,} boxes hold no sample of their own user"
    return [Fault(empty, _NOT_TRUE, _UNRELIABLE)]


def _with_overlaps(audit: Audit) -> Belonging:
    """What does not belong together, overlaps that were found with the key included."""
    found, truth = audit.belonging, audit.truthfulness
    overlapping = 0 if truth is None else truth.n_overlapping_boxes
    return found._replace(n_overlapping_boxes=max(found.n_overlapping_boxes, overlapping))


def _guarantee_faults(audit: Audit) -> list[Fault]:
    """The guarantees that fail, in one fault; what fails of guarantee 1 is told in full before."""
    failing = audit.guarantees.failing(audit.tolerance)
    if not failing:
        return []
    meanings = {
        2: f"k records fit, but they stay with a person for longer: {audit.guarantees.one_window.detail}.",
        3: "Somebody who watched all people at once could tell that some records are not some people's.",
    }
    words, numbers = guarantees_in_words(audit), [str(judgement.number) for judgement in failing]
    not_kept = f"guarantee{' ' if len(numbers) == 1 else 's '}{joined(numbers)} {'is' if len(numbers) == 1 else 'are'}"
    meaning = " ".join(meanings[each.number] for each in failing if each.number in meanings)
    return [Fault(words[0].lower() + words[1:], f"{not_kept} not kept", meaning)]


def _surplus_records(n: int) -> Fault:
    more = f"there are {counted(n, 'record')} more than users, so the file is not true"
    return Fault(more, _NOT_TRUE, _UNRELIABLE)


def _overlapping_boxes(n: int) -> Fault:
    overlap = "1 box overlaps" if n == 1 else f"{n:,} boxes overlap"
    return Fault(
        f"{overlap} with another of the same record in time",
        "boxes of a record overlap in time",
        "Of some records of this file, boxes overlap in time, as if somebody had been in two places at once.",
    )


def _boxes_outside(n: int) -> Fault:
    lie = "1 box lies" if n == 1 else f"{n:,} boxes lie"
    return Fault(f"{lie} before the first or after the last of these events", _NOT_TRUE, _UNRELIABLE)


def _named(n: int) -> Fault:
    named = "1 record is named after its user" if n == 1 else f"{n:,} records are named after their users"
    return Fault(
        f"{named}, by identifiers or digests of them: give records random names",
        "records are named after their users",
        "Whoever knows what a user is called knows the record: names of records must be random.",
    )


def _other_places(n: int) -> Fault:
    return Fault(
        f"{'1 box has' if n == 1 else f'{n:,} boxes have'} other places beside x and y than their hull, in degrees or"
        " as polygons: drop these columns, or make them of x and y",
        "the file gives other places than its boxes",
        "Beside x and y this file gives places that are not those of its boxes. They may be untrue, or tell more than"
        " the boxes.",
    )


def _unchecked_columns(names: tuple[str, ...]) -> Fault:
    listed = f"{joined(names[:_MOST_LISTED])}{', ...' if len(names) > _MOST_LISTED else ''}"
    return Fault(
        f"{counted(len(names), 'column')} {'was' if len(names) == 1 else 'were'} not checked ({listed}): drop what is"
        " no part of the format",
        "the file holds columns that were not checked",
        "This file says more than its boxes, in columns that were not checked. They may give people away.",
    )


def _in_user_order(_: bool) -> Fault:
    return Fault(
        "records stand, or are named, in the order of their users: give records random names, and put them in the order"
        " of these",
        "records stand in the order of their users",
        "Whoever has a list of the users can count down to the record: the order of records must be random.",
    )


def _living_on(n: int) -> Fault:
    go_on = "1 record goes" if n == 1 else f"{n:,} records go"
    return Fault(
        f"{go_on} on beyond a border at which names should change",
        "names live on beyond the borders",
        "The file says that records get new names, but some keep theirs: whoever finds one of these reads more than a"
        " period.",
    )


def _parts_tied(_: bool) -> Fault:
    return Fault(
        "the names or the order of records tie the parts of one person together: give every part a random name, and put"
        " records in the order of these",
        "names or order tie parts together",
        "Parts of one person have names that are alike, or stand at like places: whoever finds one finds them all.",
    )


def _unchecked_entries(entries: tuple[tuple[str, int], ...]) -> Fault:
    n = sum(number for _, number in entries)
    where = joined(Belonging(entries=entries).entries_in_words)
    return Fault(
        f"{'1 entry was' if n == 1 else f'{n:,} entries were'} not checked ({where}): publish what shoal wrote, as it"
        " was written",
        "the file holds entries that were not checked",
        "This file, or its manifest, says more than the format has room for. That was not checked, and may give people"
        " away.",
    )


def _key_unused(_: bool) -> Fault:
    return Fault(
        "the key was not used",
        "the key could not be used",
        "The key that was given does not go with this file, so most of it was not checked.",
    )


def _disagreement(words: str) -> Fault:
    return Fault(
        words,
        "the manifest is not true of this file",
        f"The manifest of this file says what is not so: {words}.",
    )


# Fields of Belonging, worst first; of disagreements each is a fault of its own.
BELONGING: dict[str, Callable[[Any], Fault]] = {
    "n_surplus_records": _surplus_records,
    "n_overlapping_boxes": _overlapping_boxes,
    "n_boxes_outside": _boxes_outside,
    "n_named": _named,
    "in_user_order": _in_user_order,
    "n_living_on": _living_on,
    "parts_tied": _parts_tied,
    "n_other_places": _other_places,
    "unchecked": _unchecked_columns,
    "entries": _unchecked_entries,
    "key_unused": _key_unused,
}
