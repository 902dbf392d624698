"""``shoal.plan``: forecasts of releases under several promises, before a long run (docs/plan.md).

- ``planning.py``: the entry point; which promises are tried, on which stretches, within which budget
- ``stretches.py``: stretches of time that stand for all of it
- ``presumed_history.py``: who presumably served whom before a stretch
- ``forecasting.py``: a stretch folded, and what that says about a full run
"""
