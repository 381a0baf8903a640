"""What the benchmarks need in the data folder: get it, check it, say so."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from cilbook.benchmarks import BENCHMARKS
from cilbook.benchmarks.files import data_folder
from cilbook.errors import BadInput


def prepare(names: Sequence[str], data_dir: Path | None = None) -> Iterator[str]:
    """Download what these benchmarks (all, if none is named) lack; a line per file."""
    folder = data_folder(data_dir)
    for name in _known(names) or BENCHMARKS:
        for source in BENCHMARKS[name].sources:
            source.ensure(folder)
        yield from check([name], folder)


def check(names: Sequence[str], data_dir: Path | None = None) -> Iterator[str]:
    """Check the files of these benchmarks, or all that are there; a line per file.

    A file that a benchmark asked for by name lacks is BadInput, as a damaged one always is.
    """
    folder = data_folder(data_dir)
    for name in _known(names) or BENCHMARKS:
        sources = BENCHMARKS[name].sources
        if not sources:
            yield f"ok {name}: nothing to download"
        elif not names and not any(source.found(folder) for source in sources):
            yield f"absent {name}"
        else:
            for source in sources:
                yield from (f"ok {path}" for path in source.check(folder))


def _known(names: Sequence[str]) -> Sequence[str]:
    for name in names:
        if name not in BENCHMARKS:
            expected = ", ".join(BENCHMARKS)
            raise BadInput(f"unknown benchmark {name!r}; expected {expected}")
    return names
