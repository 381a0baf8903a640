import pytest
import torch
from torch import nn

from cilbook.benchmarks.features import cached, extract, key_of

TENSORS = {"x": torch.arange(12.0).view(3, 4), "y": torch.tensor([2, 0, 1])}


def not_again() -> dict:
    raise AssertionError("computed although it was kept")


def same(kept: dict) -> bool:
    return set(kept) == set(TENSORS) and all(
        torch.equal(kept[k], TENSORS[k]) for k in TENSORS
    )


def test_features_are_computed_once_and_read_back(tmp_path):
    assert same(cached(tmp_path, "set", key_of({"data": 1}), lambda: TENSORS))
    assert same(cached(tmp_path, "set", key_of({"data": 1}), not_again))


def test_another_key_means_other_features(tmp_path):
    cached(tmp_path, "set", key_of({"data": 1, "weights": 1}), lambda: TENSORS)
    with pytest.raises(AssertionError):
        cached(tmp_path, "set", key_of({"data": 1, "weights": 2}), not_again)


@pytest.mark.parametrize("damage", ["cut", "changed", "empty"])
def test_a_damaged_cache_is_reported_and_computed_again(tmp_path, damage):
    cached(tmp_path, "set", key_of({}), lambda: TENSORS)
    (path,) = (tmp_path / "features").iterdir()
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    cut = {"cut": content[:-5], "changed": content, "empty": b""}[damage]
    path.write_bytes(cut)
    with pytest.warns(UserWarning, match="is damaged and is computed again"):
        assert same(cached(tmp_path, "set", key_of({}), lambda: TENSORS))
    assert same(cached(tmp_path, "set", key_of({}), not_again))


def test_a_folder_that_cannot_be_written_costs_only_the_cache(tmp_path):
    (tmp_path / "features").write_text("in the way")
    with pytest.warns(UserWarning, match="the features are not kept"):
        assert same(cached(tmp_path, "set", key_of({}), lambda: TENSORS))


def test_features_are_taken_in_eval_mode():
    net = nn.BatchNorm1d(2).train()
    batches = [torch.randn(4, 2), torch.randn(3, 2)]
    features = extract(net, batches, total=2, desc="features")
    expected = torch.cat(batches) / (1 + net.eps) ** 0.5
    torch.testing.assert_close(features, expected)
    assert net.num_batches_tracked == 0 and not features.requires_grad
