"""Self-contained HTML pages: ``release.py`` about a published file, in the words of ``sentences.py``, and
``credibility.py`` about events; their templates are in ``templates/``."""

from __future__ import annotations

import re

from jinja2 import Environment, PackageLoader, StrictUndefined

from shoal.core.formatting import percent


def page_environment() -> Environment:
    """Templates with the filters count, plain, percent and bound."""
    environment = Environment(
        loader=PackageLoader("shoal.reporting.page"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["count"] = lambda number: f"{number:,}"
    environment.filters["plain"] = lambda number: f"{number:,.3g}"
    environment.filters["percent"] = lambda share: bound(percent(share))
    environment.filters["bound"] = bound
    return environment


def bound(text: str) -> str:
    """A text in which a number stays on one line with its unit, as in the terminal."""
    return re.sub(r"(?<=\d) (?=%|(?:h|min|s|km|m)\b)", "\N{NO-BREAK SPACE}", text)
