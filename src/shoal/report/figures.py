"""The figures of the demo page, as inline SVG."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from shoal.boxes import Boxes
from shoal.promise import Grid, Promise
from shoal.report.drawing import Panel, round_ticks, time_ticks
from shoal.report.story import Story
from shoal.samples import Bools, Int64s, Samples

Floats = npt.NDArray[np.float64]

SHOWN_RECORDS = 6  # as many as there are colours that can be told apart
_MAP_HEIGHT = 400
_PLACES_DRAWN = 1_500
_LANE_HEIGHT = 57


def day_in_time(story: Story, samples: Samples, boxes: Boxes, grid: Grid) -> str:
    """The user's samples and boxes over the hours of the day."""
    rows, own = _own_samples(story, samples), _own_boxes(story, boxes)
    along_x = np.ptp(samples.x[rows]) >= np.ptp(samples.y[rows])
    position = samples.x[rows] if along_x else samples.y[rows]
    low, high = (own.x0, own.x1) if along_x else (own.y0, own.y1)
    km = grid.cell_m / 1000
    origin = min(int(position.min()), int(low.min(initial=2**31 - 1)))
    top = (max(int(position.max()), int(high.max(initial=-(2**31)))) + 1 - origin) * km
    panel = Panel(story.view, (-0.05 * top, 1.05 * top), height=_MAP_HEIGHT)
    panel.y_axis(round_ticks(0, top), "km, " + ("west to east" if along_x else "south to north"))
    panel.x_axis(time_ticks(*story.view, grid.step_s), "time (UTC)")
    if story.interval != story.view:
        panel.box(story.interval, panel.y_range, "watched", least=2)
    for i in range(own.n_boxes):
        span = ((int(low[i]) - origin) * km, (int(high[i]) + 1 - origin) * km)
        panel.box((float(own.t0[i]), float(own.t1[i] + 1)), span, "box own", least=3)
    for row, at in zip(rows, position, strict=True):
        css = "sample seen" if row in story.seen and story.interval != story.view else "sample"
        panel.dot(float(samples.t[row]) + 0.5, (float(at) + 0.5 - origin) * km, css, 2.8)
    return panel.svg("The samples of one user over the day, and the published boxes that hold them.")


def day_on_map(story: Story, samples: Samples, boxes: Boxes, grid: Grid) -> str:
    """The user's samples and boxes on a map, over the places of everybody's samples."""
    rows, own = _own_samples(story, samples), _own_boxes(story, boxes)
    panel, km, origin = _map(samples, rows, own, grid)
    for i in range(own.n_boxes):
        panel.box(*_area(own, i, km, origin), "box own thin", least=2)
    _draw_visits(panel, samples, rows, "sample", km, origin)
    return panel.svg(
        "The same samples and boxes on a map. A larger dot stands for more samples at one place."
    )


def candidates_in_time(story: Story, samples: Samples, boxes: Boxes, grid: Grid, promise: Promise) -> str:
    """One lane per record that fits: its boxes before, during and after the interval."""
    begin, end = story.interval
    pad = 0 if promise.tau is None else promise.tau
    shown = story.fitting[:SHOWN_RECORDS]
    n_lanes = len(shown)
    panel = Panel((begin - pad, end + pad), (0, n_lanes), height=58 + max(n_lanes, 2) * _LANE_HEIGHT, left=74)
    panel.x_axis(time_ticks(begin - pad, end + pad, grid.step_s, most=5), "time (UTC)")
    panel.box((begin, end), (0, n_lanes), "watched")
    for lane, owner in enumerate(shown):
        top = n_lanes - lane
        panel.words(panel.left - 8, panel.y(top - 0.5) + 4.5, _lane_name(lane), "lane", anchor="end")
        for i in np.flatnonzero(boxes.owner == owner):
            t0, t1 = float(boxes.t0[i]), float(boxes.t1[i] + 1)
            if t1 > begin - pad and t0 < end + pad:
                panel.box((t0, t1), (top - 0.8, top - 0.2), f"box record{lane}", least=2)
    for row in story.seen:
        for lane in range(n_lanes):
            panel.dot(float(samples.t[row]) + 0.5, lane + 0.5, "sample seen", 2.6)
    return panel.svg(f"When the boxes of {n_lanes} records that fit begin and end; dots are what was seen.")


