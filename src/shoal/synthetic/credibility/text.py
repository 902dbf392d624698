"""The statistics and their bands in words, line by line in 80 columns for a terminal."""

from __future__ import annotations

import textwrap

from shoal.core.formatting import counted, duration
from shoal.synthetic.credibility.bands import Band
from shoal.synthetic.credibility.measures import Setting
from shoal.synthetic.credibility.verdict import Check, Credibility

_TITLE, _NUMBER, _BAND, _WORD = 29, 8, 13, 8


def credibility_lines(found: Credibility) -> list[str]:
    """The verdict, the size of the data, a table of the statistics judged, and those that could not be."""
    beside = found.real is not None
    judged = [check for check in found.checks if check.lack is None]
    left = [check for check in found.checks if check.lack is not None]
    lines = [
        *textwrap.wrap(headline(found) + "."),
        *textwrap.wrap(counts_in_words(found.measures.setting), 80),
        "",
    ]
    real = "real" if beside else None
    lines += [_row("statistic", "measured", real, "band", "outcome", "source")]
    lines += [_line(check, found) for check in judged]
    if left:
        lines += ["", "Not judged:"]
        lines += [
            f"{check.band.title:<{_TITLE}}{number(check.band, check.value):>{_NUMBER}}  {check.lack}"
            for check in left
        ]
    return lines


def headline(found: Credibility) -> str:
    """How many statistics lie outside, as a title."""
    judged = [check for check in found.checks if check.lack is None]
    n_outside = sum(check.outside for check in judged)
    if not n_outside:
        return f"Credible: all {len(judged)} statistics lie inside their bands"
    return f"Not credible: {n_outside} of {counted(len(judged), 'statistic')} outside the band"


def counts_in_words(setting: Setting) -> str:
    """How large the data are and of what kind, in a sentence."""
    kind = "a country" if setting.is_country else "a city"
    days = "1 day" if setting.n_days == 1 else f"{setting.n_days:.3g} days"
    return (
        f"{counted(setting.n_users, 'user')}, {counted(setting.n_samples, 'sample')} at"
        f" {counted(setting.n_places, 'place')} over {days}; {setting.width_km:,.0f} km across ({kind}), times to"
        f" {duration(setting.resolution_s)}."
    )


def number(band: Band, value: float | None) -> str:
    """A value as people write it."""
    if value is None:
        return ""
    return f"{value:.0f}:00" if band.name == "trough_hour" else f"{value:,.3g}"


def band_in_words(band: Band) -> str:
    """The ends of a band, as text."""
    if band.high is None:
        return f"at least {number(band, band.low)}"
    return f"{number(band, band.low)} to {number(band, band.high)}"


def _line(check: Check, found: Credibility) -> str:
    return _row(
        check.band.title,
        number(check.band, check.value),
        None if found.real is None else number(check.band, check.band.value(found.real)),
        band_in_words(check.band),
        check.word.upper() if check.outside else check.word,
        check.band.source,
    )


def _row(title: str, value: str, real: str | None, band: str, word: str, source: str) -> str:
    """Real data take the place of the source: both do not fit."""
    beside = "" if real is None else f"{real:>{_NUMBER}}"
    line = f"{title:<{_TITLE}}{value:>{_NUMBER}}{beside}  {band:<{_BAND}}{word:<{_WORD}}"
    return (line + source if real is None else line).rstrip()
