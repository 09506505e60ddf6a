"""How much each column matters to a model: six answers to as many questions."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from clearwood._shared.errors import InputError, did_you_mean
from clearwood.explanation.adapter.asking import patience_of
from clearwood.explanation.adapter.rows import as_data
from clearwood.explanation.importance.methods import METHODS
from clearwood.explanation.importance.request import Request
from clearwood.explanation.importance.result import TITLES, ModelImportance

__all__ = ["importance"]

ImportanceKind = Literal["permutation", "impurity", "variance", "shapley", "loco", "coefficients"]


def importance(
    model: Any,
    data: Any,
    *,
    kind: ImportanceKind = "permutation",
    y: Any = None,
    repeats: int = 5,
    conditional: bool = False,
    groups: Mapping[str, Sequence[str]] | None = None,
    loss: Any = None,
    folds: int = 5,
    level: float = 0.95,
    output: Any = None,
    scale: str | None = None,
    sample: int | None = None,
    time_budget: float | None = None,
    seed: int = 0,
    n_jobs: int = 1,
) -> ModelImportance:
    """Say how much each column matters to a model, with intervals.

    The kinds answer different questions:

    - **permutation**: how much worse do predictions get when the column is shuffled? Measures what
      the model uses, on rows that should not be those it was fitted to. Shuffling a column that
      goes with others asks about rows that do not occur; ``conditional=True`` shuffles only among
      rows that are alike in those others, and so measures what the column adds to them.
    - **loco**: how much worse is a model fitted without it? Measures what the data needs, by
      cross-validation; of two columns that say the same, neither matters.
    - **shapley**: how far does it move predictions, on average? The mean absolute interventional
      Shapley value; needs no target, so it says nothing about whether the moves are right.
    - **variance**: how far does its main effect move the prediction? The variance of the partial
      dependence over the data; interactions do not count.
    - **impurity**: what did splits on it gain while the trees were grown? Favours columns with
      many values, and counts what was learned by heart (Rosso's notes, section 6, equation 96).
    - **coefficients**: for linear models, the standard deviation of what the column adds, with the
      sign of its coefficient: coefficients on one scale.

    Parameters
    ----------
    model
        Anything with ``predict`` or ``predict_proba``, or a function of rows; "loco" needs an
        estimator that can be fitted anew, "impurity" trees, "coefficients" a linear model.
    data
        Rows to measure on; for "permutation" rows that the model has not seen, for "loco" those to
        fit and test on.
    kind
        See above.
    y
        The target, where ``data`` does not name it ("permutation" and "loco").
    repeats
        How often each column is shuffled.
    conditional
        Shuffle within strata of the columns that go with it.
    groups
        Columns that count as one, by a name for them: ``{"place": ["lat", "lon"]}``
        ("permutation" and "loco").
    loss
        "squared", "absolute", "log", "zero_one", or a function of target and prediction that gives
        one loss per row. Log loss for classes and squared error for numbers by default.
    folds
        Parts of the cross-validation of "loco".
    level
        The coverage that the intervals aim at.
    output, scale
        As for `effect`.
    sample
        How many rows are used. By default all; 2,000 for "variance" and 500 for "shapley" of models
        that are read as trees or sums, and 500 and 100 of those that have to be asked.
    time_budget
        Seconds after which what is done is given, with a warning: fewer shuffles, folds or rows,
        and so wider intervals. Ctrl-C does the same, once there is something to give.
    seed
        Fixes shuffles, folds and samples.
    n_jobs
        Threads, where the model is read as a forest.

    Returns
    -------
    ModelImportance

    Examples
    --------
    >>> import numpy as np
    >>> import clearwood as cw
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 3))
    >>> found = cw.importance(lambda X: 2 * X[:, 0] + X[:, 1], X, y=2 * X[:, 0] + X[:, 1])
    >>> found.to_frame("dict")["column"]
    ['x0', 'x1', 'x2']
    >>> found["x2"]
    0.0
    """
    if kind not in TITLES:
        raise InputError(f"there is no importance {kind!r}", hint=did_you_mean(str(kind), TITLES))
    patience = patience_of(time_budget)
    if repeats < 1:
        raise InputError(f"repeats is {repeats}; a column is shuffled at least once")
    if not 0 < level < 1:
        raise InputError(f"level is {level}; it lies between 0 and 1, such as 0.95")
    if groups and kind not in ("permutation", "loco"):
        raise InputError(f"groups are not for kind={kind!r}", hint="use kind='permutation'.")
    request = Request(
        model=model,
        data=as_data(data),
        y=y,
        repeats=repeats,
        conditional=conditional,
        groups=groups,
        loss=loss,
        folds=folds,
        level=level,
        output=output,
        scale=scale,
        sample=sample,
        patience=patience,
        seed=seed,
        n_jobs=n_jobs,
    )
    return METHODS[kind](request)
