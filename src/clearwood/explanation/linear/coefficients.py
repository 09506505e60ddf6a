"""The coefficients of linear learners, with standard errors, in the user's units and levels."""

import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, get_args

import numpy as np
from scipy import stats
from sklearn.base import clone

from clearwood._shared.arrays import Floats
from clearwood._shared.checks import check_confidence, check_seed, check_whole
from clearwood._shared.choices import Gaps, StandardErrors
from clearwood._shared.dispersion import OVERDISPERSED, overdispersed
from clearwood._shared.errors import (
    Call,
    ClearwoodWarning,
    InputError,
    Option,
    Setting,
    unknown_choice,
    words,
)
from clearwood._shared.messages import tell
from clearwood._shared.numbers import IN_TABLES, count, number, percent
from clearwood._shared.progress import progress
from clearwood._shared.weights import counted
from clearwood.explanation.linear.contrasts import Contrast, contrasts_of, on_unseen_levels
from clearwood.explanation.linear.covariance import Errors, Family, GlmFit
from clearwood.explanation.linear.result import Coefficients, ColumnTest, ImputedEstimate, joined
from clearwood.explanation.linear.split_sample import split_sample
from clearwood.fitted import Unit, score_of
from clearwood.models import Learner, chooses_columns
from clearwood.table import (
    Table,
    Task,
    as_table,
    complete_rows,
    gap_shares,
    gaps_listed,
    imputed_tables,
    read_as,
)

__all__ = ["coefficients", "freedom_of", "training_table", "with_fit"]

#: A further step of the fit that would move a coefficient by more than this share of its standard
#: error shows that the model was fitted to other rows; a smaller one is stated above the other.
_MOST_OFF, _OFF = 0.25, 1e-3
#: A penalty that moves no coefficient by more than this share of its standard error is ignored:
#: a normal interval of 90 % that is off by as much covers 89.8 %.
_MOST_SHRUNK = 0.1
#: A coefficient of a number below this has a ratio for one unit that is written as 1.00.
_NEXT_TO_NOTHING = 0.005
#: Chains of draws agree where R-hat is at most this (Vehtari et al. 2021).
_MOST_R_HAT = 1.01


