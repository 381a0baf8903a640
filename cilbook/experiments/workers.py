"""Worker processes: each takes one run at a time and answers how it went.

Unlike a process pool, a team knows which run a worker was on when it died, and can be
stopped at once.
"""

from __future__ import annotations

import os
import signal
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from multiprocessing import connection, get_context, parent_process
from threading import RLock, Thread, current_thread, main_thread
from typing import Any, Literal

from tqdm import tqdm

from cilbook.errors import BadInput
from cilbook.experiments.obtain import obtain_one
from cilbook.experiments.request import Request
from cilbook.experiments.results import Store


@dataclass(frozen=True)
class Answer:
    """How a run went; `impossible` is a failure that no second try can mend."""

    kind: Literal["done", "elsewhere", "failed", "impossible"]
    error: str = ""
    warnings: list[str] = field(default_factory=list)


class Team:
    """Some workers on one store; leaving its `with` block stops them."""

    def __init__(self, size: int, store: Store, options: Mapping[str, Any]):
        self._workers = [_Worker(store, options) for _ in range(size)]

    def __enter__(self) -> Team:
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self._workers:
            worker.pipe.close()  # an idle worker ends by itself
            if worker.key is not None:
                worker.process.terminate()
        for worker in self._workers:
            worker.process.join()

    @property
    def idle(self) -> bool:
        """Whether any worker is free."""
        return any(worker.key is None for worker in self._workers)

    @property
    def busy(self) -> bool:
        """Whether any worker is on a run."""
        return any(worker.key is not None for worker in self._workers)

    def give(self, key: str, request: Request) -> None:
        """Let a free worker make this run."""
        next(worker for worker in self._workers if worker.key is None).give(key, request)

    def answers(self, timeout: float) -> list[tuple[str, Answer]]:
        """(key, answer) of the runs that ended; waits for one, but no longer than this."""
        ready = connection.wait([w.pipe for w in self._workers if w.key], timeout)
        return [w.answer() for w in self._workers if w.pipe in ready]


class _Worker:
    """A process and the pipe to it; one that dies is replaced."""

    def __init__(self, store: Store, options: Mapping[str, Any]):
        self.store, self.options = store, options
        self.key: str | None = None
        self._start()

    def _start(self) -> None:
        context = get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(
            target=_work, args=(theirs, self.store, self.options), daemon=True
        )
        with _deaf_to_interrupts():
            self.process.start()
        theirs.close()

    def give(self, key: str, request: Request) -> None:
        self.key = key
        with suppress(OSError):  # it died while it was idle; `answer` will notice
            self.pipe.send(request)

    def answer(self) -> tuple[str, Answer]:
        key, self.key = self.key, None
        try:
            return key, self.pipe.recv()
        except (EOFError, OSError):
            self.process.join()
            code = self.process.exitcode
            self._start()
            return key, Answer("failed", f"its process ended with exit code {code}")


def _work(pipe: connection.Connection, store: Store, options: Mapping[str, Any]) -> None:
    Thread(target=_end_with_parent, daemon=True).start()
    tqdm.set_lock(RLock())  # its own is a semaphore, which a killed process would leak
    while True:
        try:
            request = pipe.recv()
        except EOFError:
            return
        with warnings.catch_warnings(record=True) as caught:
            kind, error = _attempt(request, store, options)
        pipe.send(Answer(kind, error, [str(w.message) for w in caught]))


def _attempt(request: Request, store: Store, options: Mapping[str, Any]) -> tuple[str, str]:
    try:
        result = obtain_one(request, store, wait=False, **options)
    except BadInput as error:
        return "impossible", str(error)
    except Exception as error:
        return "failed", f"{type(error).__name__}: {error}"
    return ("elsewhere" if result is None else "done"), ""


def _end_with_parent() -> None:
    parent_process().join()
    os._exit(1)


@contextmanager
def _deaf_to_interrupts() -> Iterator[None]:
    """A process started here never sees Ctrl-C: stopping it is its parent's affair."""
    if current_thread() is not main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
