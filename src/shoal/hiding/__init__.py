"""Who is published when, who hides whom, and the boxes that come of it.

Open pipeline.py for the whole way from samples to boxes; epochs.py for epochs and stretches; suppression.py and
patterns.py for who is published when; selector.py for what a selector is (matching/, mutual/, spectral/); window.py for
windows and shards, window_tasks.py for the tasks that workers decide; reuse.py for who may serve again; hardening.py
for witnesses; leakage/ for the surcharge on leaking members; merging.py for the boxes; fold.py and journal.py for the
state between epochs; kernels/ for compiled code. The options are in core/options.py.
"""
