"""Files that come from elsewhere: where they live, how they get there, that they are right.

Every file is compared with its published sha256 before anything reads it. From an archive
only the files that are known by name are taken out, so nothing can land outside the folder.
"""

from __future__ import annotations

import gzip
import os
import sys
import tarfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from http.client import HTTPException
from pathlib import Path
from typing import BinaryIO
from urllib.request import urlopen

from tqdm.auto import tqdm

from cilbook.errors import BadInput

_CHUNK = 1 << 20
_TIMEOUT = 60.0  # seconds without an answer


@dataclass(frozen=True)
class Source:
    """One download, and the files under the data folder that come out of it."""

    benchmark: str
    url: str  # of a file, or of an archive that ends in .gz or .tar.gz
    sha256: str  # of what is downloaded
    files: Mapping[str, str]  # path under the data folder: sha256


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


def ensure(sources: Sequence[Source], data_dir: Path | None) -> Path:
    """The data folder, every file of the sources in it and checked; the absent are fetched."""
    folder = data_folder(data_dir)
    for source in sources:
        if not all((folder / path).exists() for path in source.files):
            download(source, folder)
    for source, path in _each_file(sources):
        check_file(source, path, folder)
    return folder


def check(sources: Sequence[Source], data_dir: Path | None) -> Iterator[Path]:
    """The files of the sources one by one, each present and as published, or BadInput."""
    folder = data_folder(data_dir)
    for source, path in _each_file(sources):
        check_file(source, path, folder)
        yield folder / path


def _each_file(sources: Sequence[Source]) -> Iterator[tuple[Source, str]]:
    return ((source, path) for source in sources for path in source.files)


def check_file(source: Source, path: str, folder: Path) -> None:
    """BadInput unless the file is there and is the published one."""
    command = f"`cilbook data {source.benchmark} --data-dir {folder}`"
    try:
        actual = sha256_of(folder / path)
    except FileNotFoundError:
        raise BadInput(f"{folder / path} is missing; {command} downloads it") from None
    except OSError as error:
        raise BadInput(f"cannot read {folder / path}: {error.strerror}") from None
    if actual != source.files[path]:
        raise BadInput(
            f"{folder / path} is damaged or incomplete: its sha256 begins with "
            f"{actual[:8]}, expected {source.files[path][:8]}; delete it and run {command}"
        )


def sha256_of(path: Path) -> str:
    """The sha256 of a file's content."""
    digest = sha256()
    with path.open("rb") as file:
        for chunk in _chunks(file):
            digest.update(chunk)
    return digest.hexdigest()


def fingerprint(sources: Sequence[Source]) -> str:
    """One sha256 for all files of the sources together."""
    digests = [source.files[path] for source, path in _each_file(sources)]
    return sha256(" ".join(digests).encode()).hexdigest()


def download(source: Source, folder: Path) -> None:
    """Fetch a source with a progress bar and put its files into the folder."""
    name = source.url.rsplit("/", 1)[-1]
    if not name.endswith(".gz"):
        (path,) = source.files
        place(fetch(source.url), folder / path, source.sha256)
        return
    archive = folder / f"{os.getpid()}-{name}"
    try:
        place(fetch(source.url), archive, source.sha256)
        _unpack(archive, source, folder)
    finally:
        archive.unlink(missing_ok=True)


def _unpack(archive: Path, source: Source, folder: Path) -> None:
    """Write the source's files, and no others."""
    if archive.name.endswith(".tar.gz"):
        with tarfile.open(archive) as tar:
            for path, expected in source.files.items():
                place(_chunks(tar.extractfile(path)), folder / path, expected)
    else:
        ((path, expected),) = source.files.items()
        with gzip.open(archive) as content:
            place(_chunks(content), folder / path, expected)


def fetch(url: str) -> Iterator[bytes]:
    """What is found at an address, piece by piece, with a progress bar."""
    try:
        with urlopen(url, timeout=_TIMEOUT) as answer:
            total = int(answer.headers.get("Content-Length", 0)) or None
            with tqdm(desc=url, total=total, unit="B", unit_scale=True) as bar:
                for chunk in _chunks(answer):
                    bar.update(len(chunk))
                    yield chunk
    except (OSError, HTTPException) as error:
        reason = getattr(error, "reason", None) or error
        raise BadInput(
            f"cannot download {url}: {reason}; try again, or name a folder that has the "
            "data with --data-dir or CILBOOK_DATA"
        ) from None


def place(content: Iterator[bytes], target: Path, expected: str) -> None:
    """Write a file whole or not at all: checked under another name, then renamed."""
    part = target.with_name(f"{target.name}.{os.getpid()}.part")
    digest = sha256()
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with part.open("wb") as file:
            for chunk in content:
                digest.update(chunk)
                file.write(chunk)
        if digest.hexdigest() != expected:
            raise BadInput(
                f"what was downloaded for {target} is damaged or incomplete: its sha256 "
                f"begins with {digest.hexdigest()[:8]}, expected {expected[:8]}; try again"
            )
        part.replace(target)
    except OSError as error:
        raise BadInput(
            f"cannot write {target}: {error.strerror}; make room, or choose another folder "
            "with --data-dir"
        ) from None
    finally:
        part.unlink(missing_ok=True)


def _chunks(file: BinaryIO) -> Iterator[bytes]:
    while chunk := file.read(_CHUNK):
        yield chunk
