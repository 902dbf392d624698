"""The selector ``matching``, the default: the cheapest permutations of users who come and go alike.

Open selector.py for its place in a run, hiding_sets.py for how a window is decided, candidates.py for the edges
considered (and relaxed reuse), assignment.py for the cheapest permutation along given edges.
"""
