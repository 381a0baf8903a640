from functools import partial

import pytest
import torch

from cilbook.benchmarks import Images
from cilbook.benchmarks.streams import (
    blurred,
    class_by_class,
    iid,
    iterations,
    per_class,
    single_pass,
    task_free,
)

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


@pytest.mark.parametrize("start", [0, 1, 2, 3, 6])
def test_a_stream_is_entered_anywhere_without_replaying_what_came_before(start):
    views = [
        lambda **at: iterations(DATA, 10, 6, seed=3, task=1, **at),
        lambda **at: single_pass(DATA, 4, seed=3, task=1, **at),
        lambda **at: per_class(DATA, 3, 6, seed=3, **at),
        lambda **at: task_free(DATA, 4, blurred(Y, 5, seed=3), **at),
    ]
    for view in views:
        assert rows(view(start=start)) == rows(view())[start:]


@pytest.mark.parametrize("order", [iid, class_by_class, partial(blurred, width=6)])
def test_an_order_without_tasks_holds_every_row_once_and_repeats_for_a_seed(order):
    assert sorted(order(Y, seed=1).tolist()) == list(range(24))
    assert torch.equal(order(Y, seed=1), order(Y, seed=1))
    assert not torch.equal(order(Y, seed=1), order(Y, seed=2))


def test_a_task_free_stream_of_single_samples_follows_its_order():
    order = class_by_class(Y, seed=0)
    batches = list(task_free(DATA, 1, order))
    assert [len(y) for _, y in batches] == [1] * 24
    assert torch.equal(torch.cat([y for _, y in batches]), Y[order])


def test_class_by_class_shows_one_class_after_another_in_an_order_of_the_seed():
    def classes(seed):
        return Y[class_by_class(Y, seed=seed)].unique_consecutive().tolist()

    assert all(sorted(classes(seed)) == [0, 1, 2] for seed in range(10))
    assert len({tuple(classes(seed)) for seed in range(10)}) > 1


def test_the_share_of_the_new_class_rises_in_a_line_over_the_width():
    y = torch.tensor([0] * 20_000 + [1] * 20_000)
    shown = y[blurred(y, 8_000, seed=0)]
    late = (shown == shown[-1]).double().unflatten(0, (-1, 2_000)).mean(1)
    rising = torch.tensor([0.125, 0.375, 0.625, 0.875])
    assert late[:8].eq(0).all() and late[12:].eq(1).all()
    assert torch.allclose(late[8:12], rising.double(), atol=0.04)


def test_no_width_is_class_by_class_and_a_wide_blur_forgets_the_classes():
    assert torch.equal(blurred(Y, 0, seed=4), class_by_class(Y, seed=4))
    y = torch.tensor([0, 1]).repeat_interleave(5_000)
    shown = y[blurred(y, 1e9, seed=0)].double()
    assert abs(shown[:5_000].mean() - 0.5) < 0.03
    with pytest.raises(ValueError, match="the width must be 0 or larger, got -1"):
        blurred(Y, -1, seed=0)
