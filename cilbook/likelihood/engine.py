"""One door to all ways of computing log p(x|y): their names, and which fits a bank.

importance-sampling   the paper's: the encoder proposes, S samples for every class
gram                  the same numbers, cheaper, if the decoder's last layer is linear
closed-form           exact, if the decoder is linear
prior-samples         codes of the prior, decoded once for all images; few latents
racing                importance sampling that stops when the decision is safe
auto                  the cheapest of these that is exact or safe
"""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor

from cilbook.bank import VAEBank
from cilbook.likelihood import closed_form, gram
from cilbook.likelihood.decision import Likelihoods
from cilbook.likelihood.importance_sampling import block_by_block
from cilbook.likelihood.prior_samples import FEW_LATENTS, prior_samples
from cilbook.likelihood.racing import racing
from cilbook.nets.vae import VAE, Observation

Way = Literal[
    "importance-sampling", "gram", "closed-form", "prior-samples", "racing", "auto"
]
SAMPLERS = ("importance-sampling", "gram")  # the paper's: an estimate at every S in passing


def likelihoods(
    bank: VAEBank,
    x: Tensor,
    way: Way = "auto",
    *,
    samples: int = 10_000,
    observation: Observation = "gaussian",
    log_prior: Tensor | None = None,
    seed: int = 0,
) -> Likelihoods:
    """log p(x|y) for every class of the bank, its standard error, and the decoder passes.

    `samples` is S, per class; for racing the most it may take, for the closed form nothing.
    Racing takes log p(y), [classes], into account, uniform unless given.

    >>> from cilbook.nets.vae import dense_vae
    >>> bank = VAEBank(lambda: dense_vae([4], 2), observation="gaussian")
    >>> _ = bank.learn(torch.rand(6, 4), torch.tensor([0, 0, 0, 1, 1, 1]))
    >>> found = likelihoods(bank, torch.rand(5, 4))
    >>> found.log_p.shape, found.standard_error.max().item(), found.passes.sum().item()
    (torch.Size([5, 2]), 0.0, 0.0)
    """
    way = choose(bank.template, observation) if way == "auto" else way
    if reason := refusal(bank.template, way, observation):
        raise ValueError(reason)
    if way == "closed-form":
        log_p = closed_form.closed_form(bank, x)
        return Likelihoods(
            log_p, torch.zeros_like(log_p), torch.zeros_like(log_p[:, 0]), bank.classes
        )
    if way == "prior-samples":
        return prior_samples(bank, x, samples, seed=seed)
    if way == "racing":
        how = {"observation": observation, "log_prior": log_prior, "seed": seed}
        return racing(bank, x, samples, **how)
    how = {"observation": observation, "seed": seed, "gram": way == "gram"}
    *_, last = block_by_block(bank, x, [samples], **how)
    passes = x.new_full((len(x),), samples * len(bank.classes))
    return Likelihoods(last.scores[samples], last.error, passes, bank.classes)


def choose(vae: VAE, observation: Observation) -> Way:
    """The cheapest way that is exact or safe for such VAEs.

    >>> from cilbook.nets.vae import dense_vae
    >>> choose(dense_vae([512], 110), "gaussian")
    'closed-form'
    >>> choose(dense_vae([784, 85, 85], 5, sigmoid=True), "gaussian")
    'prior-samples'
    >>> choose(dense_vae([1024, 85], 20), "gaussian")
    'racing'
    """
    if closed_form.applies(vae, observation):
        return "closed-form"
    if observation == "gaussian" and vae.latent <= FEW_LATENTS:
        return "prior-samples"
    return "racing"


def refusal(vae: VAE, way: Way, observation: Observation) -> str:
    """Why this way cannot score such VAEs; empty if it can."""
    gaussian = observation == "gaussian"
    fits = {
        "closed-form": (closed_form.applies(vae, observation), "a linear decoder"),
        "gram": (gram.applies(vae, observation), "a decoder whose last layer is linear"),
        "prior-samples": (gaussian, "any decoder"),
    }
    possible, what = fits.get(way, (True, ""))
    if possible:
        return ""
    return f"likelihood {way} is for {what} scored as gaussian; auto works for all"