def candidates_on_map(story: Story, samples: Samples, boxes: Boxes, grid: Grid, promise: Promise) -> str:
    """Where the boxes are that hold what the attacker saw, one colour per record that fits.

    The map is as large as the first k records need; boxes of others may reach beyond it.
    """
    begin, end = story.interval
    shown = story.fitting[:SHOWN_RECORDS]
    during = np.isin(boxes.owner, shown) & (boxes.t1 >= begin) & (boxes.t0 < end)
    holding = _select(boxes, np.flatnonzero(during & _holds_any(boxes, samples, story.seen)))
    closest = _select(holding, np.flatnonzero(np.isin(holding.owner, shown[: promise.k])))
    panel, km, origin = _map(samples, story.seen, closest, grid)
    for lane in range(len(shown) - 1, -1, -1):
        for i in np.flatnonzero(holding.owner == shown[lane]):
            panel.box(*_area(holding, int(i), km, origin), f"box record{lane} thin", least=2)
    _draw_visits(panel, samples, story.seen, "sample seen", km, origin)
    return panel.svg("On the map, what was seen lies within the boxes of every record that fits.")


def precision_histogram(
    values: Floats, finest: float, quartiles: dict[str, float], name: str, unit: str
) -> str:
    """How many boxes are how large, with the median marked; the largest are counted in the last bar.

    Values are multiples of ``finest``, and so are the bars' widths: otherwise some would hold fewer values than others.
    """
    reach = max(float(np.quantile(values, 0.97)), quartiles["median"] * 1.2) if len(values) else finest
    width = max(round(reach / 30 / finest), 1) * finest
    top = math.ceil(reach / width) * width
    edges = np.arange(round(top / width) + 1) * width + finest / 2
    edges[0], top = 0, float(edges[-1])
    counts, _ = np.histogram(np.minimum(values, top), edges)
    shares = 100 * counts / max(len(values), 1)
    highest = float(shares.max(initial=1.0)) * 1.18
    panel = Panel((0, top), (0, highest), height=280)
    panel.y_axis(round_ticks(0, highest, 5), "% of boxes")
    for i, share in enumerate(shares):
        panel.box((edges[i] + 0.06 * width, edges[i + 1] - 0.06 * width), (0, float(share)), "bar")
    ticks = [tick for tick in round_ticks(0, top) if tick[0] < 0.93 * top]
    panel.x_axis([*ticks, (top, f"≥ {top:,.0f}")], name, grid=False)
    median = quartiles["median"]
    panel.mark(median, f"median {median:,.3g} {unit}")
    return panel.svg(f"{name} of the boxes; half of them have at most {median:,.3g} {unit}.")


def samples_by_hour(hour: Int64s, published: Bools) -> str:
    """Samples by the hour of the day: published below, suppressed on top."""
    kept, lost = (np.bincount(hour[mask], minlength=24) for mask in (published, ~published))
    highest = float((kept + lost).max(initial=1)) * 1.08
    panel = Panel((0, 24), (0, highest), height=280, left=70)
    panel.y_axis(round_ticks(0, highest, 5), "samples")
    for i in range(24):
        panel.box((i + 0.08, i + 0.92), (0, float(kept[i])), "bar")
        if lost[i]:
            panel.box((i + 0.08, i + 0.92), (float(kept[i]), float(kept[i] + lost[i])), "bar lost", least=1)
    panel.x_axis(_HOURS, "hour of the day (UTC)", grid=False)
    return panel.svg("Samples in each hour of the day, published and suppressed.")


def suppressed_by_hour(hour: Int64s, published: Bools) -> str:
    """Share of samples suppressed by the hour of the day."""
    everything = np.bincount(hour, minlength=24)
    share = 100 * np.bincount(hour[~published], minlength=24) / np.maximum(everything, 1)
    highest = max(float(share.max()) * 1.08, 0.1)
    panel = Panel((0, 24), (0, highest), height=280)
    panel.y_axis(round_ticks(0, highest, 5), "% suppressed")
    for i in range(24):
        panel.box((i + 0.08, i + 0.92), (0, float(share[i])), "bar lost")
    panel.x_axis(_HOURS, "hour of the day (UTC)", grid=False)
    return panel.svg("Share of the samples of each hour of the day that were suppressed.")


