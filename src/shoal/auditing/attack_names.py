"""What each figure of an attack is called: one table for the terminal, the page and the JSON (docs/audit.md)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from shoal.auditing.exposures import as_told
from shoal.core.formatting import counted

if TYPE_CHECKING:
    from shoal.auditing.measures import Measure
    from shoal.auditing.result import Audit


class AttackName(NamedTuple):
    """A figure by attack, variant and measure, and what it is called: words that follow "an attacker who".

    ``drawn``: whether the page draws it besides. The words are short enough for a column of the terminal.
    """

    attack: str
    variant: str
    measure: str
    words: str
    drawn: bool = False


LONGEST_NAME = 38


def _both(attack: str, variants: dict[str, str], drawn: str = "") -> list[AttackName]:
    """How often an attacker is left with one record, and how often the right one is picked, for each variant."""
    return [
        AttackName(attack, variant, measure, f"{knows}: {words}", variant == drawn and measure == "pick")
        for variant, knows in variants.items()
        for measure, words in (("single", "one left"), ("pick", "picks it"))
    ]


ATTACK_NAMES = (
    AttackName("linkage", "", "success", "picks among the records that fit", drawn=True),
    AttackName("linkage", "", "pick", "weighs them by places", drawn=True),
    AttackName("rankings", "", "smallest", "ranks them by smallest boxes", drawn=True),
    AttackName("rankings", "", "faces", "ranks them by faces touched", drawn=True),
    AttackName("rankings", "", "central", "ranks them by central samples", drawn=True),
    AttackName("method", "", "pick", "knows the method: picks the right one", drawn=True),
    AttackName("method", "", "success", "knows the method: right one's chance"),
    AttackName("method", "", "single", "knows the method: one record left"),
    AttackName("presence", "", "single", "knows tau and activity near: one left"),
    AttackName("presence", "", "pick", "knows tau and activity near: picks it", drawn=True),
    AttackName("everybody", "", "success", "knows everybody at once: right match", drawn=True),
    AttackName("leakage", "", "above_epsilon", "learns more than a further epsilon", drawn=True),
    *_both("longer", {f"{n}_tau": f"knows {n} tau" for n in (2, 4, 8)}),
    *_both("intervals", {str(n): f"knows {n} intervals" for n in (2, 3, 4)}, drawn="2"),
    *_both("points", {str(n): f"knows {counted(n, 'sample')}" for n in (1, 2, 4, 8)}, drawn="4"),
    *_both("times", {"all": "knows all active epochs", "all_slots": "knows all exact times"}, drawn="all"),
    *_both("times", {str(n): f"knows {n} active epochs" for n in (4, 8, 16)}),
    *(
        AttackName(
            "top_locations", str(n), "pick", f"knows {counted(n, 'top location')}: picks right", drawn=n == 2
        )
        for n in (1, 2, 3)
    ),
    AttackName("place", "all", "exact", "finds the cell inside a box", drawn=True),
    AttackName("place", "above_1km2", "exact", "finds the cell in a box above 1 km2"),
    *(
        AttackName(
            "home_and_work", place, measure, f"finds {place} within {radius}", drawn=measure == "within_500m"
        )
        for place in ("home", "work")
        for measure, radius in (("within_500m", "500 m"), ("within_1km", "1 km"), ("within_2km", "2 km"))
    ),
    AttackName("homogeneity", "", "one_cell", "sees all that fit in one cell", drawn=True),
    AttackName("homogeneity", "", "within_1km", "sees all that fit within 1 km"),
)
# What only some files have: where records get new names, and where many of them are the same.
NAMES_OF_SOME = (
    *(
        AttackName(
            "revealed", str(n), "revealed", f"knows {counted(n, 'sample')}, relinks: boxes read", n == 4
        )
        for n in (1, 2, 4, 8)
    ),
    *(
        AttackName("revealed", str(n), "revealed_alone", f"knows {counted(n, 'sample')}: boxes read")
        for n in (1, 2, 4, 8)
    ),
    AttackName("revealed", "epochs", "revealed", "knows epochs, relinks: boxes read"),
    AttackName("revealed", "home_and_work", "revealed", "knows home, work, relinks: boxes read"),
    AttackName("relinking", "next", "pick", "finds the next part", drawn=True),
    AttackName("relinking", "next", "rank_10", "has the next part among ten"),
    AttackName("relinking", "same_hours", "pick", "finds the part at the same hours"),
    AttackName("relinking", "all", "pick", "reads the other parts, or their twins"),
    AttackName("across_border", "", "single", "sees a border: one part left beside it"),
    AttackName("across_border", "", "pick", "sees a border: picks both parts", drawn=True),
    AttackName("across_border", "", "same", "sees a border: all left are alike"),
    AttackName("across_border", "", "read", "sees a border: reads both parts"),
    *(
        AttackName("points", str(n), "same", f"knows {counted(n, 'sample')}: all left are alike")
        for n in (1, 2, 4, 8)
    ),
    *(
        AttackName("points", str(n), "read", f"knows {counted(n, 'sample')}: reads the record", n == 4)
        for n in (1, 2, 4, 8)
    ),
)

_WORDS = {(name.attack, name.variant, name.measure): name.words for name in (*ATTACK_NAMES, *NAMES_OF_SOME)}


def words_of(figure: Measure) -> str | None:
    """What a figure is called; None for one that is in the JSON alone."""
    return _WORDS.get((figure.attack, figure.variant, figure.measure))


def named_figures(audit: Audit) -> list[tuple[AttackName, Measure]]:
    """The figures of an audit that have names, in the order in which they are told."""
    return [
        (name, as_told(audit, figure))
        for name in (*ATTACK_NAMES, *NAMES_OF_SOME)
        if (figure := audit.figure(name.attack, name.measure, name.variant)) is not None
    ]
