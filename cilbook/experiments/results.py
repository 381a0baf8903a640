"""The store: one JSON file per run, written whole or not at all."""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any, NoReturn
from warnings import warn

from cilbook.errors import BadInput
from cilbook.experiments.request import Plan
from cilbook.storage import whole

SCHEMA = 1
_KINDS = {
    "schema": int,
    "benchmark": str,
    "method": str,
    "seed": int,
    "budget": str,
    "config": dict,
    "accuracy": (int, float),
    "accuracy_plain": (int, float),
    "accuracy_by_task_mean": (int, float),
}


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

    def work_folder(self, plan: Plan) -> Path:
        """Where the run keeps its lock and its checkpoint while it is made."""
        return self.folder / ".work" / plan.key

    def save(self, plan: Plan, result: dict[str, Any]) -> Path:
        """Write a run atomically: a reader sees the old file or the new one."""
        path = self.path(plan)
        try:
            with whole(path) as part:
                part.write_text(json.dumps(result) + "\n")
        except OSError as error:
            raise self._unwritable(error) from None
        return path

    def create(self) -> None:
        """Make the folder, if it is not there."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise self._unwritable(error) from None

    def _unwritable(self, error: OSError) -> BadInput:
        reason = error.strerror or error
        return BadInput(f"cannot write results to {self.folder}: {reason}")

    def find(self, plan: Plan) -> dict[str, Any] | None:
        """The stored run, or None where it is missing or damaged."""
        path = self.path(plan)
        result = read(path) if path.exists() else None
        if result is not None and Plan.of(result).identity != plan.identity:
            warn(f"{path} is another run than its name says, not used", stacklevel=2)
            return None
        return result

    def __iter__(self) -> Iterator[dict[str, Any]]:
        for path in sorted(self.folder.glob("*.json")):
            result = read(path)
            if result is not None:
                yield result


def read(path: Path) -> dict[str, Any] | None:
    """A run from its file; a damaged file is reported and counts as missing."""
    try:
        result = json.loads(path.read_text(), parse_constant=_no_number)
        if isinstance(result, dict) and result.get("schema") not in (None, SCHEMA):
            raise ValueError(f"its schema is {result['schema']}, expected {SCHEMA}")
        wrong = [name for name, kind in _KINDS.items() if not _is(result, name, kind)]
    except (OSError, ValueError) as error:
        warn(f"{path} is damaged and will not be used: {error}", stacklevel=2)
        return None
    if wrong:
        names = ", ".join(wrong)
        warn(f"{path} is damaged and will not be used: no {names}", stacklevel=2)
        return None
    return result


def _no_number(word: str) -> NoReturn:
    raise ValueError(f"it holds {word}")


def _is(result: Any, name: str, kind: Any) -> bool:
    return isinstance(result, dict) and isinstance(result.get(name), kind)


def committed() -> Store:
    """The runs that come with the book, in a clone and in an installed package alike."""
    with as_file(files("cilbook.committed")) as folder:
        return Store(folder)
