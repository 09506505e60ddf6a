"""Training of a network: batches, optimisers, learning-rate schedules, early stopping.

A loop of our own: row weights, generators without global state and curves in plain arrays are a
few lines here, while skorch, which wraps PyTorch for scikit-learn, keeps its state in modules that
are saved by pickle and takes row weights only through changed data sets and losses.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from clearwood._shared.arrays import Floats, Index
from clearwood._shared.errors import InputError, Setting, words
from clearwood._shared.numbers import number
from clearwood._shared.progress import progress
from clearwood.models.catalogue.network.modules import Embedded, Linears, NonNegative, use_generator
from clearwood.models.catalogue.network.plan import TrainingPlan

__all__ = ["LOSSES", "LossHistory", "Samples", "train"]

#: The share of all steps over which the learning rate of "cosine" rises from zero.
_WARM_UP = 0.1
#: By how much "plateau" and "step" lower the learning rate.
_LOWERED = 0.5
#: How often "step" lowers it.
_STEPS = 5


def _squares(score: Tensor, y: Tensor) -> Tensor:
    return (score[:, 0] - y).square()


def _poisson(score: Tensor, y: Tensor) -> Tensor:
    eta = score[:, 0]
    return 2 * (torch.xlogy(y, y) - y * eta - y + eta.exp())


def _gamma(score: Tensor, y: Tensor) -> Tensor:
    eta = score[:, 0]
    return 2 * (eta - y.log() + y * (-eta).exp() - 1)


def _two_classes(score: Tensor, y: Tensor) -> Tensor:
    return torch.nn.functional.binary_cross_entropy_with_logits(score[:, 0], y, reduction="none")


def _classes(score: Tensor, y: Tensor) -> Tensor:
    return torch.nn.functional.cross_entropy(score, y.long(), reduction="none")


#: Loss of each row, by family; targets of a log link are in units of their mean.
LOSSES: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "gaussian": _squares,
    "poisson": _poisson,
    "gamma": _gamma,
    "binomial": _two_classes,
    "multinomial": _classes,
}


@dataclass(frozen=True, eq=False)
class Samples:
    """Rows as a network takes them."""

    numbers: Floats
    codes: NDArray[np.int64]
    target: Floats
    weight: Floats

    def tensors(self, rows: Index) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Return some rows in single precision."""
        return (
            torch.from_numpy(self.numbers[rows].astype(np.float32)),
            torch.from_numpy(self.codes[rows]),
            torch.from_numpy(self.target[rows].astype(np.float32)),
            torch.from_numpy(self.weight[rows].astype(np.float32)),
        )


@dataclass(frozen=True, eq=False)
class LossHistory:
    """What happened in each epoch; validation losses are NaN where no rows were held out."""

    training: Floats
    validation: Floats
    learning_rate: Floats
    best: int


def train(
    network: Embedded, samples: Samples, held_out: Index, plan: TrainingPlan, family: str, seed: int
) -> LossHistory:
    """Fit a network in place, and leave it with the weights of its best epoch.

    Parameters
    ----------
    network
        With weights that `initialise` drew.
    samples
        All rows.
    held_out
        Positions of the rows that decide when to stop; none for all epochs.
    plan
        How to train.
    family
        A key of `LOSSES`.
    seed
        Fixes the order of rows and what dropout leaves out.
    """
    generator = torch.Generator().manual_seed(seed)
    use_generator(network, generator)
    used = np.setdiff1d(np.arange(len(samples.target)), held_out)
    rows, checked = samples.tensors(used), samples.tensors(held_out)
    n_batches = math.ceil(len(used) / plan.batch)
    weights = list(network.parameters())
    optimizer = _optimizer(network, plan)
    rate = _Rate(plan, n_batches * plan.epochs)
    training, validation, rates = [], [], []
    best, kept, best_epoch = math.inf, _copied(network), 0
    with progress("training the network", total=plan.epochs) as step:
        for epoch in range(plan.epochs):
            network.train()
            order = torch.randperm(len(used), generator=generator)
            total = 0.0
            for batch in zip(*(part[order].tensor_split(n_batches) for part in rows), strict=True):
                current = rate.next()
                for group in optimizer.param_groups:
                    group["lr"] = current
                # each member has a loss of its own, as if it were alone
                losses = _mean_losses(network, batch, family)
                loss = losses.sum()
                value = loss.item() / len(losses)
                _check(value, plan, epoch)
                optimizer.zero_grad(set_to_none=True)
                loss.backward()
                if plan.clip:
                    limit = plan.clip * math.sqrt(len(losses))
                    torch.nn.utils.clip_grad_norm_(weights, limit)
                optimizer.step()
                total += value * len(batch[0])
            training.append(total / len(used))
            rates.append(current)
            network.eval()
            with torch.no_grad():
                loss_now = (
                    float(_mean_loss(network, checked, family)) if len(held_out) else math.nan
                )
            validation.append(loss_now)
            watched = loss_now if len(held_out) else training[-1]
            rate.after_epoch(watched)
            step(1, note=f"loss {number(watched)}")
            if not len(held_out):
                best_epoch = epoch
            elif watched < best:
                best, kept, best_epoch = watched, _copied(network), epoch
            elif epoch - best_epoch >= plan.patience:
                break
    if len(held_out):
        network.load_state_dict(kept)
    if not all(bool(torch.isfinite(value).all()) for value in network.state_dict().values()):
        raise _diverged(plan, best_epoch)
    return LossHistory(np.array(training), np.array(validation), np.array(rates), best_epoch)


