"""Writers of the four D4D sets that hold whereabouts: Ivory Coast (TSV) and Senegal (CSV), with their antennas."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

from reading.formats.canonical import Event, Written, by_user, put, sixth_decimal, stamp, with_traps

_GHOST = "999"  # appears in traps only: a reader that lists this user has kept a trap
_STRAY = 9999  # an antenna that no table lists

_Place = tuple[float, float]


def _numbered_places(events: list[Event]) -> dict[_Place, int]:
    """Every distinct (lat, lon) of the events, numbered from 1 in the order of appearance."""
    places = dict.fromkeys((event.lat, event.lon) for event in events)
    return {place: number for number, place in enumerate(places, start=1)}


def _ivory_rows(events: list[Event], places: dict[_Place, int]) -> list[str]:
    return [f"{e.user}\t{stamp(e.second)}\t{places[e.lat, e.lon]}" for e in events]


def _ivory_traps(events: list[Event], implausible: int) -> list[str]:
    first = events[0]
    unknown = [
        f"{first.user}\t{stamp(first.second + 600)}\t-1",
        f"{_GHOST}\t{stamp(first.second)}\t-1",
    ]
    return unknown + [f"{first.user}\t{stamp(first.second + 1200 + i)}\t{_STRAY}" for i in range(implausible)]


def _ivory_table(path: Path, places: dict[_Place, int]) -> Path:
    """`id \\t lon \\t lat`, longitude first, with one place that nobody visits."""
    rows = [f"{number}\t{lon:.6f}\t{lat:.6f}" for (lat, lon), number in places.items()]
    return put(path, [*rows, f"{len(places) + 1}\t-4.143452\t5.342044"])


def _ivory_others(folder: Path) -> tuple[Path, ...]:
    """Set 1 (traffic between antennas, -1 unknown) and set 4 (graphs, layout M): no one's whereabouts."""
    traffic = ["2011-12-05 00:00:00\t1\t2\t3\t180", "2011-12-05 01:00:00\t-1\t2\t1\t35"]
    return (
        put(folder / "SET1TSV_0.TSV", traffic),
        put(folder / "GRAPHS_0.TSV", ["1\t2", "1\t3", "2\t3"]),
    )


def _dropped(reason: str, count: int, implausible: int) -> dict[str, int]:
    counts = {reason: count, "not in the table": implausible}
    return {why: rows for why, rows in counts.items() if rows}


def write_d4d_ivory_set2(
    folder: Path, events: list[Event], *, implausible: int = 0, all_windows: bool = False
) -> Written:
    """SET2TSV/POS_SAMPLE_0.TSV and ANT_POS.TSV (TSV, no header); -1 is an unknown antenna.

    POS_SAMPLE_1.TSV holds other people under the same ids a fortnight later. `all_windows` gives the folder of
    both as path: they must stay apart, here as "POS_SAMPLE_0/1" (compare by `trajectories`: the spelling is ours).
    `strays` adds rows whose antenna is in no table, which the notes do not mention.
    M: that ids are re-drawn for every file. Ours: clocks are UTC, as Abidjan's are.
    """
    places = _numbered_places(events)
    window = 14 * 86400
    others = [
        e._replace(second=e.second + window, lat=f.lat, lon=f.lon)
        for e, f in zip(events, events[::-1], strict=True)
    ]
    samples = folder / "SET2TSV"
    first = put(
        samples / "POS_SAMPLE_0.TSV",
        with_traps(_ivory_rows(events, places), _ivory_traps(events, implausible)),
    )
    put(samples / "POS_SAMPLE_1.TSV", _ivory_rows(others, places))
    expected = sixth_decimal(events)
    if all_windows:
        expected = [e._replace(user=f"POS_SAMPLE_0/{e.user}") for e in expected]
        expected += [e._replace(user=f"POS_SAMPLE_1/{e.user}") for e in sixth_decimal(others)]
    return Written(
        path=samples if all_windows else first,
        sites=_ivory_table(folder / "ANT_POS.TSV", places),
        expected=expected,
        dropped=_dropped("unknown antenna", 2, implausible),
        note="User 1 of one window is not user 1 of the next. Longitude comes first in the antenna table.",
        not_events=_ivory_others(folder),
    )


