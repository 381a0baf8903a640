"""Features of a frozen network: computed once, kept as safetensors.

The file's name holds a key made from everything the features depend on: data, weights and
preprocessing. Inside stands the sha256 of the numbers themselves, checked when they are
read; a cache that fails the check is computed again.
"""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor, nn
from tqdm.auto import tqdm

Tensors = dict[str, Tensor]


def key_of(parts: Mapping[str, object]) -> str:
    """The sha256 of what features depend on."""
    return sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def cached(folder: Path, name: str, key: str, compute: Callable[[], Tensors]) -> Tensors:
    """The tensors kept under this key, or computed now and kept for the next time."""
    path = folder / "features" / f"{name}-{key[:16]}.safetensors"
    if path.exists():
        try:
            return _read(path, key)
        except (OSError, SafetensorError, ValueError) as error:
            warnings.warn(f"{path} is damaged and is computed again: {error}", stacklevel=2)
    tensors = compute()
    try:
        _write(path, key, tensors)
    except (OSError, SafetensorError) as error:
        warnings.warn(f"the features are not kept, {path}: {error}", stacklevel=2)
    return tensors


def _read(path: Path, key: str) -> Tensors:
    with safe_open(path, framework="pt") as file:
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        metadata = file.metadata() or {}
    if metadata != {"key": key, "sha256": _digest(tensors)}:
        raise ValueError("its content is not what was written")
    return tensors


def _write(path: Path, key: str, tensors: Tensors) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        part.write_bytes(save(tensors, {"key": key, "sha256": _digest(tensors)}))
        part.replace(path)
    finally:
        with suppress(OSError):
            part.unlink()


def _digest(tensors: Tensors) -> str:
    digest = sha256()
    for name in sorted(tensors):
        digest.update(name.encode())
        digest.update(tensors[name].contiguous().numpy())
    return digest.hexdigest()


@torch.no_grad()
def extract(net: nn.Module, batches: Iterable[Tensor], *, total: int, desc: str) -> Tensor:
    """The network's output in eval mode for every batch, [n, features], with a bar."""
    net.eval()
    bar = tqdm(batches, total=total, desc=desc, unit="batch", leave=False)
    return torch.cat([net(batch) for batch in bar])