def _mean_losses(network: Embedded, rows: Any, family: str) -> Tensor:
    """Compute the loss of each member."""
    numbers, codes, target, weight = rows
    scores = network.scores(numbers, network.embed(codes))
    members = len(scores)
    each = LOSSES[family](scores.flatten(0, 1), target.repeat(members))
    return (weight * each.view(members, -1)).mean(dim=1)


def _mean_loss(network: Embedded, rows: Any, family: str) -> Tensor:
    """Compute the loss of the mean score, with which the network predicts."""
    numbers, codes, target, weight = rows
    score = network(numbers, network.embed(codes))
    return (weight * LOSSES[family](score, target)).mean()


def _check(loss: float, plan: TrainingPlan, epoch: int) -> None:
    if not math.isfinite(loss):
        raise _diverged(plan, epoch)


def _diverged(plan: TrainingPlan, epoch: int) -> InputError:
    return InputError(
        words(
            f"the training diverged: the loss is not a finite number in epoch {epoch + 1}, with ",
            Setting("learning_rate", plan.learning_rate),
        ),
        parameter="learning_rate",
        value=plan.learning_rate,
        hint=words(
            "set a smaller one, such as ",
            Setting("learning_rate", float(f"{plan.learning_rate / 10:.3g}")),
            ".",
        ),
    )


def _copied(network: Embedded) -> dict[str, Tensor]:
    return {name: value.detach().clone() for name, value in network.state_dict().items()}


def _optimizer(network: Embedded, plan: TrainingPlan) -> torch.optim.Optimizer:
    """Make the optimiser; constants, scales and single vectors are not shrunk.

    Neither are the roots of weights that keep a direction: a penalty on their squares would be one
    on the size of weights, which takes effects away, and a direction restrains them already.
    """
    shrunk: list[Tensor] = []
    kept: list[Tensor] = []
    for module in network.modules():
        of_members = isinstance(module, Linears | NonNegative)
        for name, one in module.named_parameters(recurse=False):
            is_kept = one.ndim == 1 or (of_members and name in ("bias", "root"))
            (kept if is_kept else shrunk).append(one)
    groups = [
        {"params": shrunk, "weight_decay": plan.weight_decay},
        {"params": kept, "weight_decay": 0.0},
    ]
    if plan.optimizer == "sgd":
        return torch.optim.SGD(
            groups, lr=plan.learning_rate, momentum=plan.momentum, nesterov=plan.momentum > 0
        )
    # the decay of AdamW does not pass through the scaling of gradients (Loshchilov, Hutter 2019)
    kind = torch.optim.AdamW if plan.optimizer == "adamw" else torch.optim.Adam
    return kind(groups, lr=plan.learning_rate, betas=(plan.momentum, 0.999), fused=True)


class _Rate:
    """The learning rate from step to step."""

    def __init__(self, plan: TrainingPlan, n_steps: int) -> None:
        self.plan, self.n_steps, self.step = plan, max(n_steps, 1), 0
        self.factor, self.best, self.waited = 1.0, math.inf, 0

    def next(self) -> float:
        """Return the rate of the next step."""
        done = self.step / self.n_steps
        self.step += 1
        factor = self.factor
        if self.plan.schedule == "cosine":
            warm = min(1.0, (done + 1 / self.n_steps) / _WARM_UP)
            factor = warm * 0.5 * (1 + math.cos(math.pi * min(done, 1.0)))
        elif self.plan.schedule == "step":
            factor = _LOWERED ** math.floor(done * _STEPS)
        return self.plan.learning_rate * factor

    def after_epoch(self, loss: float) -> None:
        """Lower the rate of "plateau" where the loss stands still."""
        if self.plan.schedule != "plateau":
            return
        if loss < self.best:
            self.best, self.waited = loss, 0
        else:
            self.waited += 1
            if self.waited >= max(2, self.plan.patience // 3):
                self.factor, self.waited = self.factor * _LOWERED, 0
