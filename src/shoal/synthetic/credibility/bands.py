"""Where each statistic should lie, and why: from the literature and from real people, never from the model.

*YJMob* is the extract of 1,000 phones of Yabe et al. 2024 in cells of 2 km, about as far apart as antennas are in a
city: the first two days, when nobody is cut yet, and the first seven of the 502 users who last so long.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from shoal.synthetic.credibility.gaps import FINEST_S
from shoal.synthetic.credibility.measures import Measures, Setting

LEAST_USERS = 100
SLACK_DAYS = 0.25  # a day may begin late and end early
CITY, COUNTRY = "city", "country"


@dataclass(frozen=True)
class Band:
    """A statistic, the range it should lie in (no upper end: None), and the kind of data this holds for."""

    topic: str
    name: str
    title: str
    low: float
    high: float | None
    source: str
    reason: str
    value: Callable[[Measures], float | None]
    only: str | None = None
    least_days: int = 1
    to_the_minute: bool = False
    least_per_antenna: int = 0

    def holds(self, value: float) -> bool:
        """Whether a value lies inside, ends included."""
        return self.low <= value and (self.high is None or value <= self.high)

    def concerns(self, setting: Setting) -> bool:
        """Whether it is about data from an area of this size."""
        return self.only is None or (self.only == COUNTRY) == setting.is_country

    def lack(self, measures: Measures) -> str | None:
        """What the data would need for this band to hold; None if nothing."""
        setting = measures.setting
        if setting.n_days < self.least_days - SLACK_DAYS:
            return f"needs {self.least_days} days"
        if self.to_the_minute and setting.resolution_s > FINEST_S:
            return "needs times to the minute"
        if measures.load.per_antenna < self.least_per_antenna:
            return f"needs {self.least_per_antenna} samples per antenna"
        return None


BANDS = (
    Band(
        "activity", "samples_per_user_hour", "samples per user and hour", 0.3, 1.5, "Gramaglia 2017",
        "five real datasets of call records have 0.45 to 1.00, YJMob 0.56; half as much again either way",
        lambda found: found.activity.mean,
    ),
    Band(
        "activity", "activity_spread", "busiest tenth to median", 1.6, 6.0, "YJMob",
        "1.96 in YJMob, less a fifth: pings sent by an app are the most even there is; the upper end is a judgement",
        lambda found: found.activity.spread,
    ),
    Band(
        "gaps", "gap_exponent", "exponent of the gaps", 0.7, 1.1, "Candia 2008",
        "0.9 with twice its error of 0.1; from a hundredth of a user's mean gap to the mean. YJMob has at most one"
        " sample each half hour and cannot tell",
        lambda found: found.gaps.exponent,
        to_the_minute=True,
    ),
    Band(
        "gaps", "burstiness", "burstiness B", 0.2, 0.7, "YJMob, Goh 2008",
        "0.26 in seven days of YJMob, whose half hours even it out; human activity reaches 0.7 or so",
        lambda found: found.gaps.burstiness,
        least_days=7,
    ),
    Band(
        "rhythm", "trough_hour", "quietest hour of the day", 2, 5, "Jo 2012, YJMob",
        "calls are fewest before dawn; 3:00 in YJMob. An hour elsewhere often means another --timezone",
        lambda found: found.rhythm.trough_hour,
    ),
    Band(
        "rhythm", "night_to_day", "night against day", 0.01, 0.3, "YJMob",
        "0.12 and 0.28 in YJMob, where sleeping phones send pings; calls fall further",
        lambda found: found.rhythm.night_to_day,
    ),
    Band(
        "radius", "radius_to_width", "median radius by width", 0.02, 0.11, "YJMob",
        "0.038 and 0.057 in YJMob, by half and twice: the law for countries is cut off by the edge of a city",
        lambda found: found.radius.median_km / found.setting.width_km if found.setting.width_km else None,
        only=CITY,
    ),
    Band(
        "radius", "radius_spread", "furthest tenth to median", 1.8, 5.0, "YJMob",
        "2.4 and 3.4 in YJMob, a quarter less and half as much more",
        lambda found: found.radius.spread,
        only=CITY,
    ),
    Band(
        "radius", "radius_beta", "exponent of the radius", 1.35, 1.95, "González 2008",
        "1.65 with twice its error of 0.15, offset and cutoff as there; radii from 1 km on",
        lambda found: found.radius.beta,
        only=COUNTRY, least_days=7,
    ),
    Band(
        "visits", "visit_exponent", "exponent of the visits", 1.0, 1.4, "Song 2010",
        "1.2 with twice its error of 0.1; ranks 1 to 10 of users with so many places; 1.22 in YJMob",
        lambda found: found.visits.exponent,
        least_days=7,
    ),
    Band(
        "visits", "top_place", "share of the top place", 0.2, 0.6, "YJMob",
        "0.36 to 0.44 in YJMob, 0.16 either way",
        lambda found: found.visits.top,
        least_days=2,
    ),
    Band(
        "visits", "top_two_places", "share of the top two", 0.35, 0.75, "González 2008, YJMob",
        "about 0.4 in González et al., 0.53 to 0.62 in YJMob",
        lambda found: found.visits.top_two,
        least_days=2,
    ),
    Band(
        "exploration", "places_exponent", "exponent of distinct places", 0.5, 0.8, "Song 2010, YJMob",
        "0.6 over months in Song et al., 0.74 over seven days of YJMob; from the first day on",
        lambda found: found.exploration.exponent,
        least_days=7,
    ),
    Band(
        "exploration", "new_places", "moves to a new place", 0.15, 0.45, "Song 2010, YJMob",
        "about a third in Song et al., 0.31 in a week of YJMob; by half, since it falls as people get to know places",
        lambda found: found.exploration.new_share,
        least_days=7,
    ),
    Band(
        "unicity", "unicity", "unicity of four points", 0.9, None, "de Montjoye 2013",
        "0.95 of 1.5 million people, 0.93 of 60 million; higher in smaller data. Of one day it is not known",
        lambda found: found.unicity.share,
        least_days=7,
    ),
    Band(
        "load", "busiest_tenth", "load of the busiest tenth", 0.2, 0.5, "YJMob",
        "0.40 in cells of one size, which are less even than antennas: half of that, and a quarter more",
        lambda found: found.load.top_tenth,
        only=CITY, least_per_antenna=20,
    ),
    Band(
        "load", "busiest_tenth", "load of the busiest tenth", 0.35, 0.65, "Paul 2011, Vodafone",
        "0.5 to 0.6 of the bytes of a country; calls are somewhat more even",
        lambda found: found.load.top_tenth,
        only=COUNTRY, least_per_antenna=20,
    ),
    Band(
        "load", "load_gini", "Gini coefficient of the load", 0.3, 0.7, "YJMob",
        "0.60 in cells of one size: half of that, and 0.1 more",
        lambda found: found.load.gini,
        only=CITY, least_per_antenna=20,
    ),
    Band(
        "load", "load_gini", "Gini coefficient of the load", 0.45, 0.85, "Paul 2011, Vodafone",
        "what goes with the share of the busiest tenth",
        lambda found: found.load.gini,
        only=COUNTRY, least_per_antenna=20,
    ),
)  # fmt: skip
