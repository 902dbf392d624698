"""Publish trajectory data under k^{tau,epsilon}-anonymity."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from shoal import utility
    from shoal.api import anonymize, assess, audit, warm_up
    from shoal.auditing.result import Audit
    from shoal.core.progress import Progress
    from shoal.errors import InputError, ParameterError, ShoalError, UnfinishedError
    from shoal.evaluate.check.checking import CheckedEvents, check
    from shoal.evaluate.compare import Comparison, compare
    from shoal.evaluate.plan.planning import Plan, plan
    from shoal.evaluate.sweep import Sweep, sweep
    from shoal.publishing.release import Published
    from shoal.reporting import write_report
    from shoal.synthetic import make_city, make_region
    from shoal.synthetic.credibility.verdict import Credibility

# Where each name lives; loaded when first used, so that ``shoal --help`` need not load the compiler.
_HOMES = {
    "Audit": "shoal.auditing.result",
    "CheckedEvents": "shoal.evaluate.check.checking",
    "Comparison": "shoal.evaluate.compare",
    "Credibility": "shoal.synthetic.credibility.verdict",
    "InputError": "shoal.errors",
    "ParameterError": "shoal.errors",
    "Plan": "shoal.evaluate.plan.planning",
    "Progress": "shoal.core.progress",
    "Published": "shoal.publishing.release",
    "ShoalError": "shoal.errors",
    "Sweep": "shoal.evaluate.sweep",
    "UnfinishedError": "shoal.errors",
    "anonymize": "shoal.api",
    "assess": "shoal.api",
    "audit": "shoal.api",
    "check": "shoal.evaluate.check.checking",
    "compare": "shoal.evaluate.compare",
    "make_city": "shoal.synthetic",
    "make_region": "shoal.synthetic",
    "plan": "shoal.evaluate.plan.planning",
    "sweep": "shoal.evaluate.sweep",
    "warm_up": "shoal.api",
    "write_report": "shoal.reporting",
}
_MODULES = ("utility",)  # of which Python users call several functions

__all__ = [
    "Audit",
    "CheckedEvents",
    "Comparison",
    "Credibility",
    "InputError",
    "ParameterError",
    "Plan",
    "Progress",
    "Published",
    "ShoalError",
    "Sweep",
    "UnfinishedError",
    "anonymize",
    "assess",
    "audit",
    "check",
    "compare",
    "make_city",
    "make_region",
    "plan",
    "sweep",
    "utility",
    "warm_up",
    "write_report",
]


def __getattr__(name: str) -> object:
    if name == "__version__":
        from importlib.metadata import version

        return version("shoal")
    if name in _MODULES:
        return import_module(f"shoal.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module 'shoal' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__, "__version__"])
