"""Portions run by the workers of a Dask cluster.

The work goes there once, each portion by itself; both are bytes to Dask, which looks into neither. A
worker reads them once it has shown that it is what this process is.
"""

from __future__ import annotations

import asyncio
import pickle
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import Any, Generic, TypeVar

from dracfg.dataclass import dataclass
from dracfg.executors.errors import NoDask, OtherVersion, Unreachable, sendable

T = TypeVar("T")
R = TypeVar("R")

_CONNECTS_WITHIN = 10
"""Seconds until a scheduler answers, and until it has a worker."""
_LOOKS_EVERY = 2
"""Seconds between two looks at whether anybody works."""
_LOOKS = 15
"""Looks without any worker after which none is expected to come back."""
_FETCHES_WITHIN = 600
"""Seconds that one result may be on its way."""
_SENDS = 3

Probe = Callable[[], str]


@dataclass(frozen=True, slots=True)
class _Own:
    """What a worker's probe must come to."""

    probe: Probe
    answer: str


@dataclass(frozen=True, slots=True)
class Cluster:
    """A connection to a scheduler; `width` counts the threads that its workers had at the start."""

    address: str
    width: int
    client: Any
    own: _Own | None

    def pool(self, work: Callable[[T], R], portions: Sequence[T]) -> Workers[T, R]:
        return Workers(self, work, portions)

    def send(self, body: bytes) -> Any:
        """Bytes that the workers have from now on, as a future of Dask."""
        reason = ""
        for _ in range(_SENDS):
            self.require_connection()
            try:
                return self.client.scatter(body, broadcast=True, hash=False)
            except TimeoutError:
                raise Unreachable(self.address, "it has no worker") from None
            except OSError as error:  # a worker went as it was sent to
                reason = str(error)
        raise Unreachable(self.address, reason)

    def require_connection(self) -> None:
        if self.client.status != "running":
            raise Unreachable(self.address, "the connection was lost")

    def has_workers(self) -> bool:
        self.require_connection()
        try:
            return bool(self.client.nthreads())
        except OSError as error:
            raise Unreachable(self.address, str(error)) from None


@contextmanager
def connect(address: str, probe: Probe | None) -> Iterator[Cluster]:
    """A cluster by the `host:port` of its scheduler.

    Raises NoDask, Unreachable where nobody answers or works, and OtherVersion for the first worker, by
    its address, where `probe` comes to something else than here.
    """
    try:
        from distributed import Client
    except ImportError:
        raise NoDask from None
    own = None if probe is None else _Own(probe, probe())
    _knock(address)
    try:
        client = Client(f"tcp://{address}", timeout=_CONNECTS_WITHIN, set_as_default=False)
    except OSError as error:
        raise Unreachable(address, str(error)) from None
    try:
        try:
            client.wait_for_workers(1, timeout=_CONNECTS_WITHIN)
        except TimeoutError:
            raise Unreachable(address, "it has no worker") from None
        if own is not None:
            _require_same(client, own)
        yield Cluster(address, sum(client.nthreads().values()), client, own)
    finally:
        client.close()


def _knock(address: str) -> None:
    """Sees that a scheduler answers: a client would wait for ever for somebody who listens only."""
    from distributed.comm import connect

    async def knock() -> None:
        comm = await asyncio.wait_for(
            connect(f"tcp://{address}", timeout=_CONNECTS_WITHIN), _CONNECTS_WITHIN
        )
        await comm.close()

    try:
        asyncio.run(knock())
    except OSError as error:
        raise Unreachable(address, str(error) or "nobody answers") from None
    except (MemoryError, OverflowError, ValueError):  # by what is read as the length of an answer
        raise Unreachable(address, "what answers is no scheduler of Dask") from None


def _require_same(client: Any, own: _Own) -> None:
    answers: dict[str, object] = client.run(own.probe, on_error="return")
    for worker, answer in sorted(answers.items()):
        if answer != own.answer:
            told = answer if isinstance(answer, str) else f"{type(answer).__name__}: {answer}"
            raise OtherVersion(worker, told, own.answer)


class Workers(Generic[T, R]):
    """A pool (see `ordered.Pool`) of all workers of a cluster.

    Dask itself runs again what was lost with a worker, and gives up after some of them; those runs
    count as well. A future that comes back cancelled was lost with the last worker that knew the work.
    Futures are Dask's own: those of its `get_executor` never come true when they are lost in this way.
    """

    def __init__(self, cluster: Cluster, work: Callable[[T], R], portions: Sequence[T]) -> None:
        from distributed.protocol.pickle import dumps

        self.width = cluster.width
        self._cluster = cluster
        self._portions = portions
        self._dumps = dumps
        self._work: bytes = dumps(work)
        self._sent = cluster.send(self._work)
        self._begun: set[Any] = set()

    def submit(self, index: int, *, again: bool = False) -> Any:
        self._cluster.require_connection()
        if again or self._sent.status != "finished":
            self._sent = self._cluster.send(self._work)
        portion = self._dumps(self._portions[index])
        # Not `pure`: each is a task of its own, even where two portions are the same.
        future = self._cluster.client.submit(
            _run, self._sent, portion, self._cluster.own, pure=False
        )
        self._begun.add(future)
        return future

    def result(self, future: Any) -> R:
        from distributed import wait

        self._begun.discard(future)
        missed = 0
        while True:
            try:
                with self._cluster.client.as_current():
                    wait([future], timeout=_LOOKS_EVERY)
                result: R = future.result(timeout=_FETCHES_WITHIN)
            except TimeoutError:
                if future.status == "error":  # the work's own
                    raise
                if self._sent.status != "finished":
                    raise _LostWork from None
                missed = 0 if self._cluster.has_workers() else missed + 1
                if missed == _LOOKS:
                    raise Unreachable(self._cluster.address, "no worker is left") from None
            else:
                return result

    def lost_runs(self, error: BaseException) -> int:
        from distributed import CancelledError, KilledWorker

        if isinstance(error, KilledWorker):
            return int(error.allowed_failures) + 1
        return int(isinstance(error, (CancelledError, _LostWork)))

    def attend(self) -> None:
        """The scheduler gives workers what is next."""

    def close(self) -> None:
        """Nothing more begins; what runs comes to its end and to nothing."""
        begun, self._begun = self._begun, set()
        if begun and self._cluster.client.status == "running":
            self._cluster.client.cancel(list(begun))


class _LostWork(Exception):
    """No worker is left that knows the work."""

    def __str__(self) -> str:
        return "no worker was left that knew the work"


def _run(work: bytes, portion: bytes, own: _Own | None) -> object:
    """What a worker does."""
    if own is not None and (answer := _answer(own.probe)) != own.answer:
        from distributed import get_worker

        raise OtherVersion(get_worker().address, answer, own.answer)
    try:
        return _read(work)(pickle.loads(portion))
    except BaseException as error:
        raise sendable(error) from None


@lru_cache(maxsize=1)
def _answer(probe: Probe) -> str:
    return probe()


@lru_cache(maxsize=1)
def _read(work: bytes) -> Callable[[Any], object]:
    """The work, read once for all portions of it."""
    read: Callable[[Any], object] = pickle.loads(work)
    return read
