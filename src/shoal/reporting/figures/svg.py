"""A small SVG panel with axes; colours come from the page's style sheet, so light and dark both work."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

WIDTH = 480
_LEFT, _RIGHT, _TOP, _BOTTOM = 52, 22, 14, 44

_LEGEND_ROW, _SWATCH, _LETTER = 18, 22, 8.0  # the last is about the width of a letter on a phone
_NAME = 28  # the width of a name along the vertical axis, with the space around it
_SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")

Ticks = Sequence[tuple[float, str]]
Legend = Sequence[tuple[str, str]]  # style and text


class Panel:
    """One drawing: data ranges, things drawn in data units, two axes."""

    def __init__(
        self,
        x_range: tuple[float, float],
        y_range: tuple[float, float],
        *,
        height: int = 320,
        left: int = _LEFT,
        log_x: bool = False,
        log_y: bool = False,
        legend: Legend = (),
        rows_above: int = 0,
    ) -> None:
        self.x_range, self.y_range, self.left = x_range, y_range, left
        self.log_x, self.log_y = log_x, log_y
        rows = _legend_rows(legend, left)
        self.top = _TOP + _LEGEND_ROW * (rows_above + 1 + max((row for row, *_ in rows), default=-1))
        self.height = height + self.top - _TOP
        self._around: list[str] = []
        self._inside: list[str] = []  # clipped to the axes
        self._above: list[str] = []
        for row, x, css, text in rows:
            self._swatch(x, _TOP + _LEGEND_ROW * row, css)
            self.words(x + _SWATCH + 6, _TOP + _LEGEND_ROW * row + 4.5, text, "legend")

    @property
    def inner_width(self) -> float:
        """Width between the axes, in drawing units."""
        return WIDTH - self.left - _RIGHT

    @property
    def inner_height(self) -> float:
        """Height between the axes, in drawing units."""
        return self.height - self.top - _BOTTOM

    def x(self, value: float) -> float:
        """Position of a value along the horizontal axis."""
        return self.left + _fraction(value, self.x_range, self.log_x) * self.inner_width

    def y(self, value: float) -> float:
        """Position of a value along the vertical axis (upwards)."""
        return self.height - _BOTTOM - _fraction(value, self.y_range, self.log_y) * self.inner_height

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

    def line(self, xs: Sequence[float], ys: Sequence[float], css: str) -> None:
        """A line through points; on a logarithmic axis those that are not positive are left out."""
        self._inside.append(f'<polyline class="{css}" points="{self._points(xs, ys)}"/>')

    def area(self, xs: Sequence[float], ys: Sequence[float], css: str) -> None:
        """A filled polygon with these corners."""
        self._inside.append(f'<polygon class="{css}" points="{self._points(xs, ys)}"/>')

    def _points(self, xs: Sequence[float], ys: Sequence[float]) -> str:
        shown = (
            (x, y)
            for x, y in zip(xs, ys, strict=True)
            if (x > 0 or not self.log_x) and (y > 0 or not self.log_y)
        )
        return " ".join(f"{self.x(x):.1f},{self.y(y):.1f}" for x, y in shown)

    def _swatch(self, x: float, y: float, css: str) -> None:
        shape = (
            f'<rect class="{css}" x="{x:.1f}" y="{y - 5:.1f}" width="{_SWATCH}" height="10"/>'
            if css.startswith("strip")
            else f'<line class="{css}" x1="{x:.1f}" x2="{x + _SWATCH:.1f}" y1="{y:.1f}" y2="{y:.1f}"/>'
        )
        self._around.append(shape)

    def mark(self, x: float, label: str) -> None:
        """A vertical line across the panel, above everything else, with a label at its top."""
        on_the_left = self.x(x) < self.left + 0.6 * self.inner_width
        at, anchor = (self.x(x) + 6, "start") if on_the_left else (self.x(x) - 6, "end")
        text = f'<text class="mark" x="{at:.1f}" y="{self.top + 13}" text-anchor="{anchor}">{escape(label)}</text>'
        self._above += [self._rule(x, "median"), text]

    def scale_bar(self, length: float, label: str) -> None:
        """A bar as long as ``length`` along the horizontal axis, in a row above the panel, with a label beside it."""
        right, y = WIDTH - _RIGHT, self.top - 12
        left = right - self.x(self.x_range[0] + length) + self.left
        self._around += [
            f'<line class="scale-bar" x1="{left:.1f}" x2="{right}" y1="{y}" y2="{y}"/>',
            *(
                f'<line class="scale-bar" x1="{x:.1f}" x2="{x:.1f}" y1="{y - 4}" y2="{y + 4}"/>'
                for x in (left, right)
            ),
        ]
        self.words(left - 8, y + 4.5, label, "legend", anchor="end")

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

    def y_axis(self, ticks: Ticks, name: str, *, grid: bool = True) -> None:
        """Ticks left of the panel, and the axis' name turned beside them."""
        for value, label in ticks:
            at = self.y(value)
            if grid:
                self._around.append(
                    f'<line class="grid" x1="{self.left}" x2="{WIDTH - _RIGHT}" y1="{at:.1f}" y2="{at:.1f}"/>'
                )
            self.words(self.left - 6, at + 4.5, label, "tick", anchor="end")
        middle = self.top + self.inner_height / 2
        self._around.append(
            f'<text class="name" transform="translate(13 {middle:.1f}) rotate(-90)" text-anchor="middle">'
            f"{escape(name)}</text>"
        )

    def _rule(self, x: float, css: str) -> str:
        at, bottom = self.x(x), self.height - _BOTTOM
        return f'<line class="{css}" x1="{at:.1f}" x2="{at:.1f}" y1="{self.top}" y2="{bottom}"/>'

    def svg(self, description: str) -> str:
        """The drawing as an inline SVG element, described for those who cannot see it."""
        return (
            f'<svg viewBox="0 0 {WIDTH} {self.height}" role="img" aria-label="{escape(description)}">'
            f"{self._content(description)}</svg>"
        )

    def svg_file(self, description: str, style: str) -> str:
        """The drawing as a file of its own, with the style sheet and a background in it."""
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {self.height}" width="{2 * WIDTH}"'
            f' role="img"><style>{style}</style><rect class="paper" width="{WIDTH}" height="{self.height}"/>'
            f"{self._content(description)}</svg>\n"
        )

    def _content(self, description: str) -> str:
        inner = f"{self.left} {self.top} {self.inner_width} {self.inner_height}"
        x, y, width, height = inner.split()
        return (
            f"<title>{escape(description)}</title>{''.join(self._around)}"
            f'<svg x="{x}" y="{y}" width="{width}" height="{height}" viewBox="{inner}">'
            f"{''.join(self._inside)}</svg>{''.join(self._above)}"
        )


