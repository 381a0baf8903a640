"""The published numbers: van de Ven, Li and Tolias (2021), per cent, mean and SEM."""

from __future__ import annotations

SAMPLES = (1, 10, 100, 1_000, 10_000)

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


def seeds(method: str, n: int) -> list[int]:
    """The first n seeds of the paper: 2, 3, ... for gc, 11, 12, ... for the others."""
    first = 2 if method in ("gc", "gen-samples") else 11
    return list(range(first, first + n))
