"""Attacks on a published file: knows the raw events and the boxes, and nothing of how these came about."""
