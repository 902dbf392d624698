"""Attacks on victims drawn at random, all of the same shape: an AuditContext in, Measures out.

``linkage.py``, ``rankings.py`` and ``chain.py`` ask which record is the victim's, ``places.py`` asks where the victim
lives and works, ``inference.py`` what all records that fit have in common.
"""
