"""What is looked at, in words: a heading, what is measured, and what is known of it."""

from __future__ import annotations

from typing import NamedTuple


class Topic(NamedTuple):
    """One thing that tells people from dice; a figure is drawn of each."""

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
