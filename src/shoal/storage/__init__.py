"""Everything on disk that is no format: files that appear whole, private files, and data that outgrow memory.

``files.py`` writes files that appear whole or not at all and explains errors of the disk, ``outputs.py`` checks and
writes output files, ``spill.py`` keeps arrays in private files, ``sample_store.py``, ``box_store.py`` and
``box_sorting.py`` keep samples and boxes by time or by record.
"""
