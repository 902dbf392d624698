"""What users may choose of plans and sweeps: which promises are tried. All else is chosen as for a release."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypedDict

from shoal.core.option_fields import Options, choice
from shoal.core.options import PromiseOptions
from shoal.core.promise import Duration, Grid, duration_text

NOT_EVALUATED = (
    "selector",
    "repair",
    "shard_size",
    "rename_every",
    "min_spread",
    "max_space",  # everything is done again and again until limits are kept, and only then is their share known
    "max_time",
)  # options of hiding that plan and sweep do not offer
GRID = ("cell", "step")  # of the promise: all that is not tried
AXES = ("tau", "k", "epsilon", "hours")  # what a sweep may vary


def grid_among(keywords: Mapping[str, Any]) -> Grid:
    """The finest resolution among the keywords of a call."""
    return Grid.parse(*(keywords.get(name, getattr(PromiseOptions, name)) for name in GRID))


class GridKeywords(TypedDict, total=False):
    """The grid of PromiseOptions as keywords of a function."""

    cell: str
    step: Duration


class PlanKeywords(TypedDict, total=False):
    """PlanOptions as keywords of a function."""

    ks: Sequence[int]
    taus: Sequence[Duration]
    epsilons: Sequence[Duration]


@dataclass(frozen=True)
class PlanOptions(Options):
    """Which promises are forecast: every k with every tau and every epsilon that divides it."""

    ks: Sequence[int] = choice((2, 3, 5), "Values of k.", metavar="LIST")
    taus: Sequence[str] = choice(("30min", "1h", "2h"), "Values of tau.", metavar="LIST")
    epsilons: Sequence[str] = choice(("30min",), "Values of epsilon.", metavar="LIST")

    def __post_init__(self) -> None:
        _keep_texts(self, "taus", "epsilons")


class SweepKeywords(TypedDict, total=False):
    """SweepOptions as keywords of a function."""

    over: Sequence[str]
    k: int
    tau: Duration
    ks: Sequence[int]
    taus: Sequence[Duration]
    epsilons: Sequence[Duration] | None
    selectors: Sequence[str] | None


@dataclass(frozen=True)
class SweepOptions(Options):
    """Which releases are measured: one thing varies at a time, the others stay.

    over: what varies. k, tau: where they do not vary. ks, taus, epsilons: the values of what varies; epsilons are tau,
    its half and its third unless given. selectors: ours and the paper's side by side unless given.
    """

    over: Sequence[str] = choice(
        AXES, "What varies: tau, k, epsilon; hours: a week, hour by hour.", metavar="NAMES"
    )
    k: int = choice(2, "k where it does not vary.")
    tau: str = choice("30min", "tau where it does not vary; epsilon is the same unless it varies.")
    ks: Sequence[int] = choice((2, 3, 5, 8), "Values of k.", metavar="LIST")
    taus: Sequence[str] = choice(
        ("10min", "20min", "30min", "1h", "2h", "4h"),
        "Values of tau, each with epsilon = tau.",
        metavar="LIST",
    )
    epsilons: Sequence[str] | None = choice(
        None,
        "Values of epsilon, which must divide tau: tau, its half and its third unless given.",
        metavar="LIST",
    )
    selectors: Sequence[str] | None = choice(
        None,
        "How hiding sets are chosen, side by side: matching, mutual, spectral. The first and the last unless given"
        " (spectral where scikit-learn is installed).",
        metavar="LIST",
    )

    def __post_init__(self) -> None:
        object.__setattr__(self, "tau", duration_text(self.tau, "tau"))
        _keep_texts(self, "taus", "epsilons")


def _keep_texts(options: Options, *names: str) -> None:
    """Keep the durations of these lists as texts, whatever they were given as: what is saved is text."""
    for name in names:
        given = getattr(options, name)
        if isinstance(given, list | tuple):
            object.__setattr__(options, name, tuple(duration_text(each, name) for each in given))
