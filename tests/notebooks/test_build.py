"""Chapters are executed for real, and a chapter that breaks stops the build."""

import os
import sys
import urllib.request
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from signal import SIGINT, SIGKILL
from subprocess import DEVNULL, Popen
from threading import Thread
from time import sleep

import nbformat
import psutil
import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from cilbook import notebooks
from cilbook.errors import RunFailed
from cilbook.notebooks import rendering
from cilbook.notebooks.execution import ChapterFailed, check
from cilbook.notebooks.finishing import WIDGET, finish
from cilbook.notebooks.staging import prepare

PARAMETERS = 'budget = "none"\ncolour = "grey"'


def chapter(*sources: str) -> NotebookNode:
    """Make a notebook: a title, a parameters cell, then one code cell per source."""
    parameters = new_code_cell(PARAMETERS, metadata={"tags": ["parameters"]})
    cells = map(new_code_cell, sources)
    metadata = {"kernelspec": {"name": "elsewhere", "display_name": "Elsewhere"}}
    return new_notebook(
        cells=[new_markdown_cell("# Title"), parameters, *cells], metadata=metadata
    )


def executed() -> NotebookNode:
    """Make a chapter that looks as if papermill had run it."""
    notebook = chapter("1 + 1")
    for count, cell in enumerate(notebook.cells[1:], start=1):
        cell.execution_count = count
    notebook.metadata.papermill = {"duration": 1.5, "input_path": "/a/path"}
    return notebook


def write_book(root: Path, **chapters: NotebookNode) -> Path:
    """Write a book with these chapters, called like `c01` for chapter 1."""
    (root / "book").mkdir()
    (root / "book" / "index.md").write_text("# A book\n")
    names = [f"{key[1:]}-a-chapter" for key in chapters]
    for name, notebook in zip(names, chapters.values(), strict=True):
        nbformat.write(notebook, root / "book" / f"{name}.ipynb")
    files = "".join(f"  - file: book/{name}\n" for name in names)
    (root / "_toc.yml").write_text(f"format: jb-book\nroot: book/index\nchapters:\n{files}")
    (root / "_config.yml").write_text(
        'title: A book\nonly_build_toc_files: true\nexecute: {execute_notebooks: "off"}'
    )
    return root


def staged(root: Path, name: str) -> NotebookNode:
    """Read a chapter as the build left it."""
    return nbformat.read(root / "_build" / "stage" / "book" / name, as_version=4)


def printed(notebook: NotebookNode) -> str:
    """Return all that a notebook's cells printed."""
    outputs = [o for c in notebook.cells for o in c.get("outputs", [])]
    return "".join(o.text for o in outputs if o.output_type == "stream")


def test_a_build_runs_the_chosen_chapters_with_their_parameters(tmp_path):
    tell = "import os, sys\nprint(budget, colour, sys.executable)"
    where = 'print(os.environ["CILBOOK_RESULTS"], os.getcwd())'
    root = write_book(tmp_path, c01=chapter("1 / 0"), c10=chapter(tell, where))

    page = notebooks.build(root, "quick", [10], {"colour": "blue"})

    assert page.exists()
    ran = staged(root, "10-a-chapter.ipynb")
    results, folder = root / "_build" / "results", root / "_build" / "stage" / "book"
    expected = ["quick", "blue", sys.executable, str(results), str(folder)]
    assert printed(ran).split() == expected
    assert ran.metadata.papermill.duration > 0
    chapter_page = page.parent / "book" / "10-a-chapter.html"
    assert "Computed for this page" in chapter_page.read_text()
    assert not printed(staged(root, "01-a-chapter.ipynb"))
    committed = nbformat.read(root / "book" / "10-a-chapter.ipynb", as_version=4)
    assert not printed(committed)


def test_a_broken_chapter_stops_the_build_and_names_chapter_cell_and_error(tmp_path):
    root = write_book(tmp_path, c03=chapter("x = 1", 'raise ValueError("x\\ny")'))
    with pytest.raises(ChapterFailed) as failure:
        notebooks.build(root)
    assert str(failure.value) == "chapter 03-a-chapter, cell 4: ValueError: x"
    assert not (root / "_build" / "html").exists()


def test_a_kernel_that_dies_stops_the_build(tmp_path):
    root = write_book(tmp_path, c03=chapter("import os\nos._exit(1)"))
    with pytest.raises(ChapterFailed, match="chapter 03-a-chapter, cell 3 .*died"):
        notebooks.build(root)


def test_a_failure_ends_the_chapter_that_runs_beside_it(tmp_path):
    endless = "from time import sleep\nsleep(600)"
    root = write_book(tmp_path, c01=chapter(endless), c03=chapter("1 / 0"))
    with pytest.raises(ChapterFailed, match="03-a-chapter, cell 3: ZeroDivisionError"):
        notebooks.build(root)


