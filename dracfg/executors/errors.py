"""What keeps portions from being run, or their results from coming back.

Errors of the work are no such thing: they are raised as they are, as far as they can be sent.
"""

from __future__ import annotations

import pickle


class ExecutorError(Exception):
    """Portions could not be run, through no fault of the work; the message is for a person."""


class NoDask(ExecutorError):
    """Dask is not installed."""

    def __init__(self) -> None:
        super().__init__("this needs Dask: pip install 'dracfg[dask]'")


class Unreachable(ExecutorError):
    """A scheduler does not answer, or has nobody who works; `address` is its `host:port`."""

    def __init__(self, address: str, reason: str) -> None:
        super().__init__(address, reason)
        self.address = address
        self.reason = reason

    def __str__(self) -> str:
        return f"dask://{self.address}: {self.reason}"


class OtherVersion(ExecutorError):
    """A worker is not what this process is; nothing of the work was sent to it.

    `theirs` is what the probe came to there (or why it came to nothing), `ours` what it came to here.
    """

    def __init__(self, worker: str, theirs: str, ours: str) -> None:
        super().__init__(worker, theirs, ours)
        self.worker = worker
        self.theirs = theirs
        self.ours = ours

    def __str__(self) -> str:
        return f"the worker {self.worker} has another version: {self.theirs}, and here {self.ours}"


class LostPortion(ExecutorError):
    """Whoever ran this portion ended before its result was there, each time.

    `index` counts from 0, `runs` are those that were lost, `portion` shows it in short.
    """

    def __init__(self, index: int, count: int, portion: str, runs: int, reason: str) -> None:
        super().__init__(index, count, portion, runs, reason)
        self.index = index
        self.count = count
        self.portion = portion
        self.runs = runs
        self.reason = reason

    def __str__(self) -> str:
        return (
            f"portion {self.index + 1} of {self.count}, {self.portion}, was lost in each of "
            f"{self.runs} runs: {self.reason}"
        )


class Unsendable(Exception):
    """The work raised an error that can't be sent from one process to another; this tells it."""


def sendable(error: BaseException) -> BaseException:
    """The error as another process will read it: itself, or an Unsendable that says what it was."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception as fault:  # whatever an error's own way of being pickled may raise
        told = Unsendable(f"{type(error).__name__}: {error}")
        told.add_note(f"it can't be sent: {fault}")
        return told
    return error