def write_d4d_ivory_set3(folder: Path, events: list[Event], *, implausible: int = 0) -> Written:
    """SET3TSV/SUBPREF_POS_SAMPLE_A.TSV and _B.TSV with SUBPREF_POS_LONLAT.TSV; -1 is an unknown subprefecture.

    M: the name SUBPREF_POS_LONLAT.TSV. Ours: where that file lies, that the lettered files split users (never one
    user in two files), and that clocks are UTC.
    """
    places = _numbered_places(events)
    users = list(by_user(events))
    early = set(users[: (len(users) + 1) // 2])
    samples = folder / "SET3TSV"
    events_a = [e for e in events if e.user in early]
    rows_a = _ivory_rows(events_a, places)
    put(samples / "SUBPREF_POS_SAMPLE_A.TSV", with_traps(rows_a, _ivory_traps(events_a, implausible)))
    put(
        samples / "SUBPREF_POS_SAMPLE_B.TSV",
        _ivory_rows([e for e in events if e.user not in early], places),
    )
    return Written(
        path=samples,
        sites=_ivory_table(folder / "SUBPREF_POS_LONLAT.TSV", places),
        expected=sixth_decimal(events),
        dropped=_dropped("unknown subprefecture", 2, implausible),
        note="A folder of files with one numbering of users. The table of places lies outside that folder.",
        not_events=_ivory_others(folder),
    )


class _Senegal(NamedTuple):
    table: Path
    site_of: dict[_Place, int]
    arrondissement_of: dict[_Place, int]
    centre_of: dict[_Place, _Place]


def _senegal_table(folder: Path, events: list[Event]) -> _Senegal:
    """SITE_ARR_LONLAT.CSV with header, four sites an arrondissement: only their mean is the event's place.

    The place itself is the second site listed, so neither the first site nor the median will do; and the two
    numberings run against each other, so a site looked up as an arrondissement is found in the wrong place.
    """
    places = _numbered_places(events)
    rows = ["site_id,arr_id,lon,lat"]
    members = defaultdict(list)
    for block, offset in enumerate((0.003, 0.0, -0.001, -0.002)):
        for (lat, lon), number in places.items():
            site, arrondissement = block * len(places) + number, len(places) + 1 - number
            lat_text, lon_text = f"{lat + offset:.6f}", f"{lon + offset:.6f}"
            rows.append(f"{site},{arrondissement},{lon_text},{lat_text}")
            members[lat, lon].append((float(lat_text), float(lon_text)))
    return _Senegal(
        table=put(folder / "ContextData" / "SITE_ARR_LONLAT.CSV", rows),
        site_of={place: len(places) + number for place, number in places.items()},
        arrondissement_of={place: len(places) + 1 - number for place, number in places.items()},
        centre_of={
            place: (fmean(lat for lat, _ in sites), fmean(lon for _, lon in sites))
            for place, sites in members.items()
        },
    )


def _senegal_others(folder: Path) -> tuple[Path, ...]:
    """Set 1 (traffic; hour stamp and texts without duration M) and the indicators (columns invented)."""
    return (
        put(folder / "SET1" / "SET1V_01.CSV", ["2013-01-07 00,1,2,3,180", "2013-01-07 01,2,2,1,35"]),
        put(folder / "SET1" / "SET1S_01.CSV", ["2013-01-07 00,1,2,3", "2013-01-07 01,2,2,1"]),
        put(folder / "INDICATORS_SET3" / "INDICATORS_SET3_M01.CSV", ["1,0.25,3,17.5", "2,0.50,1,4.0"]),
    )


def _senegal_strays(events: list[Event], implausible: int) -> list[str]:
    first = events[0]
    return [f"{first.user},{stamp(first.second + 600 * (i + 1))},{_STRAY}" for i in range(implausible)]


def write_d4d_senegal_set2(folder: Path, events: list[Event], *, implausible: int = 0) -> Written:
    """SET2/SET2_P01.CSV (comma, no header, times on a ten-minute grid) and SITE_ARR_LONLAT.CSV (with header).

    The notes name no mark for an unknown site; `strays` adds rows whose site is in no table.
    M: the hour stamps and the missing duration in set 1. Ours: that the grid rounds down, and that clocks are UTC.
    """
    senegal = _senegal_table(folder, events)
    expected = [e._replace(second=e.second // 600 * 600) for e in sixth_decimal(events)]
    rows = [f"{e.user},{stamp(e.second // 600 * 600)},{senegal.site_of[e.lat, e.lon]}" for e in events]
    return Written(
        path=put(folder / "SET2" / "SET2_P01.CSV", with_traps(rows, _senegal_strays(events, implausible))),
        sites=senegal.table,
        expected=expected,
        dropped=_dropped("unknown antenna", 0, implausible),
        note="The antenna table has a header, the events have none. Published positions of sites are jittered.",
        not_events=_senegal_others(folder),
    )


def write_d4d_senegal_set3(folder: Path, events: list[Event], *, implausible: int = 0) -> Written:
    """SET3/SET3_M01.CSV and so on: user, time, arrondissement, whose place is the mean of its sites.

    M: the hour stamps and the missing duration in set 1. Ours: that times look as in set 2, that users keep their
    ids from month to month, and that clocks are UTC.
    """
    senegal = _senegal_table(folder, events)
    months: dict[str, list[str]] = defaultdict(list)
    for e in events:
        time = stamp(e.second)
        months[time[5:7]].append(f"{e.user},{time},{senegal.arrondissement_of[e.lat, e.lon]}")
    first_month = stamp(events[0].second)[5:7]
    months[first_month] = with_traps(months[first_month], _senegal_strays(events, implausible))
    for month, rows in months.items():
        put(folder / "SET3" / f"SET3_M{month}.CSV", rows)
    centres = [senegal.centre_of[e.lat, e.lon] for e in events]
    return Written(
        path=folder / "SET3",
        sites=senegal.table,
        expected=[Event(e.user, e.second, *centre) for e, centre in zip(events, centres, strict=True)],
        dropped=_dropped("unknown arrondissement", 0, implausible),
        note="Places are means of sites: compare within 1e-9 degrees. A user goes on from one month to the next.",
        not_events=_senegal_others(folder),
    )
