"""The verdict on events: which statistics lie inside their bands, and which could not be judged."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from shoal.core.formatting import counted
from shoal.core.showing import html_of
from shoal.errors import InputError
from shoal.reading import Events
from shoal.synthetic.credibility.bands import BANDS, LEAST_USERS, SLACK_DAYS, Band
from shoal.synthetic.credibility.measures import Measures, measure
from shoal.synthetic.credibility.traces import traces_of

TOO_FEW = "too few samples"


class Check(NamedTuple):
    """A statistic held to its band; ``lack`` says why it could not be."""

    band: Band
    value: float | None
    lack: str | None

    @property
    def outside(self) -> bool:
        """Whether the statistic was judged and lies outside its band."""
        return self.lack is None and self.value is not None and not self.band.holds(self.value)

    @property
    def word(self) -> str:
        """The outcome in a word or three."""
        return self.lack or ("outside" if self.outside else "inside")


@dataclass(frozen=True)
class Credibility:
    """Whether events look like those of people: statistics held to bands. A notebook shows it as a table.

    Attributes
    ----------
    measures, real : Measures, Measures or None
        The statistics and their curves; and those of real events, if given.
    checks : list of Check
        Every statistic with its band.
    warnings : list of str
        What looks wrong with the events.

    Examples
    --------
    >>> import shoal
    >>> found = shoal.assess(shoal.make_city(200, days=2, seed=1))
    >>> found.to_dict()["statistics"]["samples_per_user_hour"]["outcome"]
    'inside'
    """

    measures: Measures
    checks: list[Check]
    real: Measures | None
    warnings: list[str]

    def __repr__(self) -> str:
        outside = sum(check.outside for check in self.checks)
        return (
            f"<Credibility: {counted(len(self.checks), 'statistic')}, {outside} outside; .to_dict() has them>"
        )

    def _repr_html_(self) -> str:
        return html_of(self)

    @property
    def credible(self) -> bool:
        """Whether all statistics that could be judged lie inside their bands."""
        return not any(check.outside for check in self.checks)

    def to_dict(self) -> dict[str, Any]:
        """Everything but the curves, under stable keys."""
        return {
            "credible": self.credible,
            "setting": self.measures.setting._asdict(),
            "statistics": {
                check.band.name: {
                    "value": check.value,
                    "low": check.band.low,
                    "high": check.band.high,
                    "outcome": "not judged" if check.lack else check.word,
                    "lack": check.lack,
                    "real": None if self.real is None else check.band.value(self.real),
                    "source": check.band.source,
                    "reason": check.band.reason,
                }
                for check in self.checks
            },
            "unicity_interval": [self.measures.unicity.low, self.measures.unicity.high],
            "warnings": self.warnings,
        }


def assess_events(events: Events, real: Events | None = None, *, seed: int = 0) -> Credibility:
    """Measure events and hold them to the bands; ``real`` events are measured beside them, but not judged."""
    if events.samples.n_users < LEAST_USERS:
        raise InputError(
            f"The statistics need at least {LEAST_USERS} users, found {events.samples.n_users}: take more."
        )
    traces = traces_of(events)
    if traces.n_days < 1 - SLACK_DAYS:
        raise InputError(
            f"The statistics need samples of at least a day, found {counted(traces.n_hours, 'hour')}: take more."
        )
    found = measure(traces, seed)
    beside = None if real is None else measure(traces_of(real), seed)
    warnings = events.read_summary.all_warnings + (
        [] if real is None else [f"Real events: {line}" for line in real.read_summary.all_warnings]
    )
    return Credibility(found, judge(found), beside, warnings)


def judge(measures: Measures) -> list[Check]:
    """Every statistic that concerns this kind of data."""
    checks = []
    for band in BANDS:
        if band.concerns(measures.setting):
            value = band.value(measures)
            checks.append(Check(band, value, band.lack(measures) or (TOO_FEW if value is None else None)))
    return checks
