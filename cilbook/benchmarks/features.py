"""Features of a frozen network: computed once, kept as safetensors.

The file's name holds a key made from everything the features depend on: data, weights and
preprocessing. Inside stands the sha256 of the numbers themselves, checked when they are
read; a cache that fails the check is computed again.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterable, Mapping
from hashlib import sha256
from pathlib import Path

import torch
from safetensors import SafetensorError
from torch import Tensor, nn
from tqdm.auto import tqdm

from cilbook.storage import Tensors, read_tensors, write_tensors


def key_of(parts: Mapping[str, object]) -> str:
    """The sha256 of what features depend on."""
    return sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def cached(folder: Path, name: str, key: str, compute: Callable[[], Tensors]) -> Tensors:
    """The tensors kept under this key, or computed now and kept for the next time."""
    path = folder / "features" / f"{name}-{key[:16]}.safetensors"
    if path.exists():
        try:
            tensors, notes = read_tensors(path)
            if notes != {"key": key}:
                raise ValueError("it was made under another key")
            return tensors
        except (OSError, SafetensorError, ValueError) as error:
            warnings.warn(f"{path} is damaged and is computed again: {error}", stacklevel=2)
    tensors = compute()
    try:
        write_tensors(path, tensors, key=key)
    except (OSError, SafetensorError) as error:
        warnings.warn(f"the features are not kept, {path}: {error}", stacklevel=2)
    return tensors


@torch.no_grad()
def extract(net: nn.Module, batches: Iterable[Tensor], *, total: int, desc: str) -> Tensor:
    """The network's output in eval mode for every batch, [n, features], with a bar."""
    net.eval()
    bar = tqdm(batches, total=total, desc=desc, unit="batch", leave=False)
    return torch.cat([net(batch) for batch in bar])
