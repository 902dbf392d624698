"""Functions that take ``**options`` only to pass them on, and yet say which."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from functools import wraps
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


def takes(options: Iterable[inspect.Parameter]) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """List options in the signature of a function that passes them on, and refuse others at its door.

    A misspelt option would otherwise be refused late, in the name of a function that nobody called.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        signature = inspect.signature(function)
        known = {
            name: each for name, each in signature.parameters.items() if each.kind is not each.VAR_KEYWORD
        }
        for option in options:
            known.setdefault(option.name, option)

        @wraps(function)
        def called(*arguments: P.args, **given: P.kwargs) -> R:
            for name in given:
                if name not in known:
                    raise TypeError(f"{function.__name__}() got an unexpected keyword argument {name!r}")
            return function(*arguments, **given)

        vars(called)["__signature__"] = signature.replace(parameters=list(known.values()))
        return called

    return decorate


def options_of(function: Callable[..., object]) -> list[inspect.Parameter]:
    """What a function takes by name only."""
    return [
        each for each in inspect.signature(function).parameters.values() if each.kind is each.KEYWORD_ONLY
    ]
