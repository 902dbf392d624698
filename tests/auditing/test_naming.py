"""Records named after their users are found, however the name is spelled; random names are nobody's."""

from __future__ import annotations

import base64
import hashlib
import uuid
from collections.abc import Callable

import numpy as np
import pytest

from shoal.auditing.naming import count_named
from shoal.core.boxes import UNKNOWN

USERS = np.array([f"person-{i}" for i in range(40)], object)
SEVEN = np.array([f"u{i:06d}" for i in range(40)], object)
NUMBERED = np.array([str(i) for i in range(400)], object)


def hashed(how: str, size: int = 128) -> Callable[[str], str]:
    return lambda user: hashlib.new(how, user.encode()).hexdigest()[:size]


def in_base64(how: str, encode: Callable[[bytes], bytes], size: int = 88) -> Callable[[str], str]:
    return lambda user: encode(hashlib.new(how, user.encode()).digest()).decode()[:size]


NAMINGS: dict[str, Callable[[str], str]] = {
    "as it is": str,
    "upper case": str.upper,
    "MD5": hashed("md5"),
    "SHA-1": hashed("sha1"),
    "SHA-256": lambda user: hashed("sha256")(user).upper(),
    "eight digits": hashed("sha256", 8),
    "like a name of shoal": lambda user: "r" + hashed("md5", 16)(user),
    "prefix": lambda user: f"rec-{user}",
    "suffix": lambda user: f"{user}_1",
    "digit behind": lambda user: f"{user}7",
    "backwards": lambda user: user[::-1],
    "base64": lambda user: base64.b64encode(user.encode()).decode(),
    "base64 for addresses": lambda user: base64.urlsafe_b64encode(user.encode()).decode().rstrip("="),
    "hexadecimal": lambda user: user.encode().hex(),
    "SHA-224": hashed("sha224"),
    "SHA-384": hashed("sha384", 20),
    "SHA-512": lambda user: "r" + hashed("sha512", 16)(user),
    "SHA3-256": hashed("sha3_256"),
    "BLAKE2b": hashed("blake2b", 24),
    "BLAKE2s": hashed("blake2s"),
    "end of a digest": lambda user: "r" + hashed("md5")(user)[-16:],
    "letters before a digest": lambda user: "rec" + hashed("sha1", 16)(user),
    "a word before a digest": lambda user: "rec-" + hashed("sha1", 9)(user),
    "a digest with dashes": lambda user: str(uuid.UUID(hashed("md5")(user))),
    "a digest with underscores": lambda user: "_".join(hashed("sha256", 16)(user)),
    "digest in base64": in_base64("sha256", base64.b64encode),
    "cut digest in base64": in_base64("sha512", base64.urlsafe_b64encode, 22),
    **{
        f"UUID {version} {space}": lambda user, make=make, space=space: str(make(space, user))
        for version, make in ((3, uuid.uuid3), (5, uuid.uuid5))
        for space in (uuid.NAMESPACE_DNS, uuid.NAMESPACE_URL, uuid.NAMESPACE_OID, uuid.NAMESPACE_X500)
    },
}


@pytest.mark.parametrize("naming", NAMINGS)
@pytest.mark.parametrize("key", [True, False])
@pytest.mark.parametrize("users", [USERS, SEVEN], ids=["long", "seven"])
def test_records_named_after_users(naming: str, key: bool, users: np.typing.NDArray[np.object_]) -> None:
    titles = [NAMINGS[naming](user) for user in users]
    names = sorted(titles)
    own = np.array([names.index(title) if key else UNKNOWN for title in titles])
    assert count_named(names, users, own) == len(users)


FORMS: dict[str, Callable[[np.random.Generator], str]] = {
    "ours": lambda rng: f"r{rng.bytes(8).hex()}",
    "UUIDs": lambda rng: str(uuid.UUID(bytes=rng.bytes(16))),
    "short": lambda rng: f"r{rng.bytes(4).hex()}",
    "base64": lambda rng: base64.b64encode(rng.bytes(12)).decode(),
    "numbers": lambda rng: f"{rng.integers(10**9)}",
}


@pytest.mark.parametrize("key", [True, False])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("first", [0, 100_000, 10**11])
def test_random_names_are_nobodys(form: str, first: int, key: bool) -> None:
    """Also where identifiers are numbers of few digits, or of so many that they occur in random names."""
    rng, n = np.random.default_rng(1), 4000
    users = np.array([str(first + i) for i in range(n)], object)
    own = rng.permutation(n) if key else np.full(n, UNKNOWN)
    assert count_named([FORMS[form](rng) for _ in users], users, own) == 0


def test_six_digits_in_a_random_name_are_accident_and_in_every_name_are_not() -> None:
    rng, n = np.random.default_rng(2), 1000
    users = np.array([str(100_000 + i) for i in range(n)], object)
    names = [f"r{rng.bytes(8).hex()}" for _ in range(n)]
    names[:8] = [f"r{user}{rng.bytes(5).hex()}" for user in users[:8]]
    assert count_named(names, users, np.arange(n)) == 0
    names[:20] = [f"r{user}{rng.bytes(5).hex()}" for user in users[:20]]
    assert count_named(names, users, np.arange(n)) == 20


def test_a_number_that_begins_like_the_users_is_accident() -> None:
    users = np.array([f"person-{i}" for i in range(1, 41)], object)
    names = [f"r{i:016x}" for i in range(len(users))]
    names[:5] = [f"person-{i}00-x" for i in range(1, 6)]
    assert count_named(names, users, np.arange(len(users))) == 0
    names[:5] = [f"person-{i}-x" for i in range(1, 6)]
    assert count_named(names, users, np.arange(len(users))) == 5


def test_numbers_as_names_match_by_accident_where_they_are_given_at_random() -> None:
    everybody = len(NUMBERED)
    for seed in range(50):
        assert count_named(NUMBERED, NUMBERED, np.random.default_rng(seed).permutation(everybody)) == 0
    assert count_named(NUMBERED, NUMBERED, np.arange(everybody)) == everybody
    unknown = np.full(everybody, UNKNOWN)
    assert count_named(NUMBERED, NUMBERED, unknown) == everybody  # cannot be told apart


def test_one_name_with_a_digest_is_enough_with_the_key() -> None:
    names = [f"r{i:016x}" for i in range(len(USERS))]
    names[7] = hashed("sha1")(USERS[7])
    assert count_named(names, USERS, np.arange(len(USERS))) == 1
