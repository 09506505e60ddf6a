"""How much each column matters to a model: seven answers to as many questions."""

from collections.abc import Mapping, Sequence
from typing import Any

from clearwood._shared.checks import check_confidence, check_whole
from clearwood._shared.choices import ImportanceKind
from clearwood._shared.clock import Clock
from clearwood._shared.errors import Option, bad_value, unknown_choice, words
from clearwood.explanation.decomposition.explained import Explained
from clearwood.explanation.importance.methods import METHODS
from clearwood.explanation.importance.request import Request
from clearwood.explanation.results.importance import TITLES, Importance
from clearwood.explanation.results.outputs import noting_zero_weights

__all__ = ["importance"]


def importance(
    explained: Explained,
    *,
    kind: ImportanceKind = "components",
    y: Any = None,
    repeats: int = 5,
    conditional: bool = False,
    groups: Mapping[str, Sequence[str]] | None = None,
    loss: Any = None,
    folds: int = 5,
    confidence: float = 0.9,
    output: Any = None,
    scale: str | None = None,
    sample: int | None = None,
    time_limit: float | None = None,
    seed: int | None = None,
    n_jobs: int | None = None,
) -> Importance:
    """Measure how much each column matters to a model, with intervals.

    The kinds answer different questions:

    - **components**: which share of the variation of the prediction comes from the column? The
      variance of the components of the decomposition (`clearwood.explain`) that involve it, over
      the variance of all; main effects and interactions are given apart. Exact for trees and
      additive models; needs no target.
    - **permutation**: how much worse do predictions get when the column is shuffled? Measures what
      the model uses, on rows that should not be those it was fitted to. Shuffling a column that
      is associated with others makes rows that do not occur; ``conditional=True`` shuffles only
      among rows that are alike in those others, and so measures what the column adds to them.
    - **loco**: how much worse is a model fitted without it? Measures what the data needs, by
      cross-validation; of two columns with the same information, neither matters.
    - **shapley**: how far does it move predictions, on average? The mean absolute interventional
      Shapley value; needs no target, so it does not show whether the moves are right.
    - **variance**: how far does its main effect move the prediction? The variance of the partial
      dependence over the data; interactions do not count.
    - **impurity**: what did splits on it gain while the trees were grown? Favours columns with
      many values, and rewards overfitting (Rosso's notes, section 6, equation 96).
    - **coefficients**: for linear models, the standard deviation of what the column adds, with the
      sign of its coefficient: coefficients on one scale.

    Parameters
    ----------
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
        "squared", "absolute", "log", "zero-one", or a function of target and prediction that gives
        one loss per row. Log loss for classes and squared error for numbers by default.
    folds
        Parts of the cross-validation of "loco".
    confidence
        The coverage that the intervals aim at.
    output, scale
        As for `effect`.
    sample
        How many rows are used. By default all; 2,000 for "variance" and 500 for "shapley" of models
        with an exact decomposition, and 500 and 100 of others.
    time_limit
        Seconds after which what is done is given, with a warning: fewer shuffles, folds or rows,
        and so wider intervals. Ctrl-C does the same, once there is something to give.
    seed
        Fixes shuffles, folds and samples; the explanation's own when None.
    n_jobs
        Threads, where the model is read as a forest; the explanation's own when None.

    Returns
    -------
    Importance

    Examples
    --------
    >>> import numpy as np
    >>> import clearwood as cw
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 3))
    >>> y = 2 * X[:, 0] + X[:, 1]
    >>> result = cw.importance(lambda X: 2 * X[:, 0] + X[:, 1], X, kind="permutation", y=y)
    >>> result.to_frame("dict")["column"]
    ['x0', 'x1', 'x2']
    >>> result["x2"]
    0.0
    """
    if kind not in TITLES:
        raise unknown_choice("kind", kind, TITLES)
    clock = Clock.started_now(time_limit)
    check_whole("repeats", repeats, 1)
    check_confidence(confidence)
    if groups and kind not in ("permutation", "loco"):
        raise bad_value(
            "kind",
            kind,
            words(Option("groups"), " are not for this kind"),
            hint=words("use ", Option("kind", "permutation"), "."),
        )
    n_rows = explained.n_rows
    explained, y = explained.counted(y)
    request = Request(
        explained=explained,
        y=y,
        repeats=repeats,
        conditional=conditional,
        groups=groups,
        loss=loss,
        folds=folds,
        confidence=confidence,
        output=output,
        scale=scale,
        sample=sample,
        clock=clock,
        seed=explained.seed if seed is None else seed,
        n_jobs=explained.n_jobs if n_jobs is None else n_jobs,
    )
    return noting_zero_weights(METHODS[kind](request), n_rows - explained.n_rows)
