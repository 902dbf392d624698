"""What a file itself says of guarantee 2, in its manifest: it can admit something, and prove nothing."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from shoal.auditing.claims import section_of
from shoal.core.disclosure import CountRange, range_of_count

_IN_WORDS = re.compile(r"(?P<again>\d[\d,]{0,24}) of (?:about |fewer than )?(?P<members>\d[\d,]{0,24}) ")
_ONCE = "once"  # the rule of reuse under which relaxations are the members that serve again, no others
_SPACED = "spaced"  # members may serve again without a relaxation


class OwnAccount(NamedTuple):
    """What a manifest says of guarantee 2, in words and in numbers.

    again: how many members had to serve again; members: of how many. Either is None where it is not told. The numbers
    of the manifest count; those in the words do only for older files that have no others. reuse: the rule of reuse.
    """

    words: str
    again: CountRange | None = None
    members: CountRange | None = None
    reuse: str = ""
    in_words: tuple[int, int] | None = None

    @property
    def weakest(self) -> tuple[int, int] | None:
        """The most members that may have had to serve again, of the fewest that there may be; None where not told."""
        if self.disclaims or self.again is None or self.members is None:
            return None
        if not self.again.most or not self.members.least:
            return None
        return min(self.again.most, self.members.least), self.members.least

    @property
    def disclaims(self) -> bool:
        """Whether the manifest says that the guarantee is not given."""
        return self.words.startswith("not given")

    @property
    def contradicts_itself(self) -> bool:
        """Whether the words say something else than the numbers do."""
        if self.disclaims or self.again is None:
            return False
        if self.members is not None and self.again.least > self.members.most:
            return True
        if self.in_words is None:
            return self.words == "given" and self.again.least > 0
        again, members = self.in_words
        return not (_may_be(again, self.again) and (self.members is None or _may_be(members, self.members)))


def _may_be(number: int, told: CountRange) -> bool:
    """Whether a number in words is one of a range; "fewer than 10" has 10 where the range ends with 9."""
    return told.least <= number <= told.most + 1


def own_account(manifest: Mapping[str, Any], k: int) -> OwnAccount:
    """Take the account from a manifest; ``k`` is that of its promise, by which its counts are rounded."""
    guarantees, parameters = (section_of(manifest, name) for name in ("guarantees", "parameters"))
    words = str(guarantees.get("one_window", ""))
    in_words = _numbers_in(words)
    again, members = (range_of_count(manifest.get(name), k) for name in ("relaxations", "members"))
    if again is None and in_words is not None:
        again = CountRange(0, in_words[0])
    if members is None and in_words is not None:
        members = CountRange(in_words[1], in_words[1])
    return OwnAccount(words, again, members, str(parameters.get("reuse", "")), in_words)


def _numbers_in(words: str) -> tuple[int, int] | None:
    """How many of how many members, as files before 0.2 tell it only in words."""
    told = _IN_WORDS.search(words) if words.startswith("weakened") else None
    if told is None:
        return None
    again, members = (int(told[name].replace(",", "")) for name in ("again", "members"))
    return again, members


def differences(account: OwnAccount, n_members: int, n_again: int | None) -> list[str]:
    """What the evidence says otherwise than the manifest, in words. ``n_again`` is None where the evidence was held to
    other windows than those that the manifest tells of."""
    found = []
    told = account.members
    if told is not None and not told.least <= n_members <= told.most:
        found.append(
            f"the number of members is {told.in_words()} by the manifest, {n_members:,} by the evidence"
        )
    told = None if account.reuse == _SPACED or n_again is None else account.again
    if told is None or n_again is None:
        return found
    least = told.least if account.reuse == _ONCE else 0  # a pair may serve the other way round
    if not least <= n_again <= told.most:
        found.append(
            f"the number of members that had to serve again is {told.in_words()} by the manifest, {n_again:,} by the"
            " evidence"
        )
    return found
