"""Readable models beside their peers: fits of the same data."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks._harness import Case, Comparison

Data = tuple[NDArray[np.float64], NDArray[Any]]
Fit = Callable[[], NDArray[np.float64]]


def comparisons(*, quick: bool) -> list[Comparison]:
    n_rows = 400 if quick else 800
    return [
        _gam(n_rows),
        *(_glass(n_rows, classes=classes) for classes in (False, True)),
        _mars(n_rows),
        *(_rules(n_rows, classes=classes) for classes in (False, True)),
        _tree(n_rows * 25),
        _bands(n_rows),
    ]


def friedman(n_rows: int, n_columns: int) -> Data:
    """Friedman's example: an interaction, a curve, two lines and noise."""
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(n_rows, n_columns))
    y = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2
    return X, y + 10 * X[:, 3] + 5 * X[:, 4] + rng.normal(size=n_rows)


def excess(answer: Any, reference: Any) -> float:
    """How much larger the error of one fit is than that of ours; negative where it is smaller."""
    return float(answer / reference - 1)


def _gam(n_rows: int) -> Comparison:
    def data() -> tuple[Data, Data]:
        (X, y), (new, truth) = friedman(n_rows, 5), friedman(n_rows + 1000, 5)
        return (X, y), (new[n_rows:], truth[n_rows:])

    return Comparison(
        title=f"gam, {n_rows:,} rows, 5 columns, smoothness chosen; difference of the error on new "
        "rows",
        data=data,
        cases=[
            Case("clearwood", _our_gam),
            Case("pyGAM", _pygam, package="pygam"),
        ],
        difference=excess,
        promises={"pyGAM": 10.0},
    )


def _our_gam(data: tuple[Data, Data], _threads: int) -> Fit:
    from clearwood.models.catalogue.gam.estimators import GamRegressor

    return lambda: _error(GamRegressor().fit(*data[0]), data)


def _pygam(data: tuple[Data, Data], _threads: int) -> Fit:
    from pygam import LinearGAM

    X, y = data[0]
    return lambda: _error(LinearGAM().gridsearch(X, y, progress=False), data)


def _bands(n_rows: int) -> Comparison:
    def data() -> Data:
        rng = np.random.default_rng(0)
        x = rng.gamma(3.0, size=n_rows)
        return x[:, None], rng.uniform(size=n_rows) < 1 / (1 + x)

    return Comparison(
        title=f"scorecard, bands of one column, {n_rows:,} rows, falling rates, 6 bands of 5 % or "
        "more; difference of the information value",
        data=data,
        cases=[
            Case("clearwood", _our_bands),
            Case("optbinning", _optbinning, package="optbinning"),
        ],
        difference=excess,
        promises={"optbinning": 1.0},
    )


def _our_bands(data: Data, _threads: int) -> Fit:
    from clearwood.models.catalogue.scorecard.bands import BandRules, bands_of

    (X, y), rules = data, BandRules(most=6, least=0.05, price=0.0, candidates=200)

    def fit() -> Any:
        bands = bands_of(
            0, X[:, 0], y, np.ones(len(y)), is_category=False, trend="down", rules=rules
        )
        return bands.information.sum()

    return fit


def _optbinning(data: Data, _threads: int) -> Fit:
    from optbinning import OptimalBinning

    X, y = data

    def fit() -> Any:
        bins = OptimalBinning(
            monotonic_trend="descending",
            max_n_bins=6,
            min_bin_size=0.05,
            max_n_prebins=200,
            min_prebin_size=0.005,
        ).fit(X[:, 0], y)
        bins.binning_table.build()
        return bins.binning_table.iv

    return fit


def _mars(n_rows: int) -> Comparison:
    return Comparison(
        title=f"mars, {n_rows:,} rows, 5 columns, 21 terms; difference of the GCV error",
        data=lambda: friedman(n_rows, 5),
        cases=[
            Case("clearwood", _our_mars),
            Case("mars-earth", _mars_earth, package="mars-earth"),
        ],
        difference=excess,
        promises={"mars-earth": 100.0},
    )


def _our_mars(data: Data, threads: int) -> Fit:
    from clearwood.models.catalogue.mars.estimators import MarsRegressor

    return lambda: np.array(MarsRegressor(max_terms=21, n_jobs=threads).fit(*data).gcv_)


def _mars_earth(data: Data, _threads: int) -> Fit:
    from pymars import Earth

    return lambda: np.array(Earth(max_degree=1, max_terms=21).fit(*data).gcv_)


