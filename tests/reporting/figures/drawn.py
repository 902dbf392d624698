"""Reading a drawn figure back, as somebody does who looks at it: marks by their style, values by the axes."""

from __future__ import annotations

from typing import NamedTuple
from xml.etree import ElementTree


class Span(NamedTuple):
    """A rectangle in the units of the axes."""

    x0: float
    x1: float
    y0: float
    y1: float


class Drawn:
    """A figure, its values read off the axes."""

    def __init__(self, svg: str) -> None:
        self.root = ElementTree.fromstring(svg)
        self._x = self._scale("middle", "x")
        self._y = self._scale("end", "y")

    def _scale(self, anchor: str, axis: str) -> tuple[float, float] | None:
        """Offset and slope of an axis, from the numbers beside its ticks."""
        ticks = []
        for text in self.root.iter("text"):
            if text.get("class") == "tick" and text.get("text-anchor") == anchor:
                label = (text.text or "").replace(",", "").removesuffix(" %")
                at = float(text.get(axis, "0")) - (4.5 if axis == "y" else 0.0)
                ticks += [(at, float(label))] if label.replace(".", "").replace("-", "").isdigit() else []
        if len(ticks) < 2:
            return None
        (a, low), (b, high) = ticks[0], ticks[-1]
        return low - a * (high - low) / (b - a), (high - low) / (b - a)

    def x(self, at: float) -> float:
        assert self._x is not None
        return self._x[0] + self._x[1] * at

    def y(self, at: float) -> float:
        assert self._y is not None
        return self._y[0] + self._y[1] * at

    def boxes(self, css: str) -> list[Span]:
        """Rectangles of a style."""
        found = []
        for rect in self.root.iter("rect"):
            if rect.get("class") == css:
                x, y, width, height = (float(rect.get(name, "0")) for name in ("x", "y", "width", "height"))
                found.append(Span(self.x(x), self.x(x + width), self.y(y + height), self.y(y)))
        return found

    def dots(self, css: str) -> list[tuple[float, float]]:
        """Circles of a style, in drawing units."""
        circles = [circle for circle in self.root.iter("circle") if circle.get("class") == css]
        return [(float(circle.get("cx", "0")), float(circle.get("cy", "0"))) for circle in circles]

    def line(self, css: str) -> list[tuple[float, float]]:
        """The corners of the one line of a style, in drawing units."""
        (line,) = (line for line in self.root.iter("polyline") if line.get("class") == css)
        pairs = (point.split(",") for point in (line.get("points") or "").split())
        return [(float(x), float(y)) for x, y in pairs]

    def place(self, label: str) -> tuple[float, float]:
        """Where a text stands, in drawing units."""
        (text,) = (text for text in self.root.iter("text") if text.text == label)
        return float(text.get("x", "0")), float(text.get("y", "0"))
