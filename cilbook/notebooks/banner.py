"""The line under a chapter's title: how the numbers that it computes were made."""

import ast
from collections.abc import Mapping

from cilbook.experiments.provenance import machine
from cilbook.experiments.request import find_benchmark
from cilbook.experiments.run import choose_device

Values = Mapping[str, object]


def banner(defaults: str, injected: Values, duration: float) -> str:
    """Name data, budget, seeds, device and time of an executed chapter.

    `defaults` is the source of its parameters cell; `injected` is what papermill put
    in place of some of them.

    >>> print(banner('budget: str = "paper"', {"budget": "quick"}, 3.2))
    ```{div} cil-banner
    **Computed for this page** in 3 s: budget `quick`.
    What comes from stored runs or from the paper is marked as such.
    ```
    """
    values = read_parameters(defaults) | dict(injected)
    made = " · ".join(WORDS[name](values[name]) for name in WORDS if name in values)
    return (
        "```{div} cil-banner\n"
        f"**Computed for this page** in {max(1, round(duration))} s: {made}.\n"
        "What comes from stored runs or from the paper is marked as such.\n"
        "```"
    )


def read_parameters(source: str) -> dict[str, object]:
    """Return the names and values that a parameters cell assigns.

    >>> read_parameters('benchmark: str = "digits"\\nseeds = 1')
    {'benchmark': 'digits', 'seeds': 1}
    """
    found: dict[str, object] = {}
    for statement in ast.parse(source).body:
        if isinstance(statement, ast.AnnAssign) and statement.value is not None:
            found[statement.target.id] = ast.literal_eval(statement.value)
        elif isinstance(statement, ast.Assign):
            found[statement.targets[0].id] = ast.literal_eval(statement.value)
    return found


def _seeds(count: object) -> str:
    return "1 seed" if count == 1 else f"{count} seeds"


WORDS = {  # a parameter's name: how the banner words its value
    "benchmark": lambda name: f"data {find_benchmark(str(name)).title}",
    "budget": lambda name: f"budget `{name}`",
    "seeds": _seeds,
    "device": lambda name: f"device {machine(choose_device(str(name)))}",
}
