"""The five datasets of the paper (its table of datasets), and how their made-up doubles are laid out."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Layout:
    """How antennas are spread: percent of them in the main city's middle, its suburbs, in towns; the rest anywhere."""

    core: int
    suburbs: int
    towns: int
    n_towns: int
    core_m: int  # how far the middle reaches, and the suburbs
    suburbs_m: int
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
    layout: Layout
    commute_m: int  # how far people like to go to work
    journeys: int  # begun by a thousand people on a day
    journey_m: int  # how far they like to lead


_NATION = Layout(
    core=10, suburbs=20, towns=50, n_towns=60, core_m=2_400, suburbs_m=6_500, main_x=40, main_y=-60
)

PRESETS = {
    "abi": Preset(2_731, 400, 29_191, 0.90, 14, True, Layout(30, 35, 20, 8, 2_600, 6_500), 7_000, 5, 15_000),
    "dak": Preset(1_024, 457, 71_146, 0.74, 14, False, Layout(32, 38, 18, 6, 2_000, 4_500), 7_000, 5, 10_000),
    "shn": Preset(
        3_329, 2_961, 50_000, 1.00, 1, True, Layout(16, 34, 36, 14, 3_600, 9_000), 7_000, 5, 15_000
    ),
    "civ": Preset(322_463, 1_238, 82_728, 0.75, 14, True, _NATION, 18_000, 30, 30_000),
    "sen": Preset(196_712, 1_666, 286_926, 0.45, 14, False, _NATION, 18_000, 30, 30_000),
}
