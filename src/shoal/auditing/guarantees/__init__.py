"""Each guarantee of the promise, judged on its own: kept, weakened, broken or not checked.

``judgement.py`` says what a judgement is, and judges all three. Guarantee 1 is checked in ``auditing/coverage``, guarantee
2 in ``one_window.py``, guarantee 3 in ``matchings.py``; ``belonging.py`` checks that the file, its manifest and the
events belong together.
"""
