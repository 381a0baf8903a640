"""The command line: one thin layer over the library."""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

from cilbook import __version__
from cilbook.errors import BadInput, RunFailed

DONE, RUN_FAILED, BAD_INPUT, INTERRUPTED = 0, 1, 2, 130


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run one command and exit: 0 done, 1 a run failed, 2 bad input, 130 interrupted."""
    warnings.showwarning = _show_warning
    options = _parser().parse_args(arguments)
    try:
        options.command(options)
    except BadInput as error:
        _fail(str(error), BAD_INPUT)
    except RunFailed as error:
        _fail(str(error), RUN_FAILED)
    except KeyboardInterrupt as error:
        _fail(str(error) or "interrupted", INTERRUPTED)
    except Exception as error:
        _fail(f"{type(error).__name__}: {error}", RUN_FAILED)
    sys.exit(DONE)


def _run(options: argparse.Namespace) -> None:
    from cilbook.experiments.obtain import obtain_one
    from cilbook.experiments.request import Request
    from cilbook.experiments.results import Store

    what = options.benchmark, options.method, options.seed
    plan = Request(*what, **_identity(options)).resolve()
    store = Store(options.results)
    bank = store.bank_path(plan) if options.keep_bank else None
    how = _machine(options) | {"progress": True, "keep_bank": bank}
    print(json.dumps(obtain_one(plan, store, anew=True, **how)))


def _reproduce(options: argparse.Namespace) -> None:
    from cilbook.benchmarks import BENCHMARKS
    from cilbook.experiments.formats import as_markdown
    from cilbook.experiments.results import Store
    from cilbook.experiments.sweep import plan_sweep, sweep, table_of
    from cilbook.methods import METHODS

    requests = plan_sweep(
        _names(options.benchmarks) or [*BENCHMARKS],
        _names(options.methods) or [*METHODS],
        options.seeds or (10 if options.budget == "paper" else 1),
        **_identity(options),
    )
    store = Store(options.results)
    how = _machine(options) | {"progress": True, "workers": options.workers}
    try:
        failures = sweep(requests, store, **how)
    except KeyboardInterrupt:
        sentence = "interrupted; the same command goes on where it stopped"
        raise KeyboardInterrupt(sentence) from None
    table = as_markdown(table_of(requests, store))
    if failures:
        lines = [f"failed: {failure.key}: {failure.error}" for failure in failures]
        print(table, *lines, sep="\n", file=sys.stderr)
        raise RunFailed(f"{len(failures)} of {len(requests)} runs failed, listed above")
    print(table)


def _table(options: argparse.Namespace) -> None:
    from cilbook.benchmarks import BENCHMARKS
    from cilbook.experiments.formats import FORMATS
    from cilbook.experiments.listings import applicability, hyperparameters
    from cilbook.experiments.results import Store, committed
    from cilbook.experiments.tables import paper_table

    if options.results is not None and not options.results.is_dir():
        raise BadInput(f"there is no folder {options.results}")
    runs = committed() if options.results is None else Store(options.results)
    benchmarks = _names(options.benchmarks) or [*BENCHMARKS]
    if options.number == "applicability":
        table = applicability()
    elif options.number == "hyperparameters":
        table = hyperparameters(benchmarks)
    else:
        table = paper_table(options.number, runs, options.budget, benchmarks)
    print(FORMATS[options.format](table))


def _verify(options: argparse.Namespace) -> None:
    from cilbook.experiments.verify import verify

    comparison = verify(options.file, progress=True)
    if comparison.different:
        found = "; ".join(comparison.different)
        raise RunFailed(f"{options.file}: {found}; compared {comparison.rule}")
    print(f"{options.file} is confirmed, compared {comparison.rule}")


def _book(options: argparse.Namespace) -> None:
    from cilbook import notebooks

    root = Path.cwd()
    page = notebooks.build(root, budget=options.budget, chapters=options.chapters)
    if options.serve:
        notebooks.serve(page.parent)
    print(page)


def _data(options: argparse.Namespace) -> None:
    from cilbook.benchmarks import inventory

    act = inventory.check if options.check else inventory.prepare
    print("\n".join(list(act(options.benchmarks, options.data_dir))))


def _pretrain(options: argparse.Namespace) -> None:
    from cilbook.experiments.pretrain import pretrain
    from cilbook.experiments.run import choose_device

    path, accuracy = pretrain(options.data_dir, device=choose_device(options.device))
    print(f"{path}: {accuracy:.1f} % on CIFAR-10's test images")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="cilbook", description=__doc__)
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(metavar="command", required=True)

    run = commands.add_parser("run", help="one run, kept in the store")
    run.add_argument("--benchmark", required=True, metavar="B")
    run.add_argument("--method", required=True, metavar="M")
    run.add_argument("--seed", type=int, default=0, metavar="N")
    _add_run_options(run)
    run.add_argument("--keep-bank", action="store_true", help="keep the VAEs too (gc)")
    run.set_defaults(command=_run)

    reproduce = commands.add_parser("reproduce", help="every missing run, then the table")
    reproduce.add_argument("--benchmarks", nargs="+", default=[], metavar="B")
    reproduce.add_argument("--methods", nargs="+", default=[], metavar="M")
    reproduce.add_argument(
        "--seeds", type=_seeds, metavar="10|3,7", help="how many, or which"
    )
    _add_run_options(reproduce)
    reproduce.add_argument("--workers", type=int, default=1, metavar="N")
    reproduce.set_defaults(command=_reproduce)

    table = commands.add_parser("table", help="a table of the paper from stored runs")
    names = ["2", "3", "4", "hyperparameters", "applicability"]
    table.add_argument("number", choices=names, metavar="table", help=", ".join(names))
    table.add_argument("--format", choices=["md", "csv", "html", "json"], default="md")
    table.add_argument("--budget", default="paper", metavar="quick|paper")
    table.add_argument("--benchmarks", nargs="+", default=[], metavar="B")
    table.add_argument("--results", type=Path, metavar="R", help="default: the book's runs")
    table.set_defaults(command=_table)

    verify = commands.add_parser("verify", help="repeat one stored run and compare")
    verify.add_argument("file", type=Path, metavar="FILE")
    verify.set_defaults(command=_verify)

    book = commands.add_parser("book", help="run the chapters and build the HTML")
    book.add_argument("--budget", default="quick", metavar="quick|paper")
    book.add_argument("--chapters", type=_numbers, metavar="1,10")
    book.add_argument("--serve", action="store_true", help="then serve on 127.0.0.1")
    book.set_defaults(command=_book)

    data = commands.add_parser("data", help="download and verify data sets")
    data.add_argument("benchmarks", nargs="*", metavar="B", help="default: all")
    data.add_argument("--check", action="store_true", help="only verify what is there")
    data.add_argument("--data-dir", type=Path, metavar="D")
    data.set_defaults(command=_data)

    pretrain = commands.add_parser("pretrain", help="train our own conv layers on CIFAR-10")
    pretrain.add_argument("--device", default="auto", metavar="auto|cpu|cuda")
    pretrain.add_argument("--data-dir", type=Path, metavar="D")
    pretrain.set_defaults(command=_pretrain)
    return parser


def _add_run_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--budget", default="quick", metavar="quick|paper")
    parser.add_argument("--samples", type=int, metavar="S", help="importance samples (gc)")
    parser.add_argument("--likelihood", metavar="L", help="estimator of log p(x|y) (gc)")
    parser.add_argument(
        "--set", nargs="+", action="extend", default=[], metavar="field=value"
    )
    parser.add_argument("--threads", type=int, default=1, metavar="N")
    parser.add_argument("--device", default="auto", metavar="auto|cpu|cuda")
    parser.add_argument("--data-dir", type=Path, metavar="D")
    parser.add_argument("--results", type=Path, default=Path("results"), metavar="R")


def _identity(options: argparse.Namespace) -> dict[str, Any]:
    """What of the options makes a run another run."""
    names = ("budget", "samples", "likelihood")
    chosen = {name: getattr(options, name) for name in names}
    return chosen | {"changes": _assignments(options.set)}


def _machine(options: argparse.Namespace) -> dict[str, Any]:
    """What of the options says where and how a run is made."""
    return {name: getattr(options, name) for name in ("device", "threads", "data_dir")}


class _Parser(argparse.ArgumentParser):
    """A parser whose errors are one sentence."""

    def error(self, message: str) -> NoReturn:
        _fail(f"{message}; see {self.prog} --help", BAD_INPUT)


def _numbers(text: str) -> list[int]:
    try:
        return [int(word) for word in text.split(",")]
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"expected numbers with commas between, such as 1,10, got {text!r}"
        ) from None


def _seeds(text: str) -> int | list[int]:
    """How many of the paper's seeds, or which; `3,` is seed 3 alone."""
    numbers = _numbers(text.removesuffix(","))
    if "," in text:
        return numbers
    if numbers[0] < 1:
        raise argparse.ArgumentTypeError(f"expected at least one seed, got {text!r}")
    return numbers[0]


def _names(words: Sequence[str]) -> list[str]:
    """Names with blanks or commas between, each once."""
    return list(dict.fromkeys(n for word in words for n in word.split(",") if n))


def _assignments(words: Sequence[str]) -> dict[str, str]:
    pairs = [word.partition("=") for word in words]
    for word, (name, equals, _) in zip(words, pairs, strict=True):
        if not (name and equals):
            raise BadInput(f"--set takes field=value, got {word!r}")
    return {name: value for name, _, value in pairs}


def _show_warning(message: Warning | str, *_: object) -> None:
    print(f"cilbook: warning: {message}", file=sys.stderr)


def _fail(sentence: str, code: int) -> NoReturn:
    print(f"cilbook: error: {' '.join(sentence.split())}", file=sys.stderr)
    sys.exit(code)
