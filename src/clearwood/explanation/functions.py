"""Functions of a model and its data: `explain`, and one function per question."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from clearwood._shared.choices import (
    BackgroundRows,
    BandChoice,
    Conditional,
    EffectKind,
    ImportanceKind,
    LimeSelection,
    ShapleyMethod,
)
from clearwood._shared.choices import ValueFunction as ValueFunctionName
from clearwood.explanation.agreement import Agreement
from clearwood.explanation.effects.request import Extrapolation
from clearwood.explanation.explanation import Explanation
from clearwood.explanation.local.contributions import Contributions
from clearwood.explanation.local.lime import Lime
from clearwood.explanation.local.what_if import WhatIf
from clearwood.explanation.monotone.monotone import Monotone
from clearwood.explanation.results.effect import Effect
from clearwood.explanation.results.importance import Importance

__all__ = [
    "agreement",
    "contributions",
    "effect",
    "explain",
    "importance",
    "lime",
    "monotone",
    "shapley",
    "what_if",
]


def explain(
    model: Any,
    data: Any,
    *,
    max_order: int | None = 2,
    scale: str | None = None,
    output: Any = None,
    weights: Any = None,
    n_background: BackgroundRows | None = None,
    time_limit: float | None = None,
    exact: bool = True,
    seed: int = 0,
    n_jobs: int = 1,
    ledger: str | Path | None = None,
    on_error: Literal["raise", "skip"] = "raise",
) -> Explanation:
    """Explain a model over its data.

    The prediction is decomposed into functions of few columns: exactly, over all rows, for trees
    and additive models; for any other model every component is an average over rows drawn from the
    data, with its standard error. What lies beyond ``max_order`` is the remainder; for sampled
    models with more than 15 columns the remainder includes the interactions of all but the 15
    columns that interact most. All other questions (`Explanation`) use the same model and data.

    Parameters
    ----------
    model
        A fitted model of any library, or a function of rows. Exact are tree models
        of scikit-learn, XGBoost, LightGBM and CatBoost, a `Forest`, linear and generalised linear
        models of scikit-learn, pipelines that end in one of these, and learners of these kinds, of
        sums of curves and trees, or of explainable boosting ("ebm").
    data
        The background: the rows over which predictions are averaged, usually the training rows. A
        table, a data frame (columns are found by name, in any order), an array, a dict of columns
        or a path. Of a table in parts (``clearwood.scan(...)``) all rows count; they
        are read where they are, in as many processes as ``n_jobs`` says or on the workers of a
        surrounding ``joblib.parallel_config``. What needs rows in memory, such as the values at
        which an effect is shown, uses a seeded sample of 200,000 of them.
    max_order
        The most columns a component has; None for every order, where the decomposition is exact
        and the trees are shallow enough.
    scale
        "margin" (before any link), "probability" or "response". By default before any link, where
        there is one. Only the scale on which the model adds up is exact; others are sampled.
    output
        The class, or the name of the output, to explain; all of them when None.
    weights
        Weights of the rows; a table's own weight column when None.
    n_background
        How many rows of the background averages are over: a number, or "all".

        Of models without an exact decomposition, 200 are drawn when None. With a number, importance
        is measured at all of them, over all of them; by default at as many as 250,000 evaluations
        of the model allow.

        Of trees, all rows are used when None, unless that takes long: trees with many leaves on
        long paths take time for every leaf, background row and explained row. Then as many rows are
        drawn as allow Shapley values of a thousand rows in about half a minute, and everything that
        depends on the draw has standard errors: ``about.is_sampled`` is True, and ``background``
        and a note give the number of rows. A number draws that many (at least 20), of any trees.
        Additive models always use all rows.
    time_limit
        Seconds that measuring the importance may take, where the predictions are sampled; for trees
        with long paths, what Shapley values of a thousand rows may take in place of half a minute.
        Fewer rows are then used, and the standard errors are larger.
    exact
        Whether to use the exact decomposition where there is one. Forests of millions of leaves
        take hours; sampling them takes seconds.
    seed
        Fixes the draws.
    n_jobs
        Threads, -1 for all; processes for a table in parts. Exact results do not depend on it.
    ledger
        For a table in parts: a file in which finished parts are recorded, so that the same call
        continues from there, whatever ended it.
    on_error
        For a table in parts: "raise" names a part that could not be read four times; "skip" leaves
        it out, with a warning and a note.

    Returns
    -------
    Explanation

    Notes
    -----
    The value function is the interventional one: averages are over the joint distribution of the
    columns that are not held, whatever the held ones are. Where columns depend on each other, it
    relies on combinations that may not occur.

    Examples
    --------
    >>> import clearwood as cw
    >>> data = cw.datasets.load("diabetes")
    >>> model = cw.learner("gbm", max_depth=2, max_iter=30).fit(data)
    >>> why = cw.explain(model, data)
    >>> why.effect("bmi", kind="component").values.max() > 0
    np.True_
    >>> why.shapley(data.head(2)).values.shape
    (2, 10)

    Of any function, sampled:

    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(300, 3))
    >>> parts = cw.explain(lambda X: X[:, 0] + X[:, 1] * X[:, 2], X).values(X[:2])
    >>> bool((parts.standard_errors > 0).any()), bool(abs(parts.remainder).max() < 1e-9)
    (True, True)
    """
    explanation = Explanation(
        model,
        data,
        max_order=max_order,
        scale=scale,
        output=output,
        weights=weights,
        n_background=n_background,
        time_limit=time_limit,
        exact=exact,
        seed=seed,
        n_jobs=n_jobs,
        ledger=ledger,
        on_error=on_error,
    )
    _ = explanation.decomposition  # what cannot be explained is an error here, not later
    return explanation


def effect(
    model: Any,
    data: Any,
    *columns: Any,
    kind: EffectKind = "pdp",
    points: int | None = None,
    grid: Sequence[Any] | None = None,
    output: Any = None,
    scale: str | None = None,
    centred: bool | None = None,
    derivative: bool = False,
    n_bootstrap: int = 200,
    band: BandChoice = "auto",
    confidence: float = 0.9,
    n_refits: int = 0,
    y: Any = None,
    sample: int | None = None,
    exact: bool = True,
    extrapolation: Extrapolation = True,
    time_limit: float | None = None,
    seed: int | None = None,
    n_jobs: int | None = None,
) -> Effect:
    """Compute the effect of one column, or of two together, on the prediction of any model.

    The kinds answer different questions, and differ where columns depend on each other:

    - **pdp**: the average prediction if every row were given the value, all other columns as they
      are (Hiabu 2024, definition 7.3.2). Relies on combinations that may not occur.
    - **ice**: the same row by row, before the mean (definition 7.3.1); curves that are not
      parallel show an interaction.
    - **marginal**: the mean prediction of those who have the value (section 7.3.2). Nothing is
      extrapolated, but a column that the model ignores gets the effect of its neighbours.
    - **ale**: accumulated differences of the prediction over small steps, each averaged over the
      rows that lie there (definitions 7.3.3 and 7.4.6). Neither extrapolates far nor takes over
      the effect of other columns. Of two columns: what is left beyond the two single effects.
    - **supported_pdp**: the partial dependence averaged only over rows that, with the value, still
      lie where data are (section 7.3.2).
    - **component**: the component of the decomposition (`clearwood.explain`), before any link: the
      main effect of one column, measured from the baseline, or the interaction of two, which is
      what is left once both main effects are taken away. Exact for trees and additive models.

    Parameters
    ----------
    model
        A fitted model of any library, or a function of rows.
    data
        The rows over which the model is explained, usually the training rows: a table, a data
        frame, an array, a dict of columns or a path.
    *columns
        One column or two, or a list of them.
    kind
        See above.
    points
        The most values (or bins, for "ale") of a column of numbers or dates, at quantiles; 40 for
        one column and 20 for each of two by default. Of categories, the 50 most common levels are
        shown.
    grid
        The values to show instead: numbers, dates or levels of one column, or one sequence of them
        for each of two (None for a column that keeps its quantiles). Numbers and dates need not
        occur in the data; for "ale" they are the edges of the bins.
    output
        The class or output; all of them when None, of two classes the second.
    scale
        "probability" or "margin" for classes, "response" or "margin" (before the link) for numbers.
    centred
        Measure from the mean over the data; individual curves from their first value. By default
        only "ale" is.
    derivative
        For "ice": slopes instead of curves.
    n_bootstrap
        Bootstrap draws of the rows for a pointwise band; 0 for no band at all.
    band
        What the band shows. "rows": how far the average could move with other rows, for this model
        as it is. "model": how far the model could move with other training data, where that
        is known: by the covariance of its coefficients ("gam") or by its models of folds
        ("glass"); for partial dependence and components. "simultaneous": the same for the whole
        curve rather than point by point, from 10,000 draws. "auto": "model" where there is one,
        else "rows". On the scale of predictions, every row's score is moved up or down by half the
        width before the link is applied.
    confidence
        The coverage that the band aims at.
    n_refits
        Draws for which the model is fitted again to resampled rows; the band then shows how far
        the curve could move with other training data. Needs the target, in ``data`` or as ``y``.
    y
        The target, where ``data`` does not name it.
    sample
        How many rows to average over; all of them when None, unless that takes more than
        40 million predictions.
    exact
        Whether to read a partial dependence off the exact decomposition where there is one.
    extrapolation
        How to find grid points at which rows lie outside the data: by "distance", whether rows
        that are alike in the columns that go together have such values (True), by an "isolation"
        forest over all columns, or not at all (False).
    time_limit
        Seconds after which the effect is given over the rows that are done, which are a random
        sample of all; the band allows for that. Ctrl-C does the same.
    seed
        Fixes the draws and the sample; the explanation's own when None.
    n_jobs
        Threads, where the model is read as a forest; the explanation's own when None.

    Returns
    -------
    Effect

    Warns
    -----
    ClearwoodWarning
        Where more than a fifth of the rows at a grid point lie outside the data, with the
        number of such points; where levels are left out; where the time limit was reached.

    Examples
    --------
    >>> import clearwood as cw
    >>> data = cw.datasets.load("diabetes")
    >>> model = cw.learner("forest", n_estimators=20).fit(data)
    >>> bmi = cw.effect(model, data, "bmi", kind="ale")
    >>> bool(abs(bmi.values @ bmi.shares) < 1e-9)
    True
    >>> cw.effect(lambda X: X[:, 0] ** 2, [[-1.0, 5], [0, 6], [2, 7]], "x0").values
    array([1., 0., 4.])
    >>> cw.effect(lambda X: X[:, 0] ** 2, [[-1.0, 5], [0, 6], [2, 7]], "x0", grid=[0, 1]).values
    array([0., 1.])
    """
    return Explanation(model, data).effect(
        *columns,
        kind=kind,
        points=points,
        grid=grid,
        output=output,
        scale=scale,
        centred=centred,
        derivative=derivative,
        n_bootstrap=n_bootstrap,
        band=band,
        confidence=confidence,
        n_refits=n_refits,
        y=y,
        sample=sample,
        exact=exact,
        extrapolation=extrapolation,
        time_limit=time_limit,
        seed=seed,
        n_jobs=n_jobs,
    )


def importance(
    model: Any,
    data: Any,
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
    model
        A fitted model of any library, or a function of rows.
    data
        The rows over which the model is explained, usually the training rows: a table, a data
        frame, an array, a dict of columns or a path.
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
    return Explanation(model, data).importance(
        kind=kind,
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
        time_limit=time_limit,
        seed=seed,
        n_jobs=n_jobs,
    )


def shapley(
    model: Any,
    data: Any,
    rows: Any = None,
    *,
    value: ValueFunctionName = "interventional",
    method: ShapleyMethod = "auto",
    conditional: Conditional = "auto",
    groups: Mapping[str, Sequence[str]] | None = None,
    interactions: bool = False,
    output: Any = None,
    scale: str | None = None,
    precision: float = 0.02,
    max_evaluations: int | None = None,
    n_background: BackgroundRows | None = None,
    time_limit: float | None = None,
    n_orders: int | None = None,
    seed: int | None = None,
    n_jobs: int | None = None,
    to: str | Path | None = None,
    force: bool = False,
) -> Any:
    """Compute the Shapley values of rows: how each column moved each prediction from the baseline.

    The Shapley value of a column is its marginal contribution to a coalition of columns, averaged
    over the orders in which columns can join (Hiabu 2024, theorem 7.1.2). The value of a coalition
    is a choice, and the three choices in use answer different questions:

    - **interventional**: the mean prediction when the coalition's columns are held at the row's
      values and the others take those of background rows. It depends on the model as a function
      and on the background; a column that the model does not use gets zero. Exact, over the whole
      background, for trees and additive models; estimated for any other.
    - **path_dependent**: each tree is walked as the row goes at splits of the coalition, and along
      both branches, in proportion to the training rows, at the others (TreeSHAP's default). It
      needs no background, but two trees that are the same function can get different values
      (Hiabu 2024, example 18).
    - **observational**: the mean prediction over rows like this one in the coalition's columns. A
      column that the model ignores gets a value if it is associated with others (Hiabu 2024,
      example 16). No table shows this distribution: how it is estimated is an assumption, which
      the notes name.

    Parameters
    ----------
    model
        A fitted model of any library, or a function of rows.
    data
        The rows over which the model is explained, usually the training rows: a table, a data
        frame, an array, a dict of columns or a path.
    rows
        The rows to explain, in any form; all rows of the data when None.
    value
        The value function: "interventional", "path_dependent" or "observational".
    method
        "subsets" evaluates every coalition, "kernel" fits the Shapley kernel regression to
        coalitions drawn in pairs, "permutation" draws orders. "auto" is exact where the model
        has an exact decomposition; else it takes subsets for up to 12 columns (7 where
        conditional="forest"), and for more of them orders, or for observational values the kernel.
    conditional
        How the columns outside a coalition depend on those inside, for observational values:
        "gaussian", "copula", "kernel" or "forest". "auto" is "gaussian" where all columns are
        numbers without gaps, else "kernel", which takes any columns. The result's ``conditional``
        is the one that was used.
    groups
        Columns that play together, by the group's name; the others play alone. Exact where the
        model can be taken apart.
    interactions
        Whether to give pairwise Shapley interactions too; of exact values only.
    output
        The class, or the name of the output, to explain; all of them when None.
    scale
        "margin", "probability" or "response". By default before any link, where there is one;
        other scales are estimated.
    precision
        Estimating ends once no standard error is larger than this share of the spread of the
        row's values.
    max_evaluations
        Evaluations of the model for one row at most, when estimating.
    n_background
        Background rows that stand in for one coalition: a number, or "all". When None, all of them
        where the values are exact (for trees with long paths as many as `clearwood.explain` says),
        100 when estimating. Values of trees over drawn rows have standard errors, their
        interactions do not.
    time_limit
        Seconds after which the rows that are done are returned, when estimating.
    n_orders
        A fixed number of orders for each row, whatever the precision. Unless a scale is named, the
        result then explains the prediction itself: probabilities for classes.
    seed
        Fixes the draws; the explanation's own when None.
    n_jobs
        Threads, -1 for all; the explanation's own when None. The result does not depend on it.
    to
        A folder for the values of all rows of a table in parts: one Parquet file for each part,
        with the columns of the result's frame, standard errors among them where the background is
        drawn. The metadata of a file hold what the values are, and which rows were drawn. Exact
        values only.
    force
        Replace files in that folder.

    Returns
    -------
    Shapley
        Or, with ``to``, a `Written`: the files, how many rows they have, and sums.

    Examples
    --------
    >>> import clearwood as cw
    >>> data = cw.datasets.load("diabetes")
    >>> model = cw.learner("forest", n_estimators=20, max_depth=4).fit(data)
    >>> found = cw.shapley(model, data, data.head(3))
    >>> found.value, found.values.shape
    ('interventional', (3, 10))
    >>> bool(abs(found.prediction - model.predict(data.head(3))).max() < 1e-9)
    True
    >>> cw.shapley(model, data, data.head(3), value="path_dependent").about.background is None
    True

    Of any function, estimated:

    >>> X = data.X.to_frame("pandas")
    >>> rough = cw.shapley(lambda X: X["bmi"] * X["bp"], X, X.head(2))
    >>> rough.standard_errors.shape
    (2, 10)
    """
    return Explanation(model, data).shapley(
        rows,
        value=value,
        method=method,
        conditional=conditional,
        groups=groups,
        interactions=interactions,
        output=output,
        scale=scale,
        precision=precision,
        max_evaluations=max_evaluations,
        n_background=n_background,
        time_limit=time_limit,
        n_orders=n_orders,
        seed=seed,
        n_jobs=n_jobs,
        to=to,
        force=force,
    )


def lime(
    model: Any,
    data: Any,
    row: Any,
    *,
    kernel_width: float | None = None,
    n_features: int = 6,
    select: LimeSelection = "forward",
    n_samples: int = 2000,
    repeats: int = 10,
    output: Any = None,
    scale: str | None = None,
    time_limit: float | None = None,
    seed: int | None = None,
    n_jobs: int | None = None,
) -> Lime:
    """Fit a sparse linear model to a model's predictions near one row.

    The answer is argmin over linear g of Σ_z π(z) (f(z) − g(h(z)))², with at most ``n_features``
    terms (Hiabu 2024, definition 7.2.2 and example 19). Rows z are drawn column by column:
    numbers from a normal with the data's mean and standard deviation, categories as often as they
    occur. The representation h keeps numbers as they are and gives each level an indicator; the
    kernel π(z) = exp(−Σ_k ((h(x)_k − h(z)_k) / σ_k)²) has σ_k = width · standard deviation.

    The result depends on choices that nothing in the question settles: above all the width, and the
    draw. It therefore comes with its local fit (weighted R²), with the coefficients over repeated
    draws and over other widths, and with a warning where a sign is not stable. Columns are drawn
    independently, so where they depend on each other the fit relies on rows that do not occur.

    Parameters
    ----------
    model
        A fitted model of any library, or a function of rows.
    data
        The rows over which the model is explained, usually the training rows: a table, a data
        frame, an array, a dict of columns or a path.
    row
        The row to explain: one row in any form, or its position in ``data``.
    kernel_width
        In standard deviations; 0.75 √p for p columns when None.
    n_features
        The most terms of the linear model.
    select
        How terms are chosen: "forward" or "lasso".
    n_samples
        Rows of one draw.
    repeats
        How often a draw is made. The coefficients are fitted to all draws together.
    output
        The class, or the name of the output; by default the one predicted for the row.
    scale
        "probability", "margin" or "response"; by default probabilities where there are some.
    time_limit
        Seconds after which the draws that are done are used, at least two; Ctrl-C does the same.
    seed
        Fixes the draws; the explanation's own when None.
    n_jobs
        Threads, where the model is read as a forest; the explanation's own when None.

    Returns
    -------
    Lime

    Examples
    --------
    >>> import numpy as np
    >>> import clearwood as cw
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> result = cw.lime(lambda X: 2 * X[:, 0] - X[:, 1], X, 0, n_features=2)
    >>> result.terms, result.coefficients.round(6), round(result.r2, 6)
    (('x0', 'x1'), array([ 2., -1.]), 1.0)
    """
    return Explanation(model, data).lime(
        row,
        kernel_width=kernel_width,
        n_features=n_features,
        select=select,
        n_samples=n_samples,
        repeats=repeats,
        output=output,
        scale=scale,
        time_limit=time_limit,
        seed=seed,
        n_jobs=n_jobs,
    )


def what_if(
    model: Any,
    data: Any,
    row: Any,
    changes: Mapping[str, Any] | None = None,
    *,
    output: Any = None,
    scale: str | None = None,
    **columns: Any,
) -> WhatIf:
    """Predict a row again with some columns changed, and share the difference among the changes.

    Each change gets its Shapley value in the game in which changes join one by one: what it moves
    the prediction, averaged over the orders in which the changes can be made. It is a statement
    about the model: what would happen in the world if a person's age were different is another
    question.

    Parameters
    ----------
    model
        A fitted model of any library, or a function of rows.
    data
        The rows over which the model is explained, usually the training rows: a table, a data
        frame, an array, a dict of columns or a path.
    row
        One row: its position in the data, a dict, a pandas Series, a table or data frame of one
        row, or an array.
    changes
        New values by column, for names that are not Python identifiers or that are parameters.
    output
        The class or output; all of them when None, of two classes the second.
    scale
        "probability", "margin" or "response"; by default probabilities where there are some.
    **columns
        New values by column: ``age=45``. None for missing.

    Returns
    -------
    WhatIf

    Examples
    --------
    >>> import clearwood as cw
    >>> data = [[2.0, 3.0], [1.0, 1.0]]
    >>> cw.what_if(lambda X: X[:, 0] * X[:, 1], data, 0, x0=4.0, x1=5.0)
    What if, by a function (prediction)
      prediction 6 → 20 (+14)
      x0: 2 → 4  +8
      x1: 3 → 5  +6
    """
    return Explanation(model, data).what_if(row, changes, output=output, scale=scale, **columns)


def contributions(model: Any, data: Any, rows: Any = None, *, output: Any = None) -> Contributions:
    """Compute what each column adds to the prediction of rows, for a linear model.

    Coefficient times value, before any link: for a logistic model the log odds are the constant
    plus these. They are measured from a row of zeros, which may be no row anyone has seen; Shapley
    values (`shapley`) measure from the mean prediction instead.

    Parameters
    ----------
    model
        A fitted model of any library, or a function of rows.
    data
        The rows over which the model is explained, usually the training rows: a table, a data
        frame, an array, a dict of columns or a path.
    rows
        The rows to decompose; all rows of the data when None.
    output
        The class or output, where there are several.

    Returns
    -------
    Contributions

    Examples
    --------
    A loan application with log odds -2.5 + 0.05 income + 0.4 credit score:

    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> import clearwood as cw
    >>> model = LogisticRegression().fit([[0, 0], [1, 1]], [0, 1])
    >>> model.intercept_, model.coef_ = np.array([-2.5]), np.array([[0.05, 0.4]])
    >>> cw.contributions(model, [[60, 7]])
    Contributions (log odds) to 1 row: constant -2.5, x0 +3, x1 +2.8; total 3.3
    """
    return Explanation(model, data).contributions(rows, output=output)


def agreement(
    model: Any,
    data: Any,
    *,
    columns: Sequence[str] | None = None,
    y: Any = None,
    output: Any = None,
    scale: str | None = None,
    sample: int | None = None,
    time_limit: float | None = None,
    seed: int | None = None,
    n_jobs: int | None = None,
) -> Agreement:
    """Compare explanations of a model column by column, with likely reasons where they differ.

    Three pairs are compared for each column: partial dependence with accumulated local effects,
    the interventional effect (partial dependence) with the observational one (the marginal mean),
    and, for trees with a known target, impurity with permutation importance. Where they differ,
    the reasons looked for are associated columns, columns it interacts with, and whether the
    partial dependence relies on rows outside the data. The reasons are likely ones, not proofs.

    Parameters
    ----------
    model
        A fitted model of any library, or a function of rows.
    data
        The rows over which the model is explained, usually the training rows: a table, a data
        frame, an array, a dict of columns or a path.
    columns
        The columns to look at; all that vary when None.
    y
        The target, where the data does not name it.
    output, scale
        As for `effect`.
    sample
        How many rows are used; by default 2,000 of models that are read as trees, 500 of others.
    time_limit
        Seconds after which the columns that are done are given, with a warning; Ctrl-C does the
        same.
    seed
        Fixes samples and draws; the explanation's own when None.
    n_jobs
        Threads, where the model is read as a forest; the explanation's own when None.

    Returns
    -------
    Agreement

    Examples
    --------
    A model that ignores ``x1``, which is nearly the same as ``x0``:

    >>> import numpy as np
    >>> import clearwood as cw
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=400)
    >>> X = np.column_stack([x, x + rng.normal(0, 0.1, 400), rng.normal(size=400)])
    >>> result = cw.agreement(lambda X: X[:, 0] + X[:, 2], X)
    >>> [str(one) for one in result["x1"].disagreements]
    ['interventional against observational']
    >>> result["x2"].agrees
    True
    """
    return Explanation(model, data).agreement(
        columns=columns,
        y=y,
        output=output,
        scale=scale,
        sample=sample,
        time_limit=time_limit,
        seed=seed,
        n_jobs=n_jobs,
    )


def monotone(
    model: Any,
    data: Any,
    columns: Mapping[str, str] | Iterable[str] | str | None = None,
    *,
    n_rows: int = 200,
    seed: int = 0,
) -> Monotone:
    """Decide whether the prediction rises or falls with columns, everything else being equal.

    First, rows of the data, and as many whose columns are put together at random, are predicted at
    values of the column; a step in either direction is a witness. If no step goes against a
    direction, it is proved where the model allows that: by adding up the least steps of sums over
    one and two columns, by an exact search through boxes for trees of any depth, and by bounds of
    derivatives for curves. What could not be proved is marked so.

    A proof holds for all values of all columns, also for combinations that do not occur, and up to
    rounding. Missing values of the column have no place in its order; those of the others count.

    Parameters
    ----------
    model
        A fitted model of any library, or a function of rows.
    data
        The rows over which the model is explained, usually the training rows: a table, a data
        frame, an array, a dict of columns or a path.
    columns
        Columns and the direction that each should have, ``{"age": "up"}``; or the names of some
        columns. By default all that hold numbers, yes/no or ordered categories.
    n_rows
        Rows that are predicted at values of each column; as many again are put together.
    seed
        Fixes which.

    Returns
    -------
    Monotone

    Examples
    --------
    >>> import clearwood as cw
    >>> data = cw.datasets.load("diabetes")
    >>> model = cw.learner("gbm", max_iter=30, monotone={"bmi": "up"}).fit(data)
    >>> known = cw.explain(model, data).monotone({"bmi": "up", "age": "up"})
    >>> known["bmi"].sentence, known["age"].holds
    ('proved increasing over the whole space', False)
    """
    return Explanation(model, data).monotone(columns, n_rows=n_rows, seed=seed)
