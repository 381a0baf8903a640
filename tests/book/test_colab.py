"""A chapter alone in an empty folder, as Colab has it: it finds its library and runs.

Twice: with the built wheel installed at the lower bounds of pyproject.toml, and without
cilbook, where its own setup cell installs the wheel.
"""

import os
import re
import subprocess
import sys
import sysconfig
import tomllib
import venv
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from shutil import copy
from tempfile import TemporaryDirectory

import nbformat
import pytest
from nbformat import NotebookNode

AT_A_TIME = 2


@pytest.fixture(scope="module", autouse=True)
def asked_for(when_required: Callable[[str, str], None]) -> None:
    """Run these tests only where they are asked for: they install some gigabytes."""
    when_required("colab", "it takes minutes and gigabytes")


@pytest.fixture(scope="module")
def wheel(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel from this clone."""
    folder = tmp_path_factory.mktemp("wheel")
    run(sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", folder, root)
    return next(folder.glob("cilbook-*.whl"))


@contextmanager
def environment() -> Iterator[Path]:
    """Make a virtual environment, hand out its interpreter, and remove it afterwards."""
    with TemporaryDirectory(prefix="cilbook-") as folder:
        venv.create(folder, with_pip=True, symlinks=True)
        yield Path(folder) / "bin" / "python"


def run(*words: object, **options: object) -> None:
    """Run a command in a clean environment; if it fails, say what it said."""
    foreign = ("PYTHON", "CILBOOK", "JUPYTER")
    kept = {name: v for name, v in os.environ.items() if not name.startswith(foreign)}
    environment = kept | {"OMP_NUM_THREADS": "1"} | options.pop("variables", {})
    done = subprocess.run(
        [*map(str, words)], env=environment, capture_output=True, text=True, **options
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]


def install(python: Path, *what: object) -> None:
    """Install with pip; of gigabytes a part may arrive damaged, so it has three tries."""
    command = [python, "-m", "pip", "install", "-q", *what]
    for anew in ([], ["--no-cache-dir"]):
        with suppress(AssertionError):
            return run(*command, *anew)
    run(*command, "--no-cache-dir")


def execute(python: Path, chapter: Path, **variables: str) -> NotebookNode:
    """Execute a chapter with papermill in a folder that holds nothing else."""
    with TemporaryDirectory() as folder:
        copy(chapter, folder)
        command = [python, "-m", "papermill", chapter.name, "done.ipynb", "-k", "python3"]
        run(*command, "--no-progress-bar", cwd=folder, variables=variables)
        return nbformat.read(Path(folder) / "done.ipynb", as_version=4)


def lower_bounds(root: Path) -> str:
    """Return pip's constraints for the oldest versions that pyproject.toml allows."""
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    return "\n".join(word.replace(">=", "==") for word in project["dependencies"])


def tables_in_results(notebook: NotebookNode) -> int:
    """Count the tables that cells between "## Results" and the next section show."""
    inside, count = False, 0
    for cell in notebook.cells:
        if cell.cell_type == "markdown" and (heads := headings(cell.source)):
            inside = heads[-1] == "Results"
        elif inside and cell.cell_type == "code":
            shown = [o.get("data", {}).get("text/html", "") for o in cell.outputs]
            count += sum("<table" in html for html in shown)
    return count


def headings(text: str) -> list[str]:
    """List the second-level headings of a markdown text."""
    return re.findall(r"^## (.+)$", text, re.MULTILINE)


def test_every_notebook_runs_with_the_wheel_at_its_lower_bounds(wheel, root, tmp_path):
    notebooks = sorted((root / "book").glob("*.ipynb"))
    constraints = tmp_path / "lower-bounds.txt"
    constraints.write_text(lower_bounds(root))
    with environment() as python, ThreadPoolExecutor(AT_A_TIME) as pool:
        install(python, wheel, "-c", constraints)
        done = list(pool.map(lambda notebook: execute(python, notebook), notebooks))
    for notebook, path in zip(done, notebooks, strict=True):
        assert tables_in_results(notebook) or not path.name[0].isdigit(), path


def test_a_chapter_installs_its_library_where_it_is_missing(wheel, root):
    with environment() as python:
        lend_packages(python)
        with pytest.raises(AssertionError, match="No module named 'cilbook'"):
            run(python, "-Ic", "import cilbook")
        chapter = root / "book" / "10-price-of-s.ipynb"
        done = execute(python, chapter, CILBOOK_INSTALL=str(wheel))
        run(python, "-Ic", "import cilbook, sys; assert sys.prefix in cilbook.__file__")
    assert tables_in_results(done)


def lend_packages(python: Path) -> None:
    """Let an environment see this one's packages, torch among them, but not cilbook."""
    lent = python.parents[1] / "lent"
    lent.mkdir()
    for item in Path(sysconfig.get_path("purelib")).iterdir():
        if "cilbook" not in item.name:
            (lent / item.name).symlink_to(item)
    (own,) = python.parents[1].glob("lib/python*/site-packages")
    (own / "lent.pth").write_text(f"{lent}\n")
