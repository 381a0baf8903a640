"""Files that come from elsewhere: where they live, how they get there, that they are right.

Every file is compared with its published sha256 before anything reads it. From an archive
only the files that are known by name are taken out, so nothing can land outside the folder.
"""

from __future__ import annotations

import gzip
import hashlib
import os
import sys
import tarfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path
from typing import BinaryIO, Protocol
from urllib.request import urlopen

from tqdm.auto import tqdm

from cilbook.errors import BadInput
from cilbook.storage import whole

_CHUNK = 1 << 20
_TIMEOUT = 60.0  # seconds without an answer


class Source(Protocol):
    """Something that a benchmark needs in the data folder."""

    def found(self, folder: Path) -> bool:
        """Whether any of it is there."""

    def ensure(self, folder: Path) -> None:
        """Download it if it is not there."""

    def check(self, folder: Path) -> Iterator[Path]:
        """What is there, one by one, each found right; otherwise BadInput."""


@dataclass(frozen=True)
class Download:
    """A source that is one download: a file, or an archive ending in .gz or .tar.gz."""

    benchmark: str
    url: str
    sha256: str  # of what is downloaded
    files: Mapping[str, str]  # what comes out of it, path under the folder: sha256

    def found(self, folder: Path) -> bool:
        return any((folder / path).exists() for path in self.files)

    def ensure(self, folder: Path) -> None:
        if all((folder / path).exists() for path in self.files):
            return
        name = self.url.rsplit("/", 1)[-1]
        if not name.endswith(".gz"):
            (path,) = self.files
            place(fetch(self.url), folder / path, self.sha256)
            return
        archive = folder / f"{os.getpid()}-{name}"
        try:
            place(fetch(self.url), archive, self.sha256)
            self._unpack(archive, folder)
        finally:
            _discard(archive)

    def _unpack(self, archive: Path, folder: Path) -> None:
        """Write this source's files, and no others."""
        if archive.name.endswith(".tar.gz"):
            with tarfile.open(archive) as tar:
                for path, expected in self.files.items():
                    place(chunks(tar.extractfile(path)), folder / path, expected)
        else:
            ((path, expected),) = self.files.items()
            with gzip.open(archive) as content:
                place(chunks(content), folder / path, expected)

    def check(self, folder: Path) -> Iterator[Path]:
        command = f"`cilbook data {self.benchmark} --data-dir {folder}`"
        for name, expected in self.files.items():
            path = folder / name
            if not path.exists():
                raise BadInput(f"{path} is missing; {command} downloads it")
            if (actual := digest_of(path)) != expected:
                raise BadInput(
                    f"{path} is damaged or incomplete: its sha256 begins with "
                    f"{actual[:8]}, expected {expected[:8]}; delete it and run {command}"
                )
            yield path


def data_folder(data_dir: Path | None = None) -> Path:
    """The folder of all data: as given, else CILBOOK_DATA, else in the user's cache."""
    if data_dir is not None:
        return Path(data_dir)
    if named := os.environ.get("CILBOOK_DATA"):
        return Path(named)
    return _user_cache() / "cilbook"


def _user_cache() -> Path:
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    variable = "LOCALAPPDATA" if sys.platform == "win32" else "XDG_CACHE_HOME"
    return Path(os.environ.get(variable) or Path.home() / ".cache")


def ensure(sources: Sequence[Source], data_dir: Path | None = None) -> Path:
    """The data folder with all the sources in it and checked; what is absent is fetched."""
    folder = data_folder(data_dir)
    for source in sources:
        source.ensure(folder)
        for _ in source.check(folder):
            pass
    return folder


def fingerprint(*sources: Download) -> str:
    """One sha256 for all files of these downloads together."""
    digests = [digest for source in sources for digest in source.files.values()]
    return hashlib.sha256(" ".join(digests).encode()).hexdigest()


def digest_of(path: Path, algorithm: str = "sha256") -> str:
    """The digest of a file's content, or BadInput if it cannot be read."""
    digest = hashlib.new(algorithm, usedforsecurity=False)
    try:
        with path.open("rb") as file:
            for chunk in chunks(file):
                digest.update(chunk)
    except OSError as error:
        raise BadInput(f"cannot read {path}: {error.strerror}") from None
    return digest.hexdigest()


def fetch(url: str) -> Iterator[bytes]:
    """What is found at an address, piece by piece, with a progress bar."""
    try:
        with urlopen(url, timeout=_TIMEOUT) as answer:
            total = int(answer.headers.get("Content-Length", 0)) or None
            with tqdm(desc=url, total=total, unit="B", unit_scale=True) as bar:
                for chunk in chunks(answer):
                    bar.update(len(chunk))
                    yield chunk
            if total is not None and bar.n != total:
                raise OSError(f"it ended after {bar.n} of {total} bytes")
    except (OSError, HTTPException) as error:
        reason = getattr(error, "reason", None) or error
        raise BadInput(
            f"cannot download {url}: {reason}; try again, or name a folder that has the "
            "data with --data-dir or CILBOOK_DATA"
        ) from None


def place(
    content: Iterator[bytes],
    target: Path,
    expected: str | None,
    algorithm: str = "sha256",
) -> str:
    """Write a file whole or not at all, once its digest is the expected one."""
    digest = hashlib.new(algorithm, usedforsecurity=False)
    try:
        with whole(target) as part:
            with part.open("wb") as file:
                for chunk in content:
                    digest.update(chunk)
                    file.write(chunk)
            actual = digest.hexdigest()
            if expected not in (None, actual):
                raise BadInput(
                    f"what was downloaded for {target} is damaged or incomplete: its "
                    f"{algorithm} begins with {actual[:8]}, expected {expected[:8]}; "
                    "try again"
                )
    except OSError as error:
        raise BadInput(
            f"cannot write {target}: {error.strerror}; make room, or choose another folder "
            "with --data-dir"
        ) from None
    return actual


def _discard(path: Path) -> None:
    with suppress(OSError):
        path.unlink()


def chunks(file: BinaryIO) -> Iterator[bytes]:
    """A file's content, piece by piece."""
    while chunk := file.read(_CHUNK):
        yield chunk