def coefficients(
    model: Learner,
    data: Any,
    *,
    base: Mapping[str, str] | None = None,
    errors: StandardErrors = "auto",
    confidence: float = 0.9,
    split: float | None = None,
    gaps: Gaps = "fill",
    imputations: int = 20,
    seed: int = 0,
) -> Coefficients:
    """Compute the coefficients of a linear learner in the units and levels of the table.

    Whatever the encoding inside the model, a number has one coefficient for one unit more, and each
    level of a category one that compares it with the base level. For models with a log link their
    exponentials are relativities; for logistic regression, odds ratios.

    Standard errors are those of maximum likelihood: of "ols", "glm" and "logistic". They are left
    out where a penalty shrinks a coefficient by more than a tenth of its standard error; "glm" with
    ``alpha=0`` and "logistic" with ``penalty="none"`` have no penalty. For "bayes" they are the
    posterior standard deviations, and the intervals those of the posterior, next to the prior's.

    Where the same rows have chosen the columns ("subset", "lasso", any learner with ``select=``),
    the usual standard errors, intervals and p-values are not valid: a column is chosen because it
    looks strong on these rows. A note of the table states it. With ``split`` some rows choose and
    the others estimate, and intervals are valid for the columns that were chosen.

    Where columns have gaps, a learner fills them and marks the rows that it filled. There the
    other coefficients are not adjusted for what is missing: an effect that the column explains
    remains, and no standard error shows it. A note of the table states it. With ``gaps`` the
    learner is fitted again to complete rows, or to tables whose gaps are filled by draws (multiple
    imputation).

    Parameters
    ----------
    model
        A fitted learner that is linear in its columns, such as "ols", "glm" or "logistic".
    data
        The rows it was fitted to: a table with the target, or anything that can be read as one.
    base
        The base level of some columns: ``{"region": "town"}``. By default the most frequent one, by
        weight and exposure.
    errors
        Which standard errors. "model": right if the model and its variance are right. "robust":
        right also for another variance (White 1980, HC1); each row counts as one observation.
        "cluster": right also if rows of one group depend on each other; the table needs a group.
        "auto": "cluster" for a table with a group, "robust" for one with weights, else "model".
    confidence
        Of the intervals.
    split
        The share of the rows that choose columns, as the learner does. The coefficients are those
        of a fit without a penalty ("ols", "glm" or "logistic") to the other rows, on the chosen
        columns; None: those of the model itself.
    gaps
        What becomes of rows with gaps in columns of the model. "fill": the coefficients of the
        model as it was fitted. "complete": those of a fit to the rows without gaps, right if it
        does not depend on the target which rows these are, given the columns. "impute": the mean
        over fits to tables in which gaps are filled by draws, given the other columns and the
        target, right if it does not depend on a value itself whether it is missing.
    imputations
        How many such tables.
    seed
        Fixes which rows choose, and the draws that fill gaps.

    Returns
    -------
    Coefficients

    Notes
    -----
    With an exposure e, y/e is fitted with weight e: for Poisson regression this is the offset log
    e. Weights without an exposure count rows as repeated in "model".

    Standard errors of counts and amounts are those of the family times the square root of the
    dispersion, which is estimated (quasi-likelihood), and intervals are those of Student's t. The
    dispersion of counts Y with fitted means m and leverages h is Σ (Y − m)² / Σ m (1 − h): 1 for
    a Poisson distribution, more where counts come in clusters.

    Fits to imputed tables are joined by Rubin's rules, with the degrees of freedom of Barnard and
    Rubin (1999); `unknown` is the fraction of missing information of each line. Gaps are filled by
    chained equations: linear regression for numbers, and logistic regression for levels, with
    coefficients that are drawn from their posterior. What the model adds to that, such as curves
    of dates, is not in the draws.

    Coefficients are statements about the model's columns given the others, not about what would
    happen if a column were changed.

    Examples
    --------
    >>> import clearwood as cw
    >>> policies = cw.datasets.insurance(5_000)
    >>> model = cw.learner("glm", alpha=0).fit(policies)
    >>> table = cw.coefficients(model, policies, base={"region": "town"})
    >>> table.names()[:4]
    ('constant', 'gender = male', 'gender = female', 'age')
    >>> city = table.names().index("region = city")
    >>> bool(table.ratio_low[city] < 1.49 < table.ratio_high[city])  # exp(0.4), the truth
    True
    """
    learner = _checked(model)
    check_seed(seed)
    check_whole("imputations", imputations, 2)
    if gaps not in get_args(Gaps):
        raise unknown_choice("gaps", gaps, get_args(Gaps))
    how: dict[str, Any] = {"base": base, "errors": errors, "confidence": confidence}
    shares: dict[str, float] = {}
    if gaps != "fill":
        data = _counted_rows(training_table(learner, data))
        names = _columns_of(learner)
        shares = gap_shares(data.column(name) for name in names)
        if shares and gaps == "impute":
            _check_imputed(learner, split)
            return _imputed(learner, data, names, shares, how, imputations, int(seed))
        if shares:
            learner, data = _on_complete_rows(learner, data, names)
    if split is None:
        result = with_fit(learner, data, **how)[0]
    else:
        apart = split_sample(learner, _rows_with_target(learner, data), split, int(seed))
        estimated, _ = with_fit(apart.model, apart.rows, **how)
        note = (
            f"{learner.name} chose the columns from {count(apart.n_choosing, 'other row')} (seed "
            f"{seed}), so intervals are valid for these columns; other rows may choose others"
        )
        result = replace(
            estimated, chosen_by="other rows", chooser=learner.name, notes=(note, *estimated.notes)
        )
    if not shares:
        return result
    note = (
        f"{gaps_listed(shares)}: fitted to the rows without gaps only, {data.n_rows:,} of "
        f"{model.training_['rows']:,}, which is right if it does not depend on "
        f"{result.outcome} which rows these are, given the columns"
    )
    return replace(result, gaps="complete", gap_shares=shares, notes=(note, *result.notes))


