"""What is noted of a row until all rows were read, as bits of one byte.

Most rows have none of them, and most batches no such row.
"""

from __future__ import annotations

NUMBER = (
    1  # its time is a number: all of them together tell in which unit, or that they are digits of a clock
)
UNORDERED = (
    2  # its time has a date of which all of them together tell whether the day or the month comes first
)
SKIPPED = 4  # its time is one that clocks skipped when they were set forward
REPEATED = 8  # its time is one that clocks showed twice when they were set back
DOUBTFUL_COMMA = 16  # its position has a comma that may separate thousands
