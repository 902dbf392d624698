"""Synthetic regions after the datasets of the paper (docs/synthetic.md, docs/decisions/0008-synthetic-regions.md).

- ``making.py``: the entry point, ``make_region``; events as tables, some users at a time
- ``presets.py``: the figures of each preset
- ``region.py``: a region, and the samples of its people
- ``antennas.py``: where antennas stand, and which one serves a position
- ``attraction.py``: how places draw people, by weight and distance
- ``people.py``: homes, work, households, habits, journeys
- ``days.py``: the stays and trips of a day
- ``phone_events.py``: when people use their phones
"""
