"""The main job on built-in data, from made-up events to a page to look at."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from shoal.api import anonymize
from shoal.cities import write_city
from shoal.errors import InputError
from shoal.progress import Progress
from shoal.promise import Grid, Promise
from shoal.report.demo import write_demo_page

_USERS, _DAYS = 2000, 2


class Demo(NamedTuple):
    """What the demo made."""

    events: Path
    published: Path
    page: Path
    summary: dict[str, Any]
    promise: Promise
    grid: Grid


def run_demo(folder: Path, progress: Progress) -> Demo:
    """Make a city of 2,000 users for two days, anonymize it and draw what happened; replaces an earlier demo."""
    if folder.exists() and not folder.is_dir():
        raise InputError(f"The demo needs a folder, {folder.name} is a file: choose another with --folder.")
    folder.mkdir(parents=True, exist_ok=True)
    events, output, page = folder / "events.csv", folder / "published.parquet", folder / "report.html"
    progress.stage("making a city")
    write_city("city", events, users=_USERS, days=_DAYS, seed=0, force=True)
    published = anonymize(
        events, k=2, tau="30min", epsilon="30min", output=output, force=True, resume=True, progress=progress
    )
    progress.stage("drawing")
    write_demo_page(
        page,
        samples=published.events.samples,
        boxes=published.outcome.boxes,
        promise=published.promise,
        grid=published.events.grid,
        summary=published.summary,
    )
    return Demo(events, output, page, published.summary, published.promise, published.events.grid)