def _fraction(value: float, span: tuple[float, float], log: bool) -> float:
    low, high = span
    return math.log(value / low) / math.log(high / low) if log else (value - low) / (high - low)


def _legend_rows(legend: Legend, left: float) -> list[tuple[int, float, str, str]]:
    """Row, position from the left, style and text of each entry."""
    rows, row, x = [], 0, left
    for css, text in legend:
        width = _SWATCH + 6 + _LETTER * len(text) + 16
        if x > left and x + width > WIDTH:
            row, x = row + 1, left
        rows.append((row, x, css, text))
        x += width
    return rows


def left_of(ticks: Ticks) -> int:
    """Room to the left of a panel for the labels of its ticks beside the name of the axis."""
    return max(_LEFT, _NAME + round(_LETTER * max((len(label) for _, label in ticks), default=0)))


def round_ticks(low: float, high: float, most: int = 6) -> list[tuple[float, str]]:
    """At most ``most`` ticks at round numbers within a range."""
    span = max(high - low, 1e-9)
    power = 10.0 ** math.floor(math.log10(span / most))
    step = next(power * factor for factor in (1, 2, 5, 10, 20) if span / (power * factor) <= most)
    digits = max(0, -math.floor(math.log10(step) + 1e-9))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [(number * step, f"{number * step:,.{digits}f}") for number in range(first, last + 1)]


def log_ticks(low: float, high: float, most: int = 7) -> list[tuple[float, str]]:
    """Ticks at powers of ten within a range, all of them or every second, third, ..."""
    first, last = math.ceil(math.log10(low) - 1e-9), math.floor(math.log10(high) + 1e-9)
    step = max(1, -(-(last - first + 1) // most))
    return [(10.0**power, _power(power)) for power in range(first, last + 1) if power % step == 0]


def _power(power: int) -> str:
    if -3 <= power <= 4:
        return f"{10.0**power:,.{max(0, -power)}f}"
    return "10" + str(power).translate(_SUPERSCRIPT)
