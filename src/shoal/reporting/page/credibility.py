"""The page of ``shoal credibility``: every statistic with its band, drawn beside laws and real data."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from markupsafe import Markup

from shoal.reporting.figures.credibility import FIGURES, REAL, SERIES, Dataset, Drawing, draw_rhythm
from shoal.reporting.page import page_environment
from shoal.synthetic.credibility.bands import TOPICS
from shoal.synthetic.credibility.text import band_in_words, counts_in_words, headline, number
from shoal.synthetic.credibility.verdict import Check, Credibility

STYLE_SHEETS = ("colours.css", "figures.css")  # of a figure in a file of its own


def credibility_page(found: Credibility, name: str = "these events", real_name: str = "real data") -> str:
    """One self-contained HTML page; no identifier and no coordinate is in it."""
    datasets = [Dataset(name, SERIES[0], found.measures)]
    if found.real is not None:
        datasets.append(Dataset(real_name, REAL, found.real))
    rows = [_row(check, found) for check in found.checks]
    topics = [
        {
            "title": topic.title,
            "what": topic.what,
            "law": topic.law,
            "figures": [
                Markup(figure.panel.svg(figure.description)) for figure in _figures(topic.name, datasets)
            ],
            "checks": [row for row in rows if row["topic"] == topic.name],
        }
        for topic in TOPICS
    ]
    return (
        page_environment()
        .get_template("credibility.html.j2")
        .render(
            headline=headline(found),
            counts=counts_in_words(found.measures.setting),
            real=real_name if found.real is not None else None,
            checks=rows,
            topics=topics,
        )
    )


def _figures(topic: str, datasets: list[Dataset]) -> list[Drawing]:
    figures = [FIGURES[topic](datasets)]
    if topic == "rhythm" and any(dataset.measures.rhythm.weekend is not None for dataset in datasets):
        figures.append(draw_rhythm(datasets, weekend=True))
    return figures


def _row(check: Check, found: Credibility) -> dict[str, Any]:
    return {
        "topic": check.band.topic,
        "title": check.band.title,
        "value": number(check.band, check.value),
        "real": "" if found.real is None else number(check.band, check.band.value(found.real)),
        "band": band_in_words(check.band),
        "word": check.word,
        "outside": check.outside,
        "source": check.band.source,
        "reason": f"{check.band.reason} ({check.band.source})",
    }


def figure_style() -> str:
    """The style sheet of a figure in a file of its own."""
    folder = Path(__file__).parent / "templates"
    font = 'svg { font: 13px system-ui, -apple-system, "Segoe UI", Roboto, Arial, sans-serif; }\n'
    return font + "".join((folder / name).read_text(encoding="utf-8") for name in STYLE_SHEETS)
