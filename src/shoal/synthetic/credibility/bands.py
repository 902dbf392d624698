"""What is known of people with phones: topics in words, and for each statistic its band and the source of the band."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from shoal.synthetic.credibility.activity_statistics import FINEST_S
from shoal.synthetic.credibility.measures import Measures, Setting

# ---- topics -------------------------------------------------------------------------------------------------------


class Topic(NamedTuple):
    """One thing in which people differ from random events; each has a figure of its own."""

    name: str
    title: str
    what: str
    law: str


TOPICS = (
    Topic(
        "activity",
        "Samples per user and hour",
        "How many samples a user has per hour of the data, nights included, and how much users differ: the most"
        " active tenth begins at so many times the median.",
        "No law, but no even spread either: calls and messages per user are broadly distributed in every set of"
        " call records. The five real datasets of Gramaglia et al. 2017 have 0.45 to 1.00 samples per user and hour.",
    ),
    Topic(
        "gaps",
        "Inter-event times",
        "The time between a sample and the user's next, in units of the user's own mean, so that busy and quiet users"
        " lie on one curve; and burstiness B = (sigma - mu) / (sigma + mu), which is 0 for a Poisson process and 1"
        " for the most uneven one.",
        "Candia et al. 2008 and González et al. 2008: P(dT) ~ dT^-0.9, cut off beyond the mean. Karsai et al. 2012"
        " find 0.7 for calls. People are bursty: B is well above 0 (Goh and Barabási 2008).",
    ),
    Topic(
        "rhythm",
        "Circadian profile",
        "The share of the samples in each hour of the clock, of all days and of weekends; the quietest hour, and"
        " how quiet the night (1:00 to 5:00) is compared with the day (10:00 to 20:00).",
        "Calls are fewest between 2 and 6 in the morning everywhere, with peaks about noon and in the evening"
        " (Jo et al. 2012; Aledavood et al. 2015).",
    ),
    Topic(
        "radius",
        "Radius of gyration",
        "The root mean square distance of a user's samples from their mean position.",
        "González et al. 2008, a country: P(r) ~ (r + 5.8 km)^-1.65 exp(-r / 350 km). A city cuts the law off at its"
        " own edge, so there the median is compared with the width of the region, and the spread between users with"
        " that of a real region.",
    ),
    Topic(
        "visits",
        "Visit frequency",
        "The share of a user's samples at the place visited most, second most, and so on.",
        "Song et al. 2010: f_k ~ k^-1.2, a Zipf law. González et al. 2008: about 40 % of the time at the first two.",
    ),
    Topic(
        "exploration",
        "Distinct places over time",
        "The mean number of different places a user has been seen at after so many hours, and which share of moves"
        " leads to a new place in the second half of the time.",
        "Song et al. 2010: S(t) ~ t^0.6; a move leads to a new place with probability 0.6 S^-0.21, about a third for"
        " people who know fifteen places.",
    ),
    Topic(
        "unicity",
        "Unicity",
        "The share of users whom four of their points, drawn at random, fit alone; a point is an hour and a place.",
        "De Montjoye et al. 2013: 95 % of 1.5 million people over 15 months. Farzanehfar et al. 2021: 93 % of 60"
        " million. Fewer people are easier to tell apart.",
    ),
    Topic(
        "load",
        "Antenna load",
        "How unevenly samples fall on antennas: the share of the busiest tenth, and Gini's coefficient.",
        "A tenth of the stations carries 50 to 60 % of the load of a country's 3G network (Paul et al. 2011); half of"
        " it in Vodafone UK's (2008). Within a city operators put antennas where people are, which evens it out.",
    ),
)  # fmt: skip


# ---- bands --------------------------------------------------------------------------------------------------------

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

    def __reduce__(self) -> tuple[Any, ...]:
        """In a pickle a band is known by its name: its function cannot be pickled."""
        return _band, (self.name, self.only)

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


def _band(name: str, only: str | None) -> Band:
    return next(band for band in BANDS if (band.name, band.only) == (name, only))


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
