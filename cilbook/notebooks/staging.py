"""The stage: a copy of the book in which chapters are executed and pages are added."""

import json
import shutil
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

from cilbook.errors import BadInput
from cilbook.notebooks.reference import write_reference

KERNELS = ".jupyter"  # in the stage; Jupyter looks in its `kernels` folder
CHAPTERS = "[0-9][0-9]-*.ipynb"
ENVIRONMENT = {
    "OMP_NUM_THREADS": "1",
    # chapters that share a run wait for each other: nothing to tell the reader
    "PYTHONWARNINGS": "ignore:waiting for another process that makes:UserWarning",
}


def choose(root: Path, numbers: Iterable[int] | None = None) -> list[str]:
    """Return the file names of the chapters with these numbers, or of all."""
    if not (root / "_toc.yml").exists():
        raise BadInput(f"{root} holds no book: it has no _toc.yml")
    known = {int(p.name[:2]): p.name for p in (root / "book").glob(CHAPTERS)}
    wanted = sorted(known if numbers is None else set(numbers))
    for number in wanted:
        if number not in known:
            exists = ", ".join(map(str, sorted(known))) or "none"
            raise BadInput(f"there is no chapter {number}; chapters: {exists}")
    return [known[number] for number in wanted]


def frame(root: Path) -> list[str]:
    """Return the file names of the notebooks that are no chapters, such as the front page.

    They only read stored runs, so every build executes them.
    """
    chapters = {path.name for path in (root / "book").glob(CHAPTERS)}
    return sorted({path.name for path in (root / "book").glob("*.ipynb")} - chapters)


def prepare(root: Path) -> Path:
    """Clear the last build and return a fresh stage: the book and its settings."""
    target = root / "_build"
    stage = target / "stage"
    for old in ("stage", "html", "results", ".doctrees"):
        shutil.rmtree(target / old, ignore_errors=True)
    leave = shutil.ignore_patterns("results", ".*")
    shutil.copytree(root / "book", stage / "book", ignore=leave)
    for name in ("_config.yml", "_toc.yml"):
        shutil.copy(root / name, stage)
    write_reference(stage / "book" / "api")
    results = target / "results"
    results.mkdir()
    write_kernel(stage, ENVIRONMENT | {"CILBOOK_RESULTS": str(results)})
    return stage


def write_kernel(stage: Path, environment: Mapping[str, str]) -> None:
    """Describe a kernel that is this very interpreter, whatever else is installed."""
    kernel = {
        "argv": [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"],
        "display_name": "Python 3",
        "language": "python",
        "env": dict(environment),
    }
    folder = stage / KERNELS / "kernels" / "python3"
    folder.mkdir(parents=True)
    (folder / "kernel.json").write_text(json.dumps(kernel))
