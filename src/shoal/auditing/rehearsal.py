"""An audit of a few synthetic people, which calls the kernels that audits need, so that these can be compiled ahead."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

import pyarrow as pa

from shoal.auditing.auditor import run_audit
from shoal.auditing.opening import open_audit
from shoal.core.compiling import Rehearsal
from shoal.core.options import AuditOptions, ReadingOptions
from shoal.core.progress import SilentProgress

_PAIRS, _HOURS = 6, 50  # two days, so that there are nights, and days that follow each other
_CELL_M, _MINUTE_S, _HOUR_S, _DAY_S = 100, 60, 3600, 86400


class _Seen(NamedTuple):
    """One person in one hour, the other of the pair a cell and some minutes away."""

    person: int
    hour: int
    x: int
    y: int


def audit_toy(*, renamed: bool) -> None:
    """Audit pairs of people who go the same ways, and whose records hold each other's samples."""
    seen = list(_seen())
    record = [f"{each.person}-{each.hour * _HOUR_S // _DAY_S if renamed else 0}" for each in seen]
    events = pa.table(
        {
            "user": [str(each.person) for each in seen],
            "time": [each.hour * _HOUR_S + (1 + each.person % 2) * _MINUTE_S for each in seen],
            "x": [float(each.x + each.person % 2 * _CELL_M) for each in seen],
            "y": [float(each.y) for each in seen],
        }
    )
    begin = pa.array([each.hour * _HOUR_S + _MINUTE_S for each in seen], pa.timestamp("s", "UTC"))
    end = pa.array([each.hour * _HOUR_S + 3 * _MINUTE_S for each in seen], pa.timestamp("s", "UTC"))
    published = pa.table(
        {
            "record": record,
            "t_start": begin,
            "t_end": end,
            "x_min": [float(each.x) for each in seen],
            "x_max": [float(each.x + 2 * _CELL_M) for each in seen],
            "y_min": [float(each.y) for each in seen],
            "y_max": [float(each.y + _CELL_M) for each in seen],
        }
    )
    whose = sorted(set(zip(record, (each.person for each in seen), strict=True)))
    key = {"user": [str(person) for _, person in whose], "record": [name for name, _ in whose]}
    if renamed:
        key["part"] = [str(1 + int(name.split("-")[1])) for name, _ in whose]
    options = AuditOptions(
        k=2,
        tau="1h",
        epsilon="1h",
        cell=f"{_CELL_M}m",
        step="1min",
        attacks=30,
        key=pa.table(key),
        rename_every="1d" if renamed else None,
        workers=1,
    )
    silent = SilentProgress()
    with open_audit(events, published, silent, options, ReadingOptions()) as (context, warnings):
        run_audit(context, warnings, silent)


def _seen() -> Iterator[_Seen]:
    for person in range(2 * _PAIRS):
        pair = person // 2
        for hour in range(pair % 3, _HOURS, 1 + pair % 2):
            at_work = 8 <= hour % 24 < 17
            yield _Seen(person, hour, (pair + 7 * at_work) * 3 * _CELL_M, (pair + hour % 3) * _CELL_M)


def rehearsal_of_audit(renamed: bool) -> Rehearsal:
    """What calls the kernels of an audit, of records or of their parts."""
    return Rehearsal(f"audit of {'parts' if renamed else 'records'}", partial(audit_toy, renamed=renamed))
