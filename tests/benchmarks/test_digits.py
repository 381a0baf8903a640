import torch
from sklearn.datasets import load_digits

from cilbook.benchmarks import BENCHMARKS, class_order

SPEC = BENCHMARKS["digits"]


def test_the_split_is_fixed_stratified_and_without_overlap():
    data, again = SPEC.load(None), SPEC.load(None)
    assert (len(data.train), len(data.test)) == (1437, 360)
    assert torch.equal(data.train.stored, again.train.stored)
    assert torch.bincount(data.test.y).tolist() == [
        36,
        36,
        35,
        37,
        36,
        37,
        36,
        36,
        35,
        36,
    ]
    joined = torch.cat([data.train.stored, data.test.stored])
    everything = torch.from_numpy(load_digits().data.astype("uint8"))
    assert sorted(joined.tolist()) == sorted(everything.tolist())
    assert data.sha256 == again.sha256 and len(data.sha256) == 64


def test_inputs_are_the_stored_bytes_scaled_to_the_unit_interval():
    data = SPEC.load(None)
    assert data.train.stored.dtype == torch.uint8
    assert data.train.x.min() == 0 and data.train.x.max() == 1
    x, y = data.train.batch(torch.tensor([3, 1]))
    assert torch.equal(x, data.train.stored[[3, 1]] / 16)
    assert torch.equal(y, data.train.y[[3, 1]])


def test_tasks_are_five_pairs_of_neighbouring_labels():
    assert SPEC.task_classes() == [[0, 1], [2, 3], [4, 5], [6, 7], [8, 9]]


def test_class_order_is_natural_below_seed_ten_and_numpys_permutation_above():
    assert class_order(9, 10).tolist() == list(range(10))
    # numpy.random.seed(11); numpy.random.permutation(10)
    assert class_order(11, 10).tolist() == [7, 8, 2, 6, 4, 5, 1, 3, 0, 9]


def test_relabelling_maps_old_labels_to_new_ones():
    data = SPEC.load(None).train
    order = class_order(11, 10)
    relabelled = data.relabelled(order)
    assert relabelled.y[5].item() == order[data.y[5].item()]
    assert torch.equal(relabelled.stored, data.stored)


def test_pictures_are_eight_by_eight_and_never_leave_the_unit_interval():
    x = SPEC.load(None).test.x[:3]
    assert torch.equal(SPEC.as_images(x), x.view(3, 8, 8))
    assert SPEC.as_images(4 * x - 2).aminmax() == (0, 1)
    assert [SPEC.class_name(c) for c in (0, 9)] == ["0", "9"]
