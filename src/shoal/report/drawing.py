"""A small SVG panel with axes; colours come from the page's style sheet, so light and dark both work."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import UTC, datetime
from html import escape

WIDTH = 480
_LEFT, _RIGHT, _TOP, _BOTTOM = 46, 22, 14, 44
_TIME_STEPS_S = (300, 600, 900, 1_800, 3_600, 7_200, 10_800, 14_400, 21_600, 43_200, 86_400, 172_800, 604_800)

Ticks = Sequence[tuple[float, str]]


class Panel:
    """One drawing: data ranges, things drawn in data units, two axes."""

    def __init__(
        self,
        x_range: tuple[float, float],
        y_range: tuple[float, float],
        *,
        height: int = 320,
        left: int = _LEFT,
    ) -> None:
        self.x_range, self.y_range, self.height, self.left = x_range, y_range, height, left
        self._around: list[str] = []
        self._inside: list[str] = []  # clipped to the axes
        self._above: list[str] = []

    @property
    def inner_width(self) -> float:
        """Width between the axes, in drawing units."""
        return WIDTH - self.left - _RIGHT

    @property
    def inner_height(self) -> float:
        """Height between the axes, in drawing units."""
        return self.height - _TOP - _BOTTOM

    def x(self, value: float) -> float:
        """Position of a value along the horizontal axis."""
        low, high = self.x_range
        return self.left + (value - low) / (high - low) * self.inner_width

    def y(self, value: float) -> float:
        """Position of a value along the vertical axis (upwards)."""
        low, high = self.y_range
        return self.height - _BOTTOM - (value - low) / (high - low) * self.inner_height

    def box(self, x: tuple[float, float], y: tuple[float, float], css: str, *, least: float = 0.0) -> None:
        """A rectangle of at least ``least`` units each way; what sticks out of the axes is not drawn."""
        width, height = (
            max(size, least) for size in (self.x(x[1]) - self.x(x[0]), self.y(y[0]) - self.y(y[1]))
        )
        left = (self.x(x[0]) + self.x(x[1]) - width) / 2
        top = (self.y(y[0]) + self.y(y[1]) - height) / 2
        self._inside.append(
            f'<rect class="{css}" x="{left:.1f}" y="{top:.1f}" width="{width:.1f}" height="{height:.1f}"/>'
        )

    def dot(self, x: float, y: float, css: str, radius: float) -> None:
        """A filled circle; left out when it lies outside the axes."""
        if self.x_range[0] <= x <= self.x_range[1] and self.y_range[0] <= y <= self.y_range[1]:
            self._inside.append(
                f'<circle class="{css}" cx="{self.x(x):.1f}" cy="{self.y(y):.1f}" r="{radius:.1f}"/>'
            )

    def mark(self, x: float, label: str) -> None:
        """A vertical line across the panel, above everything else, with a label at its top."""
        on_the_left = self.x(x) < self.left + 0.6 * self.inner_width
        at, anchor = (self.x(x) + 6, "start") if on_the_left else (self.x(x) - 6, "end")
        text = (
            f'<text class="mark" x="{at:.1f}" y="{_TOP + 13}" text-anchor="{anchor}">{escape(label)}</text>'
        )
        self._above += [self._rule(x, "median"), text]

    def words(self, x: float, y: float, text: str, css: str = "", *, anchor: str = "start") -> None:
        """Text at a position in drawing units."""
        self._around.append(
            f'<text class="{css}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'
        )

    def x_axis(self, ticks: Ticks, name: str, *, grid: bool = True) -> None:
        """Ticks below the panel, and the axis' name below them."""
        base = self.height - _BOTTOM
        for value, label in ticks:
            if grid:
                self._around.append(self._rule(value, "grid"))
            self.words(self.x(value), base + 17, label, "tick", anchor="middle")
        self.words(self.left + self.inner_width / 2, self.height - 8, name, "name", anchor="middle")
        self._around.append(
            f'<line class="axis" x1="{self.left}" x2="{WIDTH - _RIGHT}" y1="{base}" y2="{base}"/>'
        )

    def y_axis(self, ticks: Ticks, name: str) -> None:
        """Ticks left of the panel, and the axis' name turned beside them."""
        for value, label in ticks:
            at = self.y(value)
            self._around.append(
                f'<line class="grid" x1="{self.left}" x2="{WIDTH - _RIGHT}" y1="{at:.1f}" y2="{at:.1f}"/>'
            )
            self.words(self.left - 6, at + 4.5, label, "tick", anchor="end")
        middle = _TOP + self.inner_height / 2
        self._around.append(
            f'<text class="name" transform="translate(13 {middle:.1f}) rotate(-90)" text-anchor="middle">'
            f"{escape(name)}</text>"
        )

    def _rule(self, x: float, css: str) -> str:
        at, bottom = self.x(x), self.height - _BOTTOM
        return f'<line class="{css}" x1="{at:.1f}" x2="{at:.1f}" y1="{_TOP}" y2="{bottom}"/>'

    def svg(self, description: str) -> str:
        """The drawing as an inline SVG element, described for those who cannot see it."""
        inner = f"{self.left} {_TOP} {self.inner_width} {self.inner_height}"
        x, y, width, height = inner.split()
        return (
            f'<svg viewBox="0 0 {WIDTH} {self.height}" role="img" aria-label="{escape(description)}">'
            f"<title>{escape(description)}</title>{''.join(self._around)}"
            f'<svg x="{x}" y="{y}" width="{width}" height="{height}" viewBox="{inner}">'
            f"{''.join(self._inside)}</svg>{''.join(self._above)}</svg>"
        )


def round_ticks(low: float, high: float, most: int = 6) -> list[tuple[float, str]]:
    """At most ``most`` ticks at round numbers within a range."""
    span = max(high - low, 1e-9)
    power = 10.0 ** math.floor(math.log10(span / most))
    step = next(power * factor for factor in (1, 2, 5, 10, 20) if span / (power * factor) <= most)
    digits = max(0, -math.floor(math.log10(step) + 1e-9))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [(number * step, f"{number * step:,.{digits}f}") for number in range(first, last + 1)]


def time_ticks(begin: int, end: int, step_s: int, most: int = 7) -> list[tuple[float, str]]:
    """Ticks at round times between two slots: the time of day, or the date where there are several days."""
    span_s = (end - begin) * step_s
    apart_s = next((apart for apart in _TIME_STEPS_S if span_s / apart <= most), _TIME_STEPS_S[-1])
    form = "%d %b" if apart_s >= 86_400 else "%H:%M"
    first = -(-begin * step_s // apart_s)
    ticks: list[tuple[float, str]] = []
    for number in range(first, end * step_s // apart_s + 1):
        second = number * apart_s
        label = datetime.fromtimestamp(second, UTC).strftime(form)
        ticks.append((second / step_s, "24:00" if label == "00:00" and ticks else label))
    return ticks
