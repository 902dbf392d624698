"""The audit of a published file against the raw events; it imports nothing of ``hiding``, which makes such files.

Start at ``auditor.py`` (an audit from beginning to end). ``opening.py`` reads the inputs, ``coverage/`` checks
guarantee 1 exactly, ``guarantees/`` judge all three, ``truthfulness.py`` checks every box, ``belonging.py`` that
events, file and manifest belong together (``manifest_check.py``, ``naming.py`` and ``record_order.py`` are parts of
it), ``attacks/`` measure what is not promised, ``result.py`` and ``verdict.py`` say it.
"""