def _columns_of(learner: Learner) -> tuple[str, ...]:
    """Return the columns of the model, with those that it may choose from."""
    if chooses_columns(learner):
        return tuple(learner.schema_.features)
    return tuple(learner.encoder_.used_)


def _counted_rows(table: Table) -> Table:
    """Return the rows that have weight."""
    rows, _ = counted(table.weights, table.n_rows)
    return table.take(rows) if len(rows) < table.n_rows else table


def _on_complete_rows(
    learner: Learner, table: Table, names: tuple[str, ...]
) -> tuple[Learner, Table]:
    """Fit the learner again to the rows without gaps."""
    rows = complete_rows(table, names)
    if not len(rows):
        raise InputError(
            "no row is complete: each lacks the value of a column of the model",
            parameter="gaps",
            value="complete",
            hint=words("fill the gaps by draws: ", Option("gaps", "impute"), "."),
        )
    table = table.take(rows)
    return clone(learner).fit(table), table


def _check_imputed(learner: Learner, split: float | None) -> None:
    """Refuse learners whose fits to imputed tables cannot be joined."""
    hint = words("use the complete rows: ", Option("gaps", "complete"), ".")
    if split is not None or chooses_columns(learner):
        raise InputError(
            f"learner {learner.name!r} chooses columns, and may choose others from each imputed "
            "table",
            parameter="gaps",
            value="impute",
            hint=hint,
        )
    if hasattr(learner.estimator_, "posterior_of"):
        raise InputError(
            "posteriors of models that are fitted to imputed tables cannot be joined",
            parameter="gaps",
            value="impute",
            hint=hint,
        )


def _imputed(
    learner: Learner,
    table: Table,
    names: tuple[str, ...],
    shares: dict[str, float],
    how: dict[str, Any],
    imputations: int,
    seed: int,
) -> Coefficients:
    """Return the coefficients of fits to imputed tables, joined."""
    estimates: list[ImputedEstimate] = []
    base = how["base"]
    tables = imputed_tables(table, names, imputations=imputations, seed=seed)
    with progress("fitting imputed tables", total=imputations) as step:
        for filled in tables:
            with warnings.catch_warnings():
                if estimates:  # the first has said what the others would repeat
                    warnings.simplefilter("ignore", ClearwoodWarning)
                one = _estimate(clone(learner).fit(filled), filled, **{**how, "base": base})
            estimates.append(one)
            # the most frequent levels of the first table are the bases of all
            bases = zip(one.table.columns, one.table.bases, strict=True)
            base = {column: level for column, level in bases if level}
            step(1)
    result = joined(estimates)
    note = (
        f"{gaps_listed(shares)}: the mean over fits to {count(imputations, 'table')} whose gaps "
        f"are filled by draws (seed {seed}), joined by Rubin's rules, which is right if it does "
        f"not depend on a value itself whether it is missing, given the other columns and "
        f"{result.outcome}"
    )
    if result.unknown is not None:
        most = percent(float(np.nanmax(result.unknown, initial=0.0)))
        note += f"; {most} of the information about a coefficient is missing at most"
    return replace(result, gaps="impute", gap_shares=shares, notes=(note, *result.notes))


def with_fit(
    model: Learner,
    data: Any,
    *,
    base: Mapping[str, str] | None = None,
    errors: StandardErrors = "auto",
    confidence: float = 0.9,
) -> tuple[Coefficients, GlmFit | None]:
    """Compute the coefficients, and the fit behind their standard errors where they have some."""
    table, fitted, _ = _estimated(model, data, base, errors, confidence)
    return table, fitted


