"""The command line: one thin layer over the library."""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

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
    except KeyboardInterrupt:
        _fail("interrupted", INTERRUPTED)
    except Exception as error:
        _fail(f"{type(error).__name__}: {error}", RUN_FAILED)
    sys.exit(DONE)


def _run(options: argparse.Namespace) -> None:
    from cilbook.experiments.request import Request
    from cilbook.experiments.results import Store
    from cilbook.experiments.run import run

    request = Request(
        benchmark=options.benchmark,
        method=options.method,
        seed=options.seed,
        budget=options.budget,
        samples=options.samples,
        likelihood=options.likelihood,
        changes=_assignments(options.set),
    )
    plan = request.resolve()
    store = Store(options.results)
    result = run(
        request,
        device=options.device,
        threads=options.threads,
        data_dir=options.data_dir,
        progress=True,
        keep_bank=store.bank_path(plan) if options.keep_bank else None,
    )
    store.save(plan, result)
    print(json.dumps(result))


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
    run.add_argument("--budget", default="quick", metavar="quick|paper")
    run.add_argument("--samples", type=int, metavar="S", help="importance samples (gc)")
    run.add_argument("--likelihood", metavar="L", help="estimator of log p(x|y) (gc)")
    run.add_argument("--set", action="append", default=[], metavar="field=value")
    run.add_argument("--threads", type=int, default=1, metavar="N")
    run.add_argument("--device", default="auto", metavar="auto|cpu|cuda")
    run.add_argument("--data-dir", type=Path, metavar="D")
    run.add_argument("--results", type=Path, default=Path("results"), metavar="R")
    run.add_argument("--keep-bank", action="store_true", help="keep the VAEs too (gc)")
    run.set_defaults(command=_run)

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
