"""Old names of modules: they warn, name the new one, and have everything they had."""

from __future__ import annotations

import importlib
import sys

import pytest

from shoal.core import promise
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


def test_old_import_of_the_grid_warns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "shoal.promise", raising=False)
    with pytest.warns(DeprecationWarning, match=r"shoal\.core\.promise") as caught:
        old = importlib.import_module("shoal.promise")
    assert len(caught) == 1
    assert (old.Grid, old.Promise) == (promise.Grid, promise.Promise)
