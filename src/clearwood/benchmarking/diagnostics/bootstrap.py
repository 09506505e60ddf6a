"""Risk from bootstrap samples: leave-one-out bootstrap, .632, .632+ and out of bag."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from clearwood._shared.arrays import Floats
from clearwood._shared.errors import InputError, Option, words
from clearwood._shared.numbers import count, number
from clearwood._shared.results import Result
from clearwood.benchmarking.fitting.fits import Judged, candidate, judge_all
from clearwood.losses import Loss
from clearwood.resampling import Bootstrap, splits_of

__all__ = ["BootstrapRisk", "bootstrap_estimates", "bootstrap_risk", "no_information_risk"]

# The chance that a row is in a bootstrap sample of as many rows as there are: 1 - 1/e.
_IN_SAMPLE = 0.632
# Up to this many rows every pair of a target and a prediction is used; above, this many for each.
_ALL_PAIRS = 2_000
_SHIFTS = 200


@dataclass(frozen=True)
class BootstrapRisk(Result):
    """Estimates of risk from bootstrap samples.

    Parameters
    ----------
    learner, loss
        The learner, and the loss it is judged by.
    rows, samples
        How many rows and bootstrap samples there are.
    training
        Mean training loss of the fit to all rows: too optimistic.
    leave_one_out
        Mean over rows of the mean loss under the samples without that row. Too high, as a sample
        has only about 63.2 % of the rows.
    weighted
        The .632 estimate: 0.368 training + 0.632 leave_one_out. Too optimistic where the learner
        overfits.
    corrected
        The .632+ estimate: the weight of leave_one_out rises to 1 with the overfitting.
    out_of_bag
        Loss of the average prediction under the samples without the row: the risk of the *bagged*
        learner.
    no_information
        Mean loss if predictions and targets were independent.
    overfitting
        The relative rate (leave_one_out - training) / (no_information - training), from 0 to 1.
    se
        Standard error of leave_one_out, by the delta method after the bootstrap (Efron and
        Tibshirani, 1997); NaN where rows are grouped, or where samples are too few.
    is_weighted
        Whether rows count by their weight in all estimates.
    """

    learner: str
    loss: str
    rows: int
    samples: int
    training: float
    leave_one_out: float
    weighted: float
    corrected: float
    out_of_bag: float
    no_information: float
    overfitting: float
    se: float
    is_weighted: bool = False

    def _columns(self) -> dict[str, list[Any]]:
        values = {name: getattr(self, key) for name, key in _NAMES.items()}
        return {"estimate": list(values), "risk": list(values.values())}

    def __repr__(self) -> str:
        weighted = "weighted " if self.is_weighted else ""
        head = (
            f"{weighted}{self.loss} loss, {count(self.rows, 'row')}, "
            f"{count(self.samples, 'sample')}"
        )
        lines = [f"Bootstrap risk of {self.learner!r}: {head}"]
        for name, key in _NAMES.items():
            has_error = key == "leave_one_out" and np.isfinite(self.se)
            error = f" ± {number(self.se, 2)}" if has_error else ""
            lines.append(f"  {name:24} {number(getattr(self, key), 4)}{error}")
        return "\n".join(lines)


_NAMES = {
    "training": "training",
    "leave-one-out bootstrap": "leave_one_out",
    ".632": "weighted",
    ".632+": "corrected",
    "out of bag (bagged)": "out_of_bag",
    "no information": "no_information",
}


def bootstrap_risk(
    learner: Any,
    data: Any,
    *,
    samples: int = 200,
    loss: str | None = None,
    seed: int = 0,
    n_jobs: int | None = 1,
) -> BootstrapRisk:
    """Estimate the risk of a learner from bootstrap samples.

    It estimates the average risk over tables of this size, not that of a fit to this table. Rows
    are drawn within each class, and groups as a whole.

    Parameters
    ----------
    learner
        A name of the catalogue, a `Learner` or a scikit-learn estimator; it is not tuned.
    data
        A table with a target.
    samples
        How many bootstrap samples; 200 or more for a standard error.
    loss
        The loss to judge by; by default that of the task.
    seed
        Fixes the samples and the learner's random choices.
    n_jobs
        Processes to use.

    Examples
    --------
    >>> import clearwood as cw
    >>> bootstrap_risk("ols", cw.datasets.load("diabetes").head(100), samples=20)
    Bootstrap risk of 'ols': squared loss, 100 rows, 20 samples
      training                 ...
      leave-one-out bootstrap  ...
      .632                     ...
      .632+                    ...
      out of bag (bagged)      ...
      no information           ...
    """
    one = candidate(learner, data, loss=loss, seed=seed)
    n = one.table.n_rows
    splits = splits_of(one.table, Bootstrap(samples), seed=seed)
    everyone = np.arange(n)
    work = [(everyone, [everyone]), *((split.train, [split.test]) for split in splits)]
    (apparent,), *fits = judge_all(one, work, title="bootstrap samples", n_jobs=n_jobs)
    counts = np.stack([np.bincount(split.train, minlength=n) for split in splits])
    losses = np.full((samples, n), np.nan)
    for line, (split, (judged,)) in enumerate(zip(splits, fits, strict=True)):
        losses[line, split.test] = judged.losses
    weights = one.table.weights
    estimates = bootstrap_estimates(
        counts,
        losses,
        apparent.losses,
        no_information_risk(one.loss, one.codes, apparent.predictions, seed=seed, weights=weights),
        weights,
    )
    tested = [(split.test, judged) for split, (judged,) in zip(splits, fits, strict=True)]
    bagged = _bagged(one.loss, one.codes, tested, np.ones(n) if weights is None else weights)
    if one.table.groups is not None:
        estimates["se"] = float("nan")
    return BootstrapRisk(
        one.contender.name,
        one.loss.name,
        n,
        samples,
        **estimates,
        out_of_bag=bagged,
        is_weighted=weights is not None,
    )


def bootstrap_estimates(
    counts: ArrayLike,
    losses: ArrayLike,
    training: ArrayLike,
    no_information: float,
    weights: ArrayLike | None = None,
) -> dict[str, float]:
    """Compute the leave-one-out bootstrap, .632 and .632+ estimates from losses.

    `counts` is how often each row (columns) is in each sample, `losses` the loss of each row under
    the fit to each sample that does not have it, NaN elsewhere; `training` are the losses of the
    fit to all rows.

    Examples
    --------
    >>> counts = [[2, 0], [0, 2]]
    >>> losses = [[np.nan, 1.0], [0.5, np.nan]]
    >>> estimates = bootstrap_estimates(counts, losses, [0.25, 0.25], 2.0)
    >>> estimates["leave_one_out"], round(estimates["weighted"], 3)
    (0.75, 0.566)
    """
    times = np.asarray(counts, dtype=np.float64)
    values = np.asarray(losses, dtype=np.float64)
    tested = np.isfinite(values)
    often = tested.sum(axis=0)
    known = often > 0
    if not known.any():
        raise InputError(
            "every row is in every sample",
            parameter="samples",
            hint=words("raise ", Option("samples"), "."),
        )
    by_row = np.where(tested, values, 0.0).sum(axis=0)[known] / often[known]
    shares = np.ones(len(often)) if weights is None else np.asarray(weights, dtype=np.float64)
    apparent = float(np.average(np.asarray(training, dtype=np.float64), weights=shares))
    left_out = float(np.average(by_row, weights=shares[known]))
    capped = min(left_out, no_information)
    rate = 0.0
    if capped > apparent and no_information > apparent:
        rate = (capped - apparent) / (no_information - apparent)
    share = _IN_SAMPLE / (1 - (1 - _IN_SAMPLE) * rate)
    return {
        "training": apparent,
        "leave_one_out": left_out,
        "weighted": (1 - _IN_SAMPLE) * apparent + _IN_SAMPLE * left_out,
        "corrected": (1 - share) * apparent + share * capped,
        "no_information": float(no_information),
        "overfitting": rate,
        "se": _standard_error(times, values, shares / shares.mean(), left_out),
    }


def _standard_error(times: Floats, values: Floats, weights: Floats, mean: float) -> float:
    """Return the root of the summed squares of each row's influence on the estimate."""
    samples, n = times.shape
    tested = np.isfinite(values)
    often = tested.sum(axis=0)
    if samples < 20 or (often == 0).any():
        return float("nan")
    by_row = np.where(tested, values, 0.0).sum(axis=0) / often
    by_sample = np.where(tested, values, 0.0) @ weights / n
    # the covariance of a row's count and the sample's losses, times e ≈ samples / often
    together = (times - times.mean(axis=0)).T @ by_sample / often
    influence = (2 + 1 / (n - 1)) * weights * (by_row - mean) / n + together
    return float(np.sqrt((influence**2).sum()))