def _estimate(model: Learner, table: Table, **how: Any) -> ImputedEstimate:
    """Compute the coefficients with the covariance of the lines."""
    result, fitted, combined = _estimated(model, table, **how)
    if fitted is None or result.errors is None or result.errors == "posterior":
        return ImputedEstimate(result)
    groups = table.groups if result.errors == "cluster" else None
    covariance = combined @ fitted.covariance(result.errors, groups) @ combined.T
    return ImputedEstimate(result, covariance, freedom_of(fitted, result.errors, result.n_groups))


def _estimated(
    model: Learner,
    data: Any,
    base: Mapping[str, str] | None,
    errors: StandardErrors,
    confidence: float,
) -> tuple[Coefficients, GlmFit | None, Floats]:
    """Compute the coefficients, the fit, and each line as a combination of its coefficients."""
    check_confidence(confidence)
    learner = _checked(model)
    table = _counted_rows(training_table(learner, data))
    features = as_table(table, schema=learner.schema_)
    matrix = learner.encoder_.transform(features)
    score = score_of(learner.estimator_)
    # coefficients of components or splines are not those of columns
    shape = (matrix.shape[1], 1)
    if score is None or score.coefficients is None or score.coefficients.shape != shape:
        raise _not_linear(learner)
    start = float(score.of(np.zeros((1, matrix.shape[1])))[0, 0])
    vector = np.concatenate([[start], score.coefficients[:, 0]])
    weights = np.ones(table.n_rows) if table.weights is None else table.weights
    lines = contrasts_of(learner.encoder_, features, weights / weights.sum(), dict(base or {}))
    combined = np.stack([line.weights for line in lines])
    values = combined @ vector
    outcome = table.outcome or "the target"
    if learner.task_.is_classification:
        outcome = f"{outcome} = {learner.classes_[1]}"
    table_of: dict[str, Any] = {
        "columns": tuple(line.column for line in lines),
        "levels": tuple(line.level for line in lines),
        "bases": tuple(line.base for line in lines),
        "is_base": np.array([line.is_base for line in lines]),
        "shares": np.array([line.share for line in lines]),
        "values": values,
        "confidence": confidence,
        "unit": score.unit,
        "outcome": outcome,
        "counted_by": table.counted_by,
        "model": learner.name,
        "n_rows": table.n_rows,
    }
    shares = gap_shares(features.column(name) for name in learner.encoder_.used_)
    table_of["gap_shares"] = shares
    filled = (_filled(shares),) if shares else ()
    others = (
        *_for_one_deviation(lines, values, features, weights, score.unit),
        *on_unseen_levels(learner.encoder_),
        *(learner.notes_ if learner.rebalance else ()),
    )
    if chooses_columns(learner):
        table_of |= {"chosen_by": "same rows", "chooser": learner.name}
    if hasattr(learner.estimator_, "posterior_of"):
        _check_posterior(errors)
        posterior = _posterior(learner, combined, confidence)
        posterior["notes"] = (*posterior["notes"], *others, *filled)
        return Coefficients(**table_of, **posterior), None, combined
    chosen = _chosen_errors(errors, table)
    family = _family(learner)
    if family is None:
        notes = (_why_no_errors(learner), *others, *filled)
        without = {**_without_errors(len(lines)), "notes": notes}
        return Coefficients(**table_of, **without), None, combined
    fitted = GlmFit(
        family=family,
        power=float(learner.all_settings.get("power", 1.5)),
        matrix=np.column_stack([np.ones(len(matrix)), matrix]),
        coefficients=_as_fitted(learner, vector),
        y=_numeric_target(learner, table),
        weights=weights,
        counts=np.ones(table.n_rows) if table.row_weights is None else table.row_weights,
        sources=tuple(one.source for one in learner.encoder_.columns_),
        overdispersion=float(getattr(learner.estimator_, "overdispersion_", 0.0)),
    )
    fitted = replace(fitted, penalty=_penalty(learner, fitted))
    known = _with_errors(fitted, lines, chosen, confidence, values, table)
    if known is None:
        notes = (_why_no_errors(learner), *others, *filled)
        without = {**_without_errors(len(lines)), "notes": notes}
        return Coefficients(**table_of, **without), None, combined
    if chooses_columns(learner):
        known["notes"] = (_after_selection(has_errors=True), *known["notes"])
    known["notes"] = (*known["notes"], *others, *filled)
    return Coefficients(**table_of, **known), fitted, combined


