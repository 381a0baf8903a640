"""What becomes of an executed notebook before it is a page."""

from collections.abc import Mapping

import nbformat
from nbformat import NotebookNode

from cilbook.notebooks.banner import banner

WIDGET = "application/vnd.jupyter.widget-view+json"


def finish(notebook: NotebookNode, injected: Mapping[str, object]) -> None:
    """Drop what only a live kernel can use, and say how the numbers were made."""
    duration = notebook.metadata.papermill.duration
    notebook.metadata.papermill = {"duration": duration}  # no paths of this machine
    notebook.metadata.pop("widgets", None)
    for cell in notebook.cells:
        if "injected-parameters" in tags(cell):
            cell.metadata.tags.append("remove-input")
        if cell.cell_type == "code":
            cell.outputs = joined([o for o in cell.outputs if not only_live(o)])
    defaults = [c.source for c in notebook.cells if "parameters" in tags(c)]
    if defaults:
        text = banner(defaults[0], injected, duration)
        notebook.cells.insert(1, nbformat.v4.new_markdown_cell(text, id="banner"))


def joined(outputs: list[NotebookNode]) -> list[NotebookNode]:
    """Put together what a cell printed in one go but a kernel sent in pieces."""
    result: list[NotebookNode] = []
    for output in outputs:
        last = result[-1] if result else {}
        if output.output_type == "stream" and last.get("name") == output.name:
            last.text += output.text
        else:
            result.append(output)
    return result


def only_live(output: NotebookNode) -> bool:
    """Tell whether an output, such as a progress bar, is nothing without a kernel."""
    data = output.get("data", {})
    return WIDGET in data and "text/html" not in data


def tags(cell: NotebookNode) -> list[str]:
    """Return a cell's tags."""
    return cell.metadata.get("tags", [])
