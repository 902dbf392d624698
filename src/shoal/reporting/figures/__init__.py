"""Pictures: ``release.py`` and ``credibility.py`` draw those of pages with ``svg.py``; ``sweep.py`` draws files for
papers with matplotlib, in the style of ``matplotlib_style.py``."""
