"""What an installed cilbook carries."""

import tomllib
from importlib.resources import files
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_the_wheel_carries_every_room():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    listed = set(settings["tool"]["setuptools"]["packages"])
    folders = {p.parent.relative_to(ROOT) for p in ROOT.glob("cilbook/**/__init__.py")}
    rooms = {".".join(folder.parts) for folder in folders}
    assert listed == rooms | {"cilbook.committed"}


def test_the_committed_runs_are_found_inside_the_package():
    inside = {p.name for p in files("cilbook.committed").iterdir()}
    assert {p.name for p in ROOT.glob("book/results/*.json")} <= inside
