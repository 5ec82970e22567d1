"""An executor, open: the results of some work for each of its portions, in order.

with open_executor(parse_executor("process"), jobs=4) as executor:
    for result in executor.begin(work, portions).results:
        ...
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Generic, TypeVar

from dracfg.aside import worth
from dracfg.dataclass import dataclass
from dracfg.executors.ordered import Ordered, Pool
from dracfg.executors.spec import ExecutorSpec

if TYPE_CHECKING:
    from dracfg.executors.cluster import Cluster

T = TypeVar("T")
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Begun(Generic[R]):
    """Portions of a work that was begun, and their results.

    `attend`, called now and then, keeps others busy with them while this process does something else;
    it is None where they are run here, when their results are asked for.
    """

    results: Iterator[R]
    attend: Callable[[], None] | None = None


class Executor(ABC):
    """Runs portions until what opened it closes it; then nothing of them runs any more.

    `width` is how many portions it runs at a time, which is what a work is best divided by. `beside`
    is how many processes may work here beside it: one beside a cluster's client, whose threads no
    fork may meet. Portions that run on this machine, with its files, are local.
    """

    is_local: bool = True

    def __init__(self, width: int, opened: ExitStack, beside: int) -> None:
        self.width = width
        self.beside = beside
        self._opened = opened

    def begin(
        self, work: Callable[[T], R], portions: Sequence[T], weight: int | None = None
    ) -> Begun[R]:
        """Begins `work` of each portion, each once; results come in their order.

        The first portions are begun at once; at most two for each that runs at a time are begun or
        wait to be taken. Others begin as results are asked for. A portion whose process or worker was
        lost is run again, so work must do nothing but give its result. Taking results raises LostPortion
        when that is of no use, and whatever the work raises, for the first portion in order that raises.

        With a `weight`, what all portions together take in files to be read, nothing is begun on this
        machine that a second process is not worth. A cluster's workers are there, and get it all.
        """
        if not portions:
            return Begun(iter(()))
        if weight is not None and self.is_local and worth(weight, self.width) == 1:
            return Begun(map(work, portions))
        pool = self._pool(work, portions)
        if pool is None:
            return Begun(map(work, portions))
        self._opened.callback(pool.close)
        ordered = Ordered(pool, portions)
        return Begun(ordered.results(), ordered.attend)

    @abstractmethod
    def _pool(self, work: Callable[[T], R], portions: Sequence[T]) -> Pool[R] | None:
        """Who runs the portions; None where they are run here, one after the other."""


class _Processes(Executor):
    def _pool(self, work: Callable[[T], R], portions: Sequence[T]) -> Pool[R] | None:
        alone = self.width == 1 or len(portions) == 1
        if alone:
            return None
        from dracfg.executors.processes import Processes

        return Processes(work, portions, self.width)


class _Threads(Executor):
    def _pool(self, work: Callable[[T], R], portions: Sequence[T]) -> Pool[R] | None:
        alone = self.width == 1 or len(portions) == 1
        if alone:
            return None
        from dracfg.executors.threads import Threads

        return Threads(work, portions, self.width)


class _Workers(Executor):
    is_local = False

    def __init__(self, cluster: Cluster, opened: ExitStack) -> None:
        super().__init__(cluster.width, opened, beside=1)
        self._cluster = cluster

    def _pool(self, work: Callable[[T], R], portions: Sequence[T]) -> Pool[R] | None:
        return self._cluster.pool(work, portions)


@contextmanager
def open_executor(
    spec: ExecutorSpec, jobs: int, *, probe: Callable[[], str] | None = None
) -> Iterator[Executor]:
    """The executor that `spec` names, of `jobs` processes or threads.

    With one job, and for a single portion, everything runs here. Processes know the work without its
    being sent where they fork; elsewhere, and on a cluster, it is pickled once. A cluster has as many
    jobs as its workers have threads, whatever `jobs` says, and before it gets any work, `probe` must
    come to the same on each worker as here. It is asked for by those who come later, too. Raises
    NoDask, Unreachable and OtherVersion.
    """
    with ExitStack() as opened:
        if spec.kind == "dask":
            from dracfg.executors.cluster import connect

            yield _Workers(opened.enter_context(connect(spec.address, probe)), opened)
        elif spec.kind == "thread":
            yield _Threads(jobs, opened, beside=jobs)
        else:
            yield _Processes(jobs, opened, beside=jobs)
