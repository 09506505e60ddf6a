"""The public import function, and the importer of each kind of model."""

from collections.abc import Callable
from importlib import import_module
from typing import Any

from clearwood._shared.errors import Call, InputError, words
from clearwood.forest.forest import Forest
from clearwood.models import check_fitted

__all__ = ["SUPPORTED", "from_model", "not_supported", "supports"]

# Class name -> (module of the importer, its function). Names are looked up along the class's
# bases, so a subclass of a supported model is supported; no library is imported for that.
_IMPORTERS = {
    "DecisionTreeClassifier": ("sklearn", "one_tree"),
    "DecisionTreeRegressor": ("sklearn", "one_tree"),
    "ForestClassifier": ("sklearn", "random_forest"),
    "ForestRegressor": ("sklearn", "random_forest"),
    "BaggingClassifier": ("sklearn", "bagging"),
    "BaggingRegressor": ("sklearn", "bagging"),
    "GradientBoostingClassifier": ("sklearn", "gradient_boosting"),
    "GradientBoostingRegressor": ("sklearn", "gradient_boosting"),
    "BaseHistGradientBoosting": ("hist_gradient", "hist_gradient"),
    "AdaBoostClassifier": ("adaboost", "adaboost_classifier"),
    "AdaBoostRegressor": ("adaboost", "adaboost_regressor"),
    "XGBModel": ("xgboost", "xgboost"),
    "xgboost.Booster": ("xgboost", "xgboost"),
    "LGBMModel": ("lightgbm", "lightgbm"),
    "lightgbm.Booster": ("lightgbm", "lightgbm"),
    "CatBoost": ("catboost", "catboost"),
    "CartClassifier": ("cart", "cart"),
    "CartRegressor": ("cart", "cart"),
    "Pipeline": ("pipeline", "pipeline"),
    "BaseSearchCV": ("pipeline", "search"),
    "Learner": ("learner", "learner"),
    "TreeArrays": ("arrays", "tree_arrays"),
}

SUPPORTED = (
    "scikit-learn's DecisionTree, ExtraTree, RandomForest, ExtraTrees, Bagging of trees, "
    "GradientBoosting, HistGradientBoosting and AdaBoost; XGBoost, LightGBM and CatBoost models; "
    "a Pipeline that ends in one of these; a clearwood Learner around one of these"
)


def _importer(model: Any) -> tuple[str, str] | None:
    for base in type(model).__mro__:
        library = base.__module__.partition(".")[0]
        result = _IMPORTERS.get(base.__name__) or _IMPORTERS.get(f"{library}.{base.__name__}")
        if result is not None and library in _LIBRARIES:
            return result
    return None


_LIBRARIES = {"sklearn", "xgboost", "lightgbm", "catboost", "clearwood"}


def supports(model: Any) -> bool:
    """Whether `from_model` has an importer for models of this kind.

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> from sklearn.tree import DecisionTreeRegressor
    >>> supports(DecisionTreeRegressor()), supports(LinearRegression())
    (True, False)
    """
    # a tree of ours may have too many surrogates
    return isinstance(model, Forest) or (
        _importer(model) is not None and getattr(model, "is_plain", True)
    )


def from_model(model: Any) -> Forest:
    """Import a fitted tree model as a `Forest` that predicts the same, bit for bit.

    Parameters
    ----------
    model
        A fitted model of scikit-learn (trees, forests, bagging, boosting), XGBoost, LightGBM or
        CatBoost, a pipeline that ends in one, or a learner around one. A `Forest` is returned as it
        is.

    Returns
    -------
    Forest
        Its ``predict_raw`` equals the library's raw prediction (margin, score, mean) to the last
        bit where the library adds trees in a documented order, else within one unit in the last
        place per tree.

    Examples
    --------
    >>> import clearwood as cw
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = DecisionTreeClassifier(max_depth=2, random_state=0).fit(X, y)
    >>> forest = cw.forest.from_model(model)
    >>> forest.n_leaves, forest.columns_used
    (3, ('x3',))
    >>> forest.predict_proba(X[:1])
    array([[1., 0., 0.]])
    """
    if isinstance(model, Forest):
        return model
    check_fitted(model)
    result = _importer(model)
    if result is None:
        raise not_supported(type(model).__name__, model)
    module, function = result
    read: Callable[[Any], Forest] = getattr(
        import_module(f"clearwood.forest.importers.{module}"), function
    )
    return read(model)


def not_supported(name: str, model: Any) -> InputError:
    """Make the error for a model that has no importer."""
    return InputError(
        f"{name} is not a tree model that can be imported as a forest",
        parameter="model",
        value=model,
        hint=words(
            f"supported are {SUPPORTED}. ",
            Call("explain", ("model", "data")),
            " samples the predictions of any other model.",
        ),
    )