def _as_fitted(learner: Learner, vector: Floats) -> Floats:
    """Return the coefficients as they were before predictions were rebalanced."""
    if not learner.rebalance or learner.level_ is None:
        return vector
    return np.append(vector[:1] - np.log(learner.level_.ratio), vector[1:])


def _for_one_deviation(
    lines: list[Contrast], values: Floats, features: Table, weights: Floats, unit: Unit
) -> tuple[str, ...]:
    """State ratios for one standard deviation where those for one unit are next to 1."""
    if unit not in (Unit.LOG_MEAN, Unit.LOG_ODDS):
        return ()
    stated = []
    for line, value in zip(lines, values.tolist(), strict=True):
        if not line.column or line.base or line.level or abs(value) >= _NEXT_TO_NOTHING:
            continue
        numbers = np.asarray(features.column(line.column).values, np.float64)
        known = np.isfinite(numbers) & (weights > 0)
        middle = np.average(numbers[known], weights=weights[known])
        spread = float(np.sqrt(np.average((numbers[known] - middle) ** 2, weights=weights[known])))
        if abs(value * spread) >= _NEXT_TO_NOTHING:
            ratio = number(float(np.exp(value * spread)))
            stated.append(f"{line.column!r} {ratio} (for {number(spread)})")
    note = (
        "one unit of some columns is small and its ratio next to 1; ratios for one standard "
        f"deviation more: {', '.join(stated)}"
    )
    return (note,) if stated else ()


def _filled(shares: Mapping[str, float]) -> str:
    """Say that coefficients rest on filled gaps, and what to do."""
    return str(
        words(
            f"{gaps_listed(shares)}: there the model has a stand-in and a mark, so the other "
            "coefficients are not adjusted for what is missing, which no standard error shows; ",
            Call("coefficients", ("model", "data"), {"gaps": "impute"}),
            " fills gaps by draws, and ",
            Option("gaps", "complete"),
            " fits to complete rows",
        )
    )


def _checked(model: Any) -> Learner:
    """Refuse what is not a fitted learner that is linear."""
    if not isinstance(model, Learner) or not hasattr(model, "estimator_"):
        raise InputError(
            f"coefficients are of a fitted learner, not of {type(model).__name__}",
            parameter="model",
            hint=words("fit one: ", Call("learner", ("'glm'",), {"alpha": 0}), "."),
        )
    if model.task_.is_classification and len(model.classes_) != 2:
        raise InputError(
            f"there are {len(model.classes_)} classes; tables of coefficients are for two",
            parameter="model",
            value=model.name,
        )
    if score_of(model.estimator_) is None:
        raise _not_linear(model)
    return model


def _not_linear(model: Learner) -> InputError:
    return InputError(
        f"learner {model.name!r} is not linear in its columns, so it has no table of coefficients",
        parameter="model",
        value=model.name,
        hint="fit 'ols', 'glm' or 'logistic', or look at the effects of its columns.",
    )


def training_table(model: Learner, data: Any) -> Table:
    """Return the rows the model was fitted to, as a table with the target."""
    table = _rows_with_target(model, data)
    if table.n_rows != model.training_["rows"]:
        raise InputError(
            f"the model was fitted to {model.training_['rows']:,} rows, and the table has "
            f"{table.n_rows:,}",
            parameter="data",
            value=table.n_rows,
            hint="pass the rows that it was fitted to.",
        )
    return table


def _rows_with_target(model: Learner, data: Any) -> Table:
    """Return rows as a table with the model's target."""
    table = data if isinstance(data, Table) else read_as(data, model.schema_)
    model.check_outcome(table)
    if table.target is None:
        raise InputError(
            "the table has no target",
            parameter="data",
            hint=words("standard errors need it: ", Call("read", ("data",), {"target": "…"}), "."),
        )
    return table


