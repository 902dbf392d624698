"""Accidental leakage: surcharge.py makes leaking members dearer by what published_epochs.py keeps."""
