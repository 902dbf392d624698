"""Publish trajectory data under k^{tau,epsilon}-anonymity."""
