"""Chapter 10 in a live JupyterLab: it runs top to bottom, and its slider recomputes."""

import json
import os
import re
import secrets
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from cilbook.notebooks.kernels import KERNELS, write_kernel

CHAPTER = "10-price-of-s.ipynb"
PATIENCE = 60 * 60 * 1000  # milliseconds for a whole chapter on a busy machine
EVERY_CELL_RAN = """() => {
    const prompts = [...document.querySelectorAll(".jp-CodeCell .jp-InputPrompt")];
    return prompts.length > 0 && prompts.every(p => /\\[\\d+\\]:/.test(p.textContent));
}"""
ERRORS = "[data-mime-type='application/vnd.jupyter.error']"


@pytest.fixture(scope="module")
def lab(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Start JupyterLab on this machine alone, around a copy of the chapter."""
    folder = tmp_path_factory.mktemp("lab")
    work = folder / "work"
    work.mkdir()
    shutil.copy(root / "book" / CHAPTER, work)
    write_kernel(folder, folder / "results", warm=False)  # as a reader has it
    write_settings(folder / "settings")
    port, token = free_port(), secrets.token_hex(16)
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root"]
    command += ["--ip=127.0.0.1", f"--port={port}", "--ServerApp.port_retries=0"]
    command += [f"--IdentityProvider.token={token}", f"--ServerApp.root_dir={work}"]
    with (folder / "log").open("w") as log:
        server = subprocess.Popen(
            command, env=environment(folder), stdout=log, stderr=subprocess.STDOUT
        )
        try:
            wait_for(f"http://127.0.0.1:{port}/api/status?token={token}", server)
            yield f"http://127.0.0.1:{port}/lab/tree/{CHAPTER}?token={token}"
        finally:
            server.terminate()
            server.wait(30)


def free_port() -> int:
    """Return a port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def write_settings(folder: Path) -> None:
    """Keep every cell in the page, also those that are scrolled away."""
    file = folder / "@jupyterlab" / "notebook-extension" / "tracker.jupyterlab-settings"
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps({"windowingMode": "none"}))


def environment(folder: Path) -> dict[str, str]:
    """Return an environment in which a reader's own Jupyter settings play no part."""
    return os.environ | {
        "JUPYTER_CONFIG_DIR": str(folder / "config"),
        "JUPYTER_DATA_DIR": str(folder / "data"),
        "JUPYTER_PATH": str(folder / KERNELS),
        "JUPYTER_RUNTIME_DIR": str(folder / "runtime"),
        "JUPYTERLAB_SETTINGS_DIR": str(folder / "settings"),
        "JUPYTERLAB_WORKSPACES_DIR": str(folder / "workspaces"),
        "OMP_NUM_THREADS": "1",
    }


def wait_for(address: str, server: subprocess.Popen, seconds: float = 600) -> None:
    """Return when the server answers; fail if it ended or takes too long."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        assert server.poll() is None, "JupyterLab ended before it was ready"
        try:
            urllib.request.urlopen(address, timeout=5)
        except OSError:
            time.sleep(0.5)
        else:
            return
    pytest.fail(f"JupyterLab did not answer within {seconds:.0f} s")


@pytest.fixture(scope="module")
def executed(lab: str, new_page: Callable[..., Page]) -> Iterator[Page]:
    """Open the chapter and run all its cells from the menu."""
    page = new_page(viewport={"width": 1400, "height": 1000})
    page.goto(lab)
    page.locator(".jp-Notebook .jp-CodeCell").first.wait_for()
    page.locator(".jp-NotebookPanel .jp-Toolbar-kernelName").get_by_text(
        "Python 3"
    ).wait_for()
    page.locator(".lm-MenuBar-itemLabel", has_text=re.compile("^Run$")).click()
    page.locator(".lm-Menu-itemLabel", has_text=re.compile("^Run All Cells$")).click()
    page.wait_for_function(EVERY_CELL_RAN, timeout=PATIENCE, polling=1000)
    yield page
    page.close()


def size_in(readout: str) -> str:
    """Return the S that a readout names."""
    return re.match(r"S = ([\d,]+)", readout)[1]


def test_the_chapter_runs_from_top_to_bottom(executed):
    errors = executed.locator(ERRORS)
    assert errors.count() == 0, errors.first.text_content()


def test_its_slider_recomputes_with_the_kernel(executed):
    cell = executed.locator(".jp-CodeCell", has=executed.locator(".cil-explorer")).first
    readout = cell.locator(".cil-explorer output").first
    assert "recomputed" not in readout.text_content()
    sizes, fresh = [size_in(readout.text_content())], []
    for _ in range(2):
        cell.locator(".noUi-handle").first.press("ArrowRight")
        moved = re.compile(rf"^S = (?!{sizes[-1]} ).*% recomputed")
        expect(readout).to_have_text(moved, timeout=PATIENCE)
        sizes.append(size_in(readout.text_content()))
        fresh.append(float(re.search(r"([\d.]+)% recomputed", readout.text_content())[1]))
    assert len(set(sizes)) == 3
    assert all(0 < accuracy <= 100 for accuracy in fresh)
