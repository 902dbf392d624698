"""The command ``shoal``: ``main.py`` puts it together, ``commands/`` has a file each, ``text/`` what they say.

``options.py`` makes options from ``core/options.py``; ``terminal.py`` shows progress and results.
"""
