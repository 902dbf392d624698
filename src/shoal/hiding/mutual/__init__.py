"""The selector ``mutual``: groups of k users who all hide each other (full consistency).

Open selector.py for the whole of it, candidates.py for who may share a ring and what that costs, pairs.py for k = 2,
reassignment.py for larger k, clusters.py for whole trajectories.
"""
