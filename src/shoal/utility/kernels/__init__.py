"""Compiled code of the estimators: ``squares.py`` for density and flows, ``home_work.py`` for homes and workplaces."""