def train_and_new(n_rows: int, *, classes: bool) -> tuple[Data, Data]:
    """Rows to fit, and new rows of the same example; as two classes where these are wanted."""
    (X, y), (new, truth) = friedman(n_rows, 10), friedman(n_rows + 1000, 10)
    if classes:
        y, truth = (y > 14).astype(int), (truth > 14).astype(int)
    return (X, y), (new[n_rows:], truth[n_rows:])


def _glass(n_rows: int, *, classes: bool) -> Comparison:
    kind = "two classes" if classes else "numbers"
    return Comparison(
        title=f"glass, {n_rows:,} rows, 10 columns, {kind}; difference of the error on new rows",
        data=lambda: train_and_new(n_rows, classes=classes),
        cases=[
            Case("clearwood", _our_glass),
            Case("interpret", _ebm, package="interpret"),
        ],
        difference=excess,
        promises={"interpret": 20.0},
    )


def _our_glass(data: tuple[Data, Data], threads: int) -> Fit:
    from clearwood.models.catalogue.glass.estimators import GlassClassifier, GlassRegressor

    kind = GlassClassifier if data[0][1].dtype.kind == "i" else GlassRegressor
    return lambda: _error(kind(n_jobs=threads).fit(*data[0]), data)


def _ebm(data: tuple[Data, Data], threads: int) -> Fit:
    from interpret.glassbox import ExplainableBoostingClassifier, ExplainableBoostingRegressor

    is_classes = data[0][1].dtype.kind == "i"
    kind = ExplainableBoostingClassifier if is_classes else ExplainableBoostingRegressor
    return lambda: _error(kind(random_state=0, n_jobs=threads).fit(*data[0]), data)


def _rules(n_rows: int, *, classes: bool) -> Comparison:
    kind = "two classes" if classes else "numbers"
    return Comparison(
        title=f"rules, {n_rows:,} rows, 10 columns, {kind}; difference of the error on new rows",
        data=lambda: train_and_new(n_rows, classes=classes),
        cases=[
            Case("clearwood", _our_rules),
            Case("imodels", _imodels, package="imodels"),
        ],
        difference=excess,
        promises={"imodels": 10.0},
    )


def _error(model: Any, data: tuple[Data, Data]) -> NDArray[np.float64]:
    """Squared error on new rows, of the probability where there are classes."""
    new, truth = data[1]
    is_classes = hasattr(model, "predict_proba")
    predicted = model.predict_proba(new)[:, 1] if is_classes else model.predict(new)
    return np.array(np.mean((np.asarray(predicted) - truth) ** 2))


def _our_rules(data: tuple[Data, Data], threads: int) -> Fit:
    from clearwood.models.catalogue.rules.estimators import RulesClassifier, RulesRegressor

    kind = RulesClassifier if data[0][1].dtype.kind == "i" else RulesRegressor
    return lambda: _error(kind(n_jobs=threads).fit(*data[0]), data)


def _imodels(data: tuple[Data, Data], _threads: int) -> Fit:
    from imodels import RuleFitClassifier, RuleFitRegressor

    kind = RuleFitClassifier if data[0][1].dtype.kind == "i" else RuleFitRegressor
    return lambda: _error(kind(random_state=0).fit(*data[0]), data)


def _tree(n_rows: int) -> Comparison:
    return Comparison(
        title=f"tree, {n_rows:,} rows, 8 columns, not pruned; difference of the training error",
        data=lambda: friedman(n_rows, 8),
        cases=[
            Case("clearwood", _our_tree),
            Case("scikit-learn", _sklearn_tree, package="scikit-learn"),
        ],
        difference=excess,
        promises={"scikit-learn": 2.0},
    )


def _training_error(model: Any, data: Data) -> NDArray[np.float64]:
    return np.array(np.mean((model.predict(data[0]) - data[1]) ** 2))


def _our_tree(data: Data, _threads: int) -> Fit:
    from clearwood.models.catalogue.trees.estimators import CartRegressor

    model = CartRegressor(prune=False, min_samples_leaf=5)
    return lambda: _training_error(model.fit(*data), data)


def _sklearn_tree(data: Data, _threads: int) -> Fit:
    from sklearn.tree import DecisionTreeRegressor

    model = DecisionTreeRegressor(min_samples_leaf=5, random_state=0)
    return lambda: _training_error(model.fit(*data), data)