def _chosen_errors(errors: StandardErrors, table: Table) -> Errors:
    if errors not in get_args(StandardErrors):
        raise unknown_choice("errors", errors, get_args(StandardErrors))
    if errors == "cluster" and table.groups is None:
        raise InputError(
            "clustered standard errors need groups, and the table has none",
            parameter="errors",
            value=errors,
            hint=words("read the table with ", Option("group", "COLUMN"), "."),
        )
    if errors != "auto":
        return errors
    if table.groups is not None:
        return "cluster"
    return "model" if table.row_weights is None else "robust"


def _check_posterior(errors: StandardErrors) -> None:
    """Refuse standard errors of another kind than the posterior's."""
    if errors not in get_args(StandardErrors):
        raise unknown_choice("errors", errors, get_args(StandardErrors))
    if errors not in ("auto", "model"):
        raise InputError(
            "a posterior has the standard deviations of its model only",
            parameter="errors",
            value=errors,
            hint="fit 'ols', 'glm' or 'logistic' for robust and clustered standard errors.",
        )


def _posterior(model: Learner, combined: Floats, confidence: float) -> dict[str, Any]:
    """Return the posterior of the lines next to their priors."""
    estimator = model.estimator_
    known = estimator.posterior_of(combined, confidence)
    is_base = ~combined.any(axis=1)
    prior_low, prior_high = known.prior_low.copy(), known.prior_high.copy()
    prior_low[is_base] = prior_high[is_base] = np.nan
    stated = "stated" if estimator.is_stated_.all() else "chosen by the evidence"
    if model.all_settings["scale"] is not None:
        stated = "as set"
    unit = "log odds" if model.task_.is_classification else "log of the mean"
    if model.task_ is Task.REGRESSION:
        unit = "standard deviations of the target"
    evidence = number(estimator.log_evidence_, IN_TABLES)
    notes = [f"log evidence {evidence}, to compare with other priors or columns for the same rows"]
    if not estimator.is_stated_.all():
        notes.insert(
            0,
            f"default priors are normal around zero, with a scale of {number(estimator.scale_)} "
            f"({stated}) in {unit}, for one standard deviation of a number or for a level; the "
            "constant has a flat prior",
        )
    chains: dict[str, Any] = {}
    if estimator.draws_ is not None:
        chains = {"r_hat": known.r_hat, "effective_size": known.effective_size}
        n_chains, n_draws, _ = estimator.draws_.shape
        notes.append(f"{n_chains} chains of {count(n_draws, 'draw')}, seed {model.seed}")
        if np.nanmax(known.r_hat) > _MOST_R_HAT:
            notes.append(
                "the chains do not agree well: R-hat should be at most 1.01. Draw more, or state "
                "narrower priors"
            )
    elif model.task_ is not Task.REGRESSION:
        notes.append("the posterior is approximated by a normal distribution (Laplace)")
    return {
        "standard_errors": known.spread,
        "low": known.low,
        "high": known.high,
        "p_values": np.full(len(combined), np.nan),
        "tests": (),
        "errors": "posterior",
        "n_groups": None,
        "dispersion": np.nan,
        "prior_low": prior_low,
        "prior_high": prior_high,
        "notes": tuple(notes),
        **chains,
    }


def _family(model: Learner) -> Family | None:
    """Return the family that the learner fits by maximum likelihood; None for others."""
    settings = model.all_settings
    if model.name == "ols":
        return "normal"
    if model.name == "glm":
        return model.estimator_.distribution_  # type: ignore[no-any-return]
    if model.name == "logistic" and settings["penalty"] in ("none", None, "l2"):
        return None if settings["class_weight"] is not None else "binomial"
    return None


def _penalty(model: Learner, fitted: GlmFit) -> float:
    """Return the weight of half the squared coefficients against the log-likelihood of all rows."""
    settings = model.all_settings
    if model.name == "glm":
        # relative to a mean of deviances of the target divided by its mean
        mean = float(np.average(fitted.y, weights=fitted.weights))
        unit = float(mean ** (2 - fitted.variance_power))
        return float(settings["alpha"]) * float(fitted.weights.sum()) * unit
    if model.name == "logistic" and settings["penalty"] == "l2":
        return 1.0 / float(settings["C"])
    return 0.0


