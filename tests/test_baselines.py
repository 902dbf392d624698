"""The old name of the baselines: it warns, names the new one, and has everything it had."""

from __future__ import annotations

import importlib
import sys

import pytest

from shoal.evaluate import baselines

RENAMED = {"Counts": "SampleCounts", "Precision": "BaselinePrecision"}


def test_old_import_warns_and_has_the_same_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "shoal.baselines", raising=False)
    with pytest.warns(DeprecationWarning, match=r"shoal\.evaluate\.baselines") as caught:
        old = importlib.import_module("shoal.baselines")
    assert len(caught) == 1
    assert {RENAMED.get(name, name) for name in old.__all__} == set(baselines.__all__)
    for name in old.__all__:
        assert getattr(old, name) is getattr(baselines, RENAMED.get(name, name))
