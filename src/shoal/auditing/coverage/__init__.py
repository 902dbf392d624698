"""The exact check of guarantee 1: every user, every interval, both attackers.

``check.py`` runs it, ``chunks.py`` cuts it by time into tasks, ``violations.py`` adds up what is wrong.
"""
