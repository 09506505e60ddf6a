"""Make a fair predictor of a model."""

from collections.abc import Sequence
from typing import Any

from clearwood._shared.errors import Option, words
from clearwood._shared.messages import tell
from clearwood.fairness.groups.reading import read_rows
from clearwood.fairness.predictors.calibration import Way
from clearwood.fairness.predictors.fair_model import FairKind, FairModel
from clearwood.fairness.predictors.use import stand_ins_in, used_columns
from clearwood.models import is_fitted
from clearwood.table import Table

__all__ = ["fair"]


def fair(
    model: Any,
    data: Any,
    *,
    protected: Sequence[str] | str | None = None,
    graph: Any = None,
    kind: FairKind = "free",
    distribution: Any = "marginal",
    calibrate: Way | None = "scale",
    by_group: bool = False,
) -> FairModel:
    """Make a model that predicts without the protected columns and without what stands for them.

    ``kind="free"`` is the discrimination-free predictor ``Σ_a q(a) · model(x, a)``: the mean
    prediction if every row had each value ``a`` of the protected columns in turn, on the scale of
    the target. A model that is merely fitted without the protected columns uses others, such as
    height for gender, as a substitute; this one does not, because the model that is averaged had
    the protected columns and so no need for a substitute (Hiabu 2024, section 8.3; Lindholm,
    Richman, Tsanakas and Wüthrich 2022).

    Parameters
    ----------
    model
        A fitted learner or estimator, whose features include the protected columns; an unfitted one
        is fitted to the data first.
    data
        The rows over which is averaged and calibrated: usually those of the fit, with their target.
    protected
        The protected columns; by default those with that role in the table. Missing values are a
        level of their own, and several columns are averaged over jointly.
    graph
        A causal graph, or its text; the conditions under which the predictor has a causal meaning
        are checked on it, see `FairModel.conditions`.
    kind
        "free"; or one of two rivals to compare it with: "unaware" is fitted again without the
        protected columns, and "parity" gives every group the same distribution of predictions (the
        Wasserstein barycentre). "parity" needs the protected columns to predict and treats people
        of different groups differently on purpose: it is treatment by group.
    distribution
        The distribution ``q`` of the protected columns: "marginal", their joint distribution in the
        data; a dict of shares by level (by tuple of levels for several columns); or a weight for
        each row of the data.
    calibrate
        How the weighted mean of the predictions is brought to that of the target. "scale"
        multiplies, "level" adds, "linear" does both by least squares, None leaves them. No
        prediction leaves the range of the target: counts and amounts stay at 0 or above, and
        probabilities are changed in their log odds. A target with negative values has no natural
        zero, so "scale" adds there.
    by_group
        Whether to fit one model for each level of the protected columns, so that a model that
        shrinks effects cannot understate that of the protected columns.

    Returns
    -------
    FairModel
        A scikit-learn estimator, saved by `clearwood.save`.

    Notes
    -----
    Averages over levels are exact. A column of numbers is averaged over its values in the data:
    exactly for trees, where all values between two thresholds count as one, and for other models if
    there are at most 512 values; else over the means of 512 equally likely bins.

    A column that holds a protected one in another form, such as a yes/no column for another group
    or a title, keeps its influence: `clearwood.checks.stand_ins` finds these, and a warning names
    those that the model uses. Protected as well, they are averaged over too.

    The result is not fair in every sense of the word. Groups may still differ in their predictions
    through permitted columns: that these are permitted is a decision of yours.

    Examples
    --------
    >>> import clearwood as cw
    >>> policies = cw.datasets.insurance(5000)
    >>> model = cw.learner("glm").fit(policies)
    >>> fair = cw.fair(model, policies)
    >>> fair.protected_, fair.distribution_.shares.round(2)
    (('gender',), array([0.49, 0.51]))
    >>> round(float((policies.weights * fair.predict(policies)).sum()))
    1110
    >>> round(float(policies["accidents"].values.sum()))
    1110
    """
    made = FairModel(
        model,
        protected=protected,
        graph=graph,
        kind=kind,
        distribution=distribution,
        calibrate=calibrate,
        by_group=by_group,
    )
    made.check_options()
    table = read_rows(model, data, protected)
    made = made.settle(model, table) if is_fitted(model) else made.fit(table)
    if kind == "free" and not by_group:
        _warn_of_unused(made, table)
    if kind != "parity":
        _warn_of_stand_ins(made, table)
    return made


def _warn_of_unused(made: FairModel, table: Table) -> None:
    """Warn that averaging over columns changes nothing where the model does not use them."""
    names = made.protected_
    if not used_columns(made.models_[0], table, names):
        tell(
            f"no prediction of the model changes with {' or '.join(map(repr, names))}, so "
            "averaging over it changes nothing: what other columns reveal about it stays in the "
            "predictions"
        )


def _warn_of_stand_ins(made: FairModel, table: Table) -> None:
    """Warn of columns through which the protected ones keep their influence."""
    for one in stand_ins_in(made, table, made.protected_):
        tell(
            words(
                f"{one}: the predictions depend on what is protected through it; protect it too, ",
                Option("protected", [*made.protected_, *one.columns[:1]]),
                ", or fit the model without it",
            )
        )
