"""Shapley values of a model that can only be asked: error against evaluations of the model."""

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

import clearwood as cw
from benchmarks._harness import ROOT, write_record

#: How many times fewer evaluations ours is to need for the same error as shap's, or less time.
PROMISE = 3.5


@dataclass(frozen=True)
class Point:
    """One setting of one method.

    Parameters
    ----------
    error
        Root mean square error, as a share of the spread of the exact values.
    evaluations
        Rows that the model was asked about, per explained row.
    seconds
        CPU time per explained row.
    """

    table: str
    method: str
    evaluations: float
    seconds: float
    error: float


class Counted:
    """A network that counts the rows it is asked about."""

    def __init__(self, X: NDArray[Any], y: NDArray[Any]) -> None:
        from sklearn.neural_network import MLPRegressor

        network = MLPRegressor(hidden_layer_sizes=(32, 32), max_iter=400, random_state=0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.network = network.fit(X, (y - y.mean()) / y.std())
        self.background, self.rows = X[:100], X[500:503]
        self.asked = 0

    def __call__(self, X: NDArray[Any]) -> NDArray[Any]:
        self.asked += len(X)
        answer: NDArray[Any] = self.network.predict(X)
        return answer


Explain = Callable[[int, int], NDArray[Any]]


def report(*, quick: bool, path: Path) -> int:
    points: list[Point] = []
    broken = 0
    for table, (X, y) in _tables(quick=quick).items():
        found = _of_table(table, Counted(X, y))
        points += found
        broken += _broken(found)
    write_record(path, quick=quick, tables=[_table_of(points)] if points else [])
    return broken


def _table_of(points: list[Point]) -> dict[str, Any]:
    columns = [field.name for field in fields(Point)]
    return {
        "title": (
            "Error of sampled values, as a share of the spread of the exact ones, evaluations and "
            "CPU seconds for each explained row (means of 5 seeds)"
        ),
        "columns": columns,
        "rows": [[getattr(point, name) for name in columns] for point in points],
    }


def _tables(*, quick: bool) -> dict[str, tuple[NDArray[Any], NDArray[Any]]]:
    """Give a simulated table, and adult with its levels numbered, where it is at hand."""
    from sklearn.datasets import make_friedman1

    made = {
        "friedman": make_friedman1(600, n_features=10 if quick else 14, noise=0.5, random_state=0)
    }
    path = ROOT.parent / "shared" / "data" / "adult.csv"
    if path.exists() and not quick:
        import pandas as pd

        frame = pd.read_csv(path).sample(4000, random_state=0)
        y = (frame.pop("income").str.contains(">50K")).to_numpy(float)
        codes = frame.apply(lambda column: column.factorize(sort=True)[0].astype(float))
        made["adult"] = (((codes - codes.mean()) / codes.std()).to_numpy(), y)
    return made


_METHODS: tuple[Literal["permutation", "kernel"], ...] = ("permutation", "kernel")


def _of_table(table: str, model: Counted) -> list[Point]:
    exact = cw.shapley(model, model.background, model.rows, method="subsets").values
    budgets = (3_000, 6_000, 20_000, 50_000, 100_000)
    points = [
        _measured(table, model, f"clearwood, {method}", budget, _ours(model, method), exact)
        for method in _METHODS
        for budget in budgets
    ]
    try:
        theirs = _shap(model)
    except ImportError:
        print("shap is not installed: see benchmarks/requirements.txt")
    else:
        points += [_measured(table, model, "shap", budget, theirs, exact) for budget in budgets]
    print(f"\n{table}: a network of {model.rows.shape[1]} columns, 100 background rows")
    for point in points:
        print(
            f"{point.method:<24} {point.evaluations:>9,.0f} a row {point.seconds:>8.3f} s"
            f"   error {point.error:.5f}"
        )
    return points


def _ours(model: Counted, method: Literal["permutation", "kernel"]) -> Explain:
    def explain(budget: int, seed: int) -> NDArray[Any]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a precision that nothing reaches: the budget ends it
            found = cw.shapley(
                model,
                model.background,
                model.rows,
                method=method,
                precision=1e-12,
                max_evaluations=budget,
                seed=seed,
            )
        values: NDArray[Any] = found.values
        return values

    return explain


def _shap(model: Counted) -> Explain:
    import shap

    def explain(budget: int, seed: int) -> NDArray[Any]:
        np.random.seed(seed)  # noqa: NPY002 - it takes no generator
        explainer = shap.KernelExplainer(model, model.background)
        n_samples = budget // len(model.background)
        values: NDArray[Any] = explainer.shap_values(
            model.rows, nsamples=n_samples, silent=True, l1_reg=False
        )
        return values

    return explain


def _measured(
    table: str,
    model: Counted,
    method: str,
    budget: int,
    explain: Explain,
    exact: NDArray[Any],
) -> Point:
    squares, asked, seconds = [], [], []
    for seed in range(5):
        model.asked = 0
        started = time.process_time()
        squares.append(((explain(budget, seed) - exact) ** 2).mean())
        seconds.append((time.process_time() - started) / len(model.rows))
        asked.append(model.asked / len(model.rows))
    spread = np.ptp(exact, axis=1).mean()
    error = float(np.sqrt(np.mean(squares)) / spread)
    return Point(table, method, float(np.mean(asked)), float(np.mean(seconds)), error)


def _broken(points: list[Point]) -> int:
    """Count shap's points whose error ours reaches with less than the promised saving."""
    ours = [point for point in points if "permutation" in point.method]
    broken = 0
    for theirs in (point for point in points if point.method == "shap"):
        needed = _needed(ours, theirs.error)
        if needed is None:
            continue
        fewer, faster = theirs.evaluations / needed[0], theirs.seconds / needed[1]
        print(
            f"error {theirs.error:.5f}: {fewer:.1f} times fewer evaluations than shap, "
            f"{faster:.1f} times faster"
        )
        broken += max(fewer, faster) < PROMISE
    return broken


def _needed(points: list[Point], error: float) -> tuple[float, float] | None:
    """Interpolate the evaluations and seconds for an error, on logarithmic scales."""
    errors = np.log([point.error for point in points])[::-1]
    if not errors[0] <= np.log(error) <= errors[-1]:
        return None
    found = [
        float(np.exp(np.interp(np.log(error), errors, np.log(numbers)[::-1])))
        for numbers in (
            [point.evaluations for point in points],
            [point.seconds for point in points],
        )
    ]
    return found[0], found[1]
