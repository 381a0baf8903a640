"""What a run is asked to do, checked before anything starts."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from hashlib import sha256
from math import isfinite, nan
from typing import Any, Literal, get_args, get_origin, get_type_hints

from cilbook.benchmarks import BENCHMARKS, Spec
from cilbook.benchmarks.streams import View
from cilbook.errors import BadInput
from cilbook.experiments import paper
from cilbook.methods import METHODS, Learner, Settings

BUDGETS = ("quick", "paper")


class NotDefined(BadInput):
    """A method that a benchmark does not have."""


@dataclass(frozen=True)
class Request:
    """A run's identity: the same request always means the same numbers.

    >>> Request("digits", "slda").resolve().iterations is None
    True
    """

    benchmark: str
    method: str
    seed: int = 0
    budget: str = "quick"
    samples: int | None = None  # S; None: the budget's
    likelihood: str | None = None  # None: the method's default
    changes: Mapping[str, Any] = field(default_factory=dict)  # --set field=value

    def resolve(self) -> Plan:
        """Every number of the run, or BadInput with a sentence."""
        spec = find_benchmark(self.benchmark).for_method(self.method)
        method = _one_of(METHODS, self.method, "method")
        check_budget(self.budget)
        if paper.leaves_out(self.benchmark, self.method):
            raise NotDefined(
                f"{self.method} is not defined on {self.benchmark}: "
                "the paper leaves it out, a dash in its Table 2"
            )
        check_seed(self.seed)
        iterations = default_iterations(spec, method, self.budget)
        changes = dict(self.changes)
        if iterations is not None and "iterations" in changes:
            iterations = _read("iterations", changes.pop("iterations"), int)
        settings = default_settings(spec, self.method, self.budget)
        settings = _with_estimator(settings, self)
        settings = change(settings, changes, self.method)
        budget = "custom" if self.changes else self.budget
        return Plan(spec, self.method, self.seed, budget, iterations, settings)


@dataclass(frozen=True)
class Plan:
    """A resolved request."""

    spec: Spec
    method: str
    seed: int
    budget: str
    iterations: int | None  # per task (per class in the `per_class` view); None: one pass
    settings: Settings

    @classmethod
    def of(cls, stored: Mapping[str, Any]) -> Plan:
        """The plan of a stored run, every number as it was used then."""
        name, config = stored["method"], stored["config"]
        spec = find_benchmark(stored["benchmark"]).for_method(name)
        kind = _one_of(METHODS, name, "method").settings_type
        used = {f.name: config[f.name] for f in fields(kind) if f.name in config}
        settings = change(kind(), used, name)
        check_seed(stored["seed"])
        iterations = config.get("iterations")
        if iterations is not None:
            iterations = _read("iterations", iterations, int)
        return cls(spec, name, stored["seed"], stored["budget"], iterations, settings)

    @property
    def learner_type(self) -> type[Learner]:
        return METHODS[self.method]

    @property
    def view(self) -> View:
        """How the data reach the method: as it likes, unless the benchmark is one pass."""
        return "single_pass" if self.spec.single_pass else self.learner_type.view

    @property
    def tasks(self) -> list[list[int]]:
        """The classes of each task as the method meets them; Joint meets all at once."""
        tasks = self.spec.task_classes()
        return [sum(tasks, [])] if self.learner_type.one_task else tasks

    @property
    def identity(self) -> dict[str, Any]:
        """What makes two runs the same run."""
        return {
            "benchmark": self.spec.name,
            "method": self.method,
            "seed": self.seed,
            "budget": self.budget,
            "iterations": self.iterations,
            "settings": asdict(self.settings),
        }

    @property
    def key(self) -> str:
        """A readable file name with a digest of the identity."""
        text = json.dumps(self.identity, sort_keys=True)
        parts = [self.spec.name, self.method, self.budget, f"seed{self.seed}"]
        return "-".join([*parts, sha256(text.encode()).hexdigest()[:12]])


def find_benchmark(name: str) -> Spec:
    """The benchmark of this name, or BadInput."""
    return _one_of(BENCHMARKS, name, "benchmark")


def check_seed(seed: int) -> None:
    """BadInput unless numpy's permutation takes the seed."""
    if not (isinstance(seed, int) and 0 <= seed < 2**32):
        raise BadInput(f"the seed must be a whole number from 0 to 2^32 - 1, got {seed!r}")


def check_budget(name: str) -> None:
    """BadInput unless there is a budget of this name."""
    _one_of({budget: budget for budget in BUDGETS}, name, "budget")


def default_iterations(spec: Spec, method: type[Learner], budget: str) -> int | None:
    """Mini-batches per task, per class for `per_class`, or None for a single pass."""
    if spec.single_pass or method.view == "single_pass":
        return None
    per_task = spec.iterations[budget]
    if method.view == "per_class":
        return per_task // spec.classes_per_task
    return per_task * spec.tasks if method.one_task else per_task


def default_settings(spec: Spec, method: str, budget: str) -> Settings:
    """The method's digits defaults with the benchmark's overrides on top."""
    settings = METHODS[method].settings_type()
    names = {f.name for f in fields(settings)}
    shared = {k: v for k, v in spec.shared.items() if k in names}
    if "samples" in names:
        shared["samples"] = spec.samples[budget]
    return change(settings, {**shared, **spec.settings.get(method, {})}, method)


def change(settings: Settings, changes: Mapping[str, Any], method: str) -> Settings:
    """Settings with some fields replaced; strings are read as the field's type."""
    kinds = get_type_hints(type(settings))
    values = {}
    for name, value in changes.items():
        if name not in kinds:
            raise BadInput(f"{method} has no setting {name!r}; it has {_listed([*kinds])}")
        values[name] = _read(name, value, kinds[name])
    return replace(settings, **values)


def _read(name: str, value: Any, kind: Any) -> Any:
    if get_origin(kind) is Literal:
        return _one_of({v: v for v in get_args(kind)}, value, name)
    try:
        number = kind(value)
    except (TypeError, ValueError):
        number = nan
    if not isfinite(number) or (isinstance(value, float) and number != value):
        wanted = {int: "a whole number", float: "a number"}[kind]
        raise BadInput(f"{name} must be {wanted}, got {value!r}")
    least = 1 if kind is int else 0
    if number < least:
        raise BadInput(f"{name} must be at least {least}, got {number}")
    return number


def _with_estimator(settings: Settings, request: Request) -> Settings:
    given = {"samples": request.samples, "likelihood": request.likelihood}
    given = {name: value for name, value in given.items() if value is not None}
    for name in given:
        if not hasattr(settings, name):
            raise BadInput(
                f"--{name} is for the generative classifier; "
                f"{request.method} takes no {name}"
            )
    settings = change(settings, given, request.method)
    if "samples" in given and settings.likelihood == "closed-form":
        raise BadInput("the closed-form likelihood draws no samples; leave out --samples")
    return settings


def _one_of(known: Mapping[str, Any], name: str, what: str) -> Any:
    if name not in known:
        raise BadInput(f"unknown {what} {name!r}; expected {_listed([*known])}")
    return known[name]


def _listed(names: list[str]) -> str:
    return ", ".join(names) if names else "none"
