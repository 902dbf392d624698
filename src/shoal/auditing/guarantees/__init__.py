"""Each guarantee of the promise, judged on its own: kept, weakened, broken or not checked.

``judgement.py`` says what a judgement is, ``judging.py`` judges all three: guarantee 1 from ``auditing/coverage``, 2 in
``one_window.py`` (with ``completeness.py`` for its evidence and ``own_account.py`` for its manifest), 3 in
``matchings.py``.
"""
