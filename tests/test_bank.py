import pytest
import torch

from cilbook.bank import VAEBank
from cilbook.likelihood.importance_sampling import importance_sampling
from cilbook.nets.vae import conv_vae, dense_vae


def small_bank(**changes) -> VAEBank:
    options = {"observation": "bernoulli", "seed": 3} | changes
    return VAEBank(lambda: dense_vae([6, 8], 2, sigmoid=True), **options)


def rows(label: int, n: int, seed: int = 0) -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(seed * 100 + label)
    return torch.rand(n, 6, generator=generator), torch.full((n,), label)


def together(*parts):
    xs, ys = zip(*parts, strict=True)
    return torch.cat(xs), torch.cat(ys)


def weights_of(bank: VAEBank, label: int) -> dict[str, torch.Tensor]:
    state = bank[label].state_dict()
    return {name: value.clone() for name, value in state.items()}


def assert_same(a, b, **tolerance):
    for name in a:
        torch.testing.assert_close(a[name], b[name], **tolerance)


BIT_IDENTICAL = {"rtol": 0, "atol": 0}


def test_a_new_class_leaves_old_classes_untouched():
    bank = small_bank()
    bank.learn(*together(rows(4, 5), rows(1, 5)))
    before = {label: weights_of(bank, label) for label in (1, 4)}
    for _ in range(3):
        bank.learn(*together(rows(2, 5), rows(9, 5)))
    for label in (1, 4):
        assert_same(before[label], weights_of(bank, label), **BIT_IDENTICAL)


def test_training_one_class_leaves_the_others_untouched_even_between_neighbours():
    bank = small_bank()
    bank.learn(*together(rows(0, 4), rows(1, 4), rows(2, 4)))
    before = {label: weights_of(bank, label) for label in (0, 1, 2)}
    bank.learn(*together(rows(0, 4, seed=1), rows(2, 4, seed=1)))
    assert_same(before[1], weights_of(bank, 1), **BIT_IDENTICAL)
    for label in (0, 2):
        changed = weights_of(bank, label)["mean.weight"]
        assert not torch.equal(changed, before[label]["mean.weight"])


def test_the_order_of_classes_does_not_matter():
    one_by_one, mixed = small_bank(), small_bank()
    for label in (2, 0, 1):
        for step in range(4):
            one_by_one.learn(*rows(label, 5, seed=step))
    for step in range(4):
        mixed.learn(*together(*(rows(label, 5, seed=step) for label in (0, 1, 2))))
    for label in (0, 1, 2):
        assert_same(weights_of(one_by_one, label), weights_of(mixed, label))


def test_a_shuffled_batch_with_unequal_counts_trains_each_class_on_its_own_rows():
    bank, alone = small_bank(), small_bank()
    x, y = together(rows(0, 3), rows(1, 5), rows(2, 3))
    order = torch.tensor([9, 3, 0, 4, 8, 1, 5, 10, 6, 2, 7])
    bank.learn(x[order], y[order])
    for label in (0, 1, 2):
        own = order[y[order] == label]
        alone.learn(x[own], y[own])
        assert_same(weights_of(bank, label), weights_of(alone, label))


def test_one_sample_at_a_time_is_learned():
    bank = small_bank(learning_rate=0.01)
    x, y = rows(0, 1)
    bank.learn(x, y)
    first = importance_sampling(bank, x, [200], observation="bernoulli")[200]
    for _ in range(60):
        bank.learn(x, y)
    last = importance_sampling(bank, x, [200], observation="bernoulli")[200]
    assert last.item() > first.item() + 0.1


def test_the_step_is_torchs_adam():
    bank = small_bank(learning_rate=0.01)
    bank._add([5])
    vae = bank[5].requires_grad_(True)
    vae.load_state_dict(weights_of(bank, 5), assign=True)
    vae.requires_grad_(True).train()
    adam = torch.optim.Adam(vae.parameters(), lr=0.01)
    for step in range(5):
        x, y = rows(5, 7, seed=step)
        eps = bank._noise([0], 7)[0]
        adam.zero_grad()
        vae(x, eps, "bernoulli").mean().backward()
        adam.step()
        bank.learn(x, y)
    assert_same(weights_of(bank, 5), dict(vae.state_dict()), rtol=1e-4, atol=1e-6)


