"""The page that ``shoal demo`` ends with: the promise, what came out, and one user hidden among others."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from markupsafe import Markup

from shoal.auditing.truthfulness import held_samples
from shoal.boxes import Boxes
from shoal.promise import Grid, Promise
from shoal.report import figures
from shoal.report.pages import page_environment
from shoal.report.story import Story, choose_story
from shoal.samples import Samples


def write_demo_page(
    path: Path,
    *,
    samples: Samples,
    boxes: Boxes,
    promise: Promise,
    grid: Grid,
    summary: dict[str, Any],
    seed: int = 0,
) -> None:
    """Write one self-contained HTML page about a run on made-up data; ``seed`` chooses the user shown.

    The page shows raw samples of a user. Never write it about real people. ``summary`` holds users, samples,
    records, boxes, suppressed_samples, suppressed_share (a fraction), precision_km and precision_minutes
    (q25, median, q75), relaxations and seconds.
    """
    page = page_environment().get_template("demo.html.j2")
    story = choose_story(samples, boxes, promise, grid, seed=seed)
    html = page.render(
        headline=headline(promise, grid),
        promise_words=promise_in_words(promise, grid),
        beyond_words=beyond_in_words(promise, grid),
        promise=promise,
        tau=None if promise.tau is None else duration_in_words(promise.tau * grid.step_s),
        epsilon=None if promise.epsilon is None else duration_in_words(promise.epsilon * grid.step_s),
        cell=f"{grid.cell_m:g} m",
        summary=summary,
        day=None if story is None else _day(story, samples, boxes, grid),
        attack=None if story is None else _attack(story, samples, boxes, grid, promise),
        precision=_precision(boxes, grid, summary),
        hours=_hours(samples, boxes, grid),
    )
    path.write_text(html, encoding="utf-8")


def headline(promise: Promise, grid: Grid) -> str:
    """The promise as a title."""
    if promise.tau is None:
        return f"Know anyone's whole trajectory: at least {promise.k} records fit"
    return (
        f"Watch anyone for {duration_in_words(promise.tau * grid.step_s)}: at least {promise.k} records fit"
    )


def promise_in_words(promise: Promise, grid: Grid) -> str:
    """The promise as a sentence for somebody who is no expert."""
    if promise.tau is None:
        knows = "knows every sample of a person in this data"
    else:
        tau = duration_in_words(promise.tau * grid.step_s)
        knows = f"watched a person for any {tau}, and knows every sample of that time,"
    fits = f"at least {promise.k} published records that fit"
    return f"Somebody who {knows} still finds {fits}, and the person's own is only one of them."


def beyond_in_words(promise: Promise, grid: Grid) -> str | None:
    """What is given away outside the interval, by construction; None for whole trajectories."""
    if promise.tau is None or promise.epsilon is None:
        return None
    window = duration_in_words((promise.reach + 1) * promise.epsilon * grid.step_s)
    return (
        f"Each of the other records is made to stay with the person for one stretch of at most {window}, and"
        " then goes its own way, so finding them does not mean following the person any further. (Records may"
        " still agree by accident, as when two people are at home in the same cell.)"
    )


def duration_in_words(seconds: int) -> str:
    """A duration such as ``30 minutes`` or ``1 hour 30 minutes``."""
    words = []
    for size, unit in ((86_400, "day"), (3_600, "hour"), (60, "minute"), (1, "second")):
        number, seconds = divmod(seconds, size)
        if number:
            words.append(f"{number} {unit}" + ("s" if number > 1 else ""))
    return " ".join(words)


def _day(story: Story, samples: Samples, boxes: Boxes, grid: Grid) -> dict[str, Any]:
    return {
        "in_time": Markup(figures.day_in_time(story, samples, boxes, grid)),
        "on_map": Markup(figures.day_on_map(story, samples, boxes, grid)),
    }


def _attack(story: Story, samples: Samples, boxes: Boxes, grid: Grid, promise: Promise) -> dict[str, Any]:
    begin, end = (datetime.fromtimestamp(slot * grid.step_s, UTC) for slot in story.interval)
    form = "%H:%M" if begin.date() == end.date() else "%d %b %H:%M"
    places = np.unique(np.stack([samples.x[story.seen], samples.y[story.seen]]), axis=1)
    return {
        "begin": begin.strftime(form),
        "end": end.strftime(form),
        "n_seen": len(story.seen),
        "n_places": places.shape[1],
        "n_fitting": len(story.fitting),
        "n_shown": min(len(story.fitting), figures.SHOWN_RECORDS),
        "kept": len(story.fitting) >= promise.k,
        "in_time": Markup(figures.candidates_in_time(story, samples, boxes, grid, promise)),
        "on_map": Markup(figures.candidates_on_map(story, samples, boxes, grid, promise)),
    }


def _precision(boxes: Boxes, grid: Grid, summary: dict[str, Any]) -> dict[str, Markup]:
    km = boxes.cells() * grid.cell_m / 1000
    minutes = (boxes.t1 - boxes.t0 + 1) * grid.step_s / 60
    space = figures.precision_histogram(
        km, grid.cell_m / 1000, summary["precision_km"], "width + height of a box, km", "km"
    )
    time = figures.precision_histogram(
        minutes, grid.step_s / 60, summary["precision_minutes"], "duration of a box, minutes", "min"
    )
    return {"space": Markup(space), "time": Markup(time)}


def _hours(samples: Samples, boxes: Boxes, grid: Grid) -> dict[str, Any]:
    published = held_samples(samples, boxes)
    hour = (samples.t * grid.step_s // 3_600) % 24
    any_lost = not bool(published.all())
    return {
        "samples": Markup(figures.samples_by_hour(hour, published)),
        "suppressed": Markup(figures.suppressed_by_hour(hour, published)) if any_lost else None,
    }
