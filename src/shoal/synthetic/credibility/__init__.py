"""Whether events look like those of people with phones (docs/credibility.md).

- ``verdict.py``: the entry point, ``assess_events``, and which statistics lie outside their bands
- ``bands.py``: the bands and their sources; what each topic measures, in words
- ``measures.py``: all statistics of one dataset
- ``activity_statistics.py``, ``mobility_statistics.py``, ``unicity.py``: the statistics
- ``traces.py``: samples as the statistics take them, curves and fits
- ``text.py``: the result as lines for a terminal
"""
