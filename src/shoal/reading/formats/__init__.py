"""Other people's formats: chosen by name, or recognised by content where that leaves no doubt.

Each is one value of ``Format`` in a file of its own. All yield batches of user, time and position, so that whatever
comes after (times, zones, sites, faults counted by reason) is the same as for plain tables.
"""

from shoal.reading.formats.registry import FORMAT_NAMES, TABLE, Opened, open_events

__all__ = ["FORMAT_NAMES", "TABLE", "Opened", "open_events"]
