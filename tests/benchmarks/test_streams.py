import torch

from cilbook.benchmarks import Images
from cilbook.benchmarks.streams import iterations, per_class, single_pass

Y = torch.tensor([0] * 7 + [1] * 9 + [2] * 8)
DATA = Images(torch.arange(24).float()[:, None], Y, lambda x: x)


def rows(batches) -> list[list[int]]:
    return [x[:, 0].int().tolist() for x, _ in batches]


def test_iterations_are_full_batches_without_repeats_inside_an_epoch():
    batches = rows(iterations(DATA, 10, 6, seed=0, task=0))
    assert [len(b) for b in batches] == [10] * 6
    for first, second in zip(batches[::2], batches[1::2], strict=True):
        assert len({*first, *second}) == 20
    assert batches[0] != batches[2]


def test_labels_travel_with_their_rows():
    for x, y in iterations(DATA, 10, 3, seed=1, task=2):
        assert torch.equal(y, Y[x[:, 0].long()])


def test_a_single_pass_shows_every_row_once_and_keeps_the_last_batch():
    batches = rows(single_pass(DATA, 10, seed=0, task=0))
    assert [len(b) for b in batches] == [10, 10, 4]
    assert sorted(sum(batches, [])) == list(range(24))


def test_per_class_gives_equally_many_rows_of_every_class_grouped():
    for _, y in per_class(DATA, 3, 5, seed=0):
        assert y.tolist() == [0] * 3 + [1] * 3 + [2] * 3


def test_a_class_sees_the_same_batches_whatever_classes_stand_beside_it():
    together = [x[y == 1] for x, y in per_class(DATA, 3, 7, seed=5)]
    alone = [x for x, _ in per_class(DATA.of_classes([1]), 3, 7, seed=5)]
    assert rows([(x, None) for x in together]) == [x[:, 0].int().tolist() for x in alone]


def test_a_batch_larger_than_a_class_becomes_the_class():
    (_, y), *_ = per_class(DATA, 100, 1, seed=0)
    assert torch.bincount(y).tolist() == [7, 7, 7]


def test_streams_repeat_for_a_seed_and_differ_between_seeds_and_tasks():
    def drawn(**where):
        return rows(iterations(DATA, 8, 4, **where))

    assert drawn(seed=0, task=0) == drawn(seed=0, task=0)
    assert drawn(seed=0, task=0) != drawn(seed=1, task=0)
    assert drawn(seed=0, task=0) != drawn(seed=0, task=1)
