"""Every public data set's layout on disk, written from the format notes alone: no code here is shared with readers.

    events = canonical_events(seed=1, n_users=3, n=30, like="tdrive")
    written = WRITERS["tdrive"](folder, events)
    assert trajectories(my_reader(written.path)) == trajectories(written.expected)

Where each trap of the notes is: unknown antenna -1 (d4d-ivory-*), ids re-drawn for every file (d4d-ivory-set2-folder),
header in the antenna table alone and places by arrondissement (d4d-senegal-*), longitude first (d4d-*, tdrive, porto,
mpat-*), files without people (`not_events`: set 1, set 4, indicators, cell_POIcat, labels.txt), 999 (yjmob100k),
-777 and six header lines (geolife), local clocks (tdrive, shanghai-*, mpat-*), polylines (porto), 0,0 and blanks
(snap-brightkite, shanghai-*), latin-1 and English dates (foursquare-tsmc2014), any order and the user in the file's
name (cabspotting), H.MM (shanghai-*), wrong labels and leading zeros (mpat-*).
In docstrings "M" is remembered by the notes but not verified; "Ours" is a choice made here that the notes leave open.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from reading.formats.canonical import (
    HOMES,
    Event,
    Home,
    PlanarEvent,
    Written,
    canonical_events,
    trajectories,
)
from reading.formats.checkins import write_foursquare_tsmc2014, write_snap_brightkite, write_snap_gowalla
from reading.formats.d4d import (
    write_d4d_ivory_set2,
    write_d4d_ivory_set3,
    write_d4d_senegal_set2,
    write_d4d_senegal_set3,
)
from reading.formats.gps_tracks import (
    write_cabspotting,
    write_geolife,
    write_gpx,
    write_porto,
    write_tdrive,
)
from reading.formats.phones import (
    write_mpat_shenzhen,
    write_sessions,
    write_shanghai_telecom,
    write_yjmob100k,
)

__all__ = [
    "HOMES",
    "WRITERS",
    "Event",
    "Home",
    "PlanarEvent",
    "Written",
    "canonical_events",
    "home_of",
    "trajectories",
    "write_cabspotting",
    "write_d4d_ivory_set2",
    "write_d4d_ivory_set3",
    "write_d4d_senegal_set2",
    "write_d4d_senegal_set3",
    "write_foursquare_tsmc2014",
    "write_geolife",
    "write_gpx",
    "write_mpat_shenzhen",
    "write_porto",
    "write_sessions",
    "write_shanghai_telecom",
    "write_snap_brightkite",
    "write_snap_gowalla",
    "write_tdrive",
    "write_yjmob100k",
]

WRITERS: dict[str, Callable[[Path, list[Event]], Written]] = {
    "d4d-ivory-set2": write_d4d_ivory_set2,
    "d4d-ivory-set2-folder": partial(write_d4d_ivory_set2, all_windows=True),
    "d4d-ivory-set3": write_d4d_ivory_set3,
    "d4d-senegal-set2": write_d4d_senegal_set2,
    "d4d-senegal-set3": write_d4d_senegal_set3,
    "yjmob100k": write_yjmob100k,
    "geolife": write_geolife,
    "tdrive": write_tdrive,
    "porto": write_porto,
    "snap-gowalla": write_snap_gowalla,
    "snap-brightkite": write_snap_brightkite,
    "foursquare-tsmc2014": write_foursquare_tsmc2014,
    "cabspotting": write_cabspotting,
    "shanghai-telecom": write_shanghai_telecom,
    "shanghai-telecom-spreadsheet": partial(write_shanghai_telecom, spreadsheet=True),
    "mpat-shenzhen": write_mpat_shenzhen,
    "mpat-shenzhen-labelled": partial(write_mpat_shenzhen, labelled=True),
    "gpx": write_gpx,
    "sessions": write_sessions,
}


def home_of(name: str) -> str:
    """The home of a writer's events: that of the format, for its variants too."""
    return max((home for home in HOMES if name.startswith(home)), key=len)
