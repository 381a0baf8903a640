"""The published numbers: van de Ven, Li and Tolias (2021), per cent, mean and SEM."""

from __future__ import annotations

BENCHMARKS = ("mnist", "cifar10", "cifar100", "core50")
SAMPLES = (1, 10, 100, 1_000, 10_000)
SEEDS = 10  # behind every mean

# Table 2: the accuracy after the last task; None is a dash, a method that was left out
_TABLE_2: dict[str, list[tuple[float, float] | None]] = {
    "none": [(19.92, 0.02), (18.74, 0.29), (7.96, 0.11), (18.65, 0.26)],
    "joint": [(98.23, 0.04), (82.07, 0.15), (54.08, 0.27), (71.85, 0.30)],
    "dgr": [(91.30, 0.60), (17.21, 1.88), (9.22, 0.24), None],
    "bir": [None, None, (21.51, 0.25), (60.40, 1.04)],
    "bir-si": [None, None, (34.38, 0.21), (62.68, 0.72)],
    "ewc": [(19.95, 0.05), (18.63, 0.29), (8.47, 0.09), (18.56, 0.31)],
    "si": [(19.95, 0.11), (18.14, 0.36), (8.43, 0.08), (18.69, 0.26)],
    "cwr": [(32.48, 2.64), (18.37, 1.61), (21.90, 0.68), (40.28, 1.13)],
    "cwr+": [(37.20, 3.11), (22.32, 1.08), (9.34, 0.25), (40.12, 1.06)],
    "ar1": [(48.84, 2.55), (24.44, 1.08), (20.62, 0.45), (45.27, 1.02)],
    "labels-trick": [(32.46, 1.95), (18.43, 1.31), (23.68, 0.26), (42.59, 1.03)],
    "slda": [(87.30, 0.02), (38.35, 0.03), (44.49, 0.00), (70.80, 0.00)],
    "gc": [(93.79, 0.08), (56.03, 0.04), (49.55, 0.06), (70.81, 0.11)],
}
TABLE_2: dict[str, dict[str, tuple[float, float] | None]] = {
    method: dict(zip(BENCHMARKS, row, strict=True)) for method, row in _TABLE_2.items()
}

# Table 3: the generative classifier beside a network trained on samples of its VAEs
TABLE_3: dict[str, dict[str, tuple[float, float]]] = {
    "gc": TABLE_2["gc"],
    "gen-samples": dict(
        zip(
            BENCHMARKS,
            [(85.93, 0.43), (13.71, 0.61), (33.84, 0.14), (47.86, 1.77)],
            strict=True,
        )
    ),
}

# Table 4: the generative classifier's accuracy against the number of importance samples
TABLE_4: dict[str, dict[int, tuple[float, float]]] = {
    benchmark: dict(zip(SAMPLES, row, strict=True))
    for benchmark, row in {
        "mnist": [
            (91.14, 0.08),
            (92.46, 0.09),
            (93.25, 0.09),
            (93.62, 0.10),
            (93.79, 0.08),
        ],
        "cifar10": [
            (50.86, 0.10),
            (54.64, 0.09),
            (55.43, 0.10),
            (55.83, 0.09),
            (56.03, 0.04),
        ],
        "cifar100": [
            (45.02, 0.10),
            (48.45, 0.10),
            (49.26, 0.10),
            (49.48, 0.08),
            (49.55, 0.06),
        ],
        "core50": [
            (61.00, 0.19),
            (69.09, 0.14),
            (70.33, 0.14),
            (70.62, 0.14),
            (70.81, 0.11),
        ],
    }.items()
}


# Table 1: may a method learn from a task-free stream?
TASK_FREE_NOTES = (
    "(+) a later version needs no boundaries; "
    "(*) once a first batch has initialised the covariance"
)
TASK_FREE = {
    **dict.fromkeys(("dgr", "bir", "bir-si", "ewc", "si", "labels-trick"), "no"),
    **dict.fromkeys(("cwr", "cwr+", "ar1"), "yes (+)"),
    "slda": "yes (*)",
    "gc": "yes",
}


def _powers(first: int, last: int) -> list[float]:
    return [10.0**power for power in range(first, last + 1)]


# {(method, setting): (symbol, values of the grid search)}
EXPLORED: dict[tuple[str, str], tuple[str, list[float]]] = {
    ("bir", "closed"): ("X", [tenth / 10 for tenth in range(10)]),
    ("bir-si", "closed"): ("X", [0.0, 0.2, 0.4, 0.6, 0.8]),
    ("bir-si", "strength"): ("c", [0.0, *_powers(-3, 9)]),
    ("ewc", "strength"): ("λ", [0.0, *_powers(-1, 7)]),
    ("si", "strength"): ("c", [0.0, *_powers(-3, 9)]),
    ("ar1", "strength"): ("c", [0.0, *_powers(-3, 9)]),
    ("ar1", "largest"): ("Ω_max", _powers(-4, 2)),
}


def published(benchmark: str, method: str) -> tuple[float, float] | None:
    """Mean and SEM of the accuracy after the last task, from Table 2 or 3."""
    return (TABLE_2 | TABLE_3).get(method, {}).get(benchmark)


def seeds(method: str, n: int) -> list[int]:
    """The first n seeds of the paper: 2, 3, ... for gc, 11, 12, ... for the others."""
    first = 2 if method in ("gc", "gen-samples") else 11
    return list(range(first, first + n))


def leaves_out(benchmark: str, method: str) -> bool:
    """Whether the paper compares this method elsewhere, but not on this benchmark.

    >>> leaves_out("mnist", "bir"), leaves_out("mnist", "gc"), leaves_out("digits", "bir")
    (True, False, False)
    """
    return TABLE_2.get(method, {}).get(benchmark, ()) is None
