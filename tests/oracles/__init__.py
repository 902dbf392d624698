"""Slow, plain answers to compare the package with; written from the design, importing nothing of shoal."""
