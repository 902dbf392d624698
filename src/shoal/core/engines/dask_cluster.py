"""An engine of other machines: the workers of a Dask scheduler that is running already.

A task goes out as bytes and comes back as bytes. Whatever becomes of its worker (killed, frozen, cut off), it is sent
out again to another, since it gives the same result wherever it is done. A scheduler that was lost is asked again: the
tasks that it forgot go out anew.
"""

from __future__ import annotations

import contextlib
import gc
import logging
import pickle
import re
import socket
import sys
import threading
import time
import uuid
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from queue import Empty, SimpleQueue
from typing import Any

from shoal.core.checks import told
from shoal.core.engines.interface import Result, Task
from shoal.errors import InputError, UnfinishedError

_KNOCKING_S = 3.0  # until anybody listens at an address: a wrong one should be told soon
_CONNECTING_S = 5.0  # until whoever listens answers as a scheduler does
_KNOCK_AGAIN_S = 0.2
_GATHERING_S = 10.0  # until a scheduler has a worker
_RECONNECTING_S = 10.0  # with a scheduler that was there
_ANSWERING_S = 20.0  # within which a scheduler that is there answers
_PATIENCE_S = 15.0  # with a task, before the scheduler is asked which worker has it
_SILENCE_S = (
    30.0  # after which a worker counts as lost; workers report every few seconds, however busy they are
)
_GLANCE_S = 1.0  # between two checks of whether the cluster is still there
_ATTEMPTS = 4  # at a task; more workers than that are not lost by accident
_PAUSE_S = 0.5  # before a task is sent again, doubled each time: the cause of the loss may last
_LIBRARIES = ("shoal", "numba", "numpy")  # on which results depend
_ADDRESS = re.compile(r"(?:tcp|tls)://([^/\s]+):([0-9]{1,5})")


@dataclass
class _PendingTask:
    """A task that was sent out: its content, since when it is out, and how often it was lost."""

    content: bytes
    future: Any = None
    since: float = 0.0
    lost: int = 0


