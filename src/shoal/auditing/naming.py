"""Names of records that give their users away: identifiers in some spelling, and digests of them.

Whoever has a list of identifiers tries them all, so that a name made of an identifier alone hides nobody. A digest with
a secret in it (a salt) cannot be told from a random name.
"""

from __future__ import annotations

import base64
import hashlib
import re
import uuid
from collections.abc import Iterable, Iterator

import numpy as np
import numpy.typing as npt

from shoal.core.arrays import Int64s
from shoal.core.boxes import UNKNOWN

_HASHES = (
    hashlib.md5,
    hashlib.sha1,
    hashlib.sha224,
    hashlib.sha256,
    hashlib.sha384,
    hashlib.sha512,
    hashlib.sha3_256,
    hashlib.blake2b,
    hashlib.blake2s,
)
_NAMESPACES = [
    space.bytes for space in (uuid.NAMESPACE_DNS, uuid.NAMESPACE_URL, uuid.NAMESPACE_OID, uuid.NAMESPACE_X500)
]
_HEX, _BETWEEN = re.compile(r"[0-9a-f]{8,}"), re.compile(r"[\W_]+")
_LIKE_OURS = re.compile(r"[0-9a-fr]*")  # letters of names that shoal gives: none of base64 is among so few
_IDENTIFIER = 6  # characters of an identifier that is looked for inside of names
_PIECE = 12  # hexadecimal digits of a digest where a name has that many, so that none is found by accident
_BASE64_PIECE = 10
_OFFSETS = 3  # hexadecimal letters that may stand before a digest by accident, as in "rec", and one more
_LONG = 8  # characters that are not alike by accident; of a digest, two in four billion
_LONG_FOR_ANY = 10  # the same where every record is compared with every user
_MOST_BY_ACCIDENT = 10  # records with a short name that is their user's: of names given at random about 2
_FEW = 0.01  # of the records: long names that are some user's, where nobody knows whose record is whose


def count_named(names: Iterable[str], users: npt.NDArray[np.object_], own: Int64s) -> int:
    """How many records are named after their users (``own``; where that is unknown, after any): by the user's
    identifier or by a digest of it, in one of several spellings, whole or in part. 0 where it may be accident."""
    titles = [str(name).lower() for name in names]
    if (own == UNKNOWN).all():
        return _after_any(titles, [str(user) for user in users])
    pairs = ((titles[record], str(users[user])) for user, record in enumerate(own.tolist()) if record >= 0)
    is_sure = [sure for title, user in pairs if (sure := _after(title, user)) is not None]
    n_unsure = is_sure.count(False)
    by_accident = n_unsure <= _MOST_BY_ACCIDENT and 2 * n_unsure <= len(titles)
    return is_sure.count(True) + (0 if by_accident else n_unsure)


def _after(title: str, user: str) -> bool | None:
    """Whether a name, in lower case, is surely after a user, perhaps (False) or not (None)."""
    plain, perhaps = _plain(title), False
    for spelling in _spellings(user):
        text = title if spelling in title else plain
        is_whole = spelling in (title, plain)
        if is_whole or (len(user) >= _IDENTIFIER and spelling in text):
            perhaps = True
            if len(title) >= _LONG if is_whole else _is_telling(spelling, text, _LONG):
                return True
    pieces = _pieces(title, plain)
    if pieces and any(mark in pieces for mark in _marks(user, {*map(len, pieces)}, _may_be_base64(plain))):
        return True
    return False if perhaps else None


def _after_any(titles: list[str], users: list[str]) -> int:
    """How many names are after any user."""
    found = _found_marks(titles, users)
    whole = {spelling for user in users for spelling in _spellings(user)}
    inside = {spelling for user in users if len(user) >= _IDENTIFIER for spelling in _spellings(user)}
    sizes = sorted({len(spelling) for spelling in inside})
    n_sure = n_unsure = 0
    for title in titles:
        plain = _plain(title)
        alike = _contained({title, plain}, whole, inside, sizes)
        pieces = _pieces(title, plain) & found
        is_sure = any(len(piece) >= _LONG_FOR_ANY for piece in pieces) or any(
            _is_telling(spelling, text, _LONG_FOR_ANY) or (spelling == text and len(text) >= _LONG)
            for spelling, text in alike
        )
        n_sure += is_sure
        n_unsure += not is_sure and bool(alike or pieces)
    few, half = _FEW * len(titles), len(titles) / 2
    return (n_sure if n_sure > few else 0) + (n_unsure if n_unsure > half else 0)


