"""Compiled code of the audit.

``consistency.py`` says whether a record fits, ``box_index.py`` finds boxes by time and place, ``coverage.py`` is the
exact check, ``truth.py`` the truth of boxes, ``fits.py`` and ``chain.py`` with ``chain_traits.py`` are the attacks.
"""