class DaskEngine:
    """The workers of a scheduler at an address such as tcp://10.0.0.1:8786."""

    def __init__(self, address: str) -> None:
        self._address = address
        self._client = _connected_with_workers(address)
        # For each worker the time at which the scheduler last saw it, and when that was first reported here.
        self._last_seen: dict[str, tuple[float, float]] = {}
        self._avoided: set[str] = set()
        self.n_tasks = 2
        self._count_threads()

    def map(self, call: Callable[[Task], Result], tasks: Iterable[Task]) -> Iterator[Result]:
        """call(task) for every task, results in their order."""
        self._count_threads()
        waiting: deque[_PendingTask] = deque()
        for task in tasks:
            waiting.append(_PendingTask(pickle.dumps((call, task, versions()), pickle.HIGHEST_PROTOCOL)))
            self._send(waiting[-1])
            if len(waiting) > self.n_tasks:
                yield self._result_of(waiting.popleft())
        while waiting:
            yield self._result_of(waiting.popleft())

    def _send(self, pending: _PendingTask) -> None:
        among = None
        if self._avoided:
            silent = self._silent_workers()
            self._avoided &= silent
            among = sorted(set(self._last_seen) - self._avoided)
            if not among:
                raise _cluster_lost("none of its workers answers")
        pending.since = time.monotonic()
        pending.future = self._client.submit(
            attempt, pending.content, key=f"shoal-{uuid.uuid4()}", workers=among, allow_other_workers=False
        )

    def _result_of(self, pending: _PendingTask) -> Any:
        """The result of a task; the task is sent again, up to ``_ATTEMPTS`` times, where it was lost."""
        while True:
            if pending.future.client is not self._client:
                self._send(pending)
            try:
                kind, answer = pickle.loads(_fetch(pending.future))
            except TimeoutError:
                if self._client.status != "running":
                    self._reconnect()
                    self._send_again(pending)
                elif time.monotonic() - pending.since > _PATIENCE_S:
                    self._send_again_if_lost(pending)
            except ModuleNotFoundError:
                raise UnfinishedError(
                    "The workers of the cluster cannot find shoal: install it there, in the same version as here,"
                    " and go on with --resume."
                ) from None
            except Exception:  # whatever Dask raises for a lost worker or scheduler
                if pending.future.status != "error":
                    self._reconnect()
                self._send_again(pending)
            else:
                if kind == "other versions":
                    raise UnfinishedError(
                        f"Workers of the cluster have {answer}, here are {versions()}:"
                        " install the same versions, and go on with --resume."
                    )
                if kind == "error":
                    raise answer
                return answer

    def _send_again_if_lost(self, pending: _PendingTask) -> None:
        """Send a task again if its workers are silent; a task that merely takes long is waited for."""
        silent = self._silent_workers()
        if not self._last_seen:
            if time.monotonic() - pending.since > _PATIENCE_S + _SILENCE_S:
                raise _cluster_lost("it has no workers")
            return
        holders = self._holders(pending)
        if holders and holders <= silent:
            self._avoided |= holders
            self._send_again(pending)

    def _silent_workers(self) -> set[str]:
        """Workers that the scheduler has not seen for a while, by the clock of this machine."""
        now, workers = time.monotonic(), self._ask("identity", n_workers=-1)["workers"]
        heard = {name: float(worker["last_seen"]) for name, worker in workers.items()}
        self._last_seen = {
            name: known if (known := self._last_seen.get(name)) and known[0] == last else (last, now)
            for name, last in heard.items()
        }
        return {name for name, (_, since) in self._last_seen.items() if now - since > _SILENCE_S}

    def _send_again(self, pending: _PendingTask) -> None:
        pending.lost += 1
        if pending.lost >= _ATTEMPTS:
            raise _cluster_lost("its workers or its connections keep breaking off")
        time.sleep(_PAUSE_S * 2 ** (pending.lost - 1))
        pending.future.release()
        self._send(pending)

    def _reconnect(self) -> None:
        """Replace a client that lost its scheduler or no longer works.

        Each task of the old client is sent again once its result is needed.
        """
        self.close()
        client = _connected(self._address, _RECONNECTING_S)
        if client is None:
            raise _cluster_lost("its scheduler is gone")
        self._client = client

    def _holders(self, pending: _PendingTask) -> set[str]:
        """The workers that are busy with a task, or hold a result that they have not delivered."""
        key = pending.future.key
        busy = {worker for worker, keys in self._ask("processing").items() if key in keys}
        return busy | set(self._ask("who_has", keys=[key]).get(key, ()))

    def _count_threads(self) -> None:
        self.n_tasks = max(2, 2 * sum(self._ask("ncores").values()))

    def _ask(self, what: str, **about: object) -> dict[Any, Any]:
        """The scheduler's answer to a question; an UnfinishedError where it gives none."""
        try:
            return dict(
                self._client.sync(
                    getattr(self._client.scheduler, what), **about, callback_timeout=_ANSWERING_S
                )
            )
        except Exception:
            raise _cluster_lost("its scheduler does not answer") from None

    def close(self) -> None:
        """Leave the cluster as it is."""
        _disconnect(self._client)


def check_address(address: str) -> None:
    """Refuse an address that is none, or at which nobody listens."""
    form = _ADDRESS.fullmatch(address)
    if form is None or not _is_listening(form[1].strip("[]"), int(form[2])):
        raise _nobody_there(address)


