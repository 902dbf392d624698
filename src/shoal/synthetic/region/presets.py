"""The presets of regions, with the figures of the paper's table of datasets, and which figures may replace them."""

from __future__ import annotations

from dataclasses import dataclass, replace

from shoal.core.checks import check_count, told
from shoal.errors import ParameterError


@dataclass(frozen=True)
class RegionLayout:
    """Where antennas stand: percent of them in each kind of place (the rest anywhere), and how far a place reaches."""

    core: int  # the middle of the main city
    core_m: int
    suburbs: int  # of the main city
    suburbs_m: int
    towns: int
    n_towns: int
    villages: int = 0  # around towns
    villages_m: int = 0
    main_x: int = 0  # where the main city is: percent of the way from the middle of the region to its edge
    main_y: int = 0


@dataclass(frozen=True)
class Preset:
    """A region, the people in it and how they are seen."""

    surface_km2: int
    antennas: int
    users: int
    samples_per_hour: float  # per user, over all ``days``
    days: int
    every_day: bool  # everybody has a sample every day; else on six days in seven
    layout: RegionLayout
    commute_m: int  # a typical way to work
    journeys: int  # begun by a thousand people on a day
    journey_m: int  # how far they typically lead


_NATION = RegionLayout(
    core=10,
    core_m=2_400,
    suburbs=20,
    suburbs_m=10_000,
    towns=38,
    n_towns=60,
    villages=20,
    villages_m=15_000,
    main_x=40,
    main_y=-60,
)

PRESETS = {
    "abi": Preset(
        surface_km2=2_731,
        antennas=400,
        users=29_191,
        samples_per_hour=0.90,
        days=14,
        every_day=True,
        layout=RegionLayout(core=30, core_m=2_600, suburbs=35, suburbs_m=6_500, towns=20, n_towns=8),
        commute_m=6_500,
        journeys=8,
        journey_m=15_000,
    ),
    "dak": Preset(
        surface_km2=1_024,
        antennas=457,
        users=71_146,
        samples_per_hour=0.74,
        days=14,
        every_day=False,
        layout=RegionLayout(core=32, core_m=2_000, suburbs=38, suburbs_m=4_500, towns=18, n_towns=6),
        commute_m=3_500,
        journeys=8,
        journey_m=10_000,
    ),
    "shn": Preset(
        surface_km2=3_329,
        antennas=2_961,
        users=50_000,
        samples_per_hour=1.00,
        days=1,
        every_day=True,
        layout=RegionLayout(core=16, core_m=3_600, suburbs=34, suburbs_m=9_000, towns=36, n_towns=14),
        commute_m=14_000,
        journeys=8,
        journey_m=15_000,
    ),
    "civ": Preset(
        surface_km2=322_463,
        antennas=1_238,
        users=82_728,
        samples_per_hour=0.75,
        days=14,
        every_day=True,
        layout=_NATION,
        commute_m=22_000,
        journeys=30,
        journey_m=50_000,
    ),
    "sen": Preset(
        surface_km2=196_712,
        antennas=1_666,
        users=286_926,
        samples_per_hour=0.45,
        days=14,
        every_day=False,
        layout=_NATION,
        commute_m=22_000,
        journeys=30,
        journey_m=50_000,
    ),
}


# ---- a preset with other figures ----------------------------------------------------------------------------------

LEAST_ANTENNAS, MOST_ANTENNAS = 10, 10_000
MOST_PER_KM2 = 5  # with more there is no room to keep synthetic antennas apart
_MOST_KM2 = 4_000_000
_MOST_SAMPLES = 20  # people have one a minute at most, and few at night


def adapted(
    name: str,
    *,
    surface_km2: int | None = None,
    antennas: int | None = None,
    samples_per_hour: float | None = None,
) -> Preset:
    """A preset with some of its figures replaced."""
    if name not in PRESETS:
        raise ParameterError(f"The preset must be one of {', '.join(PRESETS)}, got {told(name)}.")
    preset = PRESETS[name]
    if surface_km2 is not None:
        check_count(surface_km2, "surface", least=1)
        preset = replace(preset, surface_km2=surface_km2)
    if antennas is not None:
        check_count(antennas, "antennas", least=LEAST_ANTENNAS)
        preset = replace(preset, antennas=antennas)
    if samples_per_hour is not None:
        _check_rate(samples_per_hour)
        preset = replace(preset, samples_per_hour=float(samples_per_hour))
    _check_room(preset)
    return preset


def _check_rate(value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= _MOST_SAMPLES:
        raise ParameterError(
            f"samples per hour must be a number above 0 and at most {_MOST_SAMPLES}, got {told(value)}."
        )


def _check_room(preset: Preset) -> None:
    if preset.antennas > MOST_ANTENNAS:
        raise ParameterError(f"antennas must be at most {MOST_ANTENNAS:,}, got {preset.antennas:,}.")
    if preset.surface_km2 > _MOST_KM2:
        raise ParameterError(
            f"surface must be at most {_MOST_KM2:,} square kilometres, got {preset.surface_km2:,}."
        )
    if preset.antennas > MOST_PER_KM2 * preset.surface_km2:
        raise ParameterError(
            f"antennas must be at most {MOST_PER_KM2} to a square kilometre, got {preset.antennas:,} on"
            f" {preset.surface_km2:,}: take fewer, or a larger surface."
        )