def _why_no_errors(model: Learner) -> str:
    """Say why there are no standard errors, and what to fit for some."""
    if chooses_columns(model):
        return _after_selection(has_errors=False)
    setting = {"glm": Setting("alpha", 0), "logistic": Setting("penalty", "none")}.get(model.name)
    if setting is None:
        return (
            f"learner {model.name!r} is not fitted by maximum likelihood without a penalty, so its "
            "coefficients have no standard errors here; 'ols' and 'glm' can have some"
        )
    return str(
        words(
            "the penalty shrinks the coefficients, so they have no standard errors; fit with ",
            setting,
            " for some",
        )
    )


def _after_selection(*, has_errors: bool) -> str:
    """Say that inference after selection is not valid, and what is."""
    effect = "standard errors would be too small, so none are given; "
    if has_errors:
        effect = "standard errors, intervals and p-values ignore the choice and are too small; "
    return str(
        words(
            "the same rows chose the columns, and inference after selection is not valid: ",
            effect,
            Option("split", 0.5),
            " lets half of the rows choose and the others estimate",
        )
    )


def _numeric_target(model: Learner, table: Table) -> Floats:
    if model.task_.is_classification:
        return np.asarray(table.y == model.classes_[1], np.float64)
    return np.asarray(table.y, np.float64)


def _without_errors(n: int) -> dict[str, Any]:
    unknown = np.full(n, np.nan)
    names = ("standard_errors", "low", "high", "p_values")
    more = {"tests": (), "errors": None, "n_groups": None, "dispersion": np.nan}
    return {**dict.fromkeys(names, unknown), **more}


def _with_errors(
    fitted: GlmFit,
    lines: list[Contrast],
    errors: Errors,
    confidence: float,
    values: Floats,
    table: Table,
) -> dict[str, Any] | None:
    """Return standard errors, intervals, tests and notes; None where a penalty shrinks too much."""
    groups = table.groups if errors == "cluster" else None
    n_groups = None if groups is None else len(np.unique(groups))
    combined = np.stack([line.weights for line in lines])
    covariance = combined @ fitted.covariance(errors, groups) @ combined.T
    spread = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    bases = np.array([line.is_base for line in lines])
    unsure = [k for k, line in enumerate(lines) if not fitted.is_estimable(line.weights)]
    spread[unsure] = np.nan
    known = ~bases & np.isfinite(spread) & (spread > 0)
    shrunk = np.abs(fitted.shrinkage(combined))
    if (shrunk[known] > _MOST_SHRUNK * spread[known]).any():
        return None
    left = np.abs(fitted.steps_left(combined))
    steps = np.divide(left, spread, out=np.zeros_like(left), where=known)
    notes = []
    if steps.max(initial=0.0) > _OFF:
        furthest = lines[int(np.argmax(steps))].column or "the constant"
        size = f"that of {furthest!r} by {number(float(steps.max()))} standard errors"
        if steps.max() > _MOST_OFF:
            raise InputError(
                "the coefficients are not the best for these rows: a further step would move "
                f"{size}; the model was fitted to other rows, or its fit stopped early",
                parameter="data",
                hint="pass the rows that it was fitted to, with the same weights and exposure; if "
                "they are these, fit it again.",
            )
        notes.append(f"the fit stopped short of the maximum: a further step would move {size}")
    if fitted.penalty > 0:
        most = percent(float((shrunk[known] / spread[known]).max(initial=0.0)))
        notes.append(
            f"the penalty shrinks coefficients by {most} of their standard error at most, which "
            "intervals ignore"
        )
    if unsure:
        names = list(dict.fromkeys(lines[k].column or "the constant" for k in unsure))
        notes.append(
            f"the rows do not determine the coefficients of {', '.join(map(repr, names))}: other "
            "columns contain the same information"
        )
        tell(notes[-1])
    if n_groups is not None and n_groups < 30:
        notes.append(
            f"{n_groups} groups are few for clustered standard errors, which are then too small"
        )
    if fitted.family == "negative-binomial":
        notes.append(
            f"counts of mean m have the variance m + {number(fitted.overdispersion)} m², by "
            "maximum likelihood"
        )
    if fitted.family == "poisson" and fitted.dispersion > OVERDISPERSED:
        notes.append(overdispersed(fitted.dispersion))
    diverging = fitted.diverging
    if diverging:
        one, several = ("separates", "separate")
        why = "the classes"
        if fitted.family != "binomial":
            one, several, why = "has", "have", "rows without events"
        notes.append(
            f"{', '.join(map(repr, diverging))} {one if len(diverging) == 1 else several} {why}: "
            "some coefficients have no finite value, and their standard errors mean nothing"
        )
    freedom = freedom_of(fitted, errors, n_groups)
    distribution = stats.t(freedom)
    reach = distribution.ppf(0.5 + confidence / 2) * spread
    with np.errstate(divide="ignore", invalid="ignore"):
        p_values = 2 * distribution.sf(np.abs(values) / spread)
    p_values[bases] = np.nan
    spread[bases] = 0.0
    return {
        "standard_errors": spread,
        "low": values - np.where(bases, 0.0, reach),
        "high": values + np.where(bases, 0.0, reach),
        "p_values": p_values,
        "tests": _tests(fitted, lines, values, covariance, spread, freedom),
        "errors": errors,
        "n_groups": n_groups,
        "dispersion": fitted.dispersion,
        "distribution": fitted.family,
        "notes": tuple(notes),
    }


