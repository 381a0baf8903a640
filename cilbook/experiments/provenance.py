"""Where a number comes from: code, data, machine, versions."""

from __future__ import annotations

import platform
import subprocess
from datetime import UTC, datetime
from functools import cache
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch

_PACKAGES = ("cilbook", "torch", "torchvision", "numpy", "scikit-learn")


def provenance(data_sha256: str, device: torch.device, threads: int) -> dict[str, Any]:
    """The record kept with every run."""
    commit, dirty = _commit()
    return {
        "commit": commit,
        "dirty": dirty,
        "data_sha256": data_sha256,
        "device": _device_name(device),
        "cpu": _cpu(),
        "threads": threads,
        "versions": {"python": platform.python_version()}
        | {package: version(package) for package in _PACKAGES},
        "created": now(),
    }


def machine(device: torch.device) -> str:
    """A device in words, for a reader: its kind, and which one it is."""
    name = _cpu() if device.type == "cpu" else _device_name(device)
    return f"{device.type} ({name})"


def now() -> str:
    """The time, as a run records it."""
    return datetime.now(UTC).isoformat(timespec="seconds")


@cache
def code_sha256() -> str:
    """A digest of the package's source, the uncommitted part too."""
    digest = sha256()
    package = Path(__file__).parents[1]
    for path in sorted(package.rglob("*.py")):
        digest.update(str(path.relative_to(package)).encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _commit() -> tuple[str | None, bool | None]:
    """The commit of the clone this package runs from; (None, None) outside one."""
    head = _git("rev-parse", "HEAD")
    if head is None or _git("ls-files", "--error-unmatch", __file__) is None:
        return None, None
    return head, bool(_git("status", "--porcelain", "--untracked-files=no"))


def _git(*words: str) -> str | None:
    folder = Path(__file__).parent
    try:
        done = subprocess.run(
            ["git", *words], cwd=folder, capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.strip()


def _device_name(device: torch.device) -> str:
    return torch.cuda.get_device_name(device) if device.type == "cuda" else device.type


@cache
def _cpu() -> str:
    """The processor's name, as the system gives it."""
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
