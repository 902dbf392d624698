"""Engines do tasks that do not depend on each other. They move tasks about and know nothing of privacy.

Tasks and results can be pickled, and a task gives the same result wherever and however often it is done; so a task
whose worker was lost is simply done again. ``interface`` says what an engine is, ``processes`` and ``child`` are the
engine of worker processes, ``dask_cluster`` is that of other machines.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum

from shoal.core.checks import told
from shoal.core.engines.interface import Engine, LocalEngine
from shoal.core.engines.processes import ProcessEngine
from shoal.errors import ParameterError

__all__ = [
    "Engine",
    "LocalEngine",
    "EngineKind",
    "ProcessEngine",
    "check_cluster",
    "cluster_warnings",
    "open_engine",
]


class EngineKind(StrEnum):
    """Engines of one machine."""

    THREADS = "threads"  # one process
    PROCESSES = "processes"  # several, which costs some memory


def check_cluster(cluster: str | None) -> None:
    """Refuse the address of a cluster at which nobody listens."""
    if cluster is not None:
        from shoal.core.engines.dask_cluster import check_address

        check_address(cluster)


def cluster_warnings(cluster: str | None) -> list[str]:
    """What to warn of before anything is sent to a cluster; the command shows no Python warnings and says it itself."""
    if cluster is None or not cluster.startswith("tcp://"):
        return []
    return [
        "A cluster at tcp:// is neither encrypted nor authenticated. It gets raw samples, and what its workers answer"
        " can run code here: use machines and a network that you trust, or tls://."
    ]


@contextmanager
def open_engine(kind: str, count: int, cluster: str | None) -> Iterator[Engine]:
    """The engine that was asked for: of ``count`` workers on this machine, or of a cluster where one is named."""
    for warning in cluster_warnings(cluster):
        warnings.warn(warning, stacklevel=4)
    engine = _new(kind, count, cluster)
    try:
        yield engine
    finally:
        engine.close()


def _new(kind: str, count: int, cluster: str | None) -> Engine:
    if kind not in set(EngineKind):
        raise ParameterError(f"engine must be one of {', '.join(EngineKind)}, got {told(kind)}.")
    if cluster is not None:
        from shoal.core.engines.dask_cluster import DaskEngine

        return DaskEngine(cluster)
    return ProcessEngine(count) if kind == EngineKind.PROCESSES and count > 1 else LocalEngine()
