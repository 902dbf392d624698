"""What every other package may import, and what imports none of them.

The domain: ``promise.py`` (promise and grid), ``samples.py``, ``boxes.py``, ``box_sizes.py``, ``schema.py`` (columns
of files). Places and times: ``projection.py``, ``geographic_hulls.py``,
``zones.py``. Figures for people: ``disclosure.py`` (which may be told
to others), ``formatting.py`` (how they are written), ``progress.py``. Work: ``workers.py`` (threads), ``engines/``
(processes and clusters), ``compiled.py`` (compiler flags), ``sorting.py``. Values that users give: ``checks.py``.
"""
