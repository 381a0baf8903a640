"""Files that are whole or not there, and tensors that notice damage."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path

from safetensors import safe_open
from safetensors.torch import save_file
from torch import Tensor

Tensors = dict[str, Tensor]


@contextmanager
def whole(path: Path) -> Iterator[Path]:
    """Where to write; what was written appears under `path` at the end, or not at all.

    >>> from tempfile import mkdtemp
    >>> path = Path(mkdtemp()) / "new" / "numbers.txt"
    >>> with whole(path) as part:
    ...     _ = part.write_text("1 2 3")
    ...     path.exists()
    False
    >>> path.read_text()
    '1 2 3'
    """
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield part
        part.replace(path)
    finally:
        with suppress(OSError):
            part.unlink()


def write_tensors(path: Path, tensors: Mapping[str, Tensor], **notes: str) -> None:
    """Write tensors and notes as safetensors, with the sha256 of both inside."""
    own = {k: v.detach().cpu().clone().contiguous() for k, v in tensors.items()}
    with whole(path) as part:
        save_file(own, part, {**notes, "sha256": _digest(own, notes)})


def read_tensors(path: Path) -> tuple[Tensors, dict[str, str]]:
    """What `write_tensors` wrote; ValueError if it is something else."""
    with safe_open(path, framework="pt") as file:
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        notes = dict(file.metadata() or {})
    if notes.pop("sha256", None) != _digest(tensors, notes):
        raise ValueError("its content is not what was written")
    return tensors, notes


def _digest(tensors: Mapping[str, Tensor], notes: Mapping[str, str]) -> str:
    digest = sha256(repr(sorted(notes.items())).encode())
    for name in sorted(tensors):
        digest.update(name.encode())
        digest.update(tensors[name].numpy())
    return digest.hexdigest()
