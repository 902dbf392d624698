"""A hint at ``--rename-every``, and at ``--timezone``, where records of a file that does not tell its periods end as if
they got new names."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from shoal.core.arrays import Int64s
from shoal.core.formatting import renaming_in_words
from shoal.core.period_text import spell_period
from shoal.core.periods import Periods, find_periods, periods_due
from shoal.core.promise import DAY_S

if TYPE_CHECKING:
    from shoal.auditing.context import AuditContext

_HOUR_S = 3_600
_LEAST_S, _MOST_DAYS = 600, 31  # of a period
_QUARTER_S = 900  # clocks differ from UTC by whole quarters of an hour,
_WEST_S, _EAST_S = -12 * _HOUR_S, 14 * _HOUR_S  # and by no more than this


class _Clock(NamedTuple):
    """A period that explains the records; ``ahead_s``: by how much its clock is ahead of UTC, None for the clock of the
    audit."""

    every_s: int
    ahead_s: int | None


class _Lives(NamedTuple):
    """The first and the last slot of every record, and the slot and the number of the user of every sample."""

    first: Int64s
    last: Int64s
    t: Int64s
    user: Int64s
    n_users: int

    @property
    def longest(self) -> int:
        """Slots of the longest record."""
        return int((self.last - self.first).max(initial=0)) + 1

    def explained_by(self, periods: Periods) -> bool | None:
        """Whether nobody needs two records in a period; None where a record goes on beyond a border."""
        begin, end = periods.of(self.first), periods.of(self.last)
        if (begin != end).any():
            return None
        inside = np.unique(periods.of(self.t) * self.n_users + self.user) // self.n_users
        n_people, n_records = (np.bincount(each, minlength=periods.n_periods) for each in (inside, begin))
        return bool((n_records <= n_people).all())


def hint_at_renaming(context: AuditContext) -> str | None:
    """How often the records seem to get new names, and what to say then; None where they do not, or the file tells.

    To be asked for where there are more records than users, or records go on beyond the borders that were told.
    """
    if (context.notes or {}).get("periods") is not None:
        return None
    lives = _lives_of(context)
    found = _find_clock(context, lives, others=False) or _find_clock(context, lives, others=True)
    if found is None:
        return None
    every = renaming_in_words(found.every_s).removeprefix("new names ")
    return (
        f"no record goes on beyond borders {every} on {_in_words(found, context.zone.name)}, as if names changed there:"
        f" if they do, audit again with --rename-every {spell_period(found.every_s)}"
        f"{'' if found.ahead_s is None else ' and the --timezone of the release'}"
    )


def _in_words(clock: _Clock, zone: str) -> str:
    if clock.ahead_s is None:
        return f"the clock of {zone}"
    hour, second = divmod(-clock.ahead_s % min(clock.every_s, DAY_S), _HOUR_S)
    return f"another clock than {zone} (from {hour:02}:{second // 60:02} UTC on)"


def _lives_of(context: AuditContext) -> _Lives:
    boxes, n_records = context.published.records.boxes, context.published.records.n_records
    first, last = np.full(n_records, np.iinfo(np.int64).max), np.full(n_records, np.iinfo(np.int64).min)
    np.minimum.at(first, boxes.owner, boxes.t0)
    np.maximum.at(last, boxes.owner, boxes.t1)
    people = context.store if context.parts is None else context.parts.people
    rows = people.between(int(people.slots[0]), int(people.slots[-1]) + 1)
    return _Lives(first, last, rows.t, rows.user.astype(np.int64), people.n_users)


def _find_clock(context: AuditContext, lives: _Lives, *, others: bool) -> _Clock | None:
    """The longest period beyond whose borders no record goes on, and in which nobody needs two; on the clock of the
    audit, or on others.

    In periods that are longer than one in which somebody needs two, somebody does as well.
    """
    found = None
    for every_s in _lengths(context, lives):
        for ahead_s, periods in _clocks(context, lives, every_s, others=others):
            explained = None if periods.n_periods < 2 else lives.explained_by(periods)
            if explained is False:
                return found
            if explained:
                found = _Clock(every_s, ahead_s)
                break
    return found


def _lengths(context: AuditContext, lives: _Lives) -> Iterator[int]:
    """Periods of whole minutes, shortest first, that are as long as the longest record, and as tau."""
    step_s, promise = context.grid.step_s, context.promise
    # Days are an hour shorter or longer where clocks change, and borders wait for the end of an epoch.
    slack_s = _HOUR_S + (promise.epsilon or 1) * step_s
    least_s = max(_LEAST_S, (promise.tau or 0) * step_s, lives.longest * step_s - slack_s)
    parts_of_a_day = (60 * minutes for minutes in range(1, DAY_S // 60) if DAY_S % (60 * minutes) == 0)
    for every_s in (*parts_of_a_day, *(DAY_S * days for days in range(1, _MOST_DAYS + 1))):
        if every_s >= least_s:
            yield every_s


def _clocks(
    context: AuditContext, lives: _Lives, every_s: int, *, others: bool
) -> Iterator[tuple[int | None, Periods]]:
    """The periods of one length on the clock of the audit; or on others."""
    first, last, grid = int(lives.t[0]), int(lives.t[-1]), context.grid
    if not others:
        yield None, find_periods(every_s, first, last, context.promise, grid, context.zone)
        return
    number = np.arange(first * grid.step_s // every_s - 1, last * grid.step_s // every_s + 3)
    seen = set()
    # Epochs leave several clocks possible: most are ahead of UTC by whole hours, some by half ones.
    likely_first = sorted(
        range(_WEST_S, _EAST_S + 1, _QUARTER_S),
        key=lambda ahead_s: (ahead_s % _HOUR_S != 0, ahead_s % (_HOUR_S // 2) != 0, abs(ahead_s)),
    )
    for ahead_s in likely_first:
        if ahead_s % every_s not in seen:
            seen.add(ahead_s % every_s)
            yield ahead_s, periods_due(number * every_s - ahead_s, first, last, context.promise, grid)
