"""What a file claims: whether that says anything, how it was made, and the windows that follow.

The latter two are all that the chain attack assumes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from shoal.auditing.kernels.consistency import Trajectories
from shoal.core.arrays import Int64s
from shoal.core.boxes import Boxes
from shoal.core.periods import ONE_PERIOD, Periods
from shoal.core.promise import Promise

WEAK = (
    "tau is no longer than the time from one sample to the next of most people, so that whoever the promise is about"
    " typically knows a single sample. A file keeps such a promise easily: say with --k, --tau and --epsilon what you"
    " require."
)


def is_weak(promise: Promise, trajectories: Trajectories) -> bool:
    """Whether a promise says nearly nothing of these samples: most people's next sample is mostly too late for tau.

    That is so for more than half of the people: no interval of tau holds both ends of more than half of the times from
    one sample of theirs to the next later one; or they have samples at one time only.
    """
    if promise.tau is None:
        return False
    n_users = len(trajectories.ptr) - 1
    user = np.repeat(np.arange(n_users), np.diff(trajectories.ptr))
    gap = np.diff(trajectories.sample["t"])
    later = (user[1:] == user[:-1]) & (gap > 0)
    n_gaps, n_long = (
        np.bincount(user[1:][chosen], minlength=n_users) for chosen in (later, later & (gap >= promise.tau))
    )
    seldom = (n_gaps == 0) | (2 * n_long > n_gaps)
    return bool(2 * np.count_nonzero(seldom) > n_users)


def windows_of(boxes: Boxes, promise: Promise, periods: Periods = ONE_PERIOD) -> tuple[Int64s, Int64s]:
    """The windows in which people must have been hidden, as recipients can tell: first slots, and slots behind the end.

    Epochs with boxes belong to one stretch if fewer than r epochs without boxes lie between them. Windows lie inside of
    stretches; a stretch shorter than a window is a window itself. Where samples were suppressed in whole epochs, there
    were more windows than these, but these were among them. Over whole trajectories there is one window in each of the
    ``periods`` after which records get new names.
    """
    if promise.epsilon is None:
        period = periods.of(boxes.t0)
        chosen = [period == each for each in np.unique(period).tolist()]
        begins, behind = (
            np.array([int(pick(column[there])) for there in chosen])
            for column, pick in ((boxes.t0, np.min), (boxes.t1 + 1, np.max))
        )
        return begins, behind
    epsilon, reach = promise.epsilon, promise.reach
    epochs = np.unique(boxes.t0 // epsilon)
    ends = np.flatnonzero(np.diff(epochs) > reach)
    first, last = epochs[np.append(0, ends + 1)], epochs[np.append(ends, len(epochs) - 1)]
    windows = [
        np.arange(begin, max(begin, end - reach) + 1)
        for begin, end in zip(first.tolist(), last.tolist(), strict=True)
    ]
    low = np.concatenate(windows)
    shorter = np.minimum(low + reach, np.repeat(last, [len(part) for part in windows]))
    return low * epsilon, (shorter + 1) * epsilon


_ALWAYS = ("once", "pair")  # rules of reuse under which no record covers the same person twice
_SPACED = "spaced"  # not twice in windows that overlap one tau
_COVERING = ("matching", "mutual")  # selectors that cover everybody,
_NOT_COVERING = "spectral"  # and the paper's, which does once repaired


def section_of(account: Mapping[str, Any] | None, name: str) -> Mapping[str, Any]:
    """A section of a manifest or of metadata, empty where there is none."""
    section = (account or {}).get(name)
    return section if isinstance(section, Mapping) else {}


def covers_everybody(parameters: Mapping[str, Any]) -> bool | None:
    """Whether everybody is covered in a file made with these parameters of a manifest; None where they do not tell."""
    if parameters.get("selector") in _COVERING or parameters.get("repair") is True:
        return True
    return False if parameters.get("selector") == _NOT_COVERING else None


class MethodClaim(NamedTuple):
    """A file is made for a promise, so that everybody is covered by k - 1 others in every window.

    distinct: nobody is covered by the same record in two windows that overlap what an attacker saw. certain: the
    manifest says that the file was made that way, so the attack cannot rule out a true record.
    """

    promise: Promise
    distinct: bool
    certain: bool


def claimed_method(
    manifest: Mapping[str, Any] | None, noted: Promise | None, described: object, held_to: Promise
) -> MethodClaim:
    """Take the claim from the manifest of a file, if that manifest is about this file.

    ``noted`` is the promise that the file makes, as ``described`` in its own metadata or else in its manifest.
    ``held_to`` is the promise of the audit, which takes the place of one that is not noted.
    """
    if manifest is None or noted is None or manifest.get("promise") != described:
        return MethodClaim(noted or held_to, distinct=False, certain=False)
    told = section_of(manifest, "parameters")
    certain = covers_everybody(told) is True
    nobody_again = type(manifest.get("relaxations")) is int and manifest["relaxations"] == 0
    kept_apart = told.get("reuse") in _ALWAYS or (
        told.get("reuse") == _SPACED and (held_to.tau or 0) <= (noted.tau or 0)
    )
    return MethodClaim(noted, certain and nobody_again and kept_apart, certain)
