"""Lines of at most 80 columns."""

from __future__ import annotations

import re
import textwrap

WIDTH = 80


def labelled(parts: dict[str, list[str]], label_width: int = 12) -> list[str]:
    """Texts with labels on the left; parts without content are left out."""
    lines = []
    for label, texts in parts.items():
        beside = [line for text in texts for line in wrapped(text, WIDTH - label_width)]
        lines += [f"{'' if number else label:<{label_width}}{line}" for number, line in enumerate(beside)]
    return lines


def wrapped(text: str, width: int, indent: str = "") -> list[str]:
    """Lines of a text; a number stays together with its unit."""
    bound = re.sub(r"(?<=\d) (?=%|(?:h|min|s|km|m)\b)", "\0", text)
    lines = textwrap.wrap(bound, width, subsequent_indent=indent, break_on_hyphens=False)
    return [line.replace("\0", " ") for line in lines]
