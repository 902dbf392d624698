"""Who is published when, who hides whom, and the boxes that come of it.

Open pipeline.py for the whole way from samples to boxes; selector.py for what a selector is; suppression.py for who is
published when; reuse.py for who may serve again; hardening.py for witnesses; leakage/ for the surcharge on leaking
members; fold.py and journal.py for the state between epochs; options.py for the options; kernels/ for compiled code.
"""
