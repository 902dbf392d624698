"""A CSV file as telecom operators send them: everything that can be wrong with rows, in known numbers."""

from __future__ import annotations

import random
import re

NAME = "Zanzibar"  # what every user but two begins with; no output may hold it
LAT, LON = 5.3123, -4.0271  # where everybody is, about
# What must not be shown of these events: names, coordinates, minutes.
RAW = re.compile(r"Zanzibar|Robot|47\d\d|5\.3\d|4\.0\d|(?!99:99)\d\d:\d\d|Sophie")

N_GOOD = 130 * 40
FAULTS = {
    "malformed row": 2,
    "missing user": 7,
    "unparsable time": 2,
    "position out of range": 3,
    "position 0/0": 4,
}


def dirty_rows() -> list[str]:
    """Rows of user, time, lat, lon and a remark, by semicolons."""
    draw = random.Random(2)
    rows = [
        f"{NAME}-{4711 + user};{11 + turn % 3}/03/2024 {draw.randrange(24):02d}:{draw.randrange(60):02d};"
        f"{LAT + draw.gauss(0, 0.02):.6f};{LON + draw.gauss(0, 0.02):.6f};Sophie"
        for user in range(130)
        for turn in range(40)
    ]
    machine = [
        f"Robot-1;13/03/2024 {minute // 60:02d}:{minute % 60:02d};5.31;-4.01;" for minute in range(24 * 60)
    ]
    return [
        *rows,
        *[rows[3]] * 5,
        *machine * 2,
        *["unknown;13/03/2024 10:00;5.3;-4.0;"] * 30,
        *[";13/03/2024 10:00;5.3;-4.0;"] * 7,
        *[f"{NAME}-4711;01/01/1970 00:00;5.3;-4.0;"] * 3,
        *[f"{NAME}-4711;12/03/2024 10:00;0;0;"] * 4,
        *[f"{NAME}-4711;12/03/2024 10:00;0.001;0.001;"] * 4,
        *[f"{NAME}-4711;12/03/2024 10:00;95.5;-4.0;"] * 3,
        *[f"{NAME}-4711;soon;5.5;-4.0;"] * 2,
        *[f"{NAME}-4711;13/03/2024;5.5"] * 2,
        "",
    ]


def dirty_text(header: str = "msisdn;event_time;lat;lon;Remark") -> str:
    """A whole file."""
    return "\n".join([header, *dirty_rows()]) + "\n"
