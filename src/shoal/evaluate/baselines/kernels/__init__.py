"""Compiled loops of GLOVE and W4M."""
