r"""One VAE per class, trained together as one batched model.

The weights of all classes are stacked, [classes, ...] per parameter, and the classes
present in a mini-batch take their steps in one vectorised pass. Nothing is shared: class
c's weights, optimiser state and noise depend on the seed, on c, and on class c's own
samples. A new class appends a row; rows of absent classes are never written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from torch.func import functional_call, vmap

from cilbook.nets.initialise import build
from cilbook.nets.vae import VAE, Observation
from cilbook.random import normal, stream
from cilbook.storage import named, part, whole

_BETAS, _EPS = (0.9, 0.999), 1e-8
_AT_ONCE = 3_000_000  # numbers in a step on a CPU; more leave its cache, at half the speed


class VAEBank:
    """A VAE for every class met so far.

    >>> from cilbook.nets.vae import dense_vae
    >>> bank = VAEBank(lambda: dense_vae([4, 8], 2), observation="gaussian")
    >>> losses = bank.learn(torch.rand(6, 4), torch.tensor([7, 7, 3, 3, 3, 7]))
    >>> bank.classes
    [3, 7]
    """

    def __init__(
        self,
        architecture: Callable[[], VAE],
        *,
        observation: Observation,
        learning_rate: float = 1e-3,
        seed: int = 0,
        device: torch.device | str = "cpu",
    ):
        self.architecture = architecture
        self.observation: Observation = observation
        self.learning_rate = learning_rate
        self.seed = seed
        self.device = torch.device(device)
        with torch.device("meta"):
            self.template = architecture()  # the VAE without its weights
        self._trainable = {name for name, _ in self.template.named_parameters()}
        convolutional = any(isinstance(m, nn.Conv2d) for m in self.template.modules())
        self.one_by_one = convolutional and self.device.type == "cpu"  # which is faster
        self.classes: list[int] = []
        self.steps: list[int] = []
        self.weights: dict[str, Tensor] = {}  # parameters and buffers, [classes, ...]
        self._first: dict[str, Tensor] = {}  # Adam's two moments, [classes, ...]
        self._second: dict[str, Tensor] = {}

    def __getitem__(self, label: int) -> VAE:
        """Class `label`'s VAE in eval mode; it shares its weights with the bank."""
        if label not in self.classes:
            raise KeyError(f"the bank has no class {label}; it has {self.classes}")
        row = self.classes.index(label)
        vae = deepcopy(self.template)
        state = {name: stack[row] for name, stack in self.weights.items()}
        vae.load_state_dict(state, assign=True)
        return vae.requires_grad_(False).eval()

    @property
    def latent(self) -> int:
        """The number k of latent dimensions."""
        return self.template.latent

    @property
    def size_of_one(self) -> int:
        """How many weights a class's VAE has."""
        return sum(p.numel() for p in self.template.parameters())

    def learn(self, x: Tensor, y: Tensor) -> Tensor:
        """One Adam step for each class present, on its own rows; their mean losses."""
        if len(x) != len(y):
            raise ValueError(f"x has {len(x)} rows and y has {len(y)}; they must be equal")
        if not x.isfinite().all():
            raise ValueError("x holds values that are not finite numbers (NaN or infinity)")
        labels, counts = (t.tolist() for t in torch.unique(y, return_counts=True))
        self._add([label for label in labels if label not in self.classes])
        groups = x[torch.argsort(y, stable=True)].split(counts)
        losses = x.new_empty(len(labels))  # by label
        for picked in self._side_by_side(counts, x[0].numel()):
            rows = [self.classes.index(labels[i]) for i in picked]
            losses[picked] = self._step(rows, torch.stack([groups[i] for i in picked]))
        return losses

    def _side_by_side(self, counts: list[int], width: int) -> Iterator[list[int]]:
        """Which classes take their steps together: equally many rows, and not too many."""
        for size in sorted(set(counts)):
            equal = [i for i, count in enumerate(counts) if count == size]
            on_cpu = self.device.type == "cpu"
            most = max(1, _AT_ONCE // (size * width)) if on_cpu else len(equal)
            yield from (equal[i : i + most] for i in range(0, len(equal), most))

    def _add(self, labels: list[int]) -> None:
        """Append freshly initialised classes; the rows already there are copied as is."""
        if not labels:
            return
        fresh = [
            build(self.architecture, stream(self.seed, "class weights", label))
            for label in labels
        ]
        for name in fresh[0].state_dict():
            new = torch.stack([vae.state_dict()[name] for vae in fresh]).to(self.device)
            _append(self.weights, name, new)
            if name in self._trainable:
                _append(self._first, name, torch.zeros_like(new))
                _append(self._second, name, torch.zeros_like(new))
        self.classes += labels
        self.steps += [0] * len(labels)

    def _step(self, rows: list[int], x: Tensor) -> Tensor:
        """An Adam step on these rows of the stack, x [rows, samples, ...]; the losses."""
        index = _Rows(rows, self.device)
        state = {name: index.take(stack) for name, stack in self.weights.items()}
        parameters = {
            k: v.requires_grad_() for k, v in state.items() if k in self._trainable
        }
        buffers = {k: v for k, v in state.items() if k not in self._trainable}
        losses = self._losses(parameters, buffers, x, self._noise(rows, x.shape[1]))
        gradients = torch.autograd.grad(losses.sum(), list(parameters.values()))
        for row in rows:
            self.steps[row] += 1
        steps = [self.steps[row] for row in rows]
        alpha = self.learning_rate
        rates = losses.new_tensor([alpha / (1 - _BETAS[0] ** t) for t in steps])
        roots = losses.new_tensor([(1 - _BETAS[1] ** t) ** 0.5 for t in steps])
        with torch.no_grad():
            for (name, weight), gradient in zip(parameters.items(), gradients, strict=True):
                moments = index.take(self._first[name]), index.take(self._second[name])
                _adam(weight.detach(), gradient, *moments, rates, roots)
                index.put(self._first[name], moments[0])
                index.put(self._second[name], moments[1])
                index.put(self.weights[name], weight.detach())
            for name, buffer in buffers.items():
                index.put(self.weights[name], buffer)
        return losses.detach()

    def _losses(
        self, parameters: Mapping, buffers: Mapping, x: Tensor, eps: Tensor
    ) -> Tensor:
        """The mean loss of each class on its own samples, [rows]."""
        net = self.template.train()

        def mean_loss(parameters: Mapping, buffers: Mapping, x: Tensor, eps: Tensor):
            args = (x, eps, self.observation)
            return functional_call(net, (parameters, buffers), args).mean()

        if self.one_by_one:  # on a CPU, grouped convolutions are slower than a loop
            n = len(x)
            rows = zip(_unbind(parameters, n), _unbind(buffers, n), x, eps, strict=True)
            return torch.stack([mean_loss(*row) for row in rows])
        return vmap(mean_loss)(parameters, buffers, x, eps)

    def _noise(self, rows: list[int], samples: int) -> Tensor:
        """The reparametrisation noise of each class at its own step, [rows, samples, k]."""
        shape = (samples, self.latent)
        noise = [
            normal(shape, self.seed, "training", self.classes[row], self.steps[row])
            for row in rows
        ]
        return torch.stack(noise).to(self.device)

    def sample(self, label: int, n: int, *, seed: int = 0) -> Tensor:
        """n images of class `label`: decoder means of z ~ N(0, I), no noise added."""
        z = normal((n, self.latent), seed, "prior", label)
        with torch.no_grad():
            return self[label].decode(z.to(self.device))

    @torch.no_grad()
    def decode(self, z: Tensor, y: Tensor) -> Tensor:
        """The decoder means of codes [n, k], each by the VAE of its own label."""
        order = torch.argsort(y, stable=True)
        labels, counts = (t.tolist() for t in torch.unique(y, return_counts=True))
        groups = z[order].split(counts)
        means = [self[label].decode(g) for label, g in zip(labels, groups, strict=True)]
        return torch.cat(means)[torch.argsort(order)]

    def state_dict(self) -> dict[str, Tensor]:
        """Everything learned, as flat tensors."""
        state = named("weights.", self.weights)
        state |= named("adam.first.", self._first)
        state |= named("adam.second.", self._second)
        state["classes"] = torch.tensor(self.classes, dtype=torch.int64)
        state["steps"] = torch.tensor(self.steps, dtype=torch.int64)
        return state

    def load_state_dict(self, state: Mapping[str, Tensor]) -> None:
        """Continue from what `state_dict` gave."""
        own = {k: v.to(self.device, copy=True) for k, v in state.items()}
        self.weights = part(own, "weights.")
        fresh = {k: torch.zeros_like(self.weights[k]) for k in self._trainable}
        self._first = fresh | part(own, "adam.first.")
        self._second = {k: v.clone() for k, v in fresh.items()} | part(own, "adam.second.")
        self.classes, self.steps = state["classes"].tolist(), state["steps"].tolist()

    def save(self, path: Path | str) -> None:
        """Write the bank as safetensors."""
        _save(self.state_dict(), path)

    def save_weights(self, path: Path | str) -> None:
        """Write the weights alone, in half precision: enough to score and to sample."""
        state = {k: v for k, v in self.state_dict().items() if not k.startswith("adam.")}
        half = {k: v.half() if v.is_floating_point() else v for k, v in state.items()}
        _save(half, path)

    def load(self, path: Path | str) -> None:
        """Read what `save` or `save_weights` wrote into a bank of the same architecture."""
        state = load_file(path)
        self.load_state_dict(
            {k: v.float() if v.is_floating_point() else v for k, v in state.items()}
        )


def _save(state: Mapping[str, Tensor], path: Path | str) -> None:
    with whole(Path(path)) as part:
        save_file({k: v.contiguous() for k, v in state.items()}, part)


class _Rows:
    """Some rows of every stack; a run of neighbours is taken and changed without a copy."""

    def __init__(self, rows: list[int], device: torch.device):
        run = rows == list(range(rows[0], rows[0] + len(rows)))
        self.index = slice(rows[0], rows[-1] + 1) if run else torch.tensor(rows).to(device)

    def take(self, stack: Tensor) -> Tensor:
        return stack[self.index].detach()

    def put(self, stack: Tensor, values: Tensor) -> None:
        if not isinstance(self.index, slice):
            stack[self.index] = values


def _unbind(stacks: Mapping[str, Tensor], n: int) -> list[dict[str, Tensor]]:
    """One mapping for each of n rows, views of the stacks."""
    rows = {name: stack.unbind(0) for name, stack in stacks.items()}
    return [{name: views[i] for name, views in rows.items()} for i in range(n)]


def _append(stacks: dict[str, Tensor], name: str, rows: Tensor) -> None:
    stacks[name] = torch.cat([stacks[name], rows]) if name in stacks else rows


def _adam(
    weight: Tensor,
    gradient: Tensor,
    first: Tensor,
    second: Tensor,
    rates: Tensor,
    roots: Tensor,
) -> None:
    """Adam in place (Kingma and Ba, 2015), with corrections of its own for every row.

    `rates` are alpha / (1 - beta_1^t), `roots` sqrt(1 - beta_2^t), t steps into each row.
    """
    per_row = (-1, *[1] * (weight.dim() - 1))
    first.lerp_(gradient, 1 - _BETAS[0])
    second.mul_(_BETAS[1]).addcmul_(gradient, gradient, value=1 - _BETAS[1])
    root = second.sqrt().div_(roots.view(per_row)).add_(_EPS)
    weight.sub_(first.div(root).mul_(rates.view(per_row)))