def freedom_of(fitted: GlmFit, errors: Errors, n_groups: int | None) -> float:
    """Return the degrees of freedom of the t distribution of intervals; infinite for the normal."""
    if errors == "model":
        return fitted.dispersion_freedom
    if fitted.family != "normal":
        return np.inf
    return max(fitted.freedom if n_groups is None else n_groups - 1.0, 1.0)


def _tests(
    fitted: GlmFit,
    lines: list[Contrast],
    values: Floats,
    covariance: Floats,
    spread: Floats,
    residual_freedom: float,
) -> tuple[ColumnTest, ...]:
    """Test for each column that all its coefficients are zero."""
    tests = []
    for name in dict.fromkeys(line.column for line in lines if line.column):
        own = [
            k
            for k, line in enumerate(lines)
            if line.column == name and not line.is_base and np.isfinite(spread[k])
        ]
        if not own:
            continue
        part = covariance[np.ix_(own, own)]
        statistic = float(values[own] @ np.linalg.pinv(part, hermitian=True) @ values[own])
        freedom = int(np.linalg.matrix_rank(part, hermitian=True))
        p_value = _tail(statistic, freedom, residual_freedom)
        tests.append(ColumnTest(name, statistic, freedom, p_value, *_ratio(fitted, lines, name)))
    return tuple(tests)


def _ratio(fitted: GlmFit, lines: list[Contrast], name: str) -> tuple[float, float]:
    """Return the likelihood ratio of a fit without a column, and its p-value."""
    own = np.any([line.weights != 0 for line in lines if line.column == name], axis=0)
    own[0] = False
    smaller = fitted.without(np.flatnonzero(own))
    freedom = fitted.rank - smaller.rank
    if freedom < 1:
        return np.nan, np.nan
    ratio = max(smaller.deviance - fitted.deviance, 0.0) / fitted.dispersion
    return ratio, _tail(ratio, freedom, fitted.dispersion_freedom)


def _tail(statistic: float, freedom: int, residual_freedom: float) -> float:
    """Return the chance of a larger χ² statistic; by F where the dispersion was estimated."""
    if np.isinf(residual_freedom):
        return float(stats.chi2.sf(statistic, freedom))
    return float(stats.f.sf(statistic / freedom, freedom, residual_freedom))
