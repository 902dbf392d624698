"""A first look at events, before anything else is done with them.

``checking.py`` reads them as a release would and says what was found, ``problems.py`` names what is wrong and what to
do about it, ``time_formats.py`` guesses how times are written, and ``next_steps.py`` writes the command to run next.
"""
