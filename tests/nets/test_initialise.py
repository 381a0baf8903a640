import torch
from torch import nn

from cilbook.nets.conv5 import conv5, conv5_mlp
from cilbook.nets.initialise import build, fill
from cilbook.nets.vae import conv_vae
from cilbook.random import stream


def layers() -> nn.Module:
    return nn.Sequential(
        nn.Linear(300, 200), nn.Conv2d(7, 50, 3), nn.ConvTranspose2d(9, 40, 4)
    )


def test_weights_and_biases_are_uniform_within_pytorchs_own_bounds():
    ours, torchs = build(layers, stream(0, "net")), layers()
    for mine, theirs in zip(ours.parameters(), torchs.parameters(), strict=True):
        bound = theirs.abs().max()
        assert mine.abs().max() <= 1.06 * bound
        assert mine.abs().max() >= 0.90 * bound
        if mine.numel() > 1000:
            torch.testing.assert_close(mine.std(), theirs.std(), rtol=0.05, atol=0)


def test_building_leaves_the_global_generator_alone():
    state = torch.get_rng_state()
    build(layers, stream(0, "net"))
    assert torch.equal(state, torch.get_rng_state())


def test_batch_norm_starts_neutral():
    vae = build(lambda: conv_vae([3, 4, 5], 8, 2), stream(0, "net"))
    norm = vae.body[1]
    assert norm.weight.eq(1).all() and norm.bias.eq(0).all()
    assert norm.running_mean.eq(0).all() and norm.running_var.eq(1).all()
    assert norm.num_batches_tracked.item() == 0


def test_given_weights_are_taken_and_the_rest_is_drawn_as_without_them():
    trained = {k: torch.full_like(v, 3) for k, v in conv5().state_dict().items()}
    plain = build(lambda: conv5_mlp([20], 5), stream(0, "net"))
    started = build(lambda: conv5_mlp([20], 5, trained), stream(0, "net"))
    assert all(v.eq(3).all() for v in started[0].state_dict().values())
    for mine, theirs in zip(started[1:].parameters(), plain[1:].parameters(), strict=True):
        assert torch.equal(mine, theirs)
    assert not torch.equal(next(plain[0].parameters()), next(started[0].parameters()))


def test_filling_a_network_draws_the_weights_that_building_it_gives():
    built, filled = build(layers, stream(0, "net")), fill(layers(), stream(0, "net"))
    for mine, theirs in zip(filled.parameters(), built.parameters(), strict=True):
        assert torch.equal(mine, theirs)
