"""An engine of other machines: the workers of a Dask scheduler that is running already.

A task goes out as bytes and comes back as bytes. Whatever becomes of its worker (killed, frozen, cut off), it is sent
out again to another, since it gives the same result wherever it is done.
"""

from __future__ import annotations

import logging
import pickle
import time
import uuid
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from shoal.engine.interface import Result, Task
from shoal.errors import InputError, UnfinishedError

_CONNECTING_S = 10.0
_ANSWERING_S = 20.0  # within which a scheduler that is there answers
_PATIENCE_S = (
    60.0  # for a task, or ten times what one takes on average: a new worker may have to compile first
)
_GLANCE_S = 1.0  # between two looks at whether the cluster is still there
_ATTEMPTS = 4  # to have a task done; more workers than that are not lost by accident
_LIBRARIES = ("shoal", "numba", "numpy")  # on which results depend


@dataclass
class _Errand:
    """A task on its way: what it is, since when it is out, and how often it was lost."""

    content: bytes
    future: Any = None
    since: float = 0.0
    lost: int = 0


@dataclass
class Cluster:
    """The workers of a scheduler at an address such as tcp://10.0.0.1:8786."""

    address: str
    n_tasks: int = 2
    _worked_s: float = 0.0
    _n_done: int = 0
    _avoided: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        try:
            from distributed import Client
        except ModuleNotFoundError:
            raise InputError(
                "--cluster needs Dask's distributed, which is not installed: pip install 'shoal[cluster]'."
            ) from None
        logging.getLogger("distributed").setLevel(logging.CRITICAL + 1)  # it tells of every lost connection
        warnings.filterwarnings("ignore", module="distributed")  # and of tasks of more than some MB
        try:
            self._client: Any = Client(self.address, timeout=_CONNECTING_S, set_as_default=False)  # type: ignore[no-untyped-call]
            self._client.wait_for_workers(1, timeout=_CONNECTING_S)
        except (OSError, TimeoutError, ValueError):
            raise InputError(
                f"No Dask scheduler with workers answers at {self.address!r}: expected an address such as"
                " tcp://host:8786; start 'dask scheduler' and 'dask worker' there, or leave out --cluster."
            ) from None
        self._count_threads()

    def map(self, call: Callable[[Task], Result], tasks: Iterable[Task]) -> Iterator[Result]:
        """call(task) for every task, results in their order."""
        self._count_threads()
        waiting: deque[_Errand] = deque()
        for task in tasks:
            waiting.append(_Errand(pickle.dumps((call, task, versions()), pickle.HIGHEST_PROTOCOL)))
            self._send(waiting[-1])
            if len(waiting) > self.n_tasks:
                yield self._done(waiting.popleft())
        while waiting:
            yield self._done(waiting.popleft())

    def _send(self, errand: _Errand) -> None:
        among = sorted(set(self._ask("ncores")) - self._avoided) if self._avoided else None
        if among == []:  # nobody is left: give those who did not answer another chance
            self._avoided.clear()
            among = None
        errand.since = time.monotonic()
        errand.future = self._client.submit(
            attempt, errand.content, key=f"shoal-{uuid.uuid4()}", workers=among, allow_other_workers=False
        )

    def _done(self, errand: _Errand) -> Any:
        """What came of a task, sent out as often as it takes."""
        while True:
            try:
                kind, answer, seconds = pickle.loads(errand.future.result(timeout=_GLANCE_S))
            except TimeoutError:
                self._check_connection()
                if time.monotonic() - errand.since > max(
                    _PATIENCE_S, 10 * self._worked_s / max(self._n_done, 1)
                ):
                    self._avoided |= self._holders(errand)
                    self._send_again(errand)
            except ModuleNotFoundError:
                raise InputError(
                    "The workers of the cluster cannot find shoal: install it there, in the same version as here."
                ) from None
            except Exception:  # whatever Dask tells of a lost worker or scheduler
                self._check_connection()
                self._send_again(errand)
            else:
                self._worked_s += seconds
                self._n_done += 1
                if kind == "other versions":
                    raise InputError(
                        f"The workers of the cluster have {answer}, here are {versions()}: install the same versions."
                    )
                if kind == "error":
                    raise answer
                return answer

    def _send_again(self, errand: _Errand) -> None:
        errand.lost += 1
        if errand.lost >= _ATTEMPTS:
            raise _lost("its workers do not answer or keep dying")
        errand.future.release()
        self._send(errand)

    def _holders(self, errand: _Errand) -> set[str]:
        """The workers that have a task, or the result that they do not hand out."""
        key = errand.future.key
        busy = {worker for worker, keys in self._ask("processing").items() if key in keys}
        return busy | set(self._ask("who_has", keys=[key]).get(key, ()))

    def _count_threads(self) -> None:
        self.n_tasks = max(2, 2 * sum(self._ask("ncores").values()))

    def _check_connection(self) -> None:
        if self._client.status != "running":
            raise _lost("its scheduler is gone")

    def _ask(self, what: str, **about: object) -> dict[Any, Any]:
        """What the scheduler says, if it does."""
        try:
            return dict(
                self._client.sync(
                    getattr(self._client.scheduler, what), **about, callback_timeout=_ANSWERING_S
                )
            )
        except Exception:
            raise _lost("its scheduler does not answer") from None

    def close(self) -> None:
        """Leave the cluster as it is."""
        try:
            self._client.close(timeout=2)
        except Exception:  # there is nothing to be done about a cluster that is gone
            logging.getLogger(__name__).debug("the cluster was gone before it was left")


def attempt(content: bytes) -> bytes:
    """Do a task on a worker, and tell how long that took; its faults are answers, apart from those of the cluster."""
    began = time.monotonic()
    call, task, expected = pickle.loads(content)
    kind: str = "other versions"
    answer: Any = versions()
    if answer == expected:
        try:
            kind, answer = "result", call(task)
        except Exception as error:
            kind, answer = "error", error
    return pickle.dumps((kind, answer, time.monotonic() - began), pickle.HIGHEST_PROTOCOL)


def versions() -> str:
    """Those on which results depend."""
    found = []
    for name in _LIBRARIES:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            found.append(f"no {name}")
    return ", ".join(found)


def _lost(how: str) -> UnfinishedError:
    return UnfinishedError(
        f"The cluster was lost, {how}: nothing was published; mend it, or leave out --cluster, and go on with --resume."
    )
