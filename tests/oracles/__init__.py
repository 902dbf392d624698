"""Slow, plain answers to compare the package with; written from the docs alone, importing nothing of shoal."""
