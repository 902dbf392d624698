"""What all pages share: the templates and how numbers are written in them."""

from __future__ import annotations

from jinja2 import Environment, PackageLoader, StrictUndefined


def page_environment() -> Environment:
    """Templates with the filters count, plain and percent."""
    environment = Environment(
        loader=PackageLoader("shoal.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["count"] = lambda number: f"{number:,}"
    environment.filters["plain"] = lambda number: f"{number:,.3g}"
    environment.filters["percent"] = _percent
    return environment


def _percent(share: float) -> str:
    """A fraction in percent, never rounded to nothing."""
    if 0 < share < 0.0001:
        return "less than 0.01 %"
    return f"{100 * share:.1f} %" if share >= 0.01 else f"{100 * share:.2g} %"
