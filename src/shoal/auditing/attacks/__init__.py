"""Attacks by sampling, one file each and all of the same shape: a scene in, figures out."""