def _contained(texts: set[str], whole: set[str], inside: set[str], sizes: list[int]) -> list[tuple[str, str]]:
    """The spellings of identifiers that a name is or holds, each with the form of the name in which it was found."""
    same = [(text, text) for text in texts if text in whole]
    held = [
        (part, text)
        for text in texts
        for size in sizes
        for at in range(len(text) - size + 1)
        if (part := text[at : at + size]) in inside
    ]
    return same + held


def _found_marks(titles: list[str], users: list[str]) -> set[str]:
    """All pieces of names with which a digest of some user begins or ends."""
    pieces = {piece for title in titles for piece in _pieces(title, _plain(title))}
    sizes, with_base64 = {*map(len, pieces)}, any(_may_be_base64(_plain(title)) for title in titles)
    return {mark for user in users for mark in _marks(user, sizes, with_base64) if mark in pieces}


def _plain(text: str) -> str:
    """A text without what separates its parts: dashes, underscores, signs of base64."""
    return _BETWEEN.sub("", text)


def _may_be_base64(plain: str) -> bool:
    return _LIKE_OURS.fullmatch(plain) is None


def _is_telling(spelling: str, text: str, long: int) -> bool:
    """Whether it is no accident that a name holds an identifier: it is long or has letters that random names of
    hexadecimal digits lack, and is not a part of a longer number."""
    at = text.find(spelling)
    before, behind = text[max(at - 1, 0) : at], text[at + len(spelling) : at + len(spelling) + 1]
    cut = (before.isdigit() and spelling[0].isdigit()) or (behind.isdigit() and spelling[-1].isdigit())
    if len(spelling) < _IDENTIFIER or cut:
        return False
    return len(spelling) >= long or _may_be_base64(_plain(spelling))


def _spellings(user: str) -> set[str]:
    """An identifier in lower case: as it is, backwards, in base64 and in hexadecimal; all without separators, too."""
    encoded = (base64.b64encode(user.encode()).decode().rstrip("="), user.encode().hex())
    spelled = {text.lower() for text in (user, user[::-1], *encoded)}
    return (spelled | {_plain(text) for text in spelled}) - {""}


def _pieces(title: str, plain: str) -> set[str]:
    """Parts of a name that may be the beginning or the end of a digest: short runs of hexadecimal digits as a whole,
    of longer ones so many digits as make accidents impossible; and the same of base64."""
    pieces = set()
    for run in {*_HEX.findall(title), *_HEX.findall(plain)}:
        starts = range(min(_OFFSETS, len(run) - _PIECE + 1))
        pieces |= {run[at : at + _PIECE] for at in starts} | {run[-_PIECE:]}
    if _may_be_base64(plain) and len(plain) >= _BASE64_PIECE:
        pieces |= {plain[at : at + _BASE64_PIECE] for at in range(_OFFSETS)} | {plain[-_BASE64_PIECE:]}
    return pieces


def _marks(user: str, sizes: Iterable[int], with_base64: bool) -> Iterator[str]:
    """Beginnings and ends, of these sizes, of all digests of an identifier."""
    for digest in _digests(user.encode()):
        for size in sizes:
            yield digest[:size]
            yield digest[-size:]
        if with_base64:
            encoded = _plain(base64.b64encode(bytes.fromhex(digest)).decode().lower())
            yield encoded[:_BASE64_PIECE]
            yield encoded[-_BASE64_PIECE:]


def _digests(text: bytes) -> Iterator[str]:
    """Digests in hexadecimal, and the UUIDs of versions 3 and 5 in the four namespaces that everybody knows."""
    for digest in _HASHES:
        yield digest(text, usedforsecurity=False).hexdigest()
    for space in _NAMESPACES:
        for version, digest in (("3", hashlib.md5), ("5", hashlib.sha1)):
            digits = digest(space + text, usedforsecurity=False).hexdigest()
            variant = "89ab"[int(digits[16], 16) % 4]
            yield f"{digits[:12]}{version}{digits[13:16]}{variant}{digits[17:32]}"
