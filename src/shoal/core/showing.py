"""How results show themselves in a notebook.

A result knows nothing of HTML and figures: what draws them lies layers above, in ``shoal.reporting``, and is looked up
by name when the first result is shown, as ``shoal/__init__.py`` looks up what it offers. Nothing below ``reporting``
imports it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_CARDS, _PLOTS = "shoal.reporting.notebook", "shoal.reporting.plots"


def html_of(result: object) -> str:
    """A result as HTML, for the cell of a notebook: tables, a verdict, a small figure, and nothing raw."""
    html: str = import_module(_CARDS).html_of(result)
    return html


def plot_of(result: object, **choices: Any) -> Figure:
    """A result as a figure of matplotlib."""
    figure: Figure = import_module(_PLOTS).plot_of(result, **choices)
    return figure
