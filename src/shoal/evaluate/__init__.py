"""What a promise costs on anybody's data, and how other methods fare: the paper's evaluation.

- ``plan/``: ``shoal.plan``, a forecast from a few stretches of time (docs/plan.md)
- ``sweep.py``: ``shoal.sweep``, releases measured under many promises; ``sweep_points.py`` says which
- ``measuring.py``: the figures of one release, over all and by the hour of the week
- ``compare.py``: ``shoal.compare``, the methods of the paper's comparison (docs/reproduction.md)
- ``baselines/``: the other methods themselves (docs/baselines.md)
"""
