"""What every refusal must be: one line for the user, without data."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pytest

from shoal.errors import InputError


def refusal(call: Callable[[], object], canaries: Iterable[str]) -> str:
    """The message of the InputError that a call ends in, as the command prints it: one line that repeats no canary."""
    with pytest.raises(InputError) as caught:
        call()
    message = caught.value.for_command
    assert "--" not in str(caught.value)
    assert "\n" not in message
    assert message.endswith(".")
    assert len(message) < 300
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None or caught.value.__suppress_context__
    for canary in canaries:
        assert canary not in message
    return message
