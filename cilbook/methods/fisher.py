r"""The diagonal Fisher information of a network's weights, layer by layer.

    F_i = mean_x sum_c p_c(x) (d log p_c(x) / d theta_i)^2

A layer s = W a + b sees the rest of the network through delta_c = d log p_c / d s. Then
d log p_c / dW = delta_c a', and the square of an outer product is the outer product of the
squares: all samples and classes of a linear layer are one matrix product,

    F_W = mean_x (sum_c p_c delta_c^2) (a^2)'.

A convolution is such a layer at every place of the image; its gradient, the sum over the
places, has to be squared sample by sample. Batch-norm, in eval mode, is differentiated so.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.func import functional_call, vjp, vmap
from torch.nn import functional as F

_NUMBERS = 2**24  # deltas and gradients held at once


def diagonal_fisher(net: nn.Module, x: Tensor, classes: Sequence[int]) -> list[Tensor]:
    """The Fisher information of each of `net.parameters()`, p over these classes.

    For logits w_c x it is the mean of p_c (1 - p_c) x^2; here p_c = 1/2 and x = 1, 3.

    >>> net = nn.Linear(1, 2, bias=False)
    >>> _ = nn.init.zeros_(net.weight)
    >>> diagonal_fisher(net, torch.tensor([[1.0], [3.0]]), [0, 1])
    [tensor([[1.2500],
            [1.2500]])]
    """
    net.eval()
    layers = [m for m in net.modules() if list(m.parameters(recurse=False))]
    total = {id(p): torch.zeros_like(p) for p in net.parameters()}
    for rows in x.split(_rows_at_once(net, len(classes))):
        log_p, seen = _forward(net, layers, rows, classes)
        deltas = _deltas(log_p, [outputs for _, outputs in seen])
        for layer, (inputs, _), delta in zip(layers, seen, deltas, strict=True):
            squares = _SQUARES.get(type(layer), _any_layer)
            found = squares(layer, inputs, delta, log_p.detach().exp())
            for parameter, value in zip(layer.parameters(), found, strict=True):
                total[id(parameter)] += value / len(x)
    return [total[id(p)] for p in net.parameters()]


def _rows_at_once(net: nn.Module, classes: int) -> int:
    widest = max(
        p.numel() if p.dim() != 2 else len(p)  # of a matrix only its outputs are held
        for p in net.parameters()
    )
    return max(1, _NUMBERS // (classes * widest))


def _forward(
    net: nn.Module, layers: list[nn.Module], x: Tensor, classes: Sequence[int]
) -> tuple[Tensor, list[tuple[Tensor, Tensor]]]:
    """log p [n, classes], and what went into and came out of each layer."""
    seen: dict[nn.Module, tuple[Tensor, Tensor]] = {}

    def look(layer: nn.Module, inputs: tuple[Tensor], outputs: Tensor) -> None:
        seen[layer] = inputs[0].detach(), outputs

    hooks = [layer.register_forward_hook(look) for layer in layers]
    try:
        log_p = net(x)[:, list(classes)].log_softmax(1)
    finally:
        for hook in hooks:
            hook.remove()
    return log_p, [seen[layer] for layer in layers]


def _deltas(log_p: Tensor, outputs: list[Tensor]) -> tuple[Tensor, ...]:
    """d log p_c / d output of each layer, [classes, n, ...]."""
    n, classes = log_p.shape
    one_class = torch.eye(classes, dtype=log_p.dtype, device=log_p.device)
    towards = one_class[:, None].expand(classes, n, classes)
    return torch.autograd.grad(log_p, outputs, towards, is_grads_batched=True)


def _linear(layer: nn.Linear, a: Tensor, delta: Tensor, p: Tensor) -> list[Tensor]:
    squared = torch.einsum("nc,cno->no", p, delta.square())
    weight = squared.T @ a.square()
    return [weight] if layer.bias is None else [weight, squared.sum(0)]


def _convolution(layer: nn.Conv2d, a: Tensor, delta: Tensor, p: Tensor) -> list[Tensor]:
    size, stride, padding = layer.kernel_size, layer.stride, layer.padding
    patches = F.unfold(a, size, padding=padding, stride=stride)  # [n, inputs, places]
    delta = delta.flatten(3)  # [classes, n, outputs, places]
    gradients = torch.einsum("cnop,nip->ncoi", delta, patches)
    weight = torch.einsum("nc,ncoi->oi", p, gradients.square()).view_as(layer.weight)
    if layer.bias is None:
        return [weight]
    return [weight, torch.einsum("nc,cno->o", p, delta.sum(3).square())]


def _any_layer(layer: nn.Module, a: Tensor, delta: Tensor, p: Tensor) -> list[Tensor]:
    weights = {name: w.detach() for name, w in layer.named_parameters()}

    def gradients(one: Tensor, deltas: Tensor) -> dict[str, Tensor]:
        def output(weights: dict[str, Tensor]) -> Tensor:
            return functional_call(layer, weights, (one[None],))[0]

        back = vjp(output, weights)[1]
        return vmap(lambda delta: back(delta)[0])(deltas)

    found = vmap(gradients)(a, delta.transpose(0, 1))  # {name: [n, classes, ...]}
    return [torch.einsum("nc,nc...->...", p, found[name].square()) for name in weights]


_SQUARES = {nn.Linear: _linear, nn.Conv2d: _convolution}
