"""One promise out of a plan: the strongest that costs little more than the cheapest."""

from __future__ import annotations

from collections.abc import Sequence

from shoal.evaluate.plan.forecasting import Forecast

AFFORDABLE = 3  # times the longer side of the boxes that are cheapest
LITTLE = 0.01  # of the samples suppressed, of the members that would serve again


def recommend_promise(forecasts: Sequence[Forecast]) -> Forecast | None:
    """The largest k, then the longest tau, then the shortest epsilon, whose boxes are at most three times as long as
    those of the cheapest; among promises for which little is suppressed and partners last.

    Where there is none, the one for which least is lost; None where everything would be suppressed.
    """
    usable = [row for row in forecasts if row.n_boxes]
    sound = [row for row in usable if is_sound(row)]
    if not sound:
        return min(usable, key=lambda row: row.suppressed_share + row.reused_share, default=None)
    most = AFFORDABLE * min(row.longer_side_km_median for row in sound)
    affordable = [row for row in sound if row.longer_side_km_median <= most]
    return max(affordable, key=lambda row: (row.k, row.tau_min, -row.epsilon_min))


def is_sound(row: Forecast) -> bool:
    """Whether little is suppressed, and partners last."""
    return row.suppressed_share <= LITTLE and row.reused_share <= LITTLE
