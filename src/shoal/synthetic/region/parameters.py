"""What may be asked of a region, checked before anything is made."""

from __future__ import annotations

from dataclasses import replace

from shoal.core.checks import check_count
from shoal.errors import ParameterError
from shoal.synthetic.region.presets import PRESETS, Preset

LEAST_ANTENNAS, MOST_ANTENNAS = 10, 10_000
MOST_PER_KM2 = 5  # with more there is no room to keep made-up antennas apart
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
        raise ParameterError(f"The preset must be one of {', '.join(PRESETS)}, got {name!r}.")
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
            f"samples per hour must be a number above 0 and at most {_MOST_SAMPLES}, got {value!r}."
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
