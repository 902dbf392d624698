"""A file as a telecom's export leaves it: semicolons, decimal commas, national dates, holes, repeats and rubbish."""

from __future__ import annotations

import random
from datetime import datetime
from pathlib import Path

from shoal.synthetic import make_city

HEAD = "subscriber;event_time;latitude;longitude;imei_tac"


def write_dirty_file(path: Path, users: int = 2000, days: int = 2, seed: int = 7) -> Path:
    """A synthetic city; one row in fifty is damaged."""
    rng = random.Random(seed)
    table = make_city(users, days=days, seed=seed).sort_by([("time", "ascending")])
    lines = [HEAD]
    for row in table.to_pylist():
        user = f"4179{int(row['user'].lstrip('u')):07d}"
        lines.append(_line(user, row["time"], row["lat"], row["lon"], rng))
        if rng.random() < 0.01:
            lines.append(lines[-1])
        if rng.random() < 0.001:
            lines.append("")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def _line(user: str, time: datetime, lat: float, lon: float, rng: random.Random) -> str:
    chance = rng.random()
    user = "NULL" if chance < 0.01 else user
    moment = "n/a" if 0.01 <= chance < 0.013 else f"{time:%d.%m.%Y %H:%M:%S}"
    if 0.013 <= chance < 0.018:
        lat = lon = 0.0
    place = ";".join(f"{value:.5f}".replace(".", ",") for value in (lat, lon))
    return f"{user};{moment};{place};{rng.randrange(10**7, 10**8)}"
