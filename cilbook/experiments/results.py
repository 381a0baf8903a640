"""The store: one JSON file per run, written whole or not at all."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any
from warnings import warn

from cilbook.errors import BadInput
from cilbook.experiments.request import Plan

_NEEDED = ("schema", "benchmark", "method", "seed", "budget", "config", "accuracy")


class Store:
    """A folder of runs, each under its identity's key."""

    def __init__(self, folder: Path | str):
        self.folder = Path(folder)

    def path(self, plan: Plan) -> Path:
        """Where this run is, or will be."""
        return self.folder / f"{plan.key}.json"

    def bank_path(self, plan: Plan) -> Path:
        """Where the run's VAEs are, if they were kept."""
        return self.folder / f"{plan.key}.safetensors"

    def save(self, plan: Plan, result: dict[str, Any]) -> Path:
        """Write a run atomically: a reader sees the old file or the new one."""
        path = self.path(plan)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile(
                "w", dir=self.folder, prefix=".", suffix=".tmp", delete=False
            ) as file:
                file.write(json.dumps(result) + "\n")
            os.replace(file.name, path)
        except OSError as error:
            reason = error.strerror or error
            raise BadInput(f"cannot write results to {self.folder}: {reason}") from None
        return path

    def find(self, plan: Plan) -> dict[str, Any] | None:
        """The stored run, or None where it is missing or damaged."""
        path = self.path(plan)
        return read(path) if path.exists() else None

    def __iter__(self) -> Iterator[dict[str, Any]]:
        for path in sorted(self.folder.glob("*.json")):
            result = read(path)
            if result is not None:
                yield result


def read(path: Path) -> dict[str, Any] | None:
    """A run from its file; a damaged file is reported and counts as missing."""
    try:
        result = json.loads(path.read_text())
        missing = [name for name in _NEEDED if name not in result]
    except (OSError, ValueError, TypeError) as error:
        warn(f"{path} is damaged and will not be used: {error}", stacklevel=2)
        return None
    if missing:
        names = ", ".join(missing)
        warn(f"{path} is damaged and will not be used: no {names}", stacklevel=2)
        return None
    return result


def committed() -> Store:
    """The runs that come with the book, in a clone and in an installed package alike."""
    with as_file(files("cilbook.committed")) as folder:
        return Store(folder)
