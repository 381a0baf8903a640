"""Claims: a run is made by one process at a time.

A claim is a lock of the operating system on a file in the run's work folder, so a process
that is killed gives it up at once, and what it left in the folder waits for the next.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from warnings import warn

from cilbook.errors import BadInput

_LOCK = "lock"


@contextmanager
def claim(folder: Path, *, wait: bool) -> Iterator[bool]:
    """Hold a work folder; False if another process does and we do not wait for it.

    A folder that is left without content is removed.
    """
    try:
        lock = _acquire(folder, wait)
    except OSError as error:
        reason = error.strerror or error
        raise BadInput(f"cannot write to {folder}: {reason}") from None
    if lock is None:
        yield False
        return
    try:
        yield True
    finally:
        (folder / _LOCK).unlink(missing_ok=True)
        with suppress(OSError):  # a checkpoint is there, or another run's folder
            folder.rmdir()
            folder.parent.rmdir()
        os.close(lock)


def clear(folder: Path) -> None:
    """Remove what a finished run left in the folder that this process holds."""
    for path in folder.iterdir():
        if path.name != _LOCK:
            path.unlink()


def _acquire(folder: Path, wait: bool) -> int | None:
    """An open, locked file; a file that was removed by its last owner is no lock."""
    while True:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            file = os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT)
        except (FileNotFoundError, FileExistsError):  # the folder came or went meanwhile
            if folder.is_file():
                raise
            continue
        if not _lock(file, folder, wait):
            os.close(file)
            return None
        with suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(file), os.stat(folder / _LOCK)):
                return file
        os.close(file)


def _lock(file: int, folder: Path, wait: bool) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        if not wait:
            return False
        warn(f"waiting for another process that makes {folder.name}", stacklevel=2)
        fcntl.flock(file, fcntl.LOCK_EX)
    return True