_HOURS = [(float(hour), f"{hour}") for hour in range(0, 25, 4)]


def _lane_name(lane: int) -> str:
    return "own" if lane == 0 else f"other {lane}"


def _own_samples(story: Story, samples: Samples) -> Int64s:
    begin, end = story.view
    mine = (samples.user == story.user) & (samples.t >= begin) & (samples.t < end)
    return np.flatnonzero(mine).astype(np.int64)


def _own_boxes(story: Story, boxes: Boxes) -> Boxes:
    begin, end = story.view
    return _select(
        boxes, np.flatnonzero((boxes.owner == story.user) & (boxes.t1 >= begin) & (boxes.t0 < end))
    )


def _select(boxes: Boxes, rows: npt.NDArray[np.intp]) -> Boxes:
    return Boxes(*(column[rows] for column in boxes))  # type: ignore[arg-type]


def _holds_any(boxes: Boxes, samples: Samples, rows: Int64s) -> Bools:
    held = np.zeros(boxes.n_boxes, dtype=np.bool_)
    for row in rows:
        t, x, y = int(samples.t[row]), int(samples.x[row]), int(samples.y[row])
        in_time = (boxes.t0 <= t) & (boxes.t1 >= t)
        held |= in_time & (boxes.x0 <= x) & (boxes.x1 >= x) & (boxes.y0 <= y) & (boxes.y1 >= y)
    return held


def _map(samples: Samples, rows: Int64s, boxes: Boxes, grid: Grid) -> tuple[Panel, float, tuple[int, int]]:
    """A map (of one scale both ways) around some samples and boxes, with everybody's places."""
    km = grid.cell_m / 1000
    west = min(int(samples.x[rows].min()), int(boxes.x0.min(initial=2**31 - 1)))
    south = min(int(samples.y[rows].min()), int(boxes.y0.min(initial=2**31 - 1)))
    width = (max(int(samples.x[rows].max()), int(boxes.x1.max(initial=-(2**31)))) + 1 - west) * km
    height = (max(int(samples.y[rows].max()), int(boxes.y1.max(initial=-(2**31)))) + 1 - south) * km
    panel = Panel((0, 1), (0, 1), height=_MAP_HEIGHT)
    per_unit = 1.08 * max(width / panel.inner_width, height / panel.inner_height)
    half_x, half_y = per_unit * panel.inner_width / 2, per_unit * panel.inner_height / 2
    panel.x_range = (width / 2 - half_x, width / 2 + half_x)
    panel.y_range = (height / 2 - half_y, height / 2 + half_y)
    panel.y_axis(round_ticks(*panel.y_range), "km, south to north")
    panel.x_axis(round_ticks(*panel.x_range), "km, west to east")
    places = np.unique(np.stack([samples.x, samples.y]), axis=1)
    for x, y in places[:, :: max(places.shape[1] // _PLACES_DRAWN, 1)].T:
        panel.dot((int(x) + 0.5 - west) * km, (int(y) + 0.5 - south) * km, "place", 1.5)
    return panel, km, (west, south)


def _area(
    boxes: Boxes, i: int, km: float, origin: tuple[int, int]
) -> tuple[tuple[float, float], tuple[float, float]]:
    west, south = origin
    across = ((int(boxes.x0[i]) - west) * km, (int(boxes.x1[i]) + 1 - west) * km)
    return across, ((int(boxes.y0[i]) - south) * km, (int(boxes.y1[i]) + 1 - south) * km)


def _draw_visits(
    panel: Panel, samples: Samples, rows: Int64s, css: str, km: float, origin: tuple[int, int]
) -> None:
    visits, counts = np.unique(np.stack([samples.x[rows], samples.y[rows]]), axis=1, return_counts=True)
    for (x, y), count in zip(visits.T, counts, strict=True):
        at = (int(x) + 0.5 - origin[0]) * km, (int(y) + 0.5 - origin[1]) * km
        panel.dot(*at, css, min(2.4 + 1.1 * float(count) ** 0.5, 9.0))
