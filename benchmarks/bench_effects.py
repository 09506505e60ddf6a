"""Accumulated effects, partial dependence and permutation importance of fitted models.

The tables are california_housing and adult, where they are beside the repository; else simulated
ones of the same size.
"""

import logging
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import clearwood as cw
from benchmarks._harness import ROOT, Case, Comparison

DATA = ROOT.parent / "shared" / "data"
BINS = 40
REPEATS = 5

Answer = Callable[[], NDArray[Any]]


@dataclass(frozen=True)
class Fitted:
    """A model and rows that it has not seen.

    Parameters
    ----------
    model
        A fitted scikit-learn estimator.
    X, y
        Rows and target.
    column
        The one whose effect is shown.
    scoring
        What scikit-learn calls the loss that ours uses by default.
    """

    model: Any
    X: Any
    y: NDArray[Any]
    column: str
    scoring: str


def comparisons(*, quick: bool) -> list[Comparison]:
    most = 2_000 if quick else 20_000
    return [
        *(_effect(name, most) for name in ("boosting", "forest", "network")),
        _dependence("boosting", most // 10),
        *(_importance(name, most // 5) for name in ("boosting", "forest", "network")),
        _importance("adult", most // 5),
    ]


def housing(model: str, n_rows: int) -> Fitted:
    """Fit a model to house prices."""
    import pandas as pd
    from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor
    from sklearn.neural_network import MLPRegressor
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    path = DATA / "california_housing.csv"
    if path.exists():
        frame = pd.read_csv(path).dropna().select_dtypes("number").sample(frac=1, random_state=0)
        y = frame.pop("median_house_value").to_numpy() / 1e5
    else:
        random = np.random.default_rng(0)
        frame = pd.DataFrame(random.gamma(2, 2, (20_000, 8)), columns=[f"x{k}" for k in range(8)])
        frame = frame.rename(columns={"x7": "median_income"})
        y = np.log1p(frame["median_income"]) * np.sqrt(frame["x0"]) + random.normal(size=20_000)
        y = y.to_numpy()
    settings: dict[str, Any] = {
        "boosting": HistGradientBoostingRegressor(max_iter=100, random_state=0),
        "forest": RandomForestRegressor(100, min_samples_leaf=5, random_state=0),
        "network": make_pipeline(
            StandardScaler(),
            MLPRegressor(hidden_layer_sizes=(32, 32), max_iter=50, random_state=0),
        ),
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = settings[model].fit(frame[:8_000], y[:8_000])
    part = slice(0, n_rows)
    return Fitted(fitted, frame[part], y[part], "median_income", "neg_mean_squared_error")


def adult(n_rows: int) -> Fitted:
    """Fit a logistic model with its encoder to who earns much."""
    import pandas as pd
    from sklearn.compose import make_column_selector, make_column_transformer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    path = DATA / "adult.csv"
    if path.exists():
        frame = pd.read_csv(path)
        y = frame.pop("income").to_numpy()
    else:
        random = np.random.default_rng(0)
        frame = pd.DataFrame({f"n{k}": random.normal(size=20_000) for k in range(6)})
        for k in range(8):
            frame[f"c{k}"] = random.choice(list("abcdefghij"), 20_000)
        y = np.where(frame["n0"] + random.normal(size=20_000) > 0, "yes", "no")
    encode = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), make_column_selector(dtype_exclude="number")),
        (StandardScaler(), make_column_selector(dtype_include="number")),
    )
    model = make_pipeline(encode, LogisticRegression(max_iter=500))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(frame[:10_000], y[:10_000])
    part = slice(10_000, 10_000 + n_rows)
    return Fitted(model, frame[part], y[part], str(frame.columns[0]), "neg_log_loss")


# Accumulated local effects


def _edges(fitted: Fitted) -> NDArray[Any]:
    """Give PyALE's edges, so that both answer about the same bins."""
    places = np.linspace(0, 1, BINS + 1)
    found = fitted.X[fitted.column].quantile(places, interpolation="lower")
    return np.unique(found.to_numpy())


def _effect(model: str, n_rows: int) -> Comparison:
    words = {"boosting": "100 boosted trees", "forest": "100 trees", "network": "a network"}
    return Comparison(
        title=f"accumulated effect of {words[model]}, {n_rows:,} rows, {BINS} bins",
        data=lambda: housing(model, n_rows),
        cases=[
            Case("clearwood", _our_effect),
            Case("clearwood, band and data", _our_full_effect),
            Case("PyALE", _pyale, "PyALE"),
        ],
        difference=_largest_share,
        # a network takes as long whoever asks; of a forest, reading it takes a third of the time
        promises={"boosting": {"PyALE": 3.0}, "forest": {"PyALE": 2.0}}.get(model, {}),
    )


def _our_effect(fitted: Fitted, threads: int) -> Answer:
    edges = _edges(fitted)

    def answer() -> NDArray[Any]:
        found = cw.effect(
            fitted.model,
            fitted.X,
            fitted.column,
            kind="ale",
            points=BINS,
            n_bootstrap=0,
            extrapolation=False,
            n_jobs=threads,
        )
        return np.asarray(np.interp(edges, found.grid[0], found.values))

    return answer


def _our_full_effect(fitted: Fitted, threads: int) -> Answer:
    edges = _edges(fitted)

    def answer() -> NDArray[Any]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = cw.effect(
                fitted.model, fitted.X, fitted.column, kind="ale", points=BINS, n_jobs=threads
            )
        return np.asarray(np.interp(edges, found.grid[0], found.values))

    return answer


def _pyale(fitted: Fitted, _threads: int) -> Answer:
    from PyALE import ale  # type: ignore[import-not-found]

    logging.getLogger("PyALE").setLevel(logging.ERROR)
    logging.getLogger("PyALE._ALE_generic").setLevel(logging.ERROR)

    def answer() -> NDArray[Any]:
        found = ale(
            X=fitted.X,
            model=fitted.model,
            feature=[fitted.column],
            feature_type="continuous",
            grid_size=BINS,
            include_CI=False,
            plot=False,
        )
        return np.asarray(found["eff"], float)

    return answer


def _largest_share(answer: Any, reference: Any) -> float:
    """Largest difference as a share of the effect's range: the bins are not quite the same."""
    return float(np.abs(answer - reference).max() / np.ptp(reference))


# Partial dependence


def _dependence(model: str, n_rows: int) -> Comparison:
    return Comparison(
        title=f"partial dependence of 100 boosted trees, {n_rows:,} rows, {BINS} values",
        data=lambda: housing(model, n_rows),
        cases=[Case("clearwood", _our_dependence), Case("scikit-learn, brute", _brute)],
        promises={"scikit-learn, brute": 3.0},
    )


def _values(fitted: Fitted) -> NDArray[Any]:
    return np.asarray(np.quantile(fitted.X[fitted.column], np.linspace(0.01, 0.99, BINS)))


def _our_dependence(fitted: Fitted, threads: int) -> Answer:
    grid = _values(fitted)

    def answer() -> NDArray[Any]:
        found = cw.effect(
            fitted.model,
            fitted.X,
            fitted.column,
            grid=list(grid),
            n_bootstrap=0,
            extrapolation=False,
            n_jobs=threads,
        )
        return np.asarray(found.values)

    return answer


def _brute(fitted: Fitted, _threads: int) -> Answer:
    from sklearn.inspection import partial_dependence

    grid = _values(fitted)

    def answer() -> NDArray[Any]:
        found = partial_dependence(
            fitted.model,
            fitted.X,
            [fitted.column],
            custom_values={fitted.column: grid},
            method="brute",
        )
        return np.asarray(found["average"][0])

    return answer


# Permutation importance


def _importance(model: str, n_rows: int) -> Comparison:
    words = {
        "boosting": "100 boosted trees",
        "forest": "100 trees",
        "network": "a network",
        "adult": "a logistic model with its encoder",
    }
    return Comparison(
        title=f"permutation importance of {words[model]}, {n_rows:,} rows, {REPEATS} repeats",
        data=lambda: adult(n_rows) if model == "adult" else housing(model, n_rows),
        cases=[Case("clearwood", _our_importance), Case("scikit-learn", _their_importance)],
        difference=_largest_share,
        promises={"scikit-learn": 3.0} if model != "network" else {},
    )


def _our_importance(fitted: Fitted, threads: int) -> Answer:
    def answer() -> NDArray[Any]:
        found = cw.importance(
            fitted.model, fitted.X, kind="permutation", y=fitted.y, repeats=REPEATS, n_jobs=threads
        )
        return found.values

    return answer


def _their_importance(fitted: Fitted, threads: int) -> Answer:
    from sklearn.inspection import permutation_importance

    def answer() -> NDArray[Any]:
        found = permutation_importance(
            fitted.model,
            fitted.X,
            fitted.y,
            scoring=fitted.scoring,
            n_repeats=REPEATS,
            random_state=0,
            n_jobs=threads,
        )
        return np.asarray(found.importances_mean)

    return answer