def test_chapters_have_processes_of_their_own_in_which_nothing_has_happened(tmp_path):
    leave = "import os, torch\nmine = torch.nn.mine = os.getpid()\nprint(mine)"
    find = 'print(os.getpid(), "mine" in globals(), hasattr(torch.nn, "mine"))'
    find = f"import os, torch\n{find}"
    root = write_book(tmp_path, c01=chapter(leave), c03=chapter(find))
    notebooks.build(root)
    first = printed(staged(root, "01-a-chapter.ipynb")).split()
    other, *found = printed(staged(root, "03-a-chapter.ipynb")).split()
    assert [other] != first and found == ["False", "False"]


def test_progress_in_a_chapter_is_a_widget_not_text(tmp_path):
    look = "from cilbook.experiments import run\nfrom tqdm.notebook import tqdm\n"
    look += "print(issubclass(run.tqdm, tqdm))"
    root = write_book(tmp_path, c01=chapter(look))
    notebooks.build(root)
    assert printed(staged(root, "01-a-chapter.ipynb")).split() == ["True"]


@pytest.mark.parametrize("end", [SIGINT, SIGKILL])
def test_a_build_that_is_stopped_leaves_nothing_running(tmp_path, end):
    ready = tmp_path / "ready"
    wait = f"from pathlib import Path\nPath({str(ready)!r}).touch()\nwhile True: pass"
    write_book(tmp_path, c01=chapter(wait), c03=chapter(wait), c09=chapter(wait))
    build = f"from cilbook import notebooks\nnotebooks.build({str(tmp_path)!r})"
    process = Popen([sys.executable, "-c", build], stderr=DEVNULL, start_new_session=True)
    assert within_a_minute(ready.exists)
    process.send_signal(end)
    assert process.wait(timeout=60)
    assert within_a_minute(lambda: not alive(process.pid))


def within_a_minute(done: Callable[[], bool]) -> bool:
    """Wait for something to become true."""
    return any(done() or sleep(0.1) for _ in range(600))


def alive(group: int) -> list[psutil.Process]:
    """List the processes of a group that have not ended."""
    found = []
    for process in psutil.process_iter():
        with suppress(ProcessLookupError, psutil.NoSuchProcess):
            own = os.getpgid(process.pid) == group
            if own and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
    return found


def test_a_warning_of_jupyter_book_stops_the_build(tmp_path):
    root = write_book(tmp_path, c03=chapter("x = 1"))
    (root / "book" / "index.md").write_text("# A book\n\n[nowhere](missing.md)\n")
    prepare(root)
    with pytest.raises(RunFailed, match="could not render"):
        rendering.render(root)


def test_an_unknown_chapter_is_refused_with_the_list_of_those_that_exist(tmp_path):
    root = write_book(tmp_path, c01=chapter(), c10=chapter())
    with pytest.raises(ValueError, match=r"no chapter 7; chapters: 1, 10$"):
        notebooks.build(root, chapters=[1, 7])


def test_a_folder_without_a_book_is_refused(tmp_path):
    with pytest.raises(ValueError, match="holds no book"):
        notebooks.build(tmp_path)


def test_a_cell_that_did_not_run_is_found():
    notebook = executed()
    notebook.cells[2].execution_count = None
    with pytest.raises(ChapterFailed, match="chapter 01-x, cell 3 did not run"):
        check(notebook, "01-x")


def test_a_chapter_that_took_no_time_did_not_run():
    notebook = executed()
    notebook.metadata.papermill.duration = 0.0
    with pytest.raises(ChapterFailed, match="chapter 01-x did not run: it took 0 s"):
        check(notebook, "01-x")


def test_an_error_that_a_cell_was_allowed_to_raise_is_still_an_error():
    notebook = executed()
    notebook.cells[2].outputs = [
        nbformat.v4.new_output("error", ename="KeyError", evalue="'a'", traceback=[])
    ]
    with pytest.raises(ChapterFailed, match="chapter 01-x, cell 3: KeyError: 'a'"):
        check(notebook, "01-x")


def test_a_page_keeps_a_slider_with_a_static_face_and_drops_a_progress_bar():
    notebook = executed()
    notebook.metadata.widgets = {}
    live = {WIDGET: {"model_id": "a"}, "text/plain": "a"}
    faces = [live, {**live, "text/html": "<p>static</p>"}]
    notebook.cells[2].outputs = [
        nbformat.v4.new_output("display_data", data=data) for data in faces
    ]
    finish(notebook, {"budget": "quick"})
    assert [o.data for o in notebook.cells[3].outputs] == faces[1:]
    assert "widgets" not in notebook.metadata
    assert notebook.metadata.papermill == {"duration": 1.5}


def test_the_server_is_for_this_machine_only(tmp_path, capsys, monkeypatch):
    (tmp_path / "index.html").write_text("a page")
    servers = []

    class Remembered(rendering.ThreadingHTTPServer):
        def serve_forever(self):
            servers.append(self.server_address)
            Thread(target=self.handle_request, daemon=True).start()
            url = f"http://127.0.0.1:{self.server_port}/index.html"
            assert urllib.request.urlopen(url).read() == b"a page"

    monkeypatch.setattr(rendering, "ThreadingHTTPServer", Remembered)
    rendering.serve(tmp_path, port=0)
    assert servers[0][0] == "127.0.0.1"
    assert f":{servers[0][1]}/" in capsys.readouterr().err
