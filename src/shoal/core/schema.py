"""Names of columns and of what stands beside them, and Arrow schemas, spelled here only."""

from __future__ import annotations

import pyarrow as pa

USER, TIME, LAT, LON, X, Y, SITE = "user", "time", "lat", "lon", "x", "y", "site"

# Other names under which these columns are commonly found (compared in lower case).
ALIASES: dict[str, tuple[str, ...]] = {
    USER: ("user", "uid", "user_id", "userid", "id", "subscriber", "subscriber_id", "imsi", "msisdn", "device",
           "device_id", "track_id", "trajectory_id", "tid", "person", "person_id", "caller_id"),
    TIME: ("time", "t", "timestamp", "datetime", "date_time", "ts", "tracked_at", "event_time", "start_time"),
    LAT: ("lat", "latitude"),
    LON: ("lon", "lng", "long", "longitude"),
    X: ("x", "x_m", "easting"),
    Y: ("y", "y_m", "northing"),
    SITE: ("site", "site_id", "antenna", "antenna_id", "cell_id", "tower", "tower_id", "bs", "bs_id"),
}  # fmt: skip

# Names under which columns of points are commonly found (compared in lower case).
POINTS = ("geometry", "geom", "the_geom", "wkt")

RECORD = "record"
T_START, T_END = "t_start", "t_end"
X_MIN, X_MAX, Y_MIN, Y_MAX = "x_min", "x_max", "y_min", "y_max"
LON_MIN, LON_MAX, LAT_MIN, LAT_MAX = "lon_min", "lon_max", "lat_min", "lat_max"
GEOMETRY = "geometry"

NOTES = b"shoal"  # the key under which Parquet's metadata hold promise and grid, as JSON
MANIFEST_FORMAT = 1  # of manifests, and of notes in a published file
MANIFEST_SUFFIX = ".manifest.json"  # of the manifest beside a published file
PRIVATE_SUFFIX = ".private.json"  # of what is kept beside a key: how the events were read
EVIDENCE_SUFFIX = ".evidence.parquet"  # of what is kept beside a key: which record was made to hold whom
PRIVATE_FORMAT = EVIDENCE_FORMAT = 1

_UTC = pa.timestamp("ms", tz="UTC")  # Parquet has no whole seconds, and files should not differ from tables
_METRIC = [
    pa.field(RECORD, pa.string(), nullable=False),
    pa.field(T_START, _UTC, nullable=False),
    pa.field(T_END, _UTC, nullable=False),
    *(pa.field(name, pa.float64(), nullable=False) for name in (X_MIN, X_MAX, Y_MIN, Y_MAX)),
]
_GEOGRAPHIC = [pa.field(name, pa.float64(), nullable=False) for name in (LON_MIN, LON_MAX, LAT_MIN, LAT_MAX)]


def published_schema(*, geographic: bool) -> pa.Schema:
    """Columns of a published file; geographic input adds a hull in degrees."""
    return pa.schema(_METRIC + (_GEOGRAPHIC if geographic else []))


KEY_SCHEMA = pa.schema(
    [pa.field(USER, pa.string(), nullable=False), pa.field(RECORD, pa.string(), nullable=False)]
)
PART = "part"  # the number of a period, from 1 on, where records get new names
PARTS_KEY_SCHEMA = KEY_SCHEMA.insert(1, pa.field(PART, pa.int32(), nullable=False))

BEGIN, END, SPAN = "begin", "end", "span"
WINDOW, EPOCH = "window", "epoch"  # the spans of time of which evidence tells
EVIDENCE_SCHEMA = pa.schema(
    [
        pa.field(BEGIN, pa.int64(), nullable=False),
        pa.field(END, pa.int64(), nullable=False),
        pa.field(USER, pa.dictionary(pa.int32(), pa.string()), nullable=False),
        pa.field(RECORD, pa.dictionary(pa.int32(), pa.string()), nullable=False),
        pa.field(SPAN, pa.dictionary(pa.int8(), pa.string()), nullable=False),
    ]
)