def _is_listening(host: str, port: int) -> bool:
    """Whether anybody takes connections there; a scheduler that is about to start is waited for."""
    found = threading.Event()

    def knock() -> None:
        while time.monotonic() < until:
            try:
                socket.create_connection((host, port), until - time.monotonic()).close()
            except (socket.gaierror, UnicodeError, OverflowError):
                return  # no such machine or port
            except (OSError, ValueError):
                time.sleep(_KNOCK_AGAIN_S)
            else:
                found.set()
                return

    until = time.monotonic() + _KNOCKING_S
    knocking = threading.Thread(target=knock, daemon=True)  # the system may look for a name for minutes
    knocking.start()
    knocking.join(_KNOCKING_S)
    return found.is_set()


def _nobody_there(address: str) -> InputError:
    return InputError(
        f"No Dask scheduler with workers answers at {told(address)}: expected an address such as"
        " tcp://host:8786; start 'dask scheduler' and 'dask worker' there, or leave out --cluster."
    )


def _connected_with_workers(address: str) -> Any:
    """A client of a scheduler that has workers; an InputError where there is none."""
    check_address(address)
    try:
        import distributed  # noqa: F401
    except ModuleNotFoundError:
        raise InputError(
            "--cluster needs Dask's distributed, which is not installed: pip install 'shoal[cluster]'."
        ) from None
    for name in list(logging.Logger.manager.loggerDict):  # they log every lost connection
        if name.split(".")[0] == "distributed":
            logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    warnings.filterwarnings("ignore", module="distributed")  # and warn of tasks of more than some MB
    client = _connected(address, _CONNECTING_S)
    if client is None:
        raise _nobody_there(address)
    try:
        client.wait_for_workers(1, timeout=_GATHERING_S)
    except Exception:
        _disconnect(client)
        raise _nobody_there(address) from None
    return client


def _connected(address: str, timeout: float) -> Any:
    """A client of the scheduler; None where it does not answer.

    Dask has no limit for the first answer of whoever listens at an address, so it waits for that in a thread.
    """
    from distributed import Client

    answer: SimpleQueue[Any] = SimpleQueue()
    given_up = threading.Event()

    def connect() -> None:
        client = None
        with contextlib.suppress(Exception):
            client = Client(address, timeout=timeout, set_as_default=False)  # type: ignore[no-untyped-call]
        answer.put(client)
        if given_up.is_set() and client is not None:
            _disconnect(client)

    with _quiet():
        threading.Thread(target=connect, daemon=True).start()
        with contextlib.suppress(Empty):
            client = answer.get(timeout=timeout + _GLANCE_S)
            if client is not None:
                return client
        given_up.set()
        gc.collect()  # a client that failed to connect complains when it is collected: have it do so here
    return None


def _fetch(future: Any) -> bytes:
    """The result of a task, fetched only once it is there: a client whose fetch is broken off fetches nothing more."""
    future.exception(timeout=_GLANCE_S)
    return bytes(future.result(timeout=_SILENCE_S))


def _disconnect(client: Any) -> None:
    with _quiet(), contextlib.suppress(Exception):  # nothing is to be done about a cluster that is gone
        client.close(timeout=2)


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Suppress Python's reports of exceptions in destructors: Dask's clients end in some."""
    usual, sys.unraisablehook = sys.unraisablehook, lambda _: None
    try:
        yield
    finally:
        sys.unraisablehook = usual


def attempt(content: bytes) -> bytes:
    """Do a task on a worker; an exception of the task is an answer, too, unlike faults of the cluster."""
    call, task, expected = pickle.loads(content)
    kind: str = "other versions"
    answer: Any = versions()
    if answer == expected:
        try:
            kind, answer = "result", call(task)
        except Exception as error:
            kind, answer = "error", error
    return pickle.dumps((kind, answer), pickle.HIGHEST_PROTOCOL)


def versions() -> str:
    """Names and versions of the libraries on which results depend."""
    found = []
    for name in _LIBRARIES:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            found.append(f"no {name}")
    return ", ".join(found)


def _cluster_lost(how: str) -> UnfinishedError:
    return UnfinishedError(
        f"The cluster was lost, {how}: nothing was published; mend it, or leave out --cluster, and go on with --resume."
    )
