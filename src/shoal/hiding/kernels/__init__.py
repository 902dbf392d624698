"""Compiled code of hiding: arrays in, arrays out.

Open merge.py for what boxes cost and how they are cut; edge_cost.py for the joint cost of an edge;
reuse.py for who may serve whom; consistency.py for whether a record fits; pools.py and window.py for the arrays that
all of them read; cost_bounds.py, nearest.py and candidate_edges.py for the search of cheap members; assignment.py,
cycles.py, pairs.py, rings.py and ring_exchange.py for the selectors; leakage.py and witnesses.py for what
hiding.leakage and hiding.hardening ask.
"""
