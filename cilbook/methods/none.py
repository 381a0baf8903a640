r"""None: keep training one network, do nothing against forgetting.

    L = - mean_i log softmax(f(x_i))_{y_i},   softmax over the classes met so far.

The lower bound of every comparison. Joint, the upper bound, is the same learner given all
classes as one task.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from cilbook.benchmarks.spec import Spec
from cilbook.methods.base import Learner, Settings
from cilbook.methods.trained import Trained, in_blocks
from cilbook.nets.initialise import build
from cilbook.random import stream


@dataclass(frozen=True)
class NetworkSettings(Settings):
    """Settings of a network trained by Adam."""

    learning_rate: float = 1e-3  # of Adam
    batch: int = 32  # rows per mini-batch


class FineTuning(Learner):
    """A softmax network with an expanding head, trained on whatever comes.

    Twenty steps on the images of a second task, and the first is forgotten:

    >>> from cilbook.benchmarks import BENCHMARKS
    >>> spec = BENCHMARKS["digits"]
    >>> train, seen = spec.load(None).train, []
    >>> student = FineTuning(spec, NetworkSettings(learning_rate=0.01), 0, "cpu")
    >>> for classes in [0, 1], [2, 3]:
    ...     data = train.of_classes(classes)
    ...     student.start_task(classes)
    ...     for _ in range(20):
    ...         loss = student.observe(data.x, data.y)
    ...     zeros = student.scores(train.of_classes([0]).x)
    ...     seen.append(zeros.argmax(1).mode().values.item())
    >>> seen[0], seen[1] in (2, 3)
    (0, True)
    """

    title = "None"
    settings_type = NetworkSettings
    needs_boundaries = False

    def __init__(
        self,
        spec: Spec,
        settings: NetworkSettings,
        seed: int,
        device: torch.device | str,
    ):
        super().__init__(spec, settings, seed, device)
        net = build(self.architecture(), stream(seed, "classifier")).to(self.device)
        self.trained = Trained(net, settings.learning_rate)
        self.active: list[int] = []

    def architecture(self) -> Callable[[], nn.Module]:
        """The network to build."""
        return self.spec.classifier

    @property
    def net(self) -> nn.Module:
        """The network itself."""
        return self.trained.net

    def start_task(self, classes: Sequence[int]) -> None:
        """The head expands by the task's classes."""
        self._activate(classes)

    def _activate(self, classes: Sequence[int]) -> None:
        self.active = sorted({*self.active, *classes})

    def observe(self, x: Tensor, y: Tensor) -> Tensor:
        """One Adam step on the loss."""
        self._activate(y.tolist())
        self.train_mode()
        loss = self.loss(x, y)
        self.step(loss)
        return loss.detach()

    def train_mode(self) -> None:
        """Prepare the network's layers for a step."""
        self.net.train()

    def loss(self, x: Tensor, y: Tensor) -> Tensor:
        """What a step brings down."""
        return self.cross_entropy(self.logits(x), y)

    def logits(self, x: Tensor) -> Tensor:
        """The network's output, [n, all classes]."""
        return self.net(x)

    def cross_entropy(self, logits: Tensor, y: Tensor) -> Tensor:
        """-log softmax of the label's logit over the active classes, mean over rows."""
        active = torch.tensor(self.active, device=logits.device)
        return F.cross_entropy(logits[:, active], torch.searchsorted(active, y))

    def step(self, loss: Tensor) -> None:
        """One Adam step."""
        self.trained.step(loss)

    def scores(self, x: Tensor) -> Tensor:
        """The logits of all classes."""
        self.net.eval()
        return in_blocks(self.logits, x)

    @property
    def trainable(self) -> int:
        """Weights of the network."""
        return self.trained.size

    def state_dict(self) -> dict[str, Tensor]:
        """The network, Adam's moments, and the classes met."""
        active = torch.tensor(self.active, dtype=torch.int64)
        return self.trained.state_dict() | {"active": active}

    def load_state_dict(self, state: Mapping[str, Tensor]) -> None:
        """Continue from what `state_dict` gave."""
        self.trained.load_state_dict(state)
        self.active = state["active"].tolist()


class Joint(FineTuning):
    """The same network trained on all classes at once: the upper bound.

    >>> from cilbook.benchmarks import BENCHMARKS
    >>> spec = BENCHMARKS["digits"]
    >>> student = Joint(spec, NetworkSettings(learning_rate=0.01), 0, "cpu")
    >>> data = spec.load(None)
    >>> student.start_task(range(10))
    >>> for _ in range(20):
    ...     loss = student.observe(data.train.x, data.train.y)
    >>> right = student.scores(data.test.x).argmax(1) == data.test.y
    >>> right.float().mean().item() > 0.9
    True
    """

    title = "Joint"
    needs_boundaries = True
    why_boundaries = "it learns all classes as one task; without tasks it would be None"
    one_task = True
