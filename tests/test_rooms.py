"""Imports only point up the list of rooms."""

import ast
from pathlib import Path

import cilbook

ROOMS = [
    "errors",
    "random",
    "storage",
    "nets",
    "benchmarks",
    "bank",
    "likelihood",
    "methods",
    "estimator",
    "experiments",
    "show",
    "notebooks",
    "cli",
    "__main__",
]
PACKAGE = Path(cilbook.__file__).parent
SOURCES = [p for p in PACKAGE.rglob("*.py") if p != PACKAGE / "__init__.py"]


def room(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imported_rooms(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            continue
        parts = [name.split(".") for name in names]
        found |= {p[1] for p in parts if p[0] == "cilbook" and len(p) > 1}
    return found & set(ROOMS)


def test_every_module_lives_in_a_known_room():
    assert {room(path) for path in SOURCES} <= set(ROOMS)


def test_imports_only_point_up_the_list_of_rooms():
    wrong = [
        f"{path.relative_to(PACKAGE)} imports {target}"
        for path in SOURCES
        for target in imported_rooms(path)
        if ROOMS.index(target) > ROOMS.index(room(path))
    ]
    assert wrong == []


def test_nets_import_nothing_but_nets():
    for path in (PACKAGE / "nets").glob("*.py"):
        assert imported_rooms(path) <= {"nets"}, path
