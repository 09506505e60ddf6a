"""Generalised additive models: penalised curves with automatic smoothness.

The functions of all columns are built once (`build_design`); fits to all rows, to some of them by
weights, or to folds then reuse them:

>>> import numpy as np
>>> rng = np.random.default_rng(0)
>>> matrix = rng.random((200, 3))
>>> y = np.sin(6 * matrix[:, 0]) + 0.1 * rng.normal(size=200)
>>> design = build_design(matrix)
>>> full = fit_score(design, y)
>>> folds = np.array_split(rng.permutation(200), 4)
>>> fits = fit_folds(design, y, folds, full)
>>> scores = [design.score(fit.coefficients) for fit in fits]
>>> bool(np.abs(scores[0] - design.score(full.coefficients)).max() < 0.1)
True

- `build_design(matrix, categorical=, weights=, ...)`: the `Design`, from all rows;
- `fit_score(design, y, weights=, family=, offset=, start=, search=)`: the `Fit` of one score.
  Weight zero leaves a row out, ``start`` is another `Fit` of the same design, and ``search=False``
  keeps its smoothing parameters;
- `fit_folds(design, y, held_out, full, ...)`: a `Fit` without the rows of each fold, at a fraction
  of the cost of new fits; held-out rows have no influence on coefficients, and with
  ``search=False`` only through the smoothing parameters of the full fit;
- `fit_classes(design, classes, n_classes, ...)`: the scores of several classes;
- `design.score(fit.coefficients)`: scores of all rows, held-out ones included;
- `parts_of(design, coefficients, deviating, link)`: the `ScoreParts` of any coefficients.
"""

from clearwood.models.glassbox.gam.design import Design, build_design
from clearwood.models.glassbox.gam.estimators import GamClassifier, GamRegressor, parts_of
from clearwood.models.glassbox.gam.fitting import Fit, fit_folds, fit_score
from clearwood.models.glassbox.gam.softmax import ClassFit, fit_classes

__all__ = [
    "ClassFit",
    "Design",
    "Fit",
    "GamClassifier",
    "GamRegressor",
    "build_design",
    "fit_classes",
    "fit_folds",
    "fit_score",
    "parts_of",
]