def no_information_risk(
    loss: Loss,
    y: ArrayLike,
    predicted: ArrayLike,
    *,
    seed: int = 0,
    weights: ArrayLike | None = None,
) -> float:
    """Return the mean loss over all pairs of a target and a prediction, each with its weight.

    Exact for classes, and for numbers up to 2,000 rows; above, every target is paired with 200
    predictions drawn at random.

    Examples
    --------
    >>> from clearwood.losses import find_loss
    >>> no_information_risk(find_loss("zero-one"), [0, 0, 1, 1], [0, 1, 1, 1])
    0.5
    """
    truth, predictions = np.asarray(y), np.asarray(predicted, dtype=np.float64)
    n = len(truth)
    shares = np.ones(n) if weights is None else np.asarray(weights, dtype=np.float64)
    if loss.needs != "prediction":
        labels, codes = np.unique(truth, return_inverse=True)
        means = [
            np.average(loss.per_row(np.full(n, label), predictions), weights=shares)
            for label in labels
        ]
        return float(np.average(means, weights=np.bincount(codes, shares)))
    if n <= _ALL_PAIRS:
        shifts: NDArray[Any] = np.arange(n)
    else:
        shifts = np.random.default_rng(seed).choice(n, _SHIFTS, replace=False)
    total, weight = 0.0, 0.0
    for shift in shifts:
        pair = shares * np.roll(shares, shift)
        total += float(pair @ loss.per_row(truth, np.roll(predictions, shift)))
        weight += float(pair.sum())
    return total / weight


def _bagged(
    loss: Loss, y: NDArray[Any], tested: list[tuple[NDArray[np.int64], Judged]], weights: Floats
) -> float:
    """Return the loss of the average prediction (of labels, the most frequent) out of bag."""
    labels = loss.needs == "label"
    first = tested[0][1].predictions
    width = int(y.max()) + 1 if labels else first[0].size
    total, often = np.zeros((len(weights), width)), np.zeros(len(weights))
    for rows, judged in tested:
        predicted = judged.predictions
        if labels:
            predicted = np.eye(width)[predicted.astype(np.intp)]
        total[rows] += predicted.reshape(len(rows), -1)
        often[rows] += 1
    known = often > 0
    average = total[known] / often[known, None]
    if labels:
        average = average.argmax(axis=1).astype(np.float64)
    elif first.ndim == 1:
        average = average[:, 0]
    return float(np.average(loss.per_row(y[known], average), weights=weights[known]))
