"""The API reference: one page per room of the library, made of its docstrings.

The pages only name the modules; Sphinx reads signatures and docstrings from them.
"""

from pathlib import Path

import cilbook

PACKAGE = Path(cilbook.__file__).parent
LEFT_OUT = {"__init__", "__main__"}


def write_reference(folder: Path) -> None:
    """Write a page for every room into this folder."""
    folder.mkdir(parents=True)
    for room, modules in rooms().items():
        (folder / f"{room}.md").write_text(page(room, modules))


def rooms(package: Path = PACKAGE) -> dict[str, list[str]]:
    """The modules of each room, its own docstring first: {room: [module, ...]}."""
    found: dict[str, list[str]] = {}
    for path in sorted(package.rglob("*.py")):
        parts = path.relative_to(package).with_suffix("").parts
        room = parts[0]
        if room in LEFT_OUT:
            continue
        name = ".".join(["cilbook", *parts]).removesuffix(".__init__")
        found.setdefault(room, []).append(name)
    return {room: sorted(modules) for room, modules in found.items()}


def page(room: str, modules: list[str]) -> str:
    """The Markdown of one room's page."""
    sections = [f"# cilbook.{room}\n", *(section(name, room) for name in modules)]
    return "\n".join(sections)


def section(module: str, room: str) -> str:
    """A module's heading, and the directive that Sphinx fills with its docstrings."""
    name = module.removeprefix(f"cilbook.{room}").removeprefix(".")
    heading = f"## {name}\n\n" if name else ""
    return (
        f"{heading}```{{eval-rst}}\n.. automodule:: {module}\n   :members:\n"
        "   :ignore-module-all:\n   :member-order: bysource\n```\n"
    )