def test_batch_norm_statistics_belong_to_their_class():
    bank = VAEBank(lambda: conv_vae([1, 3, 4], 8, 2), observation="gaussian")
    dark, bright = torch.rand(6, 1, 8, 8) * 0.1, torch.rand(6, 1, 8, 8) + 5
    bank.learn(torch.cat([dark, bright]), torch.tensor([0] * 6 + [1] * 6))
    statistics = [bank[label].body[1].running_var for label in (0, 1)]
    assert not torch.allclose(*statistics)
    alone = VAEBank(lambda: conv_vae([1, 3, 4], 8, 2), observation="gaussian")
    alone.learn(bright, torch.tensor([1] * 6))
    norm, norm_alone = bank[1].body[1], alone[1].body[1]
    torch.testing.assert_close(norm.running_mean, norm_alone.running_mean)
    torch.testing.assert_close(norm.running_var, norm_alone.running_var)
    assert norm.num_batches_tracked.item() == 1


def test_a_saved_bank_predicts_identically_and_goes_on_identically(tmp_path):
    bank, copy = small_bank(), small_bank()
    bank.learn(*together(rows(3, 5), rows(8, 5)))
    bank.save(tmp_path / "bank.safetensors")
    copy.load(tmp_path / "bank.safetensors")
    x = torch.rand(9, 6)
    for _ in range(2):
        ours, theirs = (
            importance_sampling(b, x, [20], observation="gaussian")[20]
            for b in (bank, copy)
        )
        assert torch.equal(ours, theirs)
        for b in (bank, copy):
            b.learn(*rows(8, 5, seed=7))


def test_a_bank_loaded_from_another_does_not_share_its_weights():
    bank, copy = small_bank(), small_bank()
    bank.learn(*rows(3, 5))
    copy.load_state_dict(bank.state_dict())
    before = weights_of(bank, 3)
    copy.learn(*rows(3, 5, seed=1))
    assert_same(before, weights_of(bank, 3), **BIT_IDENTICAL)


def test_weights_kept_in_half_precision_score_almost_the_same(tmp_path):
    bank, copy = small_bank(), small_bank()
    bank.learn(*together(rows(3, 5), rows(8, 5)))
    bank.save_weights(tmp_path / "weights.safetensors")
    copy.load(tmp_path / "weights.safetensors")
    x = torch.rand(9, 6)
    ours, theirs = (
        importance_sampling(b, x, [20], observation="gaussian")[20] for b in (bank, copy)
    )
    torch.testing.assert_close(ours, theirs, atol=0.01, rtol=0)
    copy.learn(*rows(8, 5))
    assert copy.weights["mean.weight"].dtype == torch.float32


def test_samples_are_decoder_means_of_the_right_class():
    bank = small_bank()
    bank.learn(*together(rows(0, 5), rows(1, 5)))
    images = bank.sample(1, 4, seed=2)
    assert images.shape == (4, 6) and images.min() > 0 and images.max() < 1
    torch.testing.assert_close(images[:2], bank.sample(1, 2, seed=2))
    assert not torch.equal(images, bank.sample(0, 4, seed=2))


def test_asking_for_a_class_never_seen_says_which_are_known():
    bank = small_bank()
    bank.learn(*rows(3, 2))
    with pytest.raises(KeyError, match="no class 5.*3"):
        bank[5]


def test_a_pixel_that_is_not_a_number_is_refused_before_any_weight_changes():
    bank = small_bank()
    bank.learn(*rows(3, 4))
    before = weights_of(bank, 3)
    x, y = rows(3, 4)
    x[1, 2] = torch.nan
    with pytest.raises(ValueError, match="not finite"):
        bank.learn(x, y)
    with pytest.raises(ValueError, match="x has 4 rows and y has 3"):
        bank.learn(rows(3, 4)[0], y[:3])
    assert_same(before, weights_of(bank, 3), **BIT_IDENTICAL)


def test_classes_that_do_not_fit_a_step_together_learn_the_same(monkeypatch):
    batch = together(*(rows(label, 4) for label in range(5)))
    whole, cut = small_bank(), small_bank()
    losses = whole.learn(*batch)
    monkeypatch.setattr("cilbook.bank._AT_ONCE", 2 * batch[0][:4].numel())
    assert [*cut._side_by_side([4] * 5, batch[0][0].numel())] == [[0, 1], [2, 3], [4]]
    torch.testing.assert_close(cut.learn(*batch), losses)
    for label in range(5):
        assert_same(weights_of(whole, label), weights_of(cut, label))
