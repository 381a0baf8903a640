"""axe-core reads every page, in the light and in the dark."""

import importlib.util
from pathlib import Path

import pytest

GRAVE = ("serious", "critical")
# Findings that stay, each with its reason: (rule, what the element's selector contains).
ACCEPTED = [
    # docutils gives the entries of a bibliography the role made for them; axe wants
    # plain list items there, screen readers know both
    ("aria-required-children", ".citation-list"),
]
RULES = {"light": {}, "dark": {"runOnly": ["color-contrast"]}}  # only colours change


@pytest.fixture(scope="session")
def axe(need) -> str:
    """Return axe-core's script, which a test dependency carries."""
    found = importlib.util.find_spec("axe_playwright_python")
    if found is None:
        need("browser", "axe-core is not installed")
    return (Path(found.origin).parent / "axe.min.js").read_text(encoding="utf-8")


def is_accepted(rule: str, target: str) -> bool:
    """Tell whether a finding stands on the reasoned list."""
    return any(rule == known and part in target for known, part in ACCEPTED)


@pytest.mark.parametrize("theme", RULES)
def test_it_has_no_grave_barrier(opened, axe, theme):
    opened.evaluate("theme => document.documentElement.dataset.theme = theme", theme)
    opened.add_style_tag(content="* { transition: none !important }")
    opened.evaluate(axe)
    options = {"resultTypes": ["violations"], "preload": False, **RULES[theme]}
    found = opened.evaluate("options => axe.run('main', options)", options)
    grave = [v for v in found["violations"] if v["impact"] in GRAVE]
    told = [
        f"{v['id']}: {target}: {node['failureSummary']}"
        for v in grave
        for node in v["nodes"]
        for target in map(str, node["target"])
        if not is_accepted(v["id"], target)
    ]
    assert not told, "\n".join(told)
